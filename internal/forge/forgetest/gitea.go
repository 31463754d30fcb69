package forgetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// GiteaKind is a server of the Gitea family.
type GiteaKind int

// The kinds. Gitea has routes to resolve conversations and to answer in them since January 2026: a
// development version of 1.26 may lack them. It deletes comments on lines since August 2025; before, it
// reported success and did nothing. Forgejo adds comments to a review and takes them away.
const (
	Gitea127 GiteaKind = iota
	Gitea126           // a development version from before January 2026
	Gitea125           // a development version from before August 2025
	Forgejo
)

// Gitea is a server that shows a world like Gitea or Forgejo. Set its fields before
// the first request, or under World.Change.
type Gitea struct {
	URL  string // base URL for clients
	Kind GiteaKind
	// Plain means that the account of Secret is not an administrator of the
	// repository, and can write only if the world's members or teams say so. The token
	// then has the scope read:organization only with Organization.
	Plain, Organization bool
	// Behind are heads that the server still shows, by pull request, because it has
	// not processed the last push.
	Behind map[int]string
	// Headless is how many requests get a pull request without a head.
	Headless int
	// Most is the maximum page size; the default of a server if it is 0.
	Most int
	// Breaks is how many comments of the next review are stored before the server fails; 0 for none.
	Breaks int

	t         testing.TB
	stage     *Stage
	path      string
	job, fork bool // see Job
}

// Gitea serves the world until the test ends. A request with an unknown field, or
// without a required one, fails the test.
func (s *Stage) Gitea(t testing.TB) *Gitea {
	t.Helper()
	return s.GiteaAt(t, "")
}

// GiteaAt is a Gitea below a path: "/code".
func (s *Stage) GiteaAt(t testing.TB, path string) *Gitea {
	t.Helper()
	g := &Gitea{t: t, stage: s, path: path}
	api := g.judge(s.Script.wrap(http.HandlerFunc(g.serve)))
	server := httptest.NewServer(api)
	g.URL = server.URL + path
	s.View = g.view
	t.Cleanup(server.Close)
	return g
}

// judge checks what all requests have in common.
func (g *Gitea) judge(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, g.path+"/api/v1/") {
			g.t.Errorf("%s is not below the API", r.URL.Path)
		}
		if got := r.Header.Get("User-Agent"); !strings.HasPrefix(got, "precedent") {
			g.t.Errorf("User-Agent is %q", got)
		}
		if r.ContentLength > 0 && r.Header.Get("Content-Type") != "application/json" {
			g.t.Errorf("%s %s has the Content-Type %q", r.Method, r.URL.Path, r.Header.Get("Content-Type"))
		}
		next.ServeHTTP(w, r)
	})
}

// giteaRoute handles a method and path.
type giteaRoute struct {
	method, path string
	do           func(*Gitea, *call) reply
	kinds        []GiteaKind // servers that have it; all if empty
}

