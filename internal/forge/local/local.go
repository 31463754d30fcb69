// Package local is a forge for trying what would be posted: a folder of JSON files about a git repository. It
// posts, replies and resolves like a forge, and has no labels, webhooks or statuses of others. What it lacks is
// Unsupported.
//
//	DIR/repo.json            the repository and its members; written by people
//	DIR/pulls/7.json         a pull request; written by people
//	DIR/pulls/7/talk.json    its comments; written by people and by this package
//	DIR/checks.json          checks of commits; written by this package
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
// that are not listed have none.
//
// pulls/7.json:
//
//	{"title": "Add a till", "body": "It counts.",
//	 "author": {"id": 1, "login": "ann"},
//	 "base": {"branch": "main"}, "head": {"branch": "till"}}
//
// Optional fields are "state" (open, closed, merged), "draft", "locked", "updated" (default: when the file
// changed) and "merged_at". The commits of base and head are looked up on every request, so a
// push moves the head; "sha" fixes a commit.
//
// talk.json contains "comments", "closed" (resolved conversations, by the id of their first comment) and
// "reactions". Files are replaced atomically. Only one process may write.
package local

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/strict"
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

// Forge is a folder. It is safe for concurrent use.
type Forge struct {
	dir  string // absolute
	host string
	git  git.Options
	now  func() time.Time
	mu   sync.Mutex // of changes
}

var _ forge.Forge = (*Forge)(nil)

// person is an account in a file.
type person struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Bot   bool   `json:"bot,omitempty"`
}

// person converts an account. Without an id it is named ghost, as on other forges.
func (p person) person() forge.Person {
	if p.ID <= 0 {
		return forge.Person{Login: "ghost"}
	}
	return forge.Person{ID: precedent.NumberID(p.ID), Login: p.Login, Bot: p.Bot}
}

// repository is repo.json.
type repository struct {
	Host    string   `json:"host,omitempty"`
	Owner   string   `json:"owner"`
	Name    string   `json:"name"`
	Git     string   `json:"git,omitempty"` // made absolute; empty if there is none
	Me      person   `json:"me"`
	Members []member `json:"members"`
}

type member struct {
	person
	Permission forge.Permission `json:"permission"`
}

func (r repository) id() precedent.Repo {
	return precedent.Repo{Host: r.Host, Owner: r.Owner, Name: r.Name}
}

// New opens a folder that contains a repo.json. Errors are of type *forge.Error.
func New(o Options) (*Forge, error) {
	const doing = "open local forge"
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fail(doing, err)
	}
	f := &Forge{dir: dir, git: o.Git, now: o.Now}
	r, err := f.repository()
	f.host = r.Host
	return f, fail(doing, err)
}

// repository reads repo.json.
func (f *Forge) repository() (repository, error) {
	var r repository
	err := f.read("repo.json", &r)
	if errors.Is(err, fs.ErrNotExist) {
		return r, &forge.Error{
			Kind: forge.KindNotFound, Msg: "no repo.json in " + f.dir, Hint: "see docs/github.md for the files of a local forge",
		}
	}
	if err != nil {
		return r, err
	}
	r.Host = cmp.Or(r.Host, DefaultHost)
	if id, err := precedent.ParseRepo(r.id().String()); err != nil || id != r.id() || id.IsLocal() ||
		forge.CheckRepo("", r.Host, id) != nil {
		return r, invalidFile("repo.json: host, owner and name do not identify a repository")
	}
	if r.Git != "" && !filepath.IsAbs(r.Git) {
		r.Git = filepath.Join(f.dir, filepath.FromSlash(r.Git))
	}
	return r, nil
}

// readRepo reads repo.json and checks that it is about the repository.
func (f *Forge) readRepo(ctx context.Context, repo precedent.Repo) (repository, error) {
	if err := ctx.Err(); err != nil {
		return repository{}, err
	}
	if err := forge.CheckRepo("a local forge", f.host, repo); err != nil {
		return repository{}, err
	}
	r, err := f.repository()
	if err == nil && (!strings.EqualFold(r.Owner, repo.Owner) || !strings.EqualFold(r.Name, repo.Name)) {
		err = &forge.Error{Kind: forge.KindNotFound, Msg: "the folder contains only " + r.id().String()}
	}
	return r, err
}

// invalidFile is the error of a malformed file.
func invalidFile(format string, args ...any) error {
	return &forge.Error{Kind: forge.KindAnswer, Msg: fmt.Sprintf(format, args...)}
}

