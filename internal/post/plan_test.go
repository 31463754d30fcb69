package post

import (
	"context"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestPlanForAThread: what is done in a thread by what the review says of it, and never against a person.
func TestPlanForAThread(t *testing.T) {
	me := "precedent[bot]"
	closed := func(by string, state precedent.ThreadState) precedent.Thread {
		return precedent.Thread{Closed: true, ClosedBy: by, State: state}
	}
	type kinds = []store.PostKind
	for _, test := range []struct {
		name   string
		thread precedent.Thread
		answer precedent.AnswerState
		reply  string
		want   kinds
	}{
		{"addressed", precedent.Thread{}, precedent.Addressed, "Fixed.", kinds{store.PostReply, store.PostClose}},
		{"still there", precedent.Thread{}, precedent.StillThere, "It is.", kinds{store.PostReply}},
		{"nobody can tell", precedent.Thread{}, precedent.Unanswered, "", nil},
		{"addressed and closed already", closed(me, ""), precedent.Addressed, "", nil},
		{
			"back after we closed it", closed(me, precedent.ThreadAddressed), precedent.StillThere, "Back.",
			kinds{store.PostReply, store.PostReopen},
		},
		{
			"back, and the forge does not tell who closed it", closed("", precedent.ThreadAddressed),
			precedent.StillThere, "",
			kinds{store.PostReopen},
		},
		{"there, and a person closed it", closed("bo", precedent.ThreadAddressed), precedent.StillThere, "", nil},
		{"there, and a person said no", closed(me, precedent.ThreadWontFix), precedent.StillThere, "", nil},
		{"comment deleted", precedent.Thread{Deleted: true}, precedent.Addressed, "Fixed.", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			number := 1
			test.thread.ID, test.thread.Comment = "t", "7"
			p := &Poster{Me: forge.Person{ID: "1", Login: me}, NewID: func() string { return "id" }}
			r := &precedent.Review{
				ID: "r", PullRequest: &number,
				Threads: []precedent.ThreadAnswer{{Thread: "t", State: test.answer, Reply: test.reply}},
			}
			var got kinds
			for _, post := range p.Plan(r, []precedent.Thread{test.thread}, Options{}) {
				if post.Kind != store.PostSummary && post.Kind != store.PostCheck {
					got = append(got, post.Kind)
				}
			}
			needs.Equal(t, test.want, got)
			test.thread.Comment = "" // it stands in the summary
			if posts := p.Plan(r, []precedent.Thread{test.thread}, Options{}); len(posts) != 2 {
				t.Errorf("%d posts for what stands in the summary", len(posts))
			}
			r.PullRequest = nil
			if posts := p.Plan(r, nil, Options{}); len(posts) != 0 {
				t.Errorf("%d posts without a pull request", len(posts))
			}
		})
	}
}

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
		precedent.PrecedentsOff: "",
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
