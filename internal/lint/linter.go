package lint

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// External configures the linters analyzer: which programs to run, and the sandbox to
// run them in.
type External struct {
	Linters []Linter // in run order
	// Sandbox returns the Runner. It is called on first use. Linters load and run
	// code of the tree they check, so without a sandbox none is started.
	Sandbox func(ctx context.Context) (Runner, error)
}

// Runner runs a job in a sandbox: without network, without the operator's
// environment, and with temporary files only.
type Runner interface {
	// Run runs the job to its end. An error means that it could not be started:
	// ErrNotInstalled if the program does not exist.
	Run(ctx context.Context, job Job) (Output, error)
}

// ErrNotInstalled means that a Runner could not find the program.
var ErrNotInstalled = errors.New("not installed")

// Job is one run of a linter.
type Job struct {
	Tree   string   // folder on the host: the read-only working directory
	Argv   []string // a program without a slash is looked up on the operator's PATH
	Env    []string // in addition to PATH and HOME
	Mounts []string // more absolute paths on the host that the job may read
	Go     bool     // the job needs the Go toolchain
	// Modules are what it sees of the module cache, from chooseModules.
	Modules []sandbox.Mount
	Input   []byte // its standard input
	// Private is set if Tree need not be readable for other users. Where the job is
	// another user, it gets a copy.
	Private bool
}

// Output is the result of a job.
type Output struct {
	Dir            string // path of Tree inside the sandbox
	Exit           int
	Stdout, Stderr []byte
	Cut            bool   // the outputs are incomplete
	Stopped        string // why the sandbox ended the job; empty if it exited
}

// Linter is a program that reports problems, and how to run it.
type Linter struct {
	Name string
	// Files are globs of the files that it checks. A glob without a slash matches in
	// every folder.
	Files []string
	// Command is the program and its arguments. The argument {files} is replaced with
	// the changed files, {dirs} with their folders.
	Command []string
	// Sarif is set if the linter writes SARIF. Otherwise Patterns describe its lines,
	// in the format of Vim's 'errorformat'.
	Sarif    bool
	Patterns []string
	Stderr   bool // it writes its results to standard error
	// Configs are globs of its configuration files. It gets the versions of the base:
	// a change cannot choose the rules it is checked by.
	Configs     []string
	NeedsConfig bool     // skip it if the root has none of them
	Exits       []int    // exit statuses besides 0 with which it reports results
	Go          bool     // it needs the Go toolchain
	Mounts      []string // absolute paths on the host that it needs to read
	Category    precedent.Category
}

// Check returns what is wrong with a configured linter, or nil.
func (l *Linter) Check() error {
	switch {
	case len(l.Command) == 0:
		return errors.New("it has no command")
	case len(l.Files) == 0:
		return errors.New("it has no file globs")
	case l.Sarif == (len(l.Patterns) > 0):
		return errors.New("it needs either the format sarif or errorformat patterns")
	}
	for _, g := range slices.Concat(l.Files, l.Configs) {
		if !doublestar.ValidatePattern(g) {
			return errors.New("invalid glob: " + g)
		}
	}
	if !l.Sarif {
		_, err := newFormat(l.Patterns)
		return err
	}
	return nil
}

// matches reports whether one of the globs matches a path.
func matches(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		if !strings.Contains(g, "/") {
			return doublestar.MatchUnvalidated(g, path.Base(name))
		}
		return doublestar.MatchUnvalidated(g, name)
	})
}

// filesOf returns the changed files that a linter checks, by path.
func (l *Linter) filesOf(c *diff.Change) map[string]*diff.File {
	files := map[string]*diff.File{}
	for i := range c.Files {
		f := &c.Files[i]
		if f.Skip != "" || f.Status == diff.Deleted || f.Binary || !matches(l.Files, f.Path) || matches(l.Configs, f.Path) {
			continue // the checked tree has the base's configuration
		}
		if f.Path != path.Clean(f.Path) || strings.ContainsFunc(f.Path, control) {
			continue // no linter could report it
		}
		if _, ok := firstLine(f, diff.Add); ok {
			files[f.Path] = f
		}
	}
	return files
}

// Limits of one command line. Linux allows 2 MiB including the environment, other
// systems less.
const (
	filesAtOnce = 200
	bytesAtOnce = 64 << 10
	mostBatches = 20
)

// commands returns the command lines for the files, sorted, and the number of files
// left out.
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

// fill replaces the placeholders in the command with files. whole is set if the
// command has no placeholder and checks everything.
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
				names = append(names, "./"+f) // cannot be an option
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
