package forgetest

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

// Real is a repository of its own on a running Gitea or Forgejo. What people do in the world, they do
// there, each with an account of their own; Refresh reads the pull request back into the world.
type Real struct {
	URL         string // of the forge, without a slash at the end
	Door        string // the same, or that of a Proxy
	Owner, Name string // of the repository
	Token       string // of the account of the world

	t        testing.TB
	world    *World
	pull     *Pull
	admin    *url.Userinfo
	password string // of all accounts that the test made
	suffix   string // of their names, and of the owner's
	people   map[string]forge.Person
	labels   map[string]int64
	push     func(address, ref string)
	pushTo   string // the address and the ref of the branch
	pushAs   string
}

// Origin is where the commits of a pull request come from.
type Origin string

// The origins of pull requests on a real forge.
const (
	FromBranch Origin = "branch"
	FromFork   Origin = "fork" // of the author
	FromAGit   Origin = "AGit" // a push to refs/for/, without a branch
)

// Real makes accounts for the people of the world and a repository with the branches main and feature of
// the git repository origin, and moves the pull request there, which keeps its number. It needs an
// administrator of the forge. The accounts and the repository stay.
func (s *Stage) Real(t testing.TB, address string, admin *url.Userinfo, p *Pull, people ...forge.Person) *Real {
	t.Helper()
	random := strings.ToLower(rand.Text())
	r := &Real{
		URL: strings.TrimSuffix(address, "/"), Name: p.Base.Repo.Name, t: t, world: s.World, pull: p, admin: admin,
		password: random, suffix: "-" + random[:10], people: map[string]forge.Person{}, labels: map[string]int64{},
	}
	r.Door, r.Owner = r.URL, p.Base.Repo.Owner+r.suffix
	r.as(nil, http.MethodPost, "/orgs", object{"username": r.Owner}, nil)
	r.as(nil, http.MethodPost, "/orgs/"+r.Owner+"/repos", object{
		// an empty one has no pull requests until some time after the push
		"name": r.Name, "default_branch": p.Base.Name, "auto_init": true,
	}, nil)
	writers := s.World.Repo(p.Base.Repo.Owner, p.Base.Repo.Name).Members
	for _, who := range append([]forge.Person{s.World.Me}, people...) {
		login := r.login(who)
		r.people[strings.ToLower(login)] = who
		r.as(nil, http.MethodPost, "/admin/users", object{
			"username": login, "email": login + "@example.test", "password": r.password, "must_change_password": false,
		}, nil)
		if slices.ContainsFunc(writers, func(m Member) bool { return m.Person.ID == who.ID && m.Permission == forge.Write }) {
			r.as(nil, http.MethodPut, r.repo("/collaborators/"+login), object{"permission": "write"}, nil)
		}
	}
	var token struct{ SHA1 string }
	r.as(&s.World.Me, http.MethodPost, "/users/"+r.login(s.World.Me)+"/tokens", object{
		"name": "test", "scopes": []string{"read:user", "write:issue", "write:repository", "read:organization"},
	}, &token)
	r.Token = token.SHA1
	return r
}

// Open opens the pull request, once its branches are pushed. Issues take the numbers before its own. push
// pushes the branch of the test to an address as a ref; Push calls it again.
func (r *Real) Open(from Origin, push func(address, ref string)) {
	r.push = push
	r.t.Helper()
	for n := 1; n < r.pull.Number; n++ {
		r.as(nil, http.MethodPost, r.repo("/issues"), object{"title": fmt.Sprint("Issue ", n)}, nil)
	}
	head := r.pull.Head.Name
	r.pushTo, r.pushAs = r.GitURL(nil), "refs/heads/"+head
	switch from {
	case FromAGit:
		r.pushTo, r.pushAs = r.GitURL(&r.pull.Author), "refs/for/"+r.pull.Base.Name+"/"+head
	case FromFork:
		r.as(&r.pull.Author, http.MethodPost, r.repo("/forks"), object{}, nil)
		r.pushTo = strings.Replace(r.GitURL(&r.pull.Author), "/"+r.Owner+"/", "/"+r.login(r.pull.Author)+"/", 1)
		head = r.login(r.pull.Author) + ":" + head
	case FromBranch:
	}
	r.Push()
	if from != FromAGit {
		r.as(&r.pull.Author, http.MethodPost, r.repo("/pulls"), object{
			"head": head, "base": r.pull.Base.Name, "title": string(r.pull.Title), "body": string(r.pull.Body),
		}, nil)
	}
	for _, name := range r.pull.Labels {
		r.label(nil, name)
	}
	host := strings.TrimPrefix(strings.TrimPrefix(r.Door, "http://"), "https://")
	r.world.Change(func() {
		r.world.real = r
		repo := precedent.Repo{Host: host, Owner: r.Owner, Name: r.Name}
		r.pull.Base.Repo, r.pull.Head.Repo = repo, repo
	})
	r.Refresh()
}

// Push pushes the branch of the pull request, as its author does.
func (r *Real) Push() { r.push(r.pushTo, r.pushAs) }

