package forgetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// GitHub is a server that shows a world like GitHub, with its JSON, paging, ETags and rate limit.
type GitHub struct {
	URL string // the base that a client of GitHub Enterprise is given

	t     testing.TB
	stage *Stage
	rules *openAPI

	mu    sync.Mutex
	limit int
	left  int
	reset time.Time

	judged, followed int

	// After means that lists since a time begin with the next second.
	After bool

	actions bool              // Secret is a token of Actions
	app     *App              // whose tokens are taken, too
	issued  map[string]issued // tokens of installations
	graph   int               // what is left of the limit of GraphQL
	git     *Git              // nil if it serves none
}

// rateWindow is the period of the rate limit.
const rateWindow = time.Hour

// GitHub serves the world until the test ends. Every request is checked against GitHub's OpenAPI description,
// with or without faults, and fails the test if it is invalid. Without the description the test is skipped.
func (s *Stage) GitHub(t testing.TB) *GitHub {
	t.Helper()
	needJudges(t)
	rules, err := description()
	needs.NoError(t, err)
	g := &GitHub{
		t: t, stage: s, rules: rules, limit: 5000, left: 5000, reset: s.Clock.Now().Add(rateWindow),
		issued: map[string]issued{}, graph: 5000,
	}
	api := g.judge(s.Script.wrap(http.HandlerFunc(g.serve)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.git != nil && isGit(r.URL.Path) {
			g.git.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	}))
	g.URL = server.URL
	t.Cleanup(func() {
		server.Close()
		if came := len(s.Script.Requests()); g.judged+g.followed != came {
			t.Errorf("%d requests came, but %d were judged and %d were redirects", came, g.judged, g.followed)
		}
	})
	return g
}

// Git serves the repositories below a folder at the same address, for the same tokens. Call it
// before the first request.
func (g *GitHub) Git(root string) *Git {
	g.t.Helper()
	g.git = g.stage.Git(g.t, root)
	g.git.URL, g.git.Whose, g.git.MayPush = g.URL, g.whose, g.mayPush
	return g.git
}

// Budget sets the rest of the rate limit, and when it is reset.
func (g *GitHub) Budget(left int, reset time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left, g.reset = left, reset
}

