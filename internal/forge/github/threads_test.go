package github

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// talk makes conversations, each with so many comments.
func talk(s *forgetest.Stage, p *forgetest.Pull, lengths ...int) {
	for _, n := range lengths {
		root := s.World.Remark(p, forgetest.Bo, precedent.Span{Path: "src/till.go", Side: precedent.Right, Start: 3, End: 3},
			"Why?")
		for range n - 1 {
			s.World.Say(p, forgetest.Ann, root.ID, "Because.")
		}
	}
}

// TestConversationsWithoutGraphQL: what a token may not ask GraphQL is made of
// comments, without names; then nothing can be resolved, and that is said.
func TestConversationsWithoutGraphQL(t *testing.T) {
	for name, f := range map[string]forgetest.Fault{
		"403":       {Status: 403, Body: `{"message":"Resource not accessible by integration"}`},
		"404":       {Status: 404, Body: `{"message":"Not Found"}`},
		"forbidden": {Status: 200, Body: `{"data":null,"errors":[{"type":"FORBIDDEN","message":"no"}]}`},
		"old version": {
			Status: 200,
			Body:   `{"errors":[{"message":"Field 'fullDatabaseId' doesn't exist on type 'PullRequestReviewComment'","extensions":{"code":"undefinedField"}}]}`,
		},
	} {
		s, c, repo, p := till(t)
		talk(s, p, 2, 1, 3)
		s.World.Close(p, s.World.Threads(p)[0].Comments[0], forgetest.Bo)
		want := s.World.Threads(p)
		for i := range want {
			want[i].Closed, want[i].ClosedBy = false, forge.Person{}
		}
		f.On = "/graphql"
		s.Script.Plan(f)
		got, err := c.Threads(t.Context(), repo, 8)
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || d != "" || s.Script.Left() != 0 {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, d)
		}
		before := len(s.Script.Requests())
		if cannot, err := c.Resolve(t.Context(), repo, 8, got[0], true); err != nil || cannot == "" ||
			len(s.Script.Requests()) != before {
			t.Errorf("%s: %q, %v", name, cannot, err)
		}
	}
}

// TestGraphQLFails: a failure that is none of the query does not make conversations unresolved, nor ends what resolves
// them.
func TestGraphQLFails(t *testing.T) {
	for name, f := range map[string]forgetest.Fault{
		"secondary limit": {
			Body:   `{"errors":[{"type":"RATE_LIMITED","message":"You have exceeded a secondary rate limit."}]}`,
			Header: map[string]string{"Retry-After": "23"},
		},
		"secondary limit without time": {
			Body: `{"data":null,"errors":[{"message":"You have exceeded a secondary rate limit. Please wait a few minutes."}]}`,
		},
		"failure": {
			Body: `{"data":null,"errors":[{"message":"Something went wrong while executing your query. This may be a timeout."}]}`,
		},
	} {
		s, c, repo, p := till(t)
		talk(s, p, 1)
		s.World.Close(p, s.World.Threads(p)[0].Comments[0], forgetest.Bo)
		f.On, f.Status, f.Times = "/graphql", 200, 2
		s.Script.Plan(f)
		began := s.Clock.Now()
		all, err := c.Threads(t.Context(), repo, 8)
		if err != nil || len(all) != 1 || !all[0].Closed || s.Script.Left() != 0 {
			t.Fatalf("%s: %+v, %v", name, all, err)
		}
		if took := s.Clock.Now().Sub(began); f.Header != nil && took < 46*time.Second {
			t.Errorf("%s: again after %s", name, took)
		}
		f.Times = 1
		s.Script.Plan(f)
		cannot, err := c.Resolve(t.Context(), repo, 8, all[0], false)
		var e *forge.Error
		if errors.As(err, &e); cannot != "" || err != nil && (e.Kind != forge.KindServer || !e.Unsure) {
			t.Errorf("%s: %q, %v", name, cannot, err)
		}
	}
}