// Shows reports whether a push of a head is an entry of the page of the pull request, which it becomes some time
// after git has ended.
func (r *Real) Shows(head string) bool {
	r.t.Helper()
	return slices.ContainsFunc(r.Events(), func(e RealEvent) bool {
		return e.Type == "pull_push" && strings.Contains(e.Body, head)
	})
}

// GitURL is the address for git, with the credentials of an account, or of the administrator for nil.
func (r *Real) GitURL(who *forge.Person) string {
	u, err := url.Parse(r.URL + "/" + r.Owner + "/" + r.Name + ".git")
	needs.NoError(r.t, err)
	u.User = r.user(who)
	return u.String()
}

func (r *Real) login(who forge.Person) string {
	return strings.NewReplacer("[", "-", "]", "").Replace(who.Login) + r.suffix
}

func (r *Real) user(who *forge.Person) *url.Userinfo {
	if who == nil {
		return r.admin
	}
	return url.UserPassword(r.login(*who), r.password)
}

func (r *Real) repo(path string) string { return "/repos/" + r.Owner + "/" + r.Name + path }

func (r *Real) issue(path string) string {
	return r.repo(fmt.Sprintf("/issues/%d%s", r.pull.Number, path))
}

// as sends a request as an account, or as the administrator for nil, and reads the answer into to.
func (r *Real) as(who *forge.Person, method, path string, body, to any) {
	r.t.Helper()
	data, err := json.Marshal(body)
	needs.NoError(r.t, err)
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.URL+"/api/v1"+path, bytes.NewReader(data))
	needs.NoError(r.t, err)
	user := r.user(who)
	password, _ := user.Password()
	request.SetBasicAuth(user.Username(), password)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	needs.NoError(r.t, err)
	defer response.Body.Close()
	data, err = io.ReadAll(response.Body)
	if err == nil && to != nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		r.t.Fatalf("%s %s: %s %s %v", method, path, response.Status, data, err)
	}
}

// realPage is how many entries a list is asked for; forges give fewer.
const realPage = 50

// realList reads all pages of a list as the administrator.
func realList[T any](r *Real, path string) (all []T) {
	r.t.Helper()
	for page := 1; ; page++ {
		var some []T
		r.as(nil, http.MethodGet, fmt.Sprintf("%s?limit=%d&page=%d", path, realPage, page), nil, &some)
		all = append(all, some...)
		// Gitea hides entries of a timeline after it has cut the page, so a short page need not be the last.
		if len(some) == 0 || len(some) < realPage && !strings.HasSuffix(path, "/timeline") {
			return all
		}
	}
}

func (r *Real) label(who *forge.Person, name string) {
	r.t.Helper()
	if len(r.labels) == 0 {
		for _, l := range realList[struct {
			ID   int64
			Name string
		}](r, r.repo("/labels")) {
			r.labels[l.Name] = l.ID
		}
	}
	if r.labels[name] == 0 {
		var made struct{ ID int64 }
		r.as(nil, http.MethodPost, r.repo("/labels"), object{"name": name, "color": "#ededed"}, &made)
		r.labels[name] = made.ID
	}
	r.as(who, http.MethodPost, r.issue("/labels"), object{"labels": []int64{r.labels[name]}}, nil)
}

func (r *Real) unlabel(who *forge.Person, name string) {
	r.t.Helper()
	for _, l := range realList[struct {
		ID   int64
		Name string
	}](r, r.repo("/labels")) {
		if l.Name == name {
			r.as(who, http.MethodDelete, r.issue(fmt.Sprint("/labels/", l.ID)), nil, nil)
		}
	}
}

func (r *Real) status(s Status) {
	r.t.Helper()
	r.as(nil, http.MethodPost, r.repo("/statuses/"+s.Commit), object{
		"context": s.Context, "state": s.State, "target_url": s.URL, "description": s.Words,
	}, nil)
}

// realComment is a comment of each kind, or a review, as the API shows it.
type realComment struct {
	ID               int64
	User             struct{ Login string }
	Body             string
	CreatedAt        time.Time `json:"created_at"`
	UpdatedAt        time.Time `json:"updated_at"`
	Submitted        time.Time `json:"submitted_at"`
	State            ReviewState
	Dismissed        bool
	Path             string
	Position         int
	OriginalPosition int `json:"original_position"`
	Resolver         *struct{ Login string }
}

// realStates are the states of reviews that have another name in Gitea.
var realStates = map[ReviewState]ReviewState{"COMMENT": Commented, "REQUEST_CHANGES": ChangesRequested}

