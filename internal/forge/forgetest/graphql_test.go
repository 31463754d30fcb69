package forgetest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestGraphQLRefuses: a query that GitHub would not take fails the test, and so does what the fake does not know.
func TestGraphQLRefuses(t *testing.T) {
	const resolve = `mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { isResolved } } }`
	for _, test := range []struct {
		name, query string
		variables   object
		fails       int
	}{
		{"no such field", `{ viewer { nick } }`, nil, 1},
		{"no such argument", `{ repository(name: "x") { name } }`, nil, 1},
		{"no query", `{ viewer `, nil, 1},
		{"wrong variable", resolve, object{"id": object{}}, 1},
		{"no variable", resolve, object{}, 1},
		{"one variable more", resolve, object{"id": "x", "more": 1}, 1},
		{"what the fake does not know", `{ viewer { bio } }`, nil, 1},
		{"a good one", `{ viewer { login } }`, nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			inner := &recorder{TB: t}
			g := NewStage(t).GitHub(inner)
			data, err := json.Marshal(object{"query": test.query, "variables": test.variables})
			needs.NoError(t, err)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL+"/api/v3/graphql", bytes.NewReader(data))
			needs.NoError(t, err)
			req.Header = http.Header{
				"User-Agent": {"precedent"}, "X-Github-Api-Version": {"2022-11-28"}, "Accept": {"application/vnd.github+json"},
				"Content-Type": {"application/json"}, "Authorization": {"Bearer " + Secret},
			}
			resp, err := http.DefaultClient.Do(req)
			needs.NoError(t, err)
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK || inner.errors != test.fails {
				t.Errorf("%d, %d complaints", resp.StatusCode, inner.errors)
			}
		})
	}
}
