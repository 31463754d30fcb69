// Package git reads repositories by running the git program. It is the only
// package that runs it. One command talks to a network: the fetch of a pull
// request, over https, into a shadow or a mirror of our own.
//
// Nothing that a repository holds may run: not its hooks, filters, diff
// drivers, file system monitors, transports or pagers, whether they are named
// by its configuration, its attributes, its submodules or a ref. The user's
// own configuration is no better: it is data here. Three rules keep this so:
//
//   - Almost all commands run on a shadow: an empty bare repository in a
//     temporary folder that borrows the real one's objects. The real
//     configuration, hooks and attributes are not in it, so there is nothing
//     to override and nothing to forget. The shadow is also where snapshots
//     of the index and the work tree are made: no byte of the real repository
//     changes. (Git may renew the time of an object that a snapshot needs
//     again, as it does for every commit; that keeps gc away from it.)
//   - The few commands that need the real one (its configuration as data, the
//     meaning of a revision) are plumbing that starts no program, with
//     transports forbidden. What a user typed reaches them on standard input,
//     where it cannot be an option.
//   - Files of the work tree are read by this package, not by git: no link is
//     followed, nothing but regular files is opened, sizes are capped.
//
// Every call is bounded in time, and in memory by a cap on what git may say.
// git 2.38 or newer is needed.
package git

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
)

// Options say how to open a repository. The zero value is good.
type Options struct {
	// Exec is the git program: a path, or a name to be looked up. Empty: "git".
	Exec string
	// TempDir is where the temporary folder is made. Empty: the system's.
	TempDir string
	// Home and ConfigHome are the folders with the user's own git
	// configuration (HOME and XDG_CONFIG_HOME): line endings, ignored files
	// and aliases of remote URLs are read from it as data. Empty: none is read.
	Home, ConfigHome string
	// Index is the index file of a commit in the making, which git names to
	// its hooks in GIT_INDEX_FILE; relative to the work tree. Empty: the
	// repository's own index.
	Index string
	// Timeout bounds each run of git. Zero: one minute.
	Timeout time.Duration
}

// completed fills in what was left out.
func (o Options) completed() Options {
	if o.Exec == "" {
		o.Exec = "git"
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	return o
}

// Repo is an open repository. Its methods may be called concurrently.
type Repo struct {
	exec    string
	options Options
	place   place
	config  config
	shadow  string // the temporary folder
	hash    hash
	shallow map[string]bool // the commits whose parents the clone lacks

	mu     sync.Mutex
	open   map[*Blobs]struct{}
	closed bool
}

// Open opens the repository that holds the folder dir. A bare repository is
// taken only if no work tree holds it: one that lies inside a work tree came
// with somebody's files. Close must be called. Errors are of type *Error.
func Open(ctx context.Context, dir string, o Options) (*Repo, error) {
	o = o.completed()
	program, err := locate("open repository", o.Exec)
	if err != nil {
		return nil, err
	}
	where, err := find(dir)
	if err != nil {
		return nil, err
	}
	r := &Repo{exec: program, options: o, place: where, open: map[*Blobs]struct{}{}}
	r.shadow, err = os.MkdirTemp(o.TempDir, "precedent-git-")
	if err != nil {
		return nil, &Error{
			Op: "open repository", Msg: "make temporary folder: " + err.Error(), Err: err,
			Hint: "set TMPDIR to a folder that can be written to",
		}
	}
	if err := r.prepare(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// prepare reads the configuration and furnishes the shadow.
func (r *Repo) prepare(ctx context.Context) error {
	var err error
	if r.config, err = r.readConfig(ctx); err != nil {
		return err
	}
	r.hash = sha1Hash
	if r.config.repository("extensions.objectformat") == "sha256" {
		r.hash = sha256Hash
	}
	if !r.place.linked && r.config.isTrue("core.bare") {
		r.place.top, r.place.mainTop = "", ""
	}
	return r.writeShadow()
}

// Close ends what git still runs and removes what was written for it.
func (r *Repo) Close() error {
	r.mu.Lock()
	r.closed = true
	open := r.open
	r.open = nil
	r.mu.Unlock()
	for b := range open {
		b.end()
	}
	if err := os.RemoveAll(r.shadow); err != nil {
		return &Error{Op: "close repository", Msg: err.Error(), Err: err}
	}
	return nil
}

// Top is the work tree's topmost folder, absolute and without links; empty for
// a bare repository.
func (r *Repo) Top() string { return r.place.top }

// MainTop is the main work tree's topmost folder, which all linked work trees
// share; empty where there is none.
func (r *Repo) MainTop() string { return r.place.mainTop }

// Shallow tells whether the clone lacks a part of its history.
func (r *Repo) Shallow() bool { return len(r.shallow) > 0 }

// WorkFile reads a file of the work tree as it lies there, of at most max
// bytes. The path is relative to Top and uses slashes. It follows no link and
// opens regular files only: anything else is reported as ErrNotFound, a longer
// file as ErrTooLarge.
func (r *Repo) WorkFile(path string, max int64) ([]byte, error) {
	if r.place.top == "" || !isPlain(path) {
		return nil, ErrNotFound
	}
	w, err := openWorkTree(r.place.top)
	if err != nil {
		return nil, &Error{Op: "read work tree", Msg: err.Error(), Err: err}
	}
	defer w.close()
	f, err := w.read(path, max)
	switch {
	case err != nil:
		return nil, &Error{Op: "read work tree", Msg: printable(err.Error()), Err: err}
	case f.tooLarge:
		return nil, ErrTooLarge
	case f.kind != regular || f.why != "":
		return nil, ErrNotFound
	}
	return f.data, nil
}

// skipped is a file that a snapshot could not hold.
func skipped(path, why string) precedent.SkippedFile {
	return precedent.SkippedFile{Path: path, Reason: why}
}