var giteaRoutes = []giteaRoute{
	{"GET", "/version", (*Gitea).version, nil},
	{"GET", "/user", (*Gitea).me, nil},
	{"GET", "/repos/{owner}/{repo}/pulls", (*Gitea).pulls, nil},
	{"GET", "/repos/{owner}/{repo}/pulls/{file}", (*Gitea).pull, nil},
	{"GET", "/repos/{owner}/{repo}/pulls/{number}/reviews", (*Gitea).reviews, nil},
	{"POST", "/repos/{owner}/{repo}/pulls/{number}/reviews", (*Gitea).review, nil},
	{"GET", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}", (*Gitea).oneReview, nil},
	{"DELETE", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}", (*Gitea).deleteReview, nil},
	{"GET", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/comments", (*Gitea).inline, nil},
	{"POST", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/dismissals", (*Gitea).dismiss, nil},
	{"POST", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/comments", (*Gitea).addInline, []GiteaKind{Forgejo}},
	{
		"DELETE", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/comments/{comment}", (*Gitea).deleteInline,
		[]GiteaKind{Forgejo},
	},
	{"POST", "/repos/{owner}/{repo}/pulls/{number}/comments/{id}/replies", (*Gitea).answer, []GiteaKind{Gitea127}},
	{"POST", "/repos/{owner}/{repo}/pulls/comments/{id}/resolve", (*Gitea).resolve, []GiteaKind{Gitea127}},
	{"POST", "/repos/{owner}/{repo}/pulls/comments/{id}/unresolve", (*Gitea).resolve, []GiteaKind{Gitea127}},
	{"GET", "/repos/{owner}/{repo}/issues/{number}/comments", (*Gitea).comments, nil},
	{"POST", "/repos/{owner}/{repo}/issues/{number}/comments", (*Gitea).say, nil},
	{"GET", "/repos/{owner}/{repo}/issues", (*Gitea).issuesSince, nil},
	{"GET", "/repos/{owner}/{repo}/issues/comments", (*Gitea).commentsSince, nil},
	{"GET", "/repos/{owner}/{repo}/issues/comments/{id}", (*Gitea).comment, nil},
	{"PATCH", "/repos/{owner}/{repo}/issues/comments/{id}", (*Gitea).edit, nil},
	{"DELETE", "/repos/{owner}/{repo}/issues/comments/{id}", (*Gitea).delete, nil},
	{"GET", "/repos/{owner}/{repo}/issues/comments/{id}/reactions", (*Gitea).reactions, nil},
	{"GET", "/repos/{owner}/{repo}/collaborators/{login}/permission", (*Gitea).permission, nil},
	{"GET", "/repos/{owner}/{repo}/assignees", (*Gitea).assignees, nil},
	{"GET", "/repos/{owner}/{repo}/collaborators", (*Gitea).collaborators, nil},
	{"GET", "/repos/{owner}/{repo}/teams", (*Gitea).teams, nil},
	{"GET", "/teams/{id}/members", (*Gitea).teamMembers, nil},
	{"GET", "/users/{login}/orgs/{org}/permissions", (*Gitea).organizationPermissions, nil},
	{"POST", "/repos/{owner}/{repo}/statuses/{sha}", (*Gitea).status, nil},
	{"GET", "/repos/{owner}/{repo}/commits/{ref}/statuses", (*Gitea).statuses, nil},
	{"GET", "/repos/{owner}/{repo}", (*Gitea).repository, nil},
	{"GET", "/repos/{owner}/{repo}/branches/{branch...}", (*Gitea).branchOf, nil},
	{"GET", "/user/repos", (*Gitea).repositories, nil},
	{"GET", "/orgs/{org}/repos", (*Gitea).repositories, nil},
	{"GET", "/users/{user}/repos", (*Gitea).repositories, nil},
	{"GET", "/repos/{owner}/{repo}/labels", (*Gitea).labels, nil},
	{"POST", "/repos/{owner}/{repo}/labels", (*Gitea).makeLabel, nil},
	{"GET", "/orgs/{org}/labels", (*Gitea).sharedLabels, nil},
	{"GET", "/repos/{owner}/{repo}/issues/{number}/labels", (*Gitea).labelsOf, nil},
	{"POST", "/repos/{owner}/{repo}/issues/{number}/labels", (*Gitea).addLabels, nil},
	{"DELETE", "/repos/{owner}/{repo}/issues/{number}/labels/{id}", (*Gitea).removeLabel, nil},
}

// serve routes a request, and answers while the world does not change.
func (g *Gitea) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), g.path+"/api/v1")
	g.stage.World.mu.Lock()
	defer g.stage.World.mu.Unlock()
	// Gitea's router returned 405 for a path that it knows by another method, and 404
	// without JSON for one that it does not know.
	status := http.StatusNotFound
	for _, route := range giteaRoutes {
		values, ok := fit(route.path, path)
		if !ok || route.kinds != nil && !slices.Contains(route.kinds, g.Kind) {
			continue
		}
		if route.method != r.Method {
			status = http.StatusMethodNotAllowed
			continue
		}
		for name, value := range values {
			r.SetPathValue(name, value)
		}
		g.write(w, g.handle(&call{Request: r, body: body, who: g.stage.World.Me}, route.do))
		return
	}
	w.WriteHeader(status)
}

