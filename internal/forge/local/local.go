// Package local is a forge without a server: a folder of JSON files about a git
// repository. It is for tests, for stories, and for trying out what would be posted
// before it reaches a real forge.
//
//	DIR/repo.json            the repository and its members; written by people
//	DIR/pulls/7.json         a pull request; written by people
//	DIR/pulls/7/talk.json    its comments; written by people and by this package
//	DIR/checks.json          checks of commits; written by this package
//	DIR/lock                 locked during writes
//
// repo.json:
//
//	{"host": "forge.localhost", "owner": "acme", "name": "shop",
//	 "git": "shop.git",
//	 "me": {"id": 9, "login": "precedent[bot]", "bot": true},
//	 "members": [{"id": 1, "login": "ann", "permission": "write"}]}
//
// The default host is forge.localhost. "git" is relative to DIR; a bare repository
// must not be inside a work tree. Permissions are read, write and admin; accounts
// that are not listed have none. "archived" disables comments. "protected" lists branches that
// nobody pushes to; the default branch is that of the git repository's HEAD.
//
// pulls/7.json:
//
//	{"title": "Add a till", "body": "It counts.",
//	 "author": {"id": 1, "login": "ann"},
//	 "base": {"branch": "main"}, "head": {"branch": "till"}}
//
// Optional fields are "state" (open, closed, merged), "draft", "locked", "labels",
// "updated" (default: when the file changed), "merged_at", "merge_commit"
// and "files". The commits of base and head are looked up on every request, so a push
// moves the head; "ref" names a ref instead of a branch, and "sha" fixes the commit. "repo" (owner/name) is for a
// fork, which may be "deleted". If the pull request has a "diff", or the folder has
// no "git", nothing is looked up: both ends need a "sha", and remarks may be on the
// lines of the diff.
//
// This package also writes labels. talk.json contains "comments", "closed" (resolved
// conversations, by the id of their first comment) and "reactions". A file has at
// most 32 MiB. Files are replaced atomically; on Unix, processes lock the folder for
// writing.
package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
)

// DefaultHost is the host if repo.json has none. Names below localhost never resolve
// to another machine (RFC 6761).
const DefaultHost = "forge.localhost"

// Options locate a forge. Dir and Now are required.
type Options struct {
	Dir string
	Git git.Options
	Now func() time.Time
}

// Forge is a folder. It is safe for concurrent use, also by several processes.
type Forge struct {
	dir       string // absolute
	host      string
	git       git.Options
	now       func() time.Time
	writeLock sync.Mutex // of writers in this process
}

var _ forge.Forge = (*Forge)(nil)

// New opens a folder that contains a repo.json. Errors are of type *forge.Error.
func New(o Options) (*Forge, error) {
	const doing = "open local forge"
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fail(doing, err)
	}
	f := &Forge{dir: dir, git: o.Git, now: o.Now}
	r, err := f.repository()
	if err != nil {
		return nil, fail(doing, err)
	}
	f.host = r.Host
	return f, nil
}

// Host returns the host in repo.json.
func (f *Forge) Host() string { return f.host }

// Folder returns the absolute path of the git repository in repo.json, to fetch from.
// It is empty if there is none.
func (f *Forge) Folder() (string, error) {
	r, err := f.repository()
	return r.Git, fail("read local forge", err)
}

// Quota has no limit, only the time.
func (f *Forge) Quota() forge.Quota { return forge.Quota{At: f.now().UTC()} }

// Me returns the account "me" in repo.json.
func (f *Forge) Me(ctx context.Context) (forge.Person, error) {
	const doing = "read the account that posts"
	if err := ctx.Err(); err != nil {
		return forge.Person{}, fail(doing, err)
	}
	me, err := f.me()
	return me, fail(doing, err)
}

func (f *Forge) me() (forge.Person, error) {
	r, err := f.repository()
	if err != nil {
		return forge.Person{}, err
	}
	if r.Me.ID <= 0 || !login().MatchString(r.Me.Login) {
		return forge.Person{}, &forge.Error{Kind: forge.KindAuth, Msg: "repo.json does not say which account posts", Hint: `add "me" with a positive id and a login`}
	}
	return r.Me.person(), nil
}

// login matches valid logins.
var login = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*(?:\[bot\])?$`) })

// Permission returns what repo.json says now. An account that is not in it with the
// same id and login has none.
func (f *Forge) Permission(ctx context.Context, repo precedent.Repo, p forge.Person) (forge.Permission, error) {
	doing := fmt.Sprintf("read permission of %q in %s", p.Login, repo)
	r, err := f.readRepo(ctx, repo)
	if err != nil {
		return forge.None, fail(doing, err)
	}
	if p.ID.Number() <= 0 {
		return forge.None, nil
	}
	if !login().MatchString(p.Login) {
		return forge.None, &forge.Error{Kind: forge.KindRefused, Msg: doing + ": not a valid login"}
	}
	for _, m := range r.Members {
		if precedent.NumberID(m.ID) == p.ID && strings.EqualFold(m.Login, p.Login) {
			switch m.Permission {
			case forge.Read, forge.Write, forge.Admin:
				return m.Permission, nil
			}
		}
	}
	return forge.None, nil
}

// KnowsPermissions is always true: repo.json has the members.
func (f *Forge) KnowsPermissions(ctx context.Context, repo precedent.Repo) (forge.Unsupported, error) {
	_, err := f.readRepo(ctx, repo)
	return "", fail("read members of "+repo.String(), err)
}

// plainName matches valid names of owners and repositories.
var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`) })

func isName(s string) bool { return plainName().MatchString(s) && s != "." && s != ".." }

// readRepo reads repo.json and checks that it is about the repository.
func (f *Forge) readRepo(ctx context.Context, repo precedent.Repo) (repository, error) {
	if err := ctx.Err(); err != nil {
		return repository{}, err
	}
	if repo.Host != f.host || !isName(repo.Owner) || !isName(repo.Name) {
		return repository{}, &forge.Error{Kind: forge.KindRefused, Msg: "the repository is not on " + f.host}
	}
	r, err := f.repository()
	if err == nil && (!strings.EqualFold(r.Owner, repo.Owner) || !strings.EqualFold(r.Name, repo.Name)) {
		err = &forge.Error{Kind: forge.KindNotFound, Msg: "the folder contains only " + r.id().String()}
	}
	return r, err
}

// fail prefixes an error with what was attempted; nil if err is nil.
func fail(doing string, err error) error {
	if err == nil {
		return nil
	}
	out := forge.Error{Kind: forge.KindAnswer, Msg: err.Error()}
	var known *forge.Error
	var trouble *git.Error
	switch {
	case errors.As(err, &known):
		out = *known
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		out.Kind, out.Err = forge.KindNetwork, err
	case errors.As(err, &trouble):
		out.Hint = trouble.Hint
	case errors.Is(err, os.ErrNotExist):
		out.Kind = forge.KindNotFound
	}
	out.Msg = doing + ": " + oneLine(out.Msg)
	return &out
}

// oneLine joins the lines of an error, which may quote a file.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
