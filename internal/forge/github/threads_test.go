package github

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/forge/wire"
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

// TestGraphQLFails: a failure that is none of the query does not make conversations unresolved, nor ends what resolves
// them.
func TestGraphQLFails(t *testing.T) {
	for name, f := range map[string]forgetest.Fault{
		"secondary limit": {
			Body:   `{"errors":[{"type":"RATE_LIMITED","message":"You have exceeded a secondary rate limit."}]}`,
			Header: map[string]string{"Retry-After": "23"},
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
	all := needs.Value(c.Threads(t.Context(), repo, 8))(t)
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
			"archived", `{"errors":[{"type":"FORBIDDEN","message":"Repository was archived so is read-only."}]}`, forge.KindAuth,
			forge.KindClosed, false,
		},
		{"unprocessable", failed("UNPROCESSABLE"), forge.KindInvalid, forge.KindInvalid, false},
		{"no data", `{}`, forge.KindAnswer, forge.KindAnswer, true},
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
		if errors.As(err, &e); e == nil || e.Kind != test.read || e.Unsure {
			t.Errorf("%s, read: %+v", test.name, err)
		}
		s.Script.Plan(f)
		_, err = c.Resolve(t.Context(), repo, 8, all[0], true)
		e = nil
		if errors.As(err, &e); test.write != "" && (e == nil || e.Kind != test.write || e.Unsure != test.unsure) {
			t.Errorf("%s, write: %+v", test.name, err)
		}
		if test.write == forge.KindRate && e.Retry.Unix() != 1900000000 {
			t.Errorf("%s: again at %s", test.name, e.Retry)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n") {
			t.Errorf("%s: %q", test.name, err)
		}
	}
	needs.Result(t, "resolve", forge.Unsupported(""))(c.Resolve(t.Context(), repo, 8, all[0], true))
	if !s.World.Threads(p)[0].Closed {
		t.Error("the conversation is still open")
	}
}

// TestFoldedReview: where GraphQL may not fold the words of a review up, that is
// said; a review that is gone needs no folding.
func TestFoldedReview(t *testing.T) {
	s, c, repo, p := till(t)
	posted := needs.Value(c.Post(t.Context(), repo, 8, draft(p)))(t)
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
}

// TestPlace: where inline comments stand, in the forms that GitHub gives them.
func TestPlace(t *testing.T) {
	right := func(start, end int) precedent.Span {
		return precedent.Span{Path: "p", Side: precedent.Right, Start: start, End: end}
	}
	for name, test := range map[string]struct {
		json     string
		span     precedent.Span
		commit   string
		outdated bool
	}{
		"line":                {`"line":4,"original_line":3`, right(4, 4), "now", false},
		"old side":            {`"line":4,"side":"LEFT"`, precedent.Span{Path: "p", Side: "LEFT", Start: 4, End: 4}, "now", false},
		"range":               {`"line":4,"start_line":2,"side":"RIGHT","start_side":"RIGHT"`, right(2, 4), "now", false},
		"range over sides":    {`"line":4,"start_line":2,"side":"RIGHT","start_side":"LEFT"`, right(4, 4), "now", false},
		"outdated":            {`"line":null,"original_line":7,"position":null,"subject_type":"line"`, right(7, 7), "then", true},
		"outdated range":      {`"line":null,"start_line":null,"original_line":7,"original_start_line":5`, right(5, 7), "then", true},
		"file":                {`"subject_type":"file","line":null,"original_line":1`, right(0, 0), "now", false},
		"nothing at all said": {`"body":""`, right(0, 0), "then", true},
	} {
		s, _, c, repo := open(t)
		s.Script.Plan(forgetest.Fault{On: "/pulls/1/comments", Status: 200, Body: `[{"id":5,"created_at":"2026-01-02T03:04:05Z","path":"p",
			"commit_id":"now","original_commit_id":"then",` + test.json + `}]`})
		s.World.Change(func() { shop(s).Pulls[1].Comments = nil })
		got, err := c.Comments(t.Context(), repo, 1)
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v, %v", name, err, got)
			continue
		}
		if m := got[0]; m.Span != test.span || m.Commit != test.commit || m.Outdated != test.outdated {
			t.Errorf("%s: %+v of %s, outdated: %v", name, m.Span, m.Commit, m.Outdated)
		}
	}
}

