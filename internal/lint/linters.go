package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// lintTime is the time limit for all linters together. eslint on a large
// change, or golangci-lint with an empty cache, takes a minute or two.
const lintTime = 5 * time.Minute

// LintersName is the name of the analyzer that runs linters.
const LintersName = "linters"

// linters runs the linters for the changed files, one after the other. It runs none
// without a sandbox.
func linters(ctx context.Context, in *Input) Result {
	x := &linting{
		in: in, collect: collect{name: LintersName}, seen: map[string]bool{}, absent: map[*Linter]bool{}, read: map[string]bool{},
	}
	if len(in.External.Linters) == 0 {
		return Result{Status: precedent.StatusOff, Error: "no linters are configured"}
	}
	var due []*Linter
	for i := range in.External.Linters {
		if l := &in.External.Linters[i]; len(l.filesOf(in.Change)) > 0 {
			due = append(due, l)
		}
	}
	if len(due) == 0 {
		return skipped("the change touches no file that the configured linters check")
	}
	if in.External.Sandbox == nil || in.Tree == nil || in.Trusted.Read == nil || in.Trusted.Differing == nil {
		return skipped(noSandbox)
	}
	box, err := in.External.Sandbox(ctx)
	if err != nil {
		return skipped(fmt.Sprintf("%s: %v", noSandbox, err))
	}
	ctx, cancel := context.WithTimeout(ctx, lintTime)
	defer cancel()
	x.box = box
	x.tree = &lintTree{in: in}
	defer x.tree.close()
	for _, l := range due {
		x.tree.globs = append(x.tree.globs, l.Configs...)
		x.tree.sources = append(x.tree.sources, l.Files...)
	}
	for _, l := range due {
		x.lint(ctx, l)
	}
	r := x.result(ctx)
	r.Files = map[string]bool{}
	for _, l := range due {
		if x.absent[l] {
			continue
		}
		for name := range l.filesOf(in.Change) {
			r.Files[name] = r.Status.Good() && x.read[name]
		}
	}
	return r
}

const noSandbox = "no sandbox: linters run code of the repository, so none was started"

// linting is one run of all linters.
type linting struct {
	in   *Input
	box  Runner
	tree *lintTree
	collect
	seen   map[string]bool  // reported remarks, by position and text
	absent map[*Linter]bool // linters that are not installed or not configured
	read   map[string]bool  // files that a linter has read
	ran    int              // linters that ran successfully
	failed bool
	cut    bool
	notes  []string
}

// lint runs one linter and adds its findings about the change.
func (x *linting) lint(ctx context.Context, l *Linter) {
	files := l.filesOf(x.in.Change)
	all := len(files)
	maps.DeleteFunc(files, func(name string, _ *diff.File) bool { return !l.Sarif && strings.Contains(name, " ") })
	if n := all - len(files); n > 0 { // no pattern can parse them
		x.note(l, fmt.Sprintf("%d files were not checked, because their paths contain spaces", n))
	}
	dir, err := x.tree.forHead(ctx)
	// the checked tree has the base's
	maps.DeleteFunc(files, func(name string, _ *diff.File) bool { return x.tree.configs[name] })
	names := slices.Sorted(maps.Keys(files))
	if err == nil && len(names) == 0 {
		return
	}
	if err != nil {
		x.fail(l, err)
		return
	}
	if l.NeedsConfig && !hasConfig(dir, l.Configs) {
		x.absent[l] = true
		x.note(l, "not run: the repository had no configuration for it before the change")
		return
	}
	remarks, err := x.run(ctx, l, dir, names, addedIn(files))
	switch {
	case errors.Is(err, ErrNotInstalled):
		x.absent[l] = true
		x.note(l, "not installed")
	case err != nil:
		x.fail(l, err)
	default:
		x.ran++
		for _, name := range names {
			x.read[name] = true
		}
	}
	for _, r := range remarks {
		f := files[r.path]
		if f == nil {
			continue
		}
		if line, ok := r.addedLineIn(f); ok {
			x.addFinding(&r, l, f, line)
		}
	}
}

// addedIn returns a function that tells whether a remark is about a line that the change adds, or about a file that
// it adds.
func addedIn(files map[string]*diff.File) func(*remark) bool {
	added := map[string][]int{}
	for name, f := range files {
		for l := range f.AddedLines() {
			added[name] = append(added[name], l.New)
		}
	}
	return func(r *remark) bool {
		lines := added[r.path]
		i, _ := slices.BinarySearch(lines, r.line)
		return i < len(lines) && (lines[i] <= r.end || r.line == 0)
	}
}

// addedLineIn returns the added line of a remark, or the first added line in its
// range. A remark about a whole file counts if the change adds the file.
func (r *remark) addedLineIn(f *diff.File) (diff.Line, bool) {
	if r.line == 0 {
		return diff.Line{}, f.Status == diff.Added
	}
	return addedLine(f, r.line, r.line, r.end)
}