// read parses a file below the folder. A misspelled field is an error, so that it does not pass for what was
// meant.
func (f *Forge) read(name string, into any) error {
	data, err := os.ReadFile(filepath.Join(f.dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	if err := strict.UnmarshalKnown(data, into); err != nil {
		return invalidFile("%s: %v", name, err)
	}
	return nil
}

// update reads a file, which may be missing, calls do to change it, and replaces it.
func update[T any](f *Forge, name string, do func(*T) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var v T
	if err := f.read(name, &v); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := do(&v); err != nil {
		return err
	}
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false) // people read it
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// fail prefixes an error with what was attempted; nil if err is nil.
func fail(doing string, err error) error {
	if err == nil {
		return nil
	}
	out := forge.Error{Kind: forge.KindAnswer, Msg: err.Error()}
	if e, ok := errors.AsType[*forge.Error](err); ok {
		out = *e
	} else if e, ok := errors.AsType[*git.Error](err); ok {
		out.Hint = e.Hint
	} else if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		out.Kind, out.Err = forge.KindNetwork, err
	} else if errors.Is(err, fs.ErrNotExist) {
		out.Kind = forge.KindNotFound
	}
	out.Msg = doing + ": " + strings.Join(strings.Fields(out.Msg), " ")
	return &out
}

// Host returns the host in repo.json.
func (f *Forge) Host() string { return f.host }

// Pages returns a layout with URLs of pull requests, although no server serves them,
// and without URLs of files.
func (f *Forge) Pages() forge.Pages {
	return forge.Pages{Web: &url.URL{Scheme: "https", Host: f.host}, Pull: "pull"}
}

// Folder returns the absolute path of the git repository in repo.json, to fetch from.
// It is empty if there is none.
func (f *Forge) Folder() (string, error) {
	r, err := f.repository()
	return r.Git, fail("read local forge", err)
}

// Quota has no limit, only the time.
func (f *Forge) Quota() forge.Quota { return forge.Quota{At: f.now().UTC()} }

// Me returns the account "me" in repo.json.
func (f *Forge) Me(context.Context) (forge.Person, error) {
	r, err := f.repository()
	if err == nil && (r.Me.ID <= 0 || !forge.IsLogin(r.Me.Login)) {
		err = &forge.Error{
			Kind: forge.KindAuth, Msg: "repo.json does not say which account posts",
			Hint: `add "me" with a positive id and a login`,
		}
	}
	return r.Me.person(), fail("read the account that posts", err)
}

// Permission returns what repo.json says now. An account that is not in it with the
// same id and login has none.
func (f *Forge) Permission(ctx context.Context, repo precedent.Repo, p forge.Person) (forge.Permission, error) {
	r, err := f.readRepo(ctx, repo)
	for _, m := range r.Members {
		known := m.Permission == forge.Read || m.Permission.MayWrite()
		if known && m.person.person().ID == p.ID && p.ID != "" && strings.EqualFold(m.Login, p.Login) {
			return m.Permission, fail("read permission", err)
		}
	}
	return forge.None, fail("read permission", err)
}

// KnowsPermissions is always true: repo.json has the members.
func (f *Forge) KnowsPermissions(ctx context.Context, repo precedent.Repo) (forge.Unsupported, error) {
	_, err := f.readRepo(ctx, repo)
	return "", fail("read members", err)
}

// lacking is why something is not done.
const lacking forge.Unsupported = "a local forge, which is for trying what would be posted, does not have that"

// ReadEvent reads nothing: a folder tells of no events.
func (f *Forge) ReadEvent(string, []byte) (forge.Event, error) { return forge.Event{}, nil }

// VerifyHook refuses every request: a folder sends none.
func (f *Forge) VerifyHook(http.Header, []byte, []string) (forge.HookHeader, error) {
	return forge.HookHeader{}, forge.ErrUnsigned
}

// MakeLabels is not supported.
func (f *Forge) MakeLabels(context.Context, precedent.Repo, []string) (forge.Unsupported, error) {
	return lacking, nil
}

// AddLabel is not supported.
func (f *Forge) AddLabel(context.Context, precedent.Repo, int, string) (forge.Unsupported, error) {
	return lacking, nil
}

// RemoveLabel is not supported.
func (f *Forge) RemoveLabel(context.Context, precedent.Repo, int, string) (forge.Unsupported, error) {
	return lacking, nil
}

// Pushable is not supported: a fix is pushed to a real forge only.
func (f *Forge) Pushable(context.Context, precedent.Repo, string) (forge.Unsupported, error) {
	return lacking, nil
}

// Repositories returns the repository of the folder, if its owner is asked for.
func (f *Forge) Repositories(_ context.Context, owner string) ([]precedent.Repo, error) {
	r, err := f.repository()
	if err != nil || owner != "" && !strings.EqualFold(owner, r.Owner) {
		return nil, fail("list repositories", err)
	}
	return []precedent.Repo{r.id()}, nil
}

// Check writes the result of a review to checks.json.
func (f *Forge) Check(ctx context.Context, repo precedent.Repo, c forge.Check) (forge.Unsupported, error) {
	_, err := f.readRepo(ctx, repo)
	if err == nil {
		err = update(f, "checks.json", func(all *map[string]map[string]forge.Check) error {
			if err := forge.PassFence(ctx); err != nil {
				return err
			}
			if *all == nil {
				*all = map[string]map[string]forge.Check{}
			}
			if (*all)[c.Commit] == nil {
				(*all)[c.Commit] = map[string]forge.Check{}
			}
			(*all)[c.Commit][c.Name] = c
			return nil
		})
	}
	return "", fail("set check in "+repo.String(), err)
}

// Checks lists nothing: no CI reports to a folder.
func (f *Forge) Checks(context.Context, precedent.Repo, string) ([]forge.CommitCheck, error) {
	return nil, nil
}