// TestLeftOut: a comment has no page that is not the forge's, a review that its author has not sent is not said, and one
// without words says nothing.
func TestLeftOut(t *testing.T) {
	s, _, c, repo := open(t)
	s.World.Change(func() { shop(s).Pulls[1].Comments = nil })
	const at = `"submitted_at":"2026-01-02T03:04:05Z"`
	s.Script.Plan(forgetest.Fault{
		On: "/issues/1/comments", Status: 200,
		Body: `[{"id":5,"created_at":"2026-01-02T03:04:04Z","html_url":"https://evil.example/x"}]`,
	}, forgetest.Fault{
		On: "/reviews", Status: 200, Body: `[{"id":1,"body":"draft","state":"PENDING"},
			{"id":2,"body":"","state":"APPROVED",` + at + `},{"id":3,"body":"Fine.",` + at + `}]`,
	})
	got, err := c.Comments(t.Context(), repo, 1)
	if err != nil || len(got) != 2 || got[0].URL != "" || got[1].ID != "3" ||
		got[1].Author != (forge.Person{Login: "ghost"}) {
		t.Errorf("%v, %+v", err, got)
	}
}

// TestStrangeAnswers: what cannot be true is an error, not a value.
func TestStrangeAnswers(t *testing.T) {
	example := forgetest.Example(t, "pull-request")
	pull := func(change func(p, head map[string]any)) string {
		var p map[string]any
		needs.NoError(t, json.Unmarshal(example, &p))
		change(p, p["head"].(map[string]any))
		changed := needs.Value(json.Marshal(p))(t)
		return string(changed)
	}
	for _, test := range []struct{ name, on, body string }{
		{"another pull request", "/pulls/1347", pull(func(p, _ map[string]any) { p["number"] = 1348 })},
		{"a branch for a commit", "/pulls/1347", pull(func(_, head map[string]any) { head["sha"] = "main" })},
		{"a path for a repository", "/pulls/1347", pull(func(_, head map[string]any) {
			head["repo"].(map[string]any)["name"] = ".."
		})},
		{"no base", "/pulls/1347", pull(func(p, _ map[string]any) { p["base"].(map[string]any)["repo"] = nil })},
		{"no state", "/pulls/1347", pull(func(p, _ map[string]any) {
			p["state"], p["merged"], p["merged_at"] = "odd", false, nil
		})},
		{"comment of nothing", "/issues/1347/comments", `[{}]`},
		{"other list", "/pulls/1347/comments", `{"message":"hello"}`},
		{"list of nothing", "/pulls?", `[{}]`},
	} {
		s, _, c, repo := open(t)
		s.World.Change(func() { shop(s).Pulls[1347] = forgetest.Shop().Pulls[4] })
		s.Script.Plan(forgetest.Fault{On: test.on, Status: 200, Body: test.body})
		_, err1 := c.PullRequest(t.Context(), repo, 1347)
		_, err2 := c.Open(t.Context(), repo)
		_, err3 := c.Comments(t.Context(), repo, 1347)
		if err := errors.Join(err1, err2, err3); trouble(err).Kind != forge.KindAnswer || s.Script.Left() != 0 {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestGitHubsOwnExamples reads the answers that GitHub's description gives as examples.
func TestGitHubsOwnExamples(t *testing.T) {
	s, _, c, repo := open(t)
	web := c.Pages().Web
	web.Scheme, web.Host = "https", "github.com" // whose pages the examples name
	repo.Host = c.Host()
	answer := func(on, example string) {
		s.Script.Plan(forgetest.Fault{On: on, Status: 200, Body: string(forgetest.Example(t, example))})
	}
	octocat := forge.Person{ID: "1", Login: "octocat"}
	hello := precedent.Repo{Host: "github.com", Owner: "octocat", Name: "Hello-World"}

	answer("/pulls/1347", "pull-request")
	p, err := c.PullRequest(t.Context(), repo, 1347)
	const sha = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
	clone := "https://github.com/octocat/Hello-World.git"
	want := forge.PullRequest{
		Number: 1347, Title: "Amazing new feature", Body: "Please pull these awesome changes in!", Author: octocat,
		State: forge.Merged,
		Base: forge.Branch{
			Repo: hello, RepoID: "1296269", Visibility: forge.Public, Name: "master", SHA: sha, CloneURL: clone,
		},
		Head: forge.Branch{
			Repo: hello, RepoID: "1296269", Visibility: forge.Public, Name: "new-topic", SHA: sha, CloneURL: clone,
		},
		Ref: "refs/pull/1347/head", Labels: []string{"bug"}, Requested: []forge.Person{{ID: "1", Login: "other_user"}},
		Updated: time.Date(2011, 1, 26, 19, 1, 12, 0, time.UTC), Locked: true,
		MergedAt: time.Date(2011, 1, 26, 19, 1, 12, 0, time.UTC),
	}
	if d := cmp.Diff(want, p); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}

	answer("/pulls?", "pull-request-simple-items")
	needs.Len(t, "pull requests", 1)(c.Open(t.Context(), repo))

	answer("/issues/1/comments", "issue-comment-items")
	answer("/pulls/1/reviews", "pull-request-review-items")
	answer("/pulls/1/comments", "pull-request-review-comment-items")
	said, err := c.Comments(t.Context(), repo, 1)
	at := func(y int, m time.Month, d, h, min, s int) time.Time {
		return time.Date(y, m, d, h, min, s, 0, time.UTC)
	}
	issue := at(2011, 4, 14, 16, 0, 49)
	review := at(2019, 11, 17, 17, 43, 43)
	wantSaid := []forge.Comment{
		{
			ID: "1", Kind: forge.OnThread, Author: octocat, Body: "Me too", At: issue, Edited: issue,
			URL: "https://github.com/octocat/Hello-World/issues/1347#issuecomment-1",
		},
		{
			ID: "10", Kind: forge.OnLine, Author: octocat, Body: "Great stuff!", At: issue, Edited: issue, ReplyTo: "8",
			Review: "42", URL: "https://github.com/octocat/Hello-World/pull/1#discussion-diff-1",
			Span: precedent.Span{Path: "file1.txt", Side: precedent.Right, Start: 1, End: 2}, Commit: sha, Votes: -1,
		},
		{
			ID: "80", Kind: forge.OnReview, Author: octocat, Body: "Here is the body for the review.", At: review,
			Edited: review, URL: "https://github.com/octocat/Hello-World/pull/12#pullrequestreview-80",
		},
	}
	if d := cmp.Diff(wantSaid, said); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}

	answer("/permission", "repository-collaborator-permission-response-if-user-has-admin-permissions")
	if level, err := c.Permission(t.Context(), repo, octocat); err != nil || level != forge.Admin {
		t.Errorf("%q, %v", level, err)
	}
	if s.Script.Left() != 0 {
		t.Errorf("%d examples were not read", s.Script.Left())
	}
}

// FuzzAnswer: whatever a server says, there is a value or an error of the forge,
// and addresses lead nowhere else.
func FuzzAnswer(f *testing.F) {
	for _, name := range []string{
		"pull-request", "pull-request-simple-items", "issue-comment-items",
		"pull-request-review-items", "pull-request-review-comment-items",
	} {
		body := forgetest.Example(f, name)
		f.Add(string(body), `<x?page=2>; rel="next"`)
	}
	f.Fuzz(func(t *testing.T, body, link string) {
		s := forgetest.NewStage(t)
		c, err := New(Options{Network: wire.Network{
			Now: s.Clock.Now, Sleep: s.Clock.Sleep,
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{
					StatusCode: http.StatusOK, Header: http.Header{"Link": {link}},
					Body: io.NopCloser(strings.NewReader(body)), Request: r,
				}, nil
			}),
		}})
		needs.NoError(t, err)
		repo := precedent.Repo{Host: c.Host(), Owner: "acme", Name: "shop"}
		p, err1 := c.PullRequest(t.Context(), repo, 1)
		_, err2 := c.Comments(t.Context(), repo, 1)
		all, err3 := c.Open(t.Context(), repo)
		level, err4 := c.Permission(t.Context(), repo, forge.Person{ID: "77", Login: "x"})
		for _, err := range []error{err1, err2, err3, err4} {
			var e *forge.Error
			if err != nil && !errors.As(err, &e) {
				t.Errorf("%T: %v", err, err)
			}
		}
		if err4 != nil && level != forge.None {
			t.Errorf("%q with %v", level, err4)
		}
		for _, p := range append(all, p) {
			for _, address := range []string{p.Base.CloneURL, p.Head.CloneURL} {
				if address != "" && (!strings.HasPrefix(address, c.Pages().Web.String()+"/") || strings.Contains(address, "..")) {
					t.Errorf("leads to %q", address)
				}
			}
		}
	})
}