// addFinding adds a finding, unless another linter reported the same on that line.
func (x *linting) addFinding(r *remark, l *Linter, f *diff.File, line diff.Line) {
	key := fmt.Sprintf("%s\x00%d\x00%s", r.path, line.New, r.message)
	if x.seen[key] {
		return
	}
	x.seen[key] = true
	found := r.finding(l, f, line)
	dropTurnedOff(&found, r.turnedOff)
	x.addAs(found, cmp.Or(r.rule, r.message)+"\x00"+l.Name)
}

// start runs a command of a linter.
func (x *linting) start(ctx context.Context, l *Linter, dir string, argv []string) (Output, error) {
	j := Job{
		Tree: dir, Argv: argv, Env: []string{"NO_COLOR=1", "TERM=dumb", "LC_ALL=C.UTF-8"},
		Mounts: l.Mounts, Go: l.Go,
	}
	if l.Go {
		var err error
		if j.Modules, err = x.tree.modules(); err != nil {
			return Output{}, err
		}
		j.Env = append(j.Env, goSettings(sandbox.Home+"/go-build", goModCache)...)
		j.Env = append(j.Env, "GOPATH="+sandbox.Home+"/go", "GOLANGCI_LINT_CACHE="+sandbox.Home+"/golangci-lint")
	}
	return x.box.Run(ctx, j)
}

// run runs the linter on files of a tree and returns its remarks that may be findings, sorted. If it
// returns an error, it also returns the remarks so far.
func (x *linting) run(ctx context.Context, l *Linter, dir string, names []string, mayFind func(*remark) bool,
) ([]remark, error) {
	var all []remark
	var trouble error
	commands, left := l.commands(names)
	if left > 0 {
		x.cut = true
		x.note(l, fmt.Sprintf("%d files were not checked: too many for one review", left))
	}
	for _, argv := range commands {
		out, err := x.start(ctx, l, dir, argv)
		if err != nil {
			trouble = err
			break
		}
		remarks, err := l.read(out, mayFind)
		all = append(all, remarks...)
		if errors.Is(err, errMany) || errors.Is(err, errLong) || errors.Is(err, errRuns) {
			x.cut = true
			x.note(l, err.Error())
		} else if err != nil {
			trouble = err
			break
		}
	}
	slices.SortStableFunc(all, func(a, b remark) int {
		return cmp.Or(strings.Compare(a.path, b.path), a.line-b.line, strings.Compare(a.rule, b.rule),
			strings.Compare(a.message, b.message))
	})
	return all, trouble
}

// read parses a linter's output. An unexpected exit status is an error, whatever it
// printed.
func (l *Linter) read(out Output, mayFind func(*remark) bool) ([]remark, error) {
	data := out.Stdout
	if l.Stderr {
		data = out.Stderr
	}
	var all []remark
	var found bool
	var err error
	switch {
	case l.Sarif && out.Cut:
		err = errors.New("its output is too large")
	case l.Sarif && len(strings.TrimSpace(string(data))) == 0 && out.Exit == 0:
	case l.Sarif:
		all, err = readSarif(out.Dir, data, mayFind)
	default:
		f, wrong := newFormat(l.Patterns)
		if wrong != nil {
			return nil, wrong
		}
		if all, found, err = readLines(f, out.Dir, data, mayFind); err == nil && out.Cut {
			err = errMany
		}
	}
	switch {
	case out.Stopped != "":
		return all, fmt.Errorf("stopped: %s", out.Stopped)
	case out.Exit != 0 && !slices.Contains(l.Exits, out.Exit):
		return all, fmt.Errorf("it failed: %s", out.reason())
	case err == nil && out.Exit != 0 && !found && !l.Sarif:
		return nil, fmt.Errorf("it failed without a result: %s", out.reason())
	}
	return all, err
}

// reason is the exit status and the first line of output of a linter that failed.
func (o *Output) reason() string {
	why := fmt.Sprintf("exit status %d", o.Exit)
	for _, s := range []string{string(o.Stderr), string(o.Stdout)} {
		const most = 200
		if first, _, _ := strings.Cut(strings.TrimSpace(s), "\n"); oneLine(first, most) != "" {
			return why + ": " + oneLine(first, most)
		}
	}
	return why
}

func (x *linting) note(l *Linter, why string) {
	x.notes = append(x.notes, l.Name+": "+why)
}

func (x *linting) fail(l *Linter, err error) {
	x.failed = true
	x.note(l, oneLine(err.Error(), 300))
}

// result sums up the run.
func (x *linting) result(ctx context.Context) Result {
	r, notes := x.resultOf(ctx, "the linters took too long")
	x.notes = append(x.notes, notes...)
	switch {
	case ctx.Err() != nil:
	case x.failed:
		r.Status = precedent.StatusError
	case x.cut:
		r.Status = precedent.StatusTruncated
	case x.ran == 0:
		r.Status = precedent.StatusSkipped
	}
	if edited := x.tree.edited; len(edited) > 0 {
		x.notes = append(x.notes, "the change edits "+oneLine(strings.Join(edited, ", "),
			200)+": the linters used the configuration from before the change")
	}
	r.Error = strings.Join(x.notes, "; ")
	return r
}
