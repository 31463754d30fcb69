package post

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestDelivery(t *testing.T) {
	s := newStage(t)
	whole, brief, hidden, double := finding(4), finding(5), finding(6), finding(1)
	whole.Placement, brief.Placement = precedent.WholeFile, precedent.Summary
	whole.Body = "Nobody can comment on the file."
	hidden.Drop("select", precedent.BelowThreshold, "", "below 75")
	double.Title = "The same place again"
	d := s.say(1, finding(1), finding(2), double, finding(3), whole, brief, hidden)
	s.want(seen{Reviews: 1, Threads: 3, Summaries: 1, Checks: 1})
	// GitHub takes no remark on a file in a review: it is in the summary.
	if d.Posted() != 5 || d.Rejected != 1 || d.Left != 0 || d.Deleted != 0 || d.Unsure != 0 || d.URL == "" ||
		len(d.Notes) > 0 {
		t.Errorf("%+v", d)
	}
	for _, title := range []string{"Line 1 ", "Line 2 ", "Line 3 ", "Line 4 ", whole.Body, "Line 5 "} {
		if !strings.Contains(s.summary(), title) {
			t.Errorf("%q is not in the summary", title)
		}
	}
	threads := s.threads()
	if len(threads) != 5 {
		t.Fatalf("%d threads", len(threads))
	}
	for _, th := range threads {
		inline := strings.Contains("Line 1 counts wrong Line 2 counts wrong Line 3 counts wrong", th.Title)
		if inline != (th.Comment != "") || inline != (th.Forge != "") || th.Start == 0 || th.URL == "" ||
			th.State != precedent.ThreadOpen || th.Commit != sha("c") || th.OpenedAt.IsZero() {
			t.Errorf("%+v", th)
		}
	}
	// Nothing happens a second time, no matter who asks.
	s.again()
	before := len(s.Script.Requests())
	d = s.deliver()
	if d.Posted()+d.Adopted+d.Left > 0 || len(s.writes(before)) > 0 || d.URL == "" {
		t.Errorf("a second delivery did %+v", d)
	}
}

// TestSummaryDeletedByAPerson: a new review says it anew, once.
func TestSummaryDeletedByAPerson(t *testing.T) {
	s := newStage(t)
	s.say(1, finding(1))
	for _, c := range s.World.By(s.pull, s.poster.Me) {
		if c.Kind == forge.OnThread {
			s.World.Remove(s.pull, forge.CommentRef{Kind: c.Kind, ID: c.ID})
		}
	}
	s.deliver()
	s.want(seen{Reviews: 1, Threads: 1, Checks: 1})
	known := inThread(1, s.threads()[0].ID)
	s.say(2, known)
	s.want(seen{Reviews: 1, Threads: 1, Summaries: 1, Checks: 1})
}

