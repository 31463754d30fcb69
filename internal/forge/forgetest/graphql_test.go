package forgetest

import (
	"encoding/json"
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
			data := needs.Value(json.Marshal(object{"query": test.query, "variables": test.variables}))(t)
			if said := complaints(t, "POST", "/graphql", string(data)); len(said) != test.fails {
				t.Errorf("%q", said)
			}
		})
	}
}
