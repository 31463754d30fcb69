package lint

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// External is what the linters analyzer needs: programs that are not part of
// this one, and a sandbox to run them in.
type External struct {
	Linters []Linter // in the order in which they run
	// Sandbox returns where they run, found out on first use. Linters load and
	// run code of the tree that they check, so without a sandbox none is started.
	Sandbox func(ctx context.Context) (Runner, error)
	// Timeout bounds all linters together; 0 means 5 minutes.
	Timeout time.Duration
}

// Runner runs a job in a sandbox: without network, without the operator's
// environment, and with nothing to write to that lasts.
type Runner interface {
	// Run runs the job to its end. The error says that it could not be started:
	// ErrNotInstalled if there is no such program.
	Run(ctx context.Context, job Job) (Output, error)
	Kind() string // as people call the sandbox
}

// ErrNotInstalled is the error of a Runner that does not find a program.
var ErrNotInstalled = errors.New("not installed")

// Job is one run of a linter.
type Job struct {
	Tree   string   // folder of the host; the working directory, which the job may only read
	Argv   []string // the program is looked for in the operator's PATH if it has no slash
	Env    []string // besides PATH and HOME
	Mounts []string // absolute paths of the host that the job may read as well
	Go     bool     // the job needs the Go toolchain and the module cache
	Time   time.Duration
}

// Output is what came of a job.
type Output struct {
	Dir            string // where the job saw Tree
	Exit           int
	Stdout, Stderr []byte
	Cut            bool   // the outputs are not whole
	Stopped        string // why the sandbox ended the job; empty if it ended by itself
}

// Linter is a program that finds faults, and how it is run.
type Linter struct {
	Name string
	// Files are globs of the files that it is for. One without a slash matches
	// in every folder.
	Files []string
	// Command is the program and its arguments. An argument {files} stands for
	// the changed files, {dirs} for their folders.
	Command []string
	Env     []string
	// Sarif tells that the linter writes SARIF; otherwise Patterns are the forms
	// of its lines, as Vim's 'errorformat' has them.
	Sarif    bool
	Patterns []string
	Stderr   bool // it writes its findings to standard error
	// Configs are globs of the files that configure it. It is given those of the
	// base: a change does not choose the rules that it is judged by.
	Configs     []string
	NeedsConfig bool     // without one of them at the root it has nothing to go by
	Version     []string // its arguments to print a version; nil for none
	Exits       []int    // exit statuses besides 0 that mean that it did its work
	// Alone tells that what it says about a file depends on that file alone, so
	// that the base can be checked file by file.
	Alone    bool
	Go       bool     // it needs the Go toolchain
	Mounts   []string // absolute paths of the host that it needs to read
	Category precedent.Category
}

// Check returns what is wrong with a linter that somebody wrote down.
func (l *Linter) Check() error {
	switch {
	case len(l.Command) == 0:
		return errors.New("it has no command")
	case len(l.Files) == 0:
		return errors.New("it is for no files")
	case l.Sarif == (len(l.Patterns) > 0):
		return errors.New("it needs either the format sarif or errorformat patterns")
	}
	for _, g := range slices.Concat(l.Files, l.Configs) {
		if !doublestar.ValidatePattern(g) {
			return errors.New("no glob: " + g)
		}
	}
	if !l.Sarif {
		_, err := newFormat(l.Patterns)
		return err
	}
	return nil
}

// matches tells whether a glob of the list matches a path.
func matches(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		if !strings.Contains(g, "/") {
			return doublestar.MatchUnvalidated(g, path.Base(name))
		}
		return doublestar.MatchUnvalidated(g, name)
	})
}

// filesOf returns the changed files that a linter is for, by path.
func (l *Linter) filesOf(c *diff.Change) map[string]*diff.File {
	files := map[string]*diff.File{}
	for i := range c.Files {
		f := &c.Files[i]
		if f.Skip != "" || f.Status == diff.Deleted || f.Binary || !matches(l.Files, f.Path) || matches(l.Configs, f.Path) {
			continue // a changed configuration is not in the tree that is checked
		}
		if f.Path != path.Clean(f.Path) || strings.ContainsFunc(f.Path, control) {
			continue // no linter's output could name it
		}
		for range f.AddedLines() {
			files[f.Path] = f
			break
		}
	}
	return files
}

// Bounds of one command line. Linux allows 2 MiB with the environment, other
// systems less.
const (
	filesAtOnce = 200
	bytesAtOnce = 64 << 10
	mostBatches = 20
)

// commands are the command lines for some files, sorted, and how many files
// are in none of them.
func (l *Linter) commands(files []string) (all [][]string, left int) {
	for len(files) > 0 {
		if len(all) == mostBatches {
			return all, len(files)
		}
		n, size := 0, 0
		for n < len(files) && n < filesAtOnce && (n == 0 || size+len(files[n]) < bytesAtOnce) {
			size += len(files[n]) + 3
			n++
		}
		argv, whole := l.fill(files[:n])
		all = append(all, argv)
		if whole {
			return all, 0
		}
		files = files[n:]
	}
	return all, 0
}

// fill puts files into the command; whole tells that it has no place for any,
// and checks everything.
func (l *Linter) fill(files []string) (argv []string, whole bool) {
	whole = true
	for _, arg := range l.Command {
		switch arg {
		case "{files}", "{dirs}":
			whole = false
			var names []string
			for _, f := range files {
				if arg == "{dirs}" {
					f = path.Dir(f)
				}
				names = append(names, "./"+f) // never taken for an option
			}
			if arg == "{dirs}" {
				slices.Sort(names)
				names = slices.Compact(names)
			}
			argv = append(argv, names...)
		default:
			argv = append(argv, arg)
		}
	}
	return argv, whole
}
