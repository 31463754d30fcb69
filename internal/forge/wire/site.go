package wire

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Site is what the clients of GitHub and Gitea have in common.
type Site struct {
	*Transport
	pages forge.Pages
	hook  HookHeaders
	polls *bounded[precedent.Repo, poll]
	me    *account
}

// account is that of the token.
type account struct {
	mu     sync.Mutex
	person forge.Person
}

// NewSite returns a Site. It sends nothing.
func NewSite(o Options, pages forge.Pages, hook HookHeaders) Site {
	t := New(o)
	return Site{t, pages, hook, newBounded[precedent.Repo, poll](maxCache), &account{}}
}

// Host returns the host as repository identities contain it.
func (s *Site) Host() string { return strings.ToLower(s.pages.Web.Host) }

// Pages returns the layout of the web pages.
func (s *Site) Pages() forge.Pages { return s.pages }

// VerifyHook checks that a request of a webhook is signed with one of the secrets.
func (s *Site) VerifyHook(h http.Header, body []byte, secrets []string) (forge.HookHeader, error) {
	return VerifyHook(s.hook, h, body, secrets)
}

// MeOnce returns the account of the token, which ask finds out the first time.
func (s *Site) MeOnce(ask func(*User) error) (forge.Person, error) {
	s.me.mu.Lock()
	defer s.me.mu.Unlock()
	if s.me.person.ID != "" {
		return s.me.person, nil
	}
	var u User
	if err := ask(&u); err != nil {
		return forge.Person{}, err
	}
	s.me.person = u.Person()
	return s.me.person, nil
}

// CheckRepo refuses a repository that is not on this forge.
func (s *Site) CheckRepo(r precedent.Repo) error { return forge.CheckRepo(s.o.Forge, s.Host(), r) }

type repoKey struct{}

// RepoOf returns the repository that a request is about, from its context; false if it is about none.
func RepoOf(ctx context.Context) (precedent.Repo, bool) {
	r, ok := ctx.Value(repoKey{}).(precedent.Repo)
	return r, ok
}

// Begin returns a call about a repository, whose paths are below it. It sends nothing if the repository or an
// id of a comment is not valid.
func (s *Site) Begin(ctx context.Context, r precedent.Repo, doing string, comments ...precedent.ForgeID) Call {
	err := cmp.Or(s.CheckRepo(r), forge.CheckNumbers(comments...))
	return s.Call(context.WithValue(ctx, repoKey{}, r), doing, "repos/"+r.Owner+"/"+r.Name+"/", err)
}

// Writable returns the listed repositories of an owner, of all if it is empty, that are not archived and that the token
// may write to. err is that of the list.
func (s *Site) Writable(do Call, owner string, listed []*Repository, err error) ([]precedent.Repo, error) {
	if err != nil && !forge.IsPartial(err) {
		return nil, err
	}
	var all []precedent.Repo
	for _, r := range listed {
		repo := r.repo(s)
		if !r.Permissions.Push || r.Archived || r.Disabled || owner != "" && !strings.EqualFold(repo.Owner, owner) {
			continue
		}
		if s.CheckRepo(repo) != nil {
			return nil, do.Unexpected("it names no repository")
		}
		all = append(all, repo)
	}
	all, more := forge.SortRepositories(do.Doing(), all)
	return all, cmp.Or(err, more)
}

// Pushable tells why the token may not push to a branch, whose name is escaped in the path: by the repository, and the
// protection of the branch. mayPush tells whether it has write access; nil to ask the repository.
func (s *Site) Pushable(do Call, repo precedent.Repo, branch, escaped string, mayPush func() bool) (forge.Unsupported,
	error,
) {
	var r Repository
	if err := do.Get(&r, "/repos/%s/%s", repo.Owner, repo.Name); err != nil {
		return "", err
	}
	may := r.Permissions.Push
	if mayPush != nil {
		may = mayPush()
	}
	switch {
	case r.Archived || r.Disabled:
		return forge.NotPushable(repo, branch, "the repository is archived"), nil
	case !may:
		return forge.NotPushable(repo, branch, "the token has no write access to the repository's contents"), nil
	case branch == r.DefaultBranch:
		return forge.NotPushable(repo, branch, "it is the default branch"), nil
	}
	var found struct {
		Name        string
		Protected   bool
		UserCanPush *bool `json:"user_can_push"` // on Gitea
	}
	if err := do.Get(&found, "branches/%s", escaped); err != nil {
		return "", err
	}
	switch {
	case found.Name != branch:
		return "", do.Unexpected("it describes another branch")
	case found.Protected || found.UserCanPush != nil && !*found.UserCanPush:
		return forge.NotPushable(repo, branch, "it is protected"), nil
	}
	return "", nil
}
