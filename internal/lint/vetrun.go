package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// VetEnv is the variable that tells main to call VetMain: if it is 1, the process was
// started to run the Go analyzers.
const VetEnv = "PRECEDENT_VETTOOL"

// vetRequest is the child's input, as JSON on standard input.
type vetRequest struct {
	Dir     string   // the module's folder
	Files   []string // the changed files, absolute
	MaxHeap uint64   // memory limit of the child, in bytes
	// Overlay has the contents of module files, by absolute path.
	Overlay map[string]string
	// Withheld are the modules that only the head requires.
	Withheld []string
}

// vetReport is the child's output, as JSON on standard output.
type vetReport struct {
	Reason      reason // why nothing could be loaded; empty otherwise
	Packages    []vetPackage
	Diagnostics []vetDiagnostic
}

// vetPackage is the outcome for one package, or for its tests.
type vetPackage struct {
	Files   []string // absolute
	Ignored []string // files that build constraints leave out, absolute
	Dir     string
	Reason  reason // why it was not checked; empty otherwise
}

// vetDiagnostic is one result of an analyzer.
type vetDiagnostic struct {
	Analyzer, Message, File string
	Line                    int // the reported line
	From, To                int // lines of the statement around it
}

func (r *vetReport) loadedNone() bool {
	return !slices.ContainsFunc(r.Packages, func(p vetPackage) bool { return p.Reason == "" })
}

// reason returns why a file was not checked; empty if it was.
func (r *vetReport) reason(file string) reason {
	if r.Reason != "" {
		return r.Reason
	}
	var why reason
	for _, p := range r.Packages {
		switch {
		case slices.Contains(p.Files, file):
			if p.Reason == "" {
				return ""
			}
			why = p.Reason
		case slices.Contains(p.Ignored, file) && why == "":
			why = otherSystem
		}
	}
	if why != "" {
		return why
	}
	for _, p := range r.Packages {
		if p.Reason != "" && p.Dir == filepath.Dir(file) {
			return p.Reason
		}
	}
	return notInPackage
}

// maxReport limits the size of the child's report, in bytes.
const maxReport = 16 << 20

// vetStarter starts the child: in the sandbox if there is one.
type vetStarter struct {
	env     GoEnv
	box     Runner // nil without a sandbox
	host    string // the tree
	scratch string // folder for temporary files
	tree    string // the tree, where the child sees it
	modules string // the module cache, where the child sees it
	mounts  []sandbox.Mount
	chosen  int // module caches made so far
}

func newStarter(ctx context.Context, in *Input, tree, scratch string) *vetStarter {
	c := &vetStarter{env: in.Go, host: tree, scratch: scratch, tree: tree}
	if in.External.Sandbox == nil {
		return c
	}
	box, err := in.External.Sandbox(ctx)
	if root, wrong := goRoot(in.Go.Path); err == nil && wrong == nil && box != nil &&
		isDir(filepath.Join(root, "src", "runtime")) {
		c.box, c.tree, c.modules = box, sandbox.Work, goModCache
	}
	return c
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// at returns the path of a file of the tree where the child sees it.
func (c *vetStarter) at(name string) string {
	if c.box != nil {
		return path.Join(c.tree, name)
	}
	return filepath.Join(c.tree, filepath.FromSlash(name))
}

// choose makes the module cache that the child sees.
func (c *vetStarter) choose(cache string, m *goModules) error {
	c.chosen++
	dir := filepath.Join(c.scratch, fmt.Sprintf("mod%d", c.chosen))
	mounts, err := chooseModules(cache, dir, m.sums)
	switch {
	case err != nil:
		return err
	case c.box == nil:
		c.modules = dir
		return linkModules(dir, mounts)
	}
	c.mounts = append([]sandbox.Mount{{Source: dir, Target: goModCache}}, mounts...)
	return nil
}

// run starts the child for one module and returns its report. work is the value of
// GOWORK.
func (c *vetStarter) run(ctx context.Context, work string, req vetRequest) (*vetReport, error) {
	in, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	start := c.start
	if c.box != nil {
		start = c.startInSandbox
	}
	out, err := start(ctx, "GOWORK="+work, in)
	if err != nil {
		return nil, err
	}
	rep := new(vetReport)
	if err := json.Unmarshal(out, rep); err != nil {
		return nil, &checkerError{err, ""}
	}
	return rep, nil
}

func (c *vetStarter) start(ctx context.Context, work string, in []byte) ([]byte, error) {
	temp := filepath.Join(c.scratch, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, fmt.Errorf("make temporary folder: %w", err)
	}
	env := append(goSettings(filepath.Join(c.scratch, "cache"), c.modules),
		VetEnv+"=1", work, "PATH="+absolute(c.env.Path), "HOME="+temp, "TMPDIR="+temp, "TMP="+temp, "TEMP="+temp)
	res, err := child.Run(ctx, child.Program{
		Path: c.env.Tool, Dir: temp, Env: env, Input: bytes.NewReader(in),
		Most: maxReport,
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("start the checker: %w", err)
	case res.Err != nil:
		return nil, &checkerError{res.Err, res.Stderr}
	}
	return res.Output, nil
}

// absolute returns a PATH without relative folders, which would be in the untrusted tree.
func absolute(list string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(list), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

func (c *vetStarter) startInSandbox(ctx context.Context, work string, in []byte) ([]byte, error) {
	out, err := c.box.Run(ctx, Job{
		Tree: c.host, Private: true, Argv: []string{c.env.Tool}, Go: true, Modules: c.mounts, Input: in,
		Env: append(goSettings(sandbox.Home+"/cache", goModCache), VetEnv+"=1", work),
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("start the checker: %w", err)
	case out.Stopped == overLimit+string(sandbox.OverMemory):
		return nil, &checkerError{errStopped, needsMemory}
	case out.Stopped != "" || out.Exit != 0 || out.Cut:
		return nil, &checkerError{errStopped, string(out.Stderr)}
	}
	return out.Stdout, nil
}

var errStopped = errors.New("it was stopped or failed")

// checkerError is the bad end of the child. What it said may contain text of the
// reviewed tree.
type checkerError struct {
	err  error
	said string
}

func (e *checkerError) Error() string { return "the checker failed: " + e.err.Error() }
func (e *checkerError) Unwrap() error { return e.err }

// goSettings are the settings of Go commands on the reviewed tree: no downloads, no
// other toolchain, no cgo, and no setting of the user, the toolchain or the tree that
// could name a program or a file. PATH, HOME and GOWORK are missing.
func goSettings(cache, modules string) []string {
	return []string{
		"GOTRACEBACK=none", "GOENV=off", "GOFLAGS=-buildvcs=false", "GO111MODULE=on", "GOTOOLCHAIN=local",
		"GOPROXY=off", "GOSUMDB=off", "GOVCS=*:off", "GOPACKAGESDRIVER=off", "CGO_ENABLED=0", "GOOS=" + runtime.GOOS,
		"GOARCH=" + runtime.GOARCH,
		"GOCACHE=" + cache, "GOMODCACHE=" + modules, "GODEBUG=goindex=0", // an index of packages pays off in later runs only
	}
}
