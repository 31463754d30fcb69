package forgetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// call is a request and what it is about.
type call struct {
	*http.Request
	body []byte
	who  forge.Person      // who sent it
	app  bool              // by the token of an app, as that of Actions is
	jwt  bool              // by an app itself, of no installation
	may  map[string]string // permissions of a token of an installation; nil for all
	repo *Repo
	pull *Pull // nil if the path names none that there is
}

// read decodes the body; if that fails, it returns GitHub's answer.
func (c *call) read(into any) *reply {
	if len(bytes.TrimSpace(c.body)) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, into); err != nil {
		out := problem(http.StatusBadRequest, "Problems parsing JSON")
		return &out
	}
	return nil
}

// lacks returns GitHub's answer to a token of an installation that was not given a permission.
func (c *call) lacks(permission string) *reply {
	if c.may == nil || c.may[permission] != "" {
		return nil
	}
	out := problem(http.StatusForbidden, "Resource not accessible by integration")
	return &out
}

// number is a number in the path.
func (c *call) number(name string) int64 {
	n, _ := strconv.ParseInt(c.PathValue(name), 10, 64)
	return n
}

// id is an id in the path; empty if it is invalid.
func (c *call) id(name string) precedent.ForgeID { return precedent.NumberID(c.number(name)) }

// route handles a method and path. net/http cannot distinguish
// /pulls/{number}/comments from /pulls/comments/{id}.
type route struct {
	method, path string
	do           func(*GitHub, *call) reply
}

// routes are below the root of the API. The first match counts.
var routes = []route{
	{"GET", "/user", (*GitHub).me},
	{"GET", "/users/{login}", (*GitHub).userOf},
	{"GET", "/app", (*GitHub).appItself},
	{"POST", "/app/installations/{id}/access_tokens", (*GitHub).issue},
	{"GET", "/repos/{owner}/{repo}/installation", (*GitHub).installation},
	{"POST", "/graphql", (*GitHub).graphQL},

	{"GET", "/app/installations", (*GitHub).installations},
	{"GET", "/app/installations/{id}", (*GitHub).oneInstallation},
	{"GET", "/installation/repositories", (*GitHub).repositories},
	{"GET", "/user/repos", (*GitHub).repositories},
	{"GET", "/orgs/{owner}/repos", (*GitHub).repositories},
	{"GET", "/users/{owner}/repos", (*GitHub).repositories},
	{"GET", "/repos/{owner}/{repo}", (*GitHub).repository},
	{"GET", "/repos/{owner}/{repo}/branches/{branch}", (*GitHub).branchOf},
	{"GET", "/repos/{owner}/{repo}/rules/branches/{branch}", (*GitHub).branchRules},
	{"GET", "/repos/{owner}/{repo}/commits/{ref}/statuses", (*GitHub).statuses},

	{"GET", "/repos/{owner}/{repo}/pulls", (*GitHub).pulls},
	{"GET", "/repos/{owner}/{repo}/pulls/comments/{id}", (*GitHub).oneInline},
	{"GET", "/repos/{owner}/{repo}/pulls/comments", (*GitHub).inlineSince},
	{"PATCH", "/repos/{owner}/{repo}/pulls/comments/{id}", (*GitHub).editInline},
	{"DELETE", "/repos/{owner}/{repo}/pulls/comments/{id}", (*GitHub).deleteInline},
	{"GET", "/repos/{owner}/{repo}/pulls/comments/{id}/reactions", (*GitHub).inlineReactions},
	{"GET", "/repos/{owner}/{repo}/pulls/{number}", (*GitHub).pullRequest},
	{"GET", "/repos/{owner}/{repo}/pulls/{number}/files", (*GitHub).files},
	{"GET", "/repos/{owner}/{repo}/pulls/{number}/comments", (*GitHub).inline},
	{"POST", "/repos/{owner}/{repo}/pulls/{number}/comments/{id}/replies", (*GitHub).answer},
	{"GET", "/repos/{owner}/{repo}/pulls/{number}/reviews", (*GitHub).reviews},
	{"POST", "/repos/{owner}/{repo}/pulls/{number}/reviews", (*GitHub).review},
	{"GET", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}", (*GitHub).oneReview},
	{"GET", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/comments", (*GitHub).inlineOfReview},
	{"PUT", "/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/dismissals", (*GitHub).dismiss},

	{"GET", "/repos/{owner}/{repo}/issues", (*GitHub).issuesSince},
	{"GET", "/repos/{owner}/{repo}/issues/comments", (*GitHub).commentsSince},
	{"GET", "/repos/{owner}/{repo}/issues/comments/{id}", (*GitHub).oneComment},
	{"PATCH", "/repos/{owner}/{repo}/issues/comments/{id}", (*GitHub).editComment},
	{"DELETE", "/repos/{owner}/{repo}/issues/comments/{id}", (*GitHub).deleteComment},
	{"GET", "/repos/{owner}/{repo}/issues/comments/{id}/reactions", (*GitHub).commentReactions},
	{"GET", "/repos/{owner}/{repo}/issues/{number}/comments", (*GitHub).comments},
	{"POST", "/repos/{owner}/{repo}/issues/{number}/comments", (*GitHub).say},
	{"GET", "/repos/{owner}/{repo}/labels", (*GitHub).repoLabels},
	{"POST", "/repos/{owner}/{repo}/labels", (*GitHub).makeLabel},
	{"POST", "/repos/{owner}/{repo}/issues/{number}/labels", (*GitHub).label},
	{"DELETE", "/repos/{owner}/{repo}/issues/{number}/labels/{label}", (*GitHub).unlabel},

	{"GET", "/repos/{owner}/{repo}/collaborators/{login}/permission", (*GitHub).permission},
	{"POST", "/repos/{owner}/{repo}/check-runs", (*GitHub).createCheck},
	{"PATCH", "/repos/{owner}/{repo}/check-runs/{id}", (*GitHub).updateCheck},
	{"GET", "/repos/{owner}/{repo}/commits/{ref}/check-runs", (*GitHub).checks},
}

// parameters are the query parameters that the server supports, or that state its defaults.
var parameters = map[string]string{
	"per_page": "", "page": "", "state": "", "since": "", "check_name": "", "filter": "", "content": "", "sort": "",
	"direction": "", "cursor": "", "affiliation": "",
}

// fit matches a path with a template, and returns the values of its names. A last name with dots,
// {name...}, is the rest of the path.
func fit(template, path string) (map[string]string, bool) {
	parts, named := strings.Split(path, "/"), strings.Split(template, "/")
	if last := len(named) - 1; strings.HasSuffix(template, "...}") && len(parts) > last {
		parts = append(parts[:last:last], url.PathEscape(strings.Join(parts[last:], "/")))
	}
	if len(parts) != len(named) {
		return nil, false
	}
	values := map[string]string{}
	for i, name := range named {
		value, err := url.PathUnescape(parts[i])
		switch {
		case err != nil || value == "":
			if name != "" {
				return nil, false
			}
		case strings.HasPrefix(name, "{"):
			values[strings.Trim(name, "{.}")] = value
		case name != value:
			return nil, false
		}
	}
	return values, true
}

// isGraphQL reports whether a request is for GraphQL, which is beside the REST API in
// GitHub Enterprise, and below the same root on GitHub.
func isGraphQL(r *http.Request) bool {
	return r.URL.Path == "/api/graphql" || r.URL.Path == "/api/v3/graphql"
}

// serve routes a request, and answers while the world does not change.
func (g *GitHub) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.EscapedPath(), "/api"), "/v3")
	byNumber := strings.HasPrefix(path, "/repositories/")
	for _, route := range routes {
		template := route.path
		if byNumber {
			template = strings.Replace(template, "/repos/{owner}/{repo}", "/repositories/{repository}", 1)
		}
		values, ok := fit(template, path)
		if !ok || route.method != r.Method {
			continue
		}
		for name, value := range values {
			r.SetPathValue(name, value)
		}
		g.stage.World.mu.Lock()
		defer g.stage.World.mu.Unlock()
		g.write(w, r, g.handle(&call{Request: r, body: body}, route, path))
		return
	}
	g.write(w, r, problem(http.StatusNotFound, "Not Found"))
}

