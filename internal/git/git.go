// Package git reads repositories by running the git program. No other package runs
// it. Three commands use a network: the fetch of a pull request and the push of a commit to its
// branch, over https, and the fetch of files that the user's partial clone lacks, from the
// clone's remote. The fetches write to a shadow or a mirror. The push never forces, and moves one
// branch; the commit, its tree and merges are made in the shadow, without a checkout.
//
// Nothing that a repository contains may run (threat T13 of docs/security.md): no hooks, filters, diff
// drivers, file system monitors, transports or pagers, whether its configuration, attributes, submodules or
// refs name them. The user's own configuration is only data, too. Three rules ensure this:
//
//   - Almost all commands run on a shadow: an empty bare repository in a
//     temporary folder that borrows the real one's objects. It has no
//     configuration, hooks or attributes of the real one, so there is nothing
//     to override and nothing to forget. Snapshots of the index and the work
//     tree are also made in the shadow: the real repository does not change.
//     (Git may update the time of an object that a snapshot needs again, as it
//     does for every commit; that keeps gc away from it.)
//   - The few commands that need the real repository (its configuration as
//     data, the meaning of a revision and, in the same process, the contents of
//     objects) are plumbing that starts no program, with transports forbidden.
//     User input is passed on standard input, where it cannot be an option (T12).
//   - This package reads files of the work tree itself, without git: it follows
//     no link, opens regular files only, and limits sizes. Git only compares
//     them with the index, and does not look into submodules.
//
// Every call has a time limit, and a limit on git's output. It needs git 2.38 or newer.
package git

import (
	"cmp"
	"context"
	"os"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
)

// Options configure how to open a repository. The zero value is valid.
type Options struct {
	// Exec is the git program: a path, or a name to look up. Default: "git".
	Exec string
	// TempDir is where the temporary folder is created. Default: the system's.
	TempDir string
	// Home and ConfigHome are the folders with the user's git configuration (HOME and
	// XDG_CONFIG_HOME). Line ending rules, ignored files and aliases of remote URLs
	// are read from it as data. If empty, nothing is read.
	Home, ConfigHome string
	// Index is the index file of a commit in progress, which git passes to its hooks
	// in GIT_INDEX_FILE; relative to the work tree. Default: the repository's index.
	Index string
	// Lazy lets a partial clone fetch files that it lacks from its remote, as git itself does. LazyEnv are
	// variables of the user's environment that this fetch gets, as NAME=VALUE: PATH, SSH_AUTH_SOCK, proxies.
	Lazy    bool
	LazyEnv []string
	Cache   string // a folder in which answers are kept that take long to find; empty to keep none
	// Timeout limits each git process. Zero means one minute.
	Timeout time.Duration
}

func (o Options) completed() Options {
	o.Exec = cmp.Or(o.Exec, "git")
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	return o
}

// Repo is an open repository. Its methods are safe for concurrent use.
type Repo struct {
	exec    string
	options Options
	place   place
	config  config
	shadow  string // the temporary folder
	hash    hash
	shallow map[string]bool // the commits whose parents the clone lacks
	lazy    lazy

	real, shadowed batch

	mu     sync.Mutex
	closed bool
}

// Open opens the repository that contains the folder dir. A bare repository inside a work tree is refused,
// because it could have come with untrusted files. Close must be called. Errors are of type *Error.
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
	return open(ctx, program, o, where)
}

// open opens a repository at a known place.
func open(ctx context.Context, program string, o Options, where place) (*Repo, error) {
	r := &Repo{exec: program, options: o, place: where}
	r.real, r.shadowed = batch{repo: r, view: real}, batch{repo: r}
	var err error
	if r.shadow, err = os.MkdirTemp(o.TempDir, "precedent-git-"); err != nil {
		return nil, &Error{
			Op: "open repository", Msg: "make temporary folder: " + err.Error(), Err: err,
			Hint: "set TMPDIR to a writable folder",
		}
	}
	if err := r.prepare(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Repo) prepare(ctx context.Context) error {
	var err error
	if r.config, err = r.readConfig(ctx); err != nil {
		return err
	}
	r.hash = sha1Hash
	if r.config.repository("extensions.objectformat") == "sha256" {
		r.hash = sha256Hash
	}
	if !r.place.linked && isTruthy(r.config.repository("core.bare")) {
		r.place.top, r.place.mainTop = "", ""
	}
	return r.writeShadow()
}

// Close ends the git processes that are left and removes their temporary files.
func (r *Repo) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.real.close()
	r.shadowed.close()
	if err := os.RemoveAll(r.shadow); err != nil {
		return &Error{Op: "close repository", Msg: err.Error(), Err: err}
	}
	return nil
}

// Top is the top folder of the work tree, absolute and without links; empty for a bare repository.
func (r *Repo) Top() string { return r.place.top }

// MainTop is the top folder of the main work tree, which all linked work trees share; empty if there is none.
func (r *Repo) MainTop() string { return r.place.mainTop }

// Shallow reports whether the clone lacks a part of its history.
func (r *Repo) Shallow() bool { return len(r.shallow) > 0 }

// WorkFile reads a file of the work tree, up to max bytes. The path is relative to
// Top and uses slashes. It follows no links and opens regular files only: anything
// else is ErrNotFound, and a larger file is ErrTooLarge.
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

// skipped is a file that is not in a snapshot.
func skipped(path, why string) precedent.SkippedFile {
	return precedent.SkippedFile{Path: path, Reason: why}
}
