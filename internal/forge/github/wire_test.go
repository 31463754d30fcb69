package github

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// statuses are the answers that were given.
func statuses(s *forgetest.Stage) []int {
	var all []int
	for _, r := range s.Script.Requests() {
		all = append(all, r.Status)
	}
	return all
}

// TestUnchangedCostsNothing: what is known is asked for conditionally, and what has changed is seen.
func TestUnchangedCostsNothing(t *testing.T) {
	s, _, c, repo := open(t)
	first := needs.Value(c.PullRequest(t.Context(), repo, 1))(t)
	left := c.Quota().Left
	second, err := c.PullRequest(t.Context(), repo, 1)
	if err != nil || !cmp.Equal(first, second) {
		t.Errorf("%v, %s", err, cmp.Diff(first, second))
	}
	if c.Quota().Left != left || !slices.Equal(statuses(s), []int{200, 304}) {
		t.Errorf("answers %v, %d requests paid", statuses(s), left-c.Quota().Left)
	}
	s.World.Change(func() { shop(s).Pulls[1].Head.SHA = strings.Repeat("9", 40) })
	third, err := c.PullRequest(t.Context(), repo, 1)
	if err != nil || third.Head.SHA != strings.Repeat("9", 40) || c.Quota().Left != left-1 {
		t.Errorf("%v, %+v", err, third)
	}
	if diff, _, err := c.Patch(t.Context(), repo, 1); err != nil || !strings.HasPrefix(string(diff), "diff --git") {
		t.Errorf("a diff and a description have one address, and %q, %v came", diff, err)
	}
}

// shop is the stage's own repository.
func shop(s *forgetest.Stage) *forgetest.Repo { return s.World.Repo("acme", "shop") }

// TestLinksAreNotFollowed: the address of the next page may be anything.
func TestLinksAreNotFollowed(t *testing.T) {
	s, _, c, repo := open(t)
	const page = `[{"id":1,"created_at":"2026-01-02T03:04:05Z"},{"id":2,"created_at":"2026-01-02T03:04:05Z"}]`
	evil := map[string]string{"Link": `<http://169.254.169.254/latest?page=7>; rel="next"`}
	s.Script.Plan(forgetest.Fault{On: "/issues/1/comments", Status: 200, Header: evil, Body: page, Times: 2},
		forgetest.Fault{On: "/issues/1/comments", Status: 200, Header: evil, Body: `[]`})
	got, err := c.Comments(t.Context(), repo, 1)
	needs.NoError(t, err)
	asked := s.Script.Requests()
	if len(asked) != 5 || !strings.Contains(asked[2].Path, "page=3") || strings.Contains(fmt.Sprint(asked), "page=7") {
		t.Errorf("asked %v", asked)
	}
	var said []precedent.ForgeID
	for _, m := range got {
		if m.Kind == forge.OnThread {
			said = append(said, m.ID)
		}
	}
	needs.Equal(t, []precedent.ForgeID{"1", "2"}, said)
}

// TestManyReviews: if GitHub does not answer for many pull requests, or with too much, it is asked for fewer.
func TestManyReviews(t *testing.T) {
	for _, f := range []forgetest.Fault{
		{Status: 502, Times: 5},
		{Status: 200, Body: strings.Repeat(" ", 32<<20+1)},
		{Status: 200, Body: `{"errors":[{"type":"RESOURCE_LIMITS_EXCEEDED","message":"Resource limits for this query exceeded."}]}`},
	} {
		s, _, c, repo := open(t)
		f.On = "/graphql"
		s.Script.Plan(f)
		page, err := c.History(t.Context(), repo, forge.HistoryQuery{Stream: streamPulls})
		asked := len(paths(s)) - 1 - max(f.Times, 1) // beside the list, and in vain
		if err != nil || asked != 2 || !slices.ContainsFunc(page.Comments, func(m forge.NumberedComment) bool {
			return m.Kind == forge.OnReview
		}) {
			t.Errorf("%d queries, %+v, %v", asked, page.Comments, err)
		}
	}
}

// TestRateLimit: the server counts down and refuses; the client waits to the
// second, and does not send what it knows will be refused.
func TestRateLimit(t *testing.T) {
	s, g, c, repo := open(t)
	s.Clock.Pass(100 * 365 * 24 * time.Hour)
	reset := s.Clock.Now().Add(90 * time.Second)
	g.Budget(1, reset)
	for range 3 {
		needs.Value(c.PullRequest(t.Context(), repo, 2))(t)
		s.World.Change(func() { shop(s).Pulls[2].Files++ })
	}
	if w := s.Clock.Waits(); !slices.Equal(w, []time.Duration{90 * time.Second}) || !s.Clock.Now().Equal(reset) {
		t.Errorf("waited %v", w)
	}
	needs.Equal(t, []int{200, 200, 200}, statuses(s))
	// Too long to wait for: an error at once, and not even a request.
	reset = s.Clock.Now().Add(time.Hour).Truncate(time.Second)
	g.Budget(0, reset)
	for range 2 {
		_, err := c.PullRequest(t.Context(), repo, 2)
		if e := trouble(err); e.Kind != forge.KindRate || !e.Retry.Equal(reset) || e.Hint == "" {
			t.Errorf("%+v", err)
		}
	}
	needs.Equal(t, []int{403}, statuses(s)[3:])
}
