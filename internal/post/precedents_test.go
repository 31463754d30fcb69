package post

import (
	"context"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// TestPrecedentsByPolicy: the policy of the review is that of its comments and its summary, also
// in a later run, which takes away what does not hold any more.
func TestPrecedentsByPolicy(t *testing.T) {
	cited := func(line int) precedent.Finding {
		f := finding(line)
		f.Cites = []precedent.Cite{{
			Kind: precedent.CitesPrecedent, ID: "inline:5", Text: "Count from one.",
			Precedent: &precedent.CitedComment{Pull: 12, AuthorID: "7", Author: "mona", Kind: "inline", Similarity: 0.8},
		}}
		return f
	}
	for display, want := range map[precedent.CitationDisplay]string{
		"": "(`PR 12`, `mona`)", precedent.PrecedentsFull: "(PR #12, @mona)",
		precedent.PrecedentsAnonymous: "(`PR 12`, a reviewer)", precedent.PrecedentsOff: "",
	} {
		s := newStage(t)
		brief := cited(2)
		brief.Placement = precedent.Summary
		s.plan(s.review(1, cited(1), brief), Options{FailOn: precedent.High, Precedents: display})
		s.again() // another program
		s.deliver()
		said := []string{s.summary()}
		for _, c := range s.World.By(s.pull, s.poster.Me) {
			if c.Span.Path != "" {
				said = append(said, string(c.Body))
			}
		}
		if len(said) != 2 {
			t.Fatalf("%d comments", len(said))
		}
		for _, body := range said {
			if got := strings.Contains(body, "previously flagged"); got != (want != "") || !strings.Contains(body, want) {
				t.Errorf("%q: want %q in\n%s", display, want, body)
			}
		}
	}
	s := newStage(t)
	s.plan(s.review(1, cited(1)), Options{FailOn: precedent.High, Precedents: precedent.PrecedentsFull})
	s.again()
	s.poster.Recheck = func(_ context.Context, r *precedent.Review) { r.Findings[0].Cites = nil }
	s.deliver()
	s.want(seen{Reviews: 1, Threads: 1, Summaries: 1, Checks: 1})
	for _, c := range s.World.By(s.pull, forgetest.Bot) {
		if strings.Contains(string(c.Body), "mona") {
			t.Errorf("what does not hold is cited in\n%s", c.Body)
		}
	}
}