// handle authenticates a request and finds its repository and pull request.
func (g *GitHub) handle(c *call, route route, path string) reply {
	if !g.authenticate(c) {
		return problem(http.StatusUnauthorized, "Bad credentials")
	}
	for name, values := range c.URL.Query() {
		if known, ok := parameters[name]; !ok || known != "" && known != values[0] {
			g.t.Errorf("the server of the tests does not know %s=%s, which GitHub has", name, values[0])
		}
	}
	if !strings.HasPrefix(route.path, "/repos/") {
		return route.do(g, c)
	}
	owner, name := c.PathValue("owner"), c.PathValue("repo")
	c.repo = g.stage.World.Repo(owner, name)
	if id := c.PathValue("repository"); id != "" {
		for _, known := range g.stage.World.repos {
			if strconv.FormatInt(known.ID, 10) == id {
				c.repo = known
			}
		}
	}
	switch {
	case c.repo == nil:
		return problem(http.StatusNotFound, "Not Found")
	case name != "" && !strings.EqualFold(owner+"/"+name, c.repo.Owner+"/"+c.repo.Name):
		return g.moved(c, strings.TrimPrefix(path, "/repos/"+owner+"/"+name))
	case c.jwt && !strings.HasSuffix(route.path, "/installation"):
		return problem(http.StatusUnauthorized, "A JSON web token could not be decoded")
	case c.Method != http.MethodGet && c.repo.Archived && !strings.HasSuffix(route.path, "/reviews"):
		return problem(http.StatusForbidden, "Repository was archived so is read-only.")
	}
	c.pull = c.repo.find(c.Request)
	if c.PathValue("number") != "" && c.pull == nil {
		return problem(http.StatusNotFound, "Not Found")
	}
	return route.do(g, c)
}