// TestAnswersInThreads: what is fixed is answered and closed, what is back opened
// again, and what people closed or opened is left to them.
func TestAnswersInThreads(t *testing.T) {
	s := newStage(t)
	s.say(1, findings(1, 4)...)
	theirs := s.World.Remark(s.pull, forgetest.Bo, spot(9), "And this?")
	ts := s.threads()
	s.World.Close(s.pull, ts[3].Comment, forgetest.Bo)
	answer := func(n int, state precedent.AnswerState, reply string) precedent.ThreadAnswer {
		return precedent.ThreadAnswer{Thread: ts[n].ID, State: state, Reply: reply, Span: ts[n].Span}
	}
	save := func(change func(n int, t *precedent.Thread)) {
		t.Helper()
		ts = s.threads()
		for i := range ts {
			change(i, &ts[i])
		}
		needs.NoError(t, s.rows.SaveThreads(t.Context(), ts))
	}
	save(func(n int, th *precedent.Thread) {
		th.Closed, th.ClosedBy = n == 3, map[bool]string{true: "bo"}[n == 3]
	})
	r := s.review(2)
	r.Threads = []precedent.ThreadAnswer{
		answer(0, precedent.Addressed, "Fixed."), answer(1, precedent.NoLonger, ""),
		answer(2, precedent.StillThere, "It still counts wrong."), answer(3, precedent.StillThere, ""),
		{Thread: "01980000-0000-7000-8000-00000000ffff", State: precedent.Addressed, Reply: "Nobody knows this thread."},
	}
	s.plan(r, failOn)
	d := s.deliver()
	s.want(seen{Reviews: 1, Threads: 4, Summaries: 1, Replies: 2, Checks: 1})
	checkClosed(t, s, map[precedent.ForgeID]string{
		ts[0].Comment: s.poster.Me.Login, ts[1].Comment: s.poster.Me.Login,
		ts[2].Comment: "", ts[3].Comment: "bo", theirs.ID: "",
	})
	if len(d.Notes) > 0 || d.Left > 0 {
		t.Errorf("%+v", d)
	}

	save(func(n int, th *precedent.Thread) {
		if n < 2 {
			th.Closed, th.ClosedBy, th.State = true, s.poster.Me.Login, precedent.ThreadAddressed
		}
	})
	r = s.review(3)
	r.Threads = []precedent.ThreadAnswer{
		answer(0, precedent.StillThere, "It is back."),
		answer(1, precedent.StillThere, ""),
	}
	s.plan(r, failOn)
	s.World.Reopen(s.pull, ts[1].Comment)
	s.World.Close(s.pull, ts[1].Comment, forgetest.Bo) // in between
	s.deliver()
	checkClosed(t, s, map[precedent.ForgeID]string{
		ts[0].Comment: "", ts[1].Comment: "bo", ts[2].Comment: "", ts[3].Comment: "bo", theirs.ID: "",
	})
	s.want(seen{Reviews: 1, Threads: 4, Summaries: 1, Replies: 3, Checks: 1})
}

func checkClosed(t *testing.T, s *stage, want map[precedent.ForgeID]string) {
	t.Helper()
	got := map[precedent.ForgeID]string{}
	for _, th := range s.World.Threads(s.pull) {
		got[th.Comments[0]] = th.ClosedBy.Login
	}
	needs.Equal(t, want, got)
}

// TestNewestReviewSpeaks: what an older one did not get to say is not said.
func TestNewestReviewSpeaks(t *testing.T) {
	s := newStage(t)
	s.plan(s.review(1, finding(1), finding(2)), Options{})
	s.plan(s.review(2, finding(2), finding(3)), Options{})
	s.deliver()
	s.want(seen{Reviews: 1, Threads: 2, Summaries: 1, Checks: 1})
	if got := s.states(); got["remark superseded"] != 2 || got["summary superseded"] != 1 || got["remark confirmed"] != 2 {
		t.Error(got)
	}
}

func TestRequestedChanges(t *testing.T) {
	for _, test := range []struct {
		name     string
		severity precedent.Severity
		ask, own bool
		want     forgetest.ReviewState
		notes    int
	}{
		{"not asked for", precedent.High, false, false, forgetest.Commented, 0},
		{"asked for", precedent.High, true, false, forgetest.ChangesRequested, 0},
		{"not bad enough", precedent.Medium, true, false, forgetest.Commented, 0},
		{"own pull request", precedent.High, true, true, forgetest.Commented, 1},
	} {
		s := newStage(t)
		if test.own {
			s.pull.Author = s.poster.Me
		}
		f := finding(1)
		f.Severity = test.severity
		s.plan(s.review(1, f), Options{FailOn: precedent.High, RequestChanges: test.ask})
		d := s.deliver()
		s.want(seen{Reviews: 1, Threads: 1, Summaries: 1, Checks: 1})
		if rs := s.World.Reviews(s.pull); rs[0].State != test.want || len(d.Notes) != test.notes {
			t.Errorf("%s: the review is %s, notes %q", test.name, rs[0].State, d.Notes)
		}
	}
}