// judge checks requests against GitHub's description, except to targets of its
// redirects, which it does not describe. GraphQL is checked where it is answered.
func (g *GitHub) judge(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
		if err != nil {
			return // the client is gone
		}
		path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v3")
		byRedirect := strings.HasPrefix(path, "/repositories/")
		g.mu.Lock()
		if byRedirect {
			g.followed++
		} else {
			g.judged++
		}
		g.mu.Unlock()
		headers := []struct{ name, want string }{
			{"User-Agent", "precedent"}, {"X-Github-Api-Version", "2022-11-28"}, {"Accept", "application/vnd.github"},
		}
		if isGraphQL(r) {
			headers = headers[:1]
		} else if !byRedirect {
			r.Body = io.NopCloser(bytes.NewReader(body))
			if err := g.rules.judge(r.Context(), r, path); err != nil {
				g.t.Errorf("GitHub's own description refuses %s %s: %v", r.Method, r.URL.RequestURI(), err)
			}
		}
		for _, h := range headers {
			if got := r.Header.Get(h.name); !strings.HasPrefix(got, h.want) {
				g.t.Errorf("%s is %q, want %s…", h.name, got, h.want)
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// reply is an answer before it is written.
type reply struct {
	status int
	body   any // as JSON, but a string as it is
	header map[string]string
}

func problem(status int, message string) reply {
	return reply{status: status, body: object{
		"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status),
	}}
}

// invalid is the answer to an invalid request. Its details are strings, or objects that name a field.
func invalid(message string, complaints ...any) reply {
	return reply{status: http.StatusUnprocessableEntity, body: object{
		"message": message, "errors": complaints, "documentation_url": "https://docs.github.com/rest", "status": "422",
	}}
}

// field is a detail about a field.
func field(resource, name, message string) object {
	return object{"resource": resource, "code": "custom", "field": name, "message": message}
}

// write sends an answer. An unchanged one does not count against the rate limit.
func (g *GitHub) write(w http.ResponseWriter, r *http.Request, a reply) {
	body, err := json.Marshal(a.body)
	kind := "application/json; charset=utf-8"
	if s, ok := a.body.(string); ok {
		body, kind = []byte(s), "application/vnd.github.v3.diff; charset=utf-8"
	}
	if err != nil {
		g.t.Errorf("write JSON: %v", err)
	}
	etag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(append([]byte(r.Header.Get("Accept")), body...)))
	read := a.status == http.StatusOK && r.Method == http.MethodGet
	unchanged := read && r.Header.Get("If-None-Match") == etag
	h := w.Header()
	if !g.spend(h, unchanged, isGraphQL(r)) {
		a = problem(http.StatusForbidden, "API rate limit exceeded for user ID 1.")
		body, _ = json.Marshal(a.body)
		unchanged = false
	}
	h.Set("Content-Type", kind)
	for k, v := range a.header {
		h.Set(k, v)
	}
	if read {
		h.Set("ETag", etag)
		h.Set("Cache-Control", "private, max-age=60, s-maxage=60")
	}
	if unchanged {
		h.Del("Link") // so that nobody relies on it
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(a.status)
	if a.status != http.StatusNoContent {
		_, _ = w.Write(body)
	}
}

// spend counts a request, and reports whether the rate limit allows it. GraphQL has a separate limit.
func (g *GitHub) spend(h http.Header, free, graph bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if graph {
		g.graph--
		g.tell(h, g.graph, "graphql")
		return g.graph >= 0
	}
	if now := g.stage.Clock.Now(); !now.Before(g.reset) {
		g.left, g.reset = g.limit, now.Add(rateWindow)
	}
	enough := free || g.left > 0
	if !free && g.left > 0 {
		g.left--
	}
	g.tell(h, g.left, "core")
	return enough
}

func (g *GitHub) tell(h http.Header, left int, resource string) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(g.limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	h.Set("X-RateLimit-Used", strconv.Itoa(g.limit-left))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(g.reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", resource)
}

// positive is a number of a query.
func positive(q url.Values, key string, missing int) int {
	if n, err := strconv.Atoi(q.Get(key)); err == nil && n > 0 {
		return n
	}
	return missing
}

// page returns a page of a list, with links to the others. Entries may be functions, which make
// only those of the page.
func (g *GitHub) page(r *http.Request, all []any) reply {
	return g.pageOf(r, all, func(part []any, _ int) any { return part })
}

// pageOf returns a page within an object, with the total.
func (g *GitHub) pageOf(r *http.Request, all []any, in func(part []any, whole int) any) reply {
	q := r.URL.Query()
	per, page := min(positive(q, "per_page", 30), 100), positive(q, "page", 1)
	all = all[:max(0, len(all)-lag(r))]
	last := max(1, (len(all)+per-1)/per)
	from := min((page-1)*per, len(all))
	part := append([]any{}, all[from:min(from+per, len(all))]...)
	for i, one := range part {
		if make, ok := one.(func() any); ok {
			part[i] = make()
		}
	}
	out := reply{status: http.StatusOK, body: in(part, len(all))}
	var links []string
	link := func(rel string, n int) {
		to := maps.Clone(q)
		to.Set("page", strconv.Itoa(n))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, g.URL, r.URL.EscapedPath(), to.Encode(), rel))
	}
	if page > 1 {
		link("prev", page-1)
		link("first", 1)
	}
	if page < last {
		link("next", page+1)
		link("last", last)
	}
	if len(links) > 0 {
		out.header = map[string]string{"Link": strings.Join(links, ", ")}
	}
	return out
}