// Refresh reads head, labels, comments and conversations of the pull request into the world.
func (r *Real) Refresh() {
	r.t.Helper()
	var now struct {
		State  string
		Merged bool
		Head   struct{ SHA string }
		Labels []struct{ Name string }
	}
	pull := r.repo(fmt.Sprint("/pulls/", r.pull.Number))
	r.as(nil, http.MethodGet, pull, nil, &now)
	var all []forge.Comment
	closed, reviews := map[precedent.ForgeID]forge.Person{}, map[precedent.ForgeID]Review{}
	for _, c := range realList[realComment](r, r.issue("/comments")) {
		all = append(all, r.comment(forge.OnThread, c))
	}
	first := map[precedent.Span]precedent.ForgeID{} // conversations are by path and line
	for _, v := range realList[realComment](r, pull+"/reviews") {
		v.CreatedAt = v.Submitted
		if v.State = cmp.Or(realStates[v.State], v.State); v.Dismissed {
			v.State = Dismissed
		}
		reviews[precedent.ForgeID(fmt.Sprint(v.ID))] = Review{Author: r.person(v.User.Login), State: v.State}
		all = append(all, r.comment(forge.OnReview, v))
		remarks := realList[realComment](r, pull+fmt.Sprintf("/reviews/%d/comments", v.ID))
		// forges list them in any order
		slices.SortFunc(remarks, func(a, b realComment) int { return cmp.Compare(a.ID, b.ID) })
		for _, c := range remarks {
			m := r.comment(forge.OnLine, c)
			m.Review = precedent.ForgeID(fmt.Sprint(v.ID))
			m.Span = precedent.Span{Path: c.Path, Side: precedent.Right, Start: c.Position, End: c.Position}
			if c.Position == 0 {
				m.Span.Side, m.Span.Start, m.Span.End = precedent.Left, c.OriginalPosition, c.OriginalPosition
			}
			if root, answers := first[m.Span]; answers {
				m.ReplyTo = root
			} else {
				first[m.Span] = m.ID
			}
			if c.Resolver != nil {
				closed[first[m.Span]] = r.person(c.Resolver.Login)
			}
			all = append(all, m)
		}
	}
	r.world.Change(func() {
		r.pull.Head.SHA, r.pull.Comments, r.pull.Closed, r.pull.Reviews, r.pull.Labels = now.Head.SHA, all, closed, reviews,
			nil
		for _, l := range now.Labels {
			r.pull.Labels = append(r.pull.Labels, l.Name)
		}
	})
}

func (r *Real) person(login string) forge.Person {
	if who, known := r.people[strings.ToLower(login)]; known {
		return who
	}
	return forge.Person{Login: login}
}

func (r *Real) comment(kind forge.CommentKind, c realComment) forge.Comment {
	return forge.Comment{
		ID: precedent.ForgeID(fmt.Sprint(c.ID)), Kind: kind, Author: r.person(c.User.Login),
		Body: precedent.Untrusted(c.Body), At: c.CreatedAt, Edited: c.UpdatedAt,
	}
}

// RealEvent is an entry of the page of a pull request.
type RealEvent struct {
	ID    int64
	Type  string // "label", "pull_push", "comment", …
	By    forge.Person
	Body  string
	Label string // of type label
	Added bool   // else removed
}

// Events are all entries of the page of the pull request, the oldest first.
func (r *Real) Events() (all []RealEvent) {
	r.t.Helper()
	for _, e := range realList[struct {
		ID    int64
		Type  string
		User  struct{ Login string }
		Body  string
		Label *struct{ Name string }
	}](r, r.issue("/timeline")) {
		event := RealEvent{ID: e.ID, Type: e.Type, By: r.person(e.User.Login), Body: e.Body, Added: e.Body == "1"}
		if e.Label != nil {
			event.Label = e.Label.Name
		}
		all = append(all, event)
	}
	return all
}

// Page is all that the forge shows of the pull request, as text.
func (r *Real) Page() string {
	r.t.Helper()
	r.Refresh()
	var all strings.Builder
	r.world.Change(func() {
		fmt.Fprintf(&all, "%s %q\n", r.pull.Head.SHA, r.pull.Labels)
		for _, c := range r.pull.Comments {
			if c.Kind == forge.OnLine { // some time after a push Gitea marks those on changed lines, which counts as an edit
				c.Edited = time.Time{}
			}
			fmt.Fprintf(&all, "%s %s %s %q\n", c.Kind, c.ID, c.Edited, string(c.Body))
		}
	})
	for _, e := range r.Events() {
		fmt.Fprintf(&all, "%d %s %s\n", e.ID, e.Type, e.By.Login)
	}
	for _, s := range realList[struct{ ID int64 }](r, r.repo("/statuses/"+r.pull.Head.SHA)) {
		fmt.Fprintf(&all, "status %d\n", s.ID)
	}
	return all.String()
}

// PushesBy counts the pushes of an account to the branch of the pull request.
func (r *Real) PushesBy(who forge.Person) (n int) {
	r.t.Helper()
	for _, e := range r.Events() {
		if e.Type == "pull_push" && e.By == who {
			n++
		}
	}
	return n
}

// Resolves reports whether programs can resolve conversations on this version of the forge.
func (r *Real) Resolves() bool {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.URL+"/swagger.v1.json", http.NoBody)
	needs.NoError(r.t, err)
	response, err := http.DefaultClient.Do(request)
	needs.NoError(r.t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		r.t.Fatalf("the description of the API: %s %v", response.Status, err)
	}
	return bytes.Contains(data, []byte("/pulls/comments/{id}/resolve"))
}