// TestCheckOfTheSameHead: a review of another pull request with the same head does not turn the check green as long as
// that one is open.
func TestCheckOfTheSameHead(t *testing.T) {
	s := newStage(t)
	check := func(want string) {
		t.Helper()
		s.World.Change(func() {
			if cs := s.World.Repo("acme", "shop").Checks; len(cs) != 1 || cs[0].Conclusion != want || cs[0].Commit != sha("c") {
				t.Errorf("%+v, want %s", cs, want)
			}
		})
	}
	mild := finding(1)
	mild.Severity = precedent.Medium
	s.plan(s.review(1, mild), Options{FailOn: precedent.Medium}) // as the policy of its base says
	s.deliver()
	check("failure")
	needs.NoError(t, s.rows.SaveReview(t.Context(), s.review(2))) // which is not posted
	first := s.pull
	second := *first
	second.Number, second.Base.Name = 2, "next"
	s.World.Change(func() { s.World.Repo("acme", "shop").Pulls[2] = &second })
	s.pull = &second
	s.say(3)
	check("failure")
	s.World.Change(func() { first.State = forge.Closed })
	s.say(4)
	check("success")
	r := s.review(5)
	r.Scope = precedent.AnalyzersScope // without a model
	s.plan(r, failOn)
	s.deliver()
	check("neutral")
}

// TestAnswersThatFail: one does not take the others with it, nothing is closed
// before it was said why, and the next delivery goes on.
func TestAnswersThatFail(t *testing.T) {
	s := newStage(t)
	s.say(1, findings(1, 2)...)
	ts := s.threads()
	r := s.answered(2, precedent.Addressed, "Fixed.", ts...)
	s.plan(r, failOn)
	s.Script.Plan(forgetest.Fault{
		Method: "POST", On: "/replies", Status: 403, Body: `{"message":"Resource not accessible by integration"}`,
	})
	d := s.deliver()
	if len(d.Notes) != 1 || d.Left != 2 {
		t.Errorf("%+v", d)
	}
	checkClosed(t, s, map[precedent.ForgeID]string{ts[0].Comment: "", ts[1].Comment: s.poster.Me.Login})
	s.again()
	if d = s.deliver(); d.Left != 0 {
		t.Errorf("%+v", d)
	}
	checkClosed(t, s, map[precedent.ForgeID]string{ts[0].Comment: s.poster.Me.Login, ts[1].Comment: s.poster.Me.Login})
	s.want(seen{Reviews: 1, Threads: 2, Summaries: 1, Replies: 2, Checks: 1})
}

// TestConversationGone: there is nothing to say in it any more.
func TestConversationGone(t *testing.T) {
	s := newStage(t)
	s.say(1, finding(1))
	th := s.threads()[0]
	r := s.answered(2, precedent.Addressed, "Fixed.", th)
	s.plan(r, failOn)
	s.World.Remove(s.pull, forge.CommentRef{Kind: forge.OnLine, ID: th.Comment})
	if d := s.deliver(); d.Left != 0 || s.states()["reply superseded"] != 1 || s.states()["close superseded"] != 1 {
		t.Errorf("%+v, %v", d, s.states())
	}
	// Of one that is deleted right before it is closed, GitHub says so with status 200; the rest is posted.
	s = newStage(t)
	s.say(1, findings(1, 2)...)
	ts := s.threads()
	s.plan(s.answered(2, precedent.Addressed, "Fixed.", ts...), failOn)
	s.Script.Plan(forgetest.Fault{Method: "POST", On: "/replies", Skip: 1, CallAfter: func() {
		for _, id := range s.World.Threads(s.pull)[0].Comments {
			s.World.Remove(s.pull, forge.CommentRef{Kind: forge.OnLine, ID: id})
		}
	}})
	if d := s.deliver(); d.Left != 0 || d.Undeliverable != "" || s.states()["close superseded"] != 1 || s.states()["close confirmed"] != 1 {
		t.Errorf("%+v, %v", d, s.states())
	}
}
