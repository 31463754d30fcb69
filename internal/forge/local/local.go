// Package local is a forge without a server: a folder of JSON, and the git
// repository that it is about. It is for tests, for stories, and for trying out
// what would be posted before any forge sees it.
//
//	DIR/repo.json            what the forge knows of the repository; people write it
//	DIR/pulls/7.json         a pull request; people write it
//	DIR/pulls/7/talk.json    what was said on it; people and this package write it
//	DIR/checks.json          checks of commits; this package writes it
//	DIR/lock                 held while something is written
//
// repo.json:
//
//	{"host": "forge.localhost", "owner": "acme", "name": "shop",
//	 "git": "shop.git",
//	 "me": {"id": 9, "login": "precedent[bot]", "bot": true},
//	 "members": [{"id": 1, "login": "ann", "permission": "write"}]}
//
// The host is forge.localhost if none is given. The folder git is named relative
// to DIR; no work tree may lie around a bare one. Permissions are read, write and
// admin; who is not named has none. If it is "archived", nothing can be said.
//
// pulls/7.json:
//
//	{"title": "Add a till", "body": "It counts.",
//	 "author": {"id": 1, "login": "ann"},
//	 "base": {"branch": "main"}, "head": {"branch": "till"}}
//
// and, if they are not as usual, "state" (open, closed, merged), "draft",
// "locked", "labels", "updated" (else when the file changed), "files". The ends'
// commits are the tips of their branches each time they are asked for, so that a
// push moves a head; "ref" names another ref than the branch, and "sha" a commit
// for good. An end may name its "repo" (owner/name) if that is a fork, or be
// "deleted" with it. A pull request with a "diff", or in a folder without "git",
// is what the JSON says: both ends need a "sha" then, and remarks may stand on
// the lines of the diff.
//
// Labels are written, too. talk.json holds "comments", "closed" (conversations shown as resolved, by the
// number of their first comment) and "reactions". Files have at most 32 MiB. They
// change at once or not at all, whatever stops the process; on Unix, processes
// that write take turns.
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

// DefaultHost is the host of a forge whose repo.json gives none. No name below
// localhost leads to another machine (RFC 6761).
const DefaultHost = "forge.localhost"

// Options say where a forge lies. Dir and Now are needed.
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

// New opens a folder that holds a repo.json. Errors are of type *forge.Error.
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

// Host is the host that repo.json names.
func (f *Forge) Host() string { return f.host }

// Folder is the repository that repo.json names, as an absolute path: where git
// fetches from. It is empty if the folder has none.
func (f *Forge) Folder() (string, error) {
	r, err := f.repository()
	return r.Git, fail("read local forge", err)
}

// Quota is zero: nobody counts.
func (f *Forge) Quota() forge.Quota { return forge.Quota{} }

// Me is the account that repo.json calls me.
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

// login is what an account can be called.
var login = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*(?:\[bot\])?$`) })

// Permission is what repo.json says now. An account that it does not hold under
// this number and login has none.
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

// plainName is what an owner or a repository can be called here.
var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`) })

func isName(s string) bool { return plainName().MatchString(s) && s != "." && s != ".." }

// readRepo reads what is known of the repository that a caller names.
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

// fail says what was attempted; nil for no error.
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

// oneLine makes an error's text one line: it may quote what a file holds.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
