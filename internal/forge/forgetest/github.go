package forgetest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// GitHub is a server that speaks of a world as GitHub does: its JSON, pages,
// ETags and rate limit.
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
}

// rateWindow is how long GitHub counts requests for.
const rateWindow = time.Hour

// GitHub serves the world until the test has ended. Every request is judged by
// GitHub's own OpenAPI description, faults or not, and fails the test if it is
// not valid.
func (s *Stage) GitHub(t testing.TB) *GitHub {
	t.Helper()
	rules, err := description()
	if err != nil {
		t.Fatal(err)
	}
	g := &GitHub{t: t, stage: s, rules: rules, limit: 5000, left: 5000, reset: s.Clock.Now().Add(rateWindow)}
	mux := http.NewServeMux()
	const repo = "/api/v3/repos/{owner}/{repo}"
	for _, r := range []struct {
		path string
		do   func(*GitHub, *Repo, *http.Request) reply
	}{
		{"/pulls", (*GitHub).pulls},
		{"/pulls/{number}", (*GitHub).pull},
		{"/pulls/{number}/comments", (*GitHub).inline},
		{"/pulls/{number}/reviews", (*GitHub).reviews},
		{"/issues/{number}/comments", (*GitHub).comments},
		{"/collaborators/{login}/permission", (*GitHub).permission},
	} {
		mux.HandleFunc("GET "+repo+r.path, g.handle(r.do))
		mux.HandleFunc("GET /api/v3/repositories/{id}"+r.path, g.handle(r.do))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { g.write(w, r, problem(http.StatusNotFound, "Not Found")) })
	server := httptest.NewServer(g.judge(s.Script.wrap(mux)))
	g.URL = server.URL
	t.Cleanup(func() {
		server.Close()
		if came := len(s.Script.Requests()); g.judged+g.followed != came {
			t.Errorf("%d requests came, but %d were judged and %d were redirects", came, g.judged, g.followed)
		}
	})
	return g
}

// Judged counts the requests that GitHub's description was asked about.
func (g *GitHub) Judged() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.judged
}

// Budget sets what is left of the rate limit, and when it is full again.
func (g *GitHub) Budget(left int, reset time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left, g.reset = left, reset
}

// judge holds every request against GitHub's description, but those to where
// GitHub itself redirects to, which it does not describe.
func (g *GitHub) judge(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/api/v3")
		byRedirect := strings.HasPrefix(path, "/repositories/")
		g.mu.Lock()
		if byRedirect {
			g.followed++
		} else {
			g.judged++
		}
		g.mu.Unlock()
		if !byRedirect {
			if err := g.rules.judge(r.Context(), r, path); err != nil {
				g.t.Errorf("GitHub's own description refuses %s %s: %v", r.Method, r.URL.RequestURI(), err)
			}
		}
		for _, h := range []struct{ name, want string }{
			{"X-Github-Api-Version", "2022-11-28"}, {"User-Agent", "precedent"}, {"Accept", "application/vnd.github"},
		} {
			if got := r.Header.Get(h.name); !strings.HasPrefix(got, h.want) {
				g.t.Errorf("%s is %q, want %s…", h.name, got, h.want)
			}
		}
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
	return reply{status: status, body: map[string]string{
		"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status),
	}}
}

// handle finds the repository, and lets do answer while the world stands still.
func (g *GitHub) handle(do func(*GitHub, *Repo, *http.Request) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.stage.World.mu.Lock()
		defer g.stage.World.mu.Unlock()
		owner, name := r.PathValue("owner"), r.PathValue("repo")
		repo := g.stage.World.Repo(owner, name)
		if id := r.PathValue("id"); id != "" {
			for _, known := range g.stage.World.repos {
				if strconv.FormatInt(known.ID, 10) == id {
					repo = known
				}
			}
		}
		switch {
		case r.Header.Get("Authorization") != "Bearer "+Secret:
			g.write(w, r, problem(http.StatusUnauthorized, "Bad credentials"))
		case repo == nil:
			g.write(w, r, problem(http.StatusNotFound, "Not Found"))
		case name != "" && !strings.EqualFold(owner+"/"+name, repo.Owner+"/"+repo.Name):
			rest := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v3/repos/"+owner+"/"+name)
			to := fmt.Sprintf("%s/api/v3/repositories/%d%s", g.URL, repo.ID, rest)
			if r.URL.RawQuery != "" {
				to += "?" + r.URL.RawQuery
			}
			moved := problem(http.StatusMovedPermanently, "Moved Permanently")
			moved.header = map[string]string{"Location": to}
			g.write(w, r, moved)
		default:
			g.write(w, r, do(g, repo, r))
		}
	}
}

// write sends an answer. One that the client knows already costs nothing.
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
	unchanged := a.status == http.StatusOK && r.Header.Get("If-None-Match") == etag
	h := w.Header()
	if !g.spend(h, unchanged) {
		a = problem(http.StatusForbidden, "API rate limit exceeded for user ID 1.")
		body, _ = json.Marshal(a.body)
		unchanged = false
	}
	h.Set("Content-Type", kind)
	for k, v := range a.header {
		h.Set(k, v)
	}
	if a.status == http.StatusOK {
		h.Set("ETag", etag)
		h.Set("Cache-Control", "private, max-age=60, s-maxage=60")
	}
	if unchanged {
		h.Del("Link") // so that nobody relies on it
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(body)
}

// spend counts a request, and tells whether there was one left.
func (g *GitHub) spend(h http.Header, free bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := g.stage.Clock.Now(); !now.Before(g.reset) {
		g.left, g.reset = g.limit, now.Add(rateWindow)
	}
	enough := free || g.left > 0
	if !free && g.left > 0 {
		g.left--
	}
	h.Set("X-RateLimit-Limit", strconv.Itoa(g.limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(g.left))
	h.Set("X-RateLimit-Used", strconv.Itoa(g.limit-g.left))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(g.reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
	return enough
}

// page cuts a list as GitHub does, and says where the rest is.
func (g *GitHub) page(r *http.Request, all []any) reply {
	q := r.URL.Query()
	number := func(key string, missing int) int {
		if n, err := strconv.Atoi(q.Get(key)); err == nil && n > 0 {
			return n
		}
		return missing
	}
	per, page := min(number("per_page", 30), 100), number("page", 1)
	all = all[:max(0, len(all)-lag(r))]
	last := max(1, (len(all)+per-1)/per)
	from := min((page-1)*per, len(all))
	out := reply{status: http.StatusOK, body: append([]any{}, all[from:min(from+per, len(all))]...)}
	var links []string
	link := func(rel string, n int) {
		to := url.Values{}
		for k, v := range q {
			to[k] = v
		}
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