// moved redirects a request for a former name of a repository. A request that makes a
// change must not become a GET.
func (g *GitHub) moved(c *call, rest string) reply {
	to := fmt.Sprintf("%s/api/v3/repositories/%d%s", g.URL, c.repo.ID, rest)
	if c.URL.RawQuery != "" {
		to += "?" + c.URL.RawQuery
	}
	out := problem(http.StatusMovedPermanently, "Moved Permanently")
	if c.Method != http.MethodGet {
		out = problem(http.StatusTemporaryRedirect, "Temporary Redirect")
	}
	out.header = map[string]string{"Location": to}
	return out
}

// association is what GitHub says of the author of a comment. It proves no permission.
func association(m forge.Comment) string {
	if m.Member {
		return "COLLABORATOR"
	}
	return "CONTRIBUTOR"
}

// past is what the lists of a whole repository have in common: they begin at a time, and are
// sorted by the last update or, unless asked, by the creation.
type past struct {
	since      time.Time
	byUpdate   bool
	descending bool
	after      bool
}

func (g *GitHub) past(c *call) past {
	q := c.URL.Query()
	since, _ := time.Parse(time.RFC3339, q.Get("since"))
	return past{since, q.Get("sort") == "updated", q.Get("sort") != "" && q.Get("direction") == "desc", g.After}
}

// has reports whether a list has an entry.
func (p past) has(updated time.Time) bool {
	updated = updated.Truncate(time.Second)
	return p.since.IsZero() || updated.After(p.since) || !p.after && updated.Equal(p.since)
}

// pastComment is a comment and the number of its pull request.
type pastComment struct {
	number int
	*forge.Comment
}

// order compares two entries.
func (p past) order(a, b pastComment) int {
	by := 0
	if p.byUpdate {
		by = a.Edited.Compare(b.Edited)
	}
	if by == 0 {
		by = cmp.Or(a.At.Compare(b.At), a.ID.Compare(b.ID))
	}
	if p.descending {
		return -by
	}
	return by
}

// commentsSince lists the comments on all pull requests as a whole, and on issues.
func (g *GitHub) commentsSince(c *call) reply { return g.kindSince(c, forge.OnThread) }

// inlineSince lists the comments on the lines of all pull requests.
func (g *GitHub) inlineSince(c *call) reply { return g.kindSince(c, forge.OnLine) }

func (g *GitHub) kindSince(c *call, kind forge.CommentKind) reply {
	order := g.past(c)
	var found []pastComment
	for n, p := range c.repo.Pulls {
		for i := range p.Comments {
			m := &p.Comments[i]
			if m.Kind == kind && order.has(m.Edited) && (len(p.Reviews) == 0 || !p.unsent(*m)) {
				found = append(found, pastComment{n, m})
			}
		}
	}
	slices.SortFunc(found, order.order)
	all := make([]any, len(found))
	for i, m := range found {
		all[i] = func() any {
			out := g.commentJSON(c, c.repo.Pulls[m.number], *m.Comment)
			if c.repo.Issues[m.number] {
				out["html_url"] = fmt.Sprintf("%s/%s/%s/issues/%d#issuecomment-%s", g.URL, c.repo.Owner, c.repo.Name, m.number,
					m.ID)
			}
			return out
		}
	}
	return g.page(c.Request, all)
}

// issuesSince lists issues and pull requests.
func (g *GitHub) issuesSince(c *call) reply {
	order := g.past(c)
	if c.URL.Query().Get("state") != "all" || !order.byUpdate || order.descending {
		return problem(http.StatusNotImplemented,
			"the server of the tests lists all issues, the least recently updated first")
	}
	var found []*Pull
	for _, p := range c.repo.Pulls {
		if order.has(p.Updated) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b *Pull) int { return cmp.Or(a.Updated.Compare(b.Updated), a.Number-b.Number) })
	all := make([]any, len(found))
	for i, p := range found {
		all[i] = func() any { return g.issueJSON(c.repo, p) }
	}
	return g.page(c.Request, all)
}

// issueJSON is an issue or a pull request as one.
func (g *GitHub) issueJSON(repo *Repo, p *Pull) object {
	whole := g.pullJSON(repo, p)
	out := object{}
	for _, name := range []string{
		"id", "number", "title", "body", "user", "state", "locked", "labels", "created_at", "updated_at", "html_url",
	} {
		out[name] = whole[name]
	}
	out["node_id"] = fmt.Sprintf("I_%d_%d", repo.ID, p.Number)
	if !repo.Issues[p.Number] {
		out["node_id"], out["draft"] = whole["node_id"], whole["draft"]
		out["pull_request"] = object{"merged_at": whole["merged_at"], "html_url": whole["html_url"]}
	}
	return out
}
