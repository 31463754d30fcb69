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
	for target, want := range map[string]string{ // part of the complaint; empty for none
		"/pulls?state=open&sort=updated&direction=desc": "",
		"/collaborators/robot[bot]/permission":          "",
		"/pull/1":                                       "path not found",
		"/pulls?stat=open":                              `no parameter "stat"`,
		"/pulls?per_page=many":                          "per_page",
	} {
		said := complaints(t, "/repos/acme/shop"+target)
		if (len(said) > 0) != (want != "") || !strings.Contains(strings.Join(said, "\n"), want) {
			t.Errorf("%s: complained %q, want %q", target, said, want)
		}
	}
}

// complaints sends a request to a GitHub, and returns what that complains of.
func complaints(t *testing.T, target string) []string {
	t.Helper()
	inner, s := &recorder{TB: t}, NewStage(t)
	s.World.Add(Shop())
	g := s.GitHub(inner)
	req := needs.Value(http.NewRequestWithContext(t.Context(), http.MethodGet, g.URL+"/api/v3"+target, nil))(t)
	req.Header = http.Header{
		"User-Agent": {"precedent"}, "X-Github-Api-Version": {"2022-11-28"}, "Accept": {"application/vnd.github+json"},
		"Authorization": {"Bearer " + Secret},
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
