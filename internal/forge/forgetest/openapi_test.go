package forgetest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestJudge plants what the judging of requests exists to catch.
func TestJudge(t *testing.T) {
	needJudges(t)
	rules, err := description()
	needs.NoError(t, err)
	const repo = "/repos/acme/shop"
	for _, test := range []struct {
		name, method, target, body string
		want                       string // part of the complaint; empty for none
	}{
		{"good", "GET", repo + "/pulls?state=open&per_page=100&page=2", "", ""},
		{"good time", "GET", repo + "/issues/1/comments?since=2026-01-02T03:04:05Z", "", ""},
		{"good login", "GET", repo + "/collaborators/robot[bot]/permission", "", ""},
		{"good body", "POST", repo + "/issues/1/comments", `{"body":"Hello"}`, ""},
		{"no such path", "GET", repo + "/pull/1", "", "path not found"},
		{"no such path above", "GET", "/repos/acme/shop/pulls/1/comments/2/more", "", "path not found"},
		{"no such operation", "DELETE", repo + "/pulls/1", "", "operation not found"},
		{"unknown parameter", "GET", repo + "/pulls?stat=open", "", `no parameter "stat"`},
		{"wrong choice", "GET", repo + "/pulls?state=opened", "", "state"},
		{"wrong kind", "GET", repo + "/pulls?per_page=many", "", "per_page"},
		{"wrong number", "GET", repo + "/pulls/one", "", "pull_number"},
		{"wrong time", "GET", repo + "/issues/1/comments?since=yesterday", "", "since"},
		{"nothing in place of a name", "GET", "/repos/acme//pulls", "", "path not found"},
		{"wrong body", "POST", repo + "/issues/1/comments", `{"text":"Hello"}`, "body"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(test.method, test.target, strings.NewReader(test.body))
			if test.body != "" {
				r.Header.Set("Content-Type", "application/json")
			}
			err := rules.judge(t.Context(), r, r.URL.Path)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("complained without a reason: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, want a complaint with %q", err, test.want)
			}
		})
	}
}

// TestServerJudges: a request that GitHub does not describe fails the test.
func TestServerJudges(t *testing.T) {
	inner := &recorder{TB: t}
	s := NewStage(t)
	s.World.Add(Shop())
	g := s.GitHub(inner)
	for _, path := range []string{"/api/v3/repos/acme/shop/pulls/1", "/api/v3/repos/acme/shop/pulls?stat=open"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.URL+path, nil)
		needs.NoError(t, err)
		req.Header = http.Header{
			"User-Agent": {"precedent"}, "X-Github-Api-Version": {"2022-11-28"}, "Accept": {"application/vnd.github+json"},
		}
		resp, err := http.DefaultClient.Do(req)
		needs.NoError(t, err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("without a token the answer is %d", resp.StatusCode)
		}
	}
	if inner.errors != 1 || g.Judged() != 2 {
		t.Errorf("%d complaints about %d requests", inner.errors, g.Judged())
	}
}

// recorder is a test whose failures are expected.
type recorder struct {
	testing.TB
	errors int
}

func (r *recorder) Errorf(string, ...any) { r.errors++ }
