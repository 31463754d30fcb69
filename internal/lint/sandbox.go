package lint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// Choose returns the operator's linters, followed by those that the repository's
// policy names. A policy can only name presets. The failures list unknown names.
func Choose(operators []Linter, names []string) ([]Linter, []precedent.Failure) {
	all := slices.Clone(operators)
	var failures []precedent.Failure
	for _, name := range names {
		if slices.ContainsFunc(all, func(l Linter) bool { return l.Name == name }) {
			continue
		}
		if l, ok := Preset(name); ok {
			all = append(all, l)
		} else {
			failures = append(failures, precedent.Failure{
				Step: precedent.PolicyStep, Error: fmt.Sprintf("linters: unknown linter %q; known: %s", name,
					strings.Join(PresetNames(), ", ")),
			})
		}
	}
	return all, failures
}

// Sandbox returns a function that probes for a sandbox and returns a Runner that uses
// it. Its own program is looked up on one PATH, linters on another one.
func Sandbox(path, linters string) func(context.Context) (Runner, error) {
	return func(ctx context.Context) (Runner, error) {
		b, err := sandbox.Probe(ctx, path)
		if err != nil {
			return nil, err
		}
		return &sandboxed{box: b, path: linters}, nil
	}
}

// sandboxed runs linters in the sandbox.
type sandboxed struct {
	box  sandbox.Sandbox
	path string // the operator's PATH
}

// Run finds the program on the operator's PATH and runs it in the sandbox.
func (b *sandboxed) Run(ctx context.Context, job Job) (Output, error) {
	program, err := FindProgram(job.Argv[0], b.path)
	if err != nil {
		return Output{}, err
	}
	at := program // path in the sandbox
	holds := func(dir string) bool { return program == dir || strings.HasPrefix(program, dir+"/") }
	if !sandbox.InEverySandbox(program) && !slices.ContainsFunc(job.Mounts, holds) {
		at = "/linter/" + filepath.Base(program)
	}
	j := sandbox.Job{
		Tree: job.Tree, Argv: append([]string{at}, job.Argv[1:]...),
		Env:   append([]string{"HOME=" + sandbox.Home, "TMPDIR=" + sandbox.Home}, job.Env...),
		Input: job.Input, Writable: job.Private && os.Geteuid() == 0,
		Limits: sandbox.Limits{Output: maxLintOutput},
	}
	mount := func(source, target string) {
		has := func(m sandbox.Mount) bool { return m.Target == target }
		if source != "" && !sandbox.InEverySandbox(target) && !slices.ContainsFunc(j.Mounts, has) {
			j.Mounts = append(j.Mounts, sandbox.Mount{Source: source, Target: target})
		}
	}
	for _, m := range job.Mounts {
		mount(m, m)
	}
	if at != program {
		mount(program, at)
	}
	path := "/usr/local/bin:/usr/bin:/bin"
	if job.Go {
		root, err := goRoot(b.path)
		if err != nil {
			return Output{}, err
		}
		if !sandbox.InEverySandbox(root) {
			mount(root, "/go/root")
			root = "/go/root"
		}
		path = root + "/bin:" + path
		j.Mounts = append(j.Mounts, job.Modules...)
	}
	j.Env = append(j.Env, "PATH="+path)
	res, err := b.box.Run(ctx, j)
	if err != nil {
		return Output{}, err
	}
	out := Output{Dir: sandbox.Work, Exit: res.Exit, Cut: res.Stdout.Omitted > 0 || res.Stderr.Omitted > 0}
	out.Stdout, out.Stderr = wholeLines(res.Stdout), wholeLines(res.Stderr)
	if res.Status != sandbox.OK && res.Status != sandbox.Failed {
		out.Stopped = overLimit + string(res.Status)
	}
	return out, nil
}

// maxLintOutput is the number of bytes kept of each output. A thousand results in
// SARIF take one megabyte.
const maxLintOutput = 16 << 20

// overLimit is how Output.Stopped starts.
const overLimit = "over the sandbox's limit: "

// goModCache is the module cache in the sandbox.
const goModCache = "/go/mod"

// moduleCache is the operator's module cache, "" if there is none.
func (e GoEnv) moduleCache() string {
	dir := e.ModCache
	if dir == "" && e.Home != "" {
		dir = filepath.Join(e.Home, "go", "pkg", "mod")
	}
	if !isDir(dir) {
		return ""
	}
	return dir
}

// FindProgram returns the path of a program, given as an absolute path or as a name
// to look up in the absolute folders of a PATH.
func FindProgram(name, path string) (string, error) {
	found := name
	if !strings.Contains(name, "/") {
		found = child.Find(name, path)
	}
	if !filepath.IsAbs(found) {
		return "", fmt.Errorf("%s: %w", name, ErrNotInstalled)
	}
	file, err := filepath.EvalSymlinks(found)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", name, ErrNotInstalled)
	}
	return file, err
}

// goRoot is the root folder of the Go toolchain on a PATH.
func goRoot(path string) (string, error) {
	program, err := FindProgram("go", path)
	if err != nil {
		return "", fmt.Errorf("find the Go toolchain: %w", err)
	}
	return filepath.Dir(filepath.Dir(program)), nil
}

// wholeLines is an output without the line that was cut where its middle is missing.
func wholeLines(o sandbox.Output) []byte {
	if o.Omitted == 0 {
		return slices.Concat(o.Head, o.Tail)
	}
	head := o.Head[:bytes.LastIndexByte(o.Head, '\n')+1]
	return slices.Concat(head, o.Tail[bytes.IndexByte(o.Tail, '\n')+1:])
}
