package forgetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
)

const threadsQuery = `query($after: String) { repository(owner: "acme", name: "shop") { pullRequest(number: 8) {
	reviewThreads(first: 2, after: $after) { totalCount pageInfo { hasNextPage endCursor } nodes {
		id isResolved resolvedBy { ...who } comments(first: 100) { nodes { fullDatabaseId databaseId author { __typename ... on Actor { login } } } } } } } } }
	fragment who on User { login }`

// TestGraphQL: what is asked for is answered, and nothing else; lists have pages.
func TestGraphQL(t *testing.T) {
	s, g, p := shopServer(t)
	for range 5 {
		s.World.Remark(p, Robot, goodRemarks[0].Span, "x")
	}
	root := s.World.Threads(p)[0].Comments[0]
	s.World.Close(p, root, Bo)
	var seen []string
	var after any
	pages := 0
	for ; pages < 9; pages++ {
		_, got := ask(t, g, Secret, "POST", "/api/graphql", object{"query": threadsQuery, "variables": object{"after": after}})
		list := got.(object)["data"].(object)["repository"].(object)["pullRequest"].(object)["reviewThreads"].(object)
		for _, n := range list["nodes"].([]any) {
			seen = append(seen, n.(object)["id"].(string))
			if len(n.(object)) != 4 {
				t.Errorf("%s", words(n))
			}
		}
		if pages == 0 {
			want := fmt.Sprintf(`{"comments":{"nodes":[{"author":{"__typename":"Bot","login":"robot"},"databaseId":null,"fullDatabaseId":"%s"}]},"id":"PRRT_%s","isResolved":true,"resolvedBy":{"login":"bo"}}`, root, root)
			if first := words(list["nodes"].([]any)[0]); first != want {
				t.Errorf("got  %s\nwant %s", first, want)
			}
		}
		if info := list["pageInfo"].(object); info["hasNextPage"] == true {
			after = info["endCursor"]
			continue
		}
		break
	}
	if pages != 2 || len(seen) != 5 || len(slices.Compact(seen)) != 5 {
		t.Errorf("%q on %d pages", seen, pages+1)
	}
	if left := g.left; left != 5000 {
		t.Errorf("%d requests of the other limit are left", left)
	}
}

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
		{"a list without a length", `{ repository(owner: "acme", name: "shop") { pullRequest(number: 8) { reviewThreads { totalCount } } } }`, nil, false, "MISSING_PAGINATION_BOUNDARIES"},
		{"a list that is too long", `{ repository(owner: "acme", name: "shop") { pullRequest(number: 8) { reviewThreads(first: 101) { totalCount } } } }`, nil, false, "EXCESSIVE_PAGINATION"},
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

// TestGraphQLChanges: conversations are closed by those who may, and comments are
// folded up.
func TestGraphQLChanges(t *testing.T) {
	s, g, p := shopServer(t)
	root := s.World.Remark(p, Bo, goodRemarks[0].Span, "x").ID
	do := func(name, input, id, more string) string {
		t.Helper()
		_, got := ask(t, g, Secret, "POST", "/api/graphql", object{
			"query":     fmt.Sprintf(`mutation M($id: ID!) { %s(input: {%s: $id%s}) { clientMutationId } }`, name, input, more),
			"variables": object{"id": id}, "operationName": "M",
		})
		return words(got)
	}
	thread := fmt.Sprint(threadPrefix, root)
	if got := do("resolveReviewThread", "threadId", thread, ""); strings.Contains(got, "errors") || s.World.Threads(p)[0].ClosedBy != Bot {
		t.Errorf("%s, %+v", got, s.World.Threads(p))
	}
	if do("unresolveReviewThread", "threadId", thread, ""); s.World.Threads(p)[0].Closed {
		t.Errorf("%+v", s.World.Threads(p))
	}
	g.Deny("resolveReviewThread")
	if got := do("resolveReviewThread", "threadId", thread, ""); !strings.Contains(got, `"type":"FORBIDDEN"`) || s.World.Threads(p)[0].Closed {
		t.Errorf("%s", got)
	}
	said := forge.CommentRef{Kind: forge.OnLine, ID: root}
	if got := do("minimizeComment", "subjectId", nodeID(said), ", classifier: DUPLICATE"); s.World.FoldedUp(p)[said] != "DUPLICATE" {
		t.Errorf("%s", got)
	}
	if do("unminimizeComment", "subjectId", nodeID(said), ""); len(s.World.FoldedUp(p)) != 0 {
		t.Errorf("%+v", s.World.FoldedUp(p))
	}
	s.World.Change(func() { s.World.Repo("acme", "shop").allow(Bot, forge.Read) })
	if got := do("unresolveReviewThread", "threadId", thread, ""); !strings.Contains(got, "precedent-bot does not have the correct permissions to execute `UnresolveReviewThread`") {
		t.Errorf("%s", got)
	}
}

// TestGraphQLAddsToUnsent: a remark on a file gets into a review by GraphQL alone.
func TestGraphQLAddsToUnsent(t *testing.T) {
	s, g, p := shopServer(t)
	_, made := ask(t, g, Secret, "POST", tillPath+"/reviews", object{"body": "b"})
	add := func(more string) string {
		_, got := ask(t, g, Secret, "POST", "/api/graphql", object{
			"query":     `mutation($id: ID!) { addPullRequestReviewThread(input: {pullRequestReviewId: $id, body: "x", path: "src/till.go"` + more + `}) { thread { id subjectType } } }`,
			"variables": object{"id": made.(object)["node_id"]},
		})
		return words(got)
	}
	if got := add(", subjectType: FILE"); !strings.Contains(got, `"FILE"`) {
		t.Error(got)
	}
	if got := add(", line: 43, startLine: 41"); !strings.Contains(got, `"LINE"`) {
		t.Error(got)
	}
	if got := add(", line: 20"); !strings.Contains(got, `"thread":null`) {
		t.Error(got)
	}
	if len(s.World.Shown(p)) != 0 {
		t.Errorf("is seen: %+v", s.World.Shown(p))
	}
	ask(t, g, Secret, "POST", fmt.Sprintf("%s/reviews/%s/events", tillPath, id(made)), object{"event": "COMMENT"})
	if all := s.World.Shown(p); len(all) != 3 || all[1].Span.End != 0 || all[2].Span.Start != 41 {
		t.Errorf("is seen: %+v", all)
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
	if r := s.Script.Requests()[0]; r.Body != `{"body":"x"}` || !r.At.Equal(Epoch) || !r.Writes() || s.Script.Requests()[5].Writes() {
		t.Errorf("%+v", r)
	}
}
