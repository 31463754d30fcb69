package forgetest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestServerJudges plants what the judging of requests exists to catch: a request that GitHub does not describe fails
// the test.
func TestServerJudges(t *testing.T) {
	for _, test := range []struct {
		method, target, body string
		want                 string // part of the complaint; empty for none
	}{
		{"GET", "/pulls?state=open&sort=updated&direction=desc&per_page=100&page=2", "", ""},
		{"GET", "/issues/1/comments?since=2026-01-02T03:04:05Z", "", ""},
		{"GET", "/collaborators/robot[bot]/permission", "", ""},
		{"POST", "/issues/1/comments", `{"body":"Hello"}`, ""},
		{"GET", "/pull/1", "", "path not found"},
		{"GET", "/pulls/1/comments/2/more", "", "path not found"},
		{"DELETE", "/pulls/1", "", "operation not found"},
		{"GET", "/pulls?stat=open", "", `no parameter "stat"`},
		{"GET", "/pulls?state=opened", "", "state"},
		{"GET", "/pulls?per_page=many", "", "per_page"},
		{"GET", "/pulls/one", "", "pull_number"},
		{"GET", "/issues/1/comments?since=yesterday", "", "since"},
		{"GET", "/pulls//comments", "", "path not found"},
		{"POST", "/issues/1/comments", `{"text":"Hello"}`, "body"},
	} {
		t.Run(test.method+" "+test.target+" "+test.body, func(t *testing.T) {
			said := complaints(t, test.method, "/repos/acme/shop"+test.target, test.body)
			if (len(said) > 0) != (test.want != "") || !strings.Contains(strings.Join(said, "\n"), test.want) {
				t.Errorf("complained %q, want %q", said, test.want)
			}
		})
	}
}

// complaints sends a request to a GitHub, and returns what that complains of.
func complaints(t *testing.T, method, target, body string) []string {
	t.Helper()
	inner, s := &recorder{TB: t}, NewStage(t)
	s.World.Add(Shop())
	g := s.GitHub(inner)
	req := needs.Value(http.NewRequestWithContext(t.Context(), method, g.URL+"/api/v3"+target, strings.NewReader(body)))(t)
	req.Header = http.Header{
		"User-Agent": {"precedent"}, "X-Github-Api-Version": {"2022-11-28"}, "Accept": {"application/vnd.github+json"},
		"Content-Type": {"application/json"}, "Authorization": {"Bearer " + Secret},
	}
	resp, err := http.DefaultClient.Do(req)
	needs.NoError(t, err)
	resp.Body.Close()
	return inner.said
}

// recorder is a test whose failures are expected.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}