// handle authenticates a request and finds its repository and pull request.
func (g *Gitea) handle(c *call, do func(*Gitea, *call) reply) reply {
	if scheme, token, _ := strings.Cut(c.Header.Get("Authorization"), " "); scheme != "token" || token != Secret {
		return g.problem(http.StatusUnauthorized, "user does not exist [uid: 0, name: ]")
	}
	if c.PathValue("owner") == "" {
		return do(g, c)
	}
	owner, name := c.PathValue("owner"), c.PathValue("repo")
	c.repo = g.stage.World.Repo(owner, name)
	switch {
	case c.repo == nil:
		return g.notFound()
	case !strings.EqualFold(owner+"/"+name, c.repo.Owner+"/"+c.repo.Name):
		out := reply{status: http.StatusMovedPermanently, body: ""}
		if g.Kind == Gitea125 || g.Kind == Forgejo {
			out.status = http.StatusTemporaryRedirect
		}
		to := strings.Replace(c.URL.RequestURI(), owner+"/"+name, c.repo.Owner+"/"+c.repo.Name, 1)
		out.header = map[string]string{"Location": to}
		return out
	case c.Method != http.MethodGet && c.repo.Archived && !strings.HasSuffix(c.URL.Path, "/reviews"):
		return g.problem(http.StatusLocked, c.repo.Owner+"/"+c.repo.Name+" is archived")
	}
	c.pull = c.repo.find(c.Request)
	if c.PathValue("number") != "" && c.pull == nil {
		return g.notFound()
	}
	return do(g, c)
}

func (g *Gitea) problem(status int, message string) reply {
	return reply{status: status, body: object{"message": message, "url": g.URL + "/api/swagger"}}
}

func (g *Gitea) notFound() reply {
	return reply{status: http.StatusNotFound, body: object{
		"errors": []any{}, "message": "The target couldn't be found.", "url": g.URL + "/api/swagger",
	}}
}

// read decodes the body, which must not contain unknown fields.
func (g *Gitea) read(c *call, into any) *reply {
	d := json.NewDecoder(bytes.NewReader(c.body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		g.t.Errorf("%s %s: %v", c.Method, c.URL.Path, err)
		out := g.problem(http.StatusUnprocessableEntity, err.Error())
		return &out
	}
	return nil
}

// write sends an answer, without an ETag.
func (g *Gitea) write(w http.ResponseWriter, a reply) {
	body, err := json.Marshal(a.body)
	kind := "application/json;charset=utf-8"
	if s, ok := a.body.(string); ok {
		body, kind = []byte(s), "text/plain;charset=utf-8"
	}
	if err != nil {
		g.t.Errorf("write JSON: %v", err)
	}
	w.Header().Set("Content-Type", kind)
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	w.WriteHeader(a.status)
	if a.status != http.StatusNoContent {
		_, _ = w.Write(body)
	}
}

// What a server gives as it is installed (DEFAULT_PAGING_NUM, MAX_RESPONSE_ITEMS).
const (
	giteaPage    = 30
	giteaMaxPage = 50
)

// page returns a page of a list, with the total. A nil entry is one that the account
// cannot see: it counts, but the page is shorter. Functions make only the entries of the page.
func (g *Gitea) page(c *call, all []any) reply {
	q := c.URL.Query()
	most := cmp.Or(g.Most, giteaMaxPage)
	per, page := min(positive(q, "limit", giteaPage), most), positive(q, "page", 1)
	from := min((page-1)*per, len(all))
	out := g.whole(nil)
	out.header["X-Total-Count"] = strconv.Itoa(len(all))
	part := slices.DeleteFunc(append([]any{}, all[from:min(from+per, len(all))]...),
		func(one any) bool { return one == nil })
	for i, one := range part {
		if make, ok := one.(func() any); ok {
			part[i] = make()
		}
	}
	out.body = part
	return out
}

// whole returns a list that Gitea does not page.
func (g *Gitea) whole(all []any) reply {
	return reply{
		status: http.StatusOK, body: append([]any{}, all...),
		header: map[string]string{"X-Total-Count": strconv.Itoa(len(all))},
	}
}

// shown returns the comments of a kind that a list contains by now: it may lag behind.
func (g *Gitea) shown(c *call, kind forge.CommentKind) (all []forge.Comment) {
	for _, m := range c.pull.Comments {
		if m.Kind == kind && g.stage.World.shows(c.pull.written[forge.CommentRef{Kind: kind, ID: m.ID}],
			fault(c.Request).LagFor) {
			all = append(all, m)
		}
	}
	return all[:max(0, len(all)-lag(c.Request))]
}

func (g *Gitea) at(c *call, id precedent.ForgeID) string {
	return fmt.Sprintf("%s/%s/%s/pulls/%d#issuecomment-%s", g.URL, c.repo.Owner, c.repo.Name, c.pull.Number, id)
}
