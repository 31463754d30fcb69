package forgetest

import (
	"strings"
	"testing"
	"time"
)

// TestGraphQLRefuses: a query that GitHub would not take fails the test, and what
// it would answer with an error is answered so.
func TestGraphQLRefuses(t *testing.T) {
	const resolve = `mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { isResolved } } }`
	for _, test := range []struct {
		name, query string
		variables   object
		fails       bool
		want        string
	}{
		{"no such field", `{ viewer { nick } }`, nil, true, "nick"},
		{"no such argument", `{ repository(name: "x") { name } }`, nil, true, "owner"},
		{"no query", `{ viewer `, nil, true, "Expected"},
		{"wrong variable", resolve, object{"id": object{}}, true, "id"},
		{"no variable", resolve, object{}, true, "id"},
		{"one variable more", resolve, object{"id": "x", "more": 1}, true, "more"},
		{"what the fake does not know", `{ viewer { bio } }`, nil, true, "null"},
		{"no such node", resolve, object{"id": "PRRT_1"}, false, `"type":"NOT_FOUND"`},
		{"no such repository", `{ repository(owner: "x", name: "y") { name } }`, nil, false, `"type":"NOT_FOUND"`},
		{
			"a list without a length",
			`{ repository(owner: "acme", name: "shop") { pullRequest(number: 8) { reviewThreads { totalCount } } } }`, nil,
			false, "MISSING_PAGINATION_BOUNDARIES",
		},
		{
			"a list that is too long",
			`{ repository(owner: "acme", name: "shop") { pullRequest(number: 8) { reviewThreads(first: 101) { totalCount } } } }`, nil, false, "EXCESSIVE_PAGINATION",
		},
		{"a good one", `{ viewer { login } }`, nil, false, `{"data":{"viewer":{"login":"precedent-bot"}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			inner := &recorder{TB: t}
			s := NewStage(t)
			shop := Shop()
			shop.Pulls[till] = Till()
			s.World.Add(shop)
			g := s.GitHub(inner)
			status, got := ask(t, g, Secret, "POST", "/api/v3/graphql", object{"query": test.query, "variables": test.variables})
			if status != 200 || !strings.Contains(words(got), test.want) || (inner.errors > 0) != test.fails {
				t.Errorf("%d, %s, %d complaints", status, words(got), inner.errors)
			}
		})
	}
}

// TestScript: faults of writing happen when they should, and lists lag behind.
func TestScript(t *testing.T) {
	s, g, p := shopServer(t)
	path := shopPath + "/issues/8/comments"
	var said []int
	note := func() { said = append(said, len(s.World.Shown(p))) }
	s.Script.Plan(
		Fault{Method: "POST", Call: note, CallAfter: note},
		Fault{Method: "POST", After: true, Status: 502},
		Fault{Method: "POST", After: true, Drop: true},
		Fault{Method: "POST", Drop: true},
		Fault{Method: "GET", LagFor: 5 * time.Second, Times: 2},
	)
	for i, want := range []int{201, 502, 0, 0} {
		if status, _ := ask(t, g, Secret, "POST", path, object{"body": "x"}); status != want {
			t.Errorf("%d: %d, want %d", i, status, want)
		}
	}
	if len(said) != 2 || said[0] != 0 || said[1] != 1 || len(s.World.Shown(p)) != 3 {
		t.Errorf("%v, then %d", said, len(s.World.Shown(p)))
	}
	for _, want := range []int{0, 3} {
		if _, got := ask(t, g, Secret, "GET", path, nil); len(got.([]any)) != want {
			t.Errorf("the list has %d entries, want %d", len(got.([]any)), want)
		}
		s.Clock.Pass(5 * time.Second)
	}
	if r := s.Script.Requests()[0]; r.Body != `{"body":"x"}` || !r.At.Equal(Epoch) || !r.Writes() ||
		s.Script.Requests()[5].Writes() {
		t.Errorf("%+v", r)
	}
}