// TestAnswersOfGraphQL: errors come with status 200, and mean what they say.
func TestAnswersOfGraphQL(t *testing.T) {
	s, c, repo, p := till(t)
	talk(s, p, 1)
	all, err := c.Threads(t.Context(), repo, 8)
	if err != nil || len(all) != 1 {
		t.Fatal(err)
	}
	if _, err := c.PullRequest(t.Context(), repo, 8); err != nil {
		t.Fatal(err)
	}
	failed := func(kind string) string {
		return `{"data":{"resolveReviewThread":null},"errors":[{"type":"` + kind + `","message":"It is\n` +
			forgetest.Secret[:4] + ` so."}]}`
	}
	for _, test := range []struct {
		name, body  string
		read, write forge.ErrorKind
		unsure      bool
	}{
		{"not found", failed("NOT_FOUND"), forge.KindNotFound, forge.KindNotFound, false},
		{"limit", failed("RATE_LIMITED"), forge.KindRate, forge.KindRate, false},
		{
			"archived", `{"errors":[{"type":"FORBIDDEN","message":"Repository was archived so is read-only."}]}`, "",
			forge.KindClosed, false,
		},
		{"unprocessable", failed("UNPROCESSABLE"), "", forge.KindInvalid, false},
		{"no data", `{}`, forge.KindAnswer, forge.KindAnswer, true},
		{"other data", `{"data":[]}`, forge.KindAnswer, forge.KindAnswer, true},
		{"no JSON", `<html>`, forge.KindAnswer, forge.KindAnswer, true},
		{"no pull request", `{"data":{"repository":{"pullRequest":null}}}`, forge.KindAnswer, "", false},
		{"no number", `{"data":{"repository":{"pullRequest":{"reviewThreads":{"nodes":[{"comments":{"nodes":[{"fullDatabaseId":"x"}]}}]}}}}}`, forge.KindAnswer, "", false},
	} {
		f := forgetest.Fault{On: "/graphql", Status: 200, Body: test.body, Header: map[string]string{
			"X-RateLimit-Resource": "graphql", "X-RateLimit-Reset": "1900000000", "X-RateLimit-Limit": "1",
			"X-RateLimit-Remaining": "0",
		}}
		s.Script.Plan(f)
		_, err := c.Threads(t.Context(), repo, 8)
		var e *forge.Error
		if errors.As(err, &e); test.read != "" && (e == nil || e.Kind != test.read || e.Unsure) || test.read == "" &&
			test.write != "" && err != nil {
			t.Errorf("%s, read: %+v", test.name, err)
		}
		s.Script.Plan(f)
		_, err = c.Resolve(t.Context(), repo, 8, all[0], true)
		e = nil
		if errors.As(err, &e); test.write != "" && (e == nil || e.Kind != test.write || e.Unsure != test.unsure) {
			t.Errorf("%s, write: %+v", test.name, err)
		}
		if test.write == forge.KindRate && e.Retry.Unix() != 1900000000 || c.Quota().Limit != 5000 {
			t.Errorf("%s: again at %s, quota %+v", test.name, e.Retry, c.Quota())
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n") {
			t.Errorf("%s: %q", test.name, err)
		}
	}
	if cannot, err := c.Resolve(t.Context(), repo, 8, all[0], true); err != nil || cannot != "" {
		t.Errorf("%q, %v", cannot, err)
	}
	if !s.World.Threads(p)[0].Closed {
		t.Error("the conversation is still open")
	}
}

// TestConversationsWithoutEnd: a server that has always one more page is not followed for ever.
func TestConversationsWithoutEnd(t *testing.T) {
	s, c, repo, _ := till(t)
	more := `"pageInfo":{"hasNextPage":true,"endCursor":"x"}`
	s.Script.Plan(forgetest.Fault{
		On: "/graphql", Status: 200, Times: 9999,
		Body: `{"data":{"repository":{"pullRequest":{"reviewThreads":{` + more + `,"nodes":[]}}}}}`,
	})
	_, err := c.Threads(t.Context(), repo, 8)
	if e := trouble(err); e.Kind != forge.KindTooLarge || len(s.Script.Requests()) != maxPages {
		t.Errorf("%v after %d requests", err, len(s.Script.Requests()))
	}
}

// TestFoldedReview: where GraphQL may not fold the words of a review up, that is
// said; a review that is gone needs no folding.
func TestFoldedReview(t *testing.T) {
	s, c, repo, p := till(t)
	posted, err := c.Post(t.Context(), repo, 8, draft(p))
	needs.NoError(t, err)
	words := forge.CommentRef{Kind: forge.OnReview, ID: posted.Review}
	s.Script.Plan(forgetest.Fault{
		On: "/graphql", Status: 403, Body: `{"message":"Resource not accessible by integration"}`,
	})
	s.Script.Plan(forgetest.Fault{On: "/graphql", Status: 404, Body: `{"message":"Not Found"}`})
	for range 2 {
		if cannot, err := c.Delete(t.Context(), repo, 8, words); err != nil || cannot == "" {
			t.Errorf("%q, %v", cannot, err)
		}
	}
	if cannot, err := c.Delete(t.Context(), repo, 8, words); err != nil || cannot != "" ||
		s.World.FoldedUp(p)[words] != "DUPLICATE" {
		t.Errorf("%q, %v, folded: %v", cannot, err, s.World.FoldedUp(p))
	}
	if cannot, err := c.Delete(t.Context(), repo, 8, forge.CommentRef{Kind: forge.OnReview, ID: "4"}); err != nil ||
		cannot != "" {
		t.Errorf("%q, %v", cannot, err)
	}
	s.Script.Plan(forgetest.Fault{On: "/reviews/", Status: 200, Body: `{"id":4}`})
	if _, err := c.Delete(t.Context(), repo, 8, words); err == nil {
		t.Error("a review without a name was folded up")
	}
	for _, kind := range []forge.CommentKind{"", "odd"} {
		bad := forge.CommentRef{Kind: kind, ID: "4"}
		_, err1 := c.Delete(t.Context(), repo, 8, bad)
		_, err2 := c.Reactions(t.Context(), repo, 8, bad)
		for _, err := range []error{err1, c.Edit(t.Context(), repo, 8, bad, "x"), err2} {
			if e := trouble(err); e.Kind != forge.KindRefused || e.Unsure {
				t.Errorf("%q: %v", kind, err)
			}
		}
	}
	if reactions, err := c.Reactions(t.Context(), repo, 8, words); err != nil || len(reactions) != 0 {
		t.Errorf("%v, %v", reactions, err)
	}
}
