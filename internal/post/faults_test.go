package post

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// The requests that a first delivery sends, by what they do.
var sent = map[string]forgetest.Fault{
	"review":  {Method: http.MethodPost, On: "/pulls/1/reviews"},
	"summary": {Method: http.MethodPost, On: "/issues/1/comments"},
	"check":   {Method: http.MethodPost, On: "/check-runs"},
}

// on is a fault of one of the requests.
func on(what string, f forgetest.Fault) forgetest.Fault {
	f.Method, f.On = sent[what].Method, sent[what].On
	return f
}

var once1 = seen{Reviews: 1, Threads: 3, Summaries: 1, Checks: 1}

// TestLostAnswers: whatever an answer was that nobody heard or could rely on, everything is there once.
func TestLostAnswers(t *testing.T) {
	for what := range sent {
		for _, test := range []struct {
			name  string
			fault forgetest.Fault
		}{
			{"502, applied", forgetest.Fault{Status: 502, After: true}},
			{"502 several times, applied once", forgetest.Fault{Status: 502, Times: 3}},
			{"no answer, not applied", forgetest.Fault{Drop: true}},
			{"an answer of another kind", forgetest.Fault{Status: 200, Body: "<html>proxy</html>", After: true}},
		} {
			t.Run(what+", "+test.name, func(t *testing.T) {
				s := planned(t, 3)
				s.Script.Plan(on(what, test.fault))
				d := s.deliver()
				s.want(once1)
				if d.Left > 0 || s.Script.Left() > 0 || len(s.threads()) != 3 {
					t.Errorf("%+v, %d faults left, %d threads", d, s.Script.Left(), len(s.threads()))
				}
			})
		}
	}
}

// TestHealsWhatAForgeHid: a list that lags behind for longer than anybody waits
// makes a duplicate, and one sweep deletes it.
func TestHealsWhatAForgeHid(t *testing.T) {
	for _, what := range []string{"review", "summary"} {
		t.Run(what, func(t *testing.T) {
			s := planned(t, 3)
			s.Script.Plan(on(what, forgetest.Fault{Status: 502, After: true}))
			for _, list := range []string{"/pulls/1/comments?", "/pulls/1/reviews?", "/issues/1/comments?"} {
				s.Script.Plan(forgetest.Fault{Method: http.MethodGet, On: list, LagFor: time.Hour, Times: 1000})
			}
			d := s.deliver()
			if d.Unsure == 0 || d.Left != 0 {
				t.Errorf("%+v", d)
			}
			if got := s.seen(); got.Threads+got.Summaries <= 4 {
				t.Fatalf("there is no duplicate to heal: %+v", got)
			}
			s.Clock.Pass(2 * time.Hour)
			d = s.deliver()
			if d.Deleted == 0 {
				t.Errorf("%+v", d)
			}
			s.want(once1)
			there := map[precedent.ForgeID]bool{"": true}
			for _, c := range s.World.By(s.pull, s.poster.Me) {
				there[c.ID] = true
			}
			for _, th := range s.threads() {
				if !there[th.Comment] || th.Comment == "" {
					t.Errorf("thread %s is remembered as comment %s, which is not there", th.ID, th.Comment)
				}
			}
			for _, p := range mustPosts(t, s.rows) {
				if !there[p.Remote] {
					t.Errorf("a %s is remembered as comment %s, which is not there", p.Kind, p.Remote)
				}
			}
		})
	}
}

// TestSecondaryLimit: after one that lasts too long to wait for, the next delivery posts the rest, and nothing twice.
func TestSecondaryLimit(t *testing.T) {
	s := planned(t, 40)
	s.Script.Plan(on("review", forgetest.Fault{}), on("review", forgetest.Fault{
		Status: 403, Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`,
		Header: map[string]string{"Retry-After": "3600"},
	}))
	d, err := s.poster.Deliver(t.Context(), s.repo, 1)
	forgeErr, ok := errors.AsType[*forge.Error](err)
	if !ok || forgeErr.Kind != forge.KindRate || forgeErr.Retry.Before(s.Clock.Now().Add(59*time.Minute)) ||
		d.Left != 12 || d.Posted() != 30 {
		t.Errorf("%+v, %v", d, err)
	}
	s.want(seen{Reviews: 1, Threads: 30, Summaries: 1})
	s.Clock.Pass(time.Hour)
	s.again()
	if d = s.deliver(); d.Left != 0 {
		t.Errorf("%+v", d)
	}
	s.want(seen{Reviews: 2, Threads: 40, Summaries: 1, Checks: 1})
}

// TestNoCommonCommit: Gitea opens a pull request between branches without a common commit, and fails to make its
// diff. Its findings are in the summary. Those of another one wait until Gitea makes the diff.
func TestNoCommonCommit(t *testing.T) {
	for _, unrelated := range []bool{true, false} {
		s := newStageOn(t, "gitea 1.27")
		s.World.Change(func() { s.pull.Unrelated = true })
		s.plan(s.review(1, finding(1)), Options{FailOn: precedent.High, Unrelated: unrelated})
		d, err := s.poster.Deliver(t.Context(), s.repo, 1)
		if unrelated {
			s.want(seen{Summaries: 1})
			if err != nil || d.Rejected != 1 || d.Left != 0 || !strings.Contains(s.summary(), finding(1).Body) {
				t.Errorf("%+v, %v", d, err)
			}
			continue
		}
		if d.Rejected != 0 || d.Left == 0 {
			t.Errorf("%+v, %v", d, err)
		}
		s.World.Change(func() { s.pull.Unrelated = false })
		s.Clock.Pass(time.Hour)
		s.again()
		s.deliver()
		s.want(seen{Reviews: 1, Threads: 1, Summaries: 1})
	}
}

// TestRefusedWhole: the forge does not take the review, whatever is in it.
func TestRefusedWhole(t *testing.T) {
	s := planned(t, 3)
	s.Script.Plan(on("review", forgetest.Fault{
		Status: 422, Body: `{"message":"Unprocessable Entity","errors":["No more reviews"]}`, Times: 100,
	}))
	d := s.deliver()
	s.want(seen{Summaries: 1, Checks: 1})
	if d.Rejected != 3 || d.Left != 0 || !strings.Contains(s.summary(), "Line 3 counts wrong") {
		t.Errorf("%+v", d)
	}
	s.poster.Me = forge.Person{} // then nothing could be found again
	if _, err := s.poster.Deliver(t.Context(), s.repo, 1); !errors.Is(err, errUnknownAccount) {
		t.Error(err)
	}
}

// TestNowhereToPost: it ends for good, with few requests and no storm.
func TestNowhereToPost(t *testing.T) {
	locked := forgetest.Fault{Status: 403, Body: `{"message":"lock prevents review"}`}
	for _, test := range []struct {
		name   string
		before func(*stage)
	}{
		{"locked", func(s *stage) { s.World.Change(func() { s.pull.Locked = true }) }},
		{"locked between plan and post", func(s *stage) { s.Script.Plan(on("review", locked)) }},
		{"deleted", func(s *stage) { s.World.Change(func() { delete(s.World.Repo("acme", "shop").Pulls, 1) }) }},
		{"gone between plan and post", func(s *stage) {
			s.Script.Plan(on("review", forgetest.Fault{Status: 404, Times: 100}))
		}},
		{"archived", func(s *stage) { s.World.Change(func() { s.World.Repo("acme", "shop").Archived = true }) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := planned(t, 3)
			test.before(s)
			before := len(s.Script.Requests())
			d := s.deliver()
			if d.Undeliverable == "" || d.Posted() != 0 || d.Left != 0 || len(s.writes(before)) > 3 {
				t.Errorf("%+v after %d requests that write", d, len(s.writes(before)))
			}
			if got := s.states(); got["remark undeliverable"] != 3 || got["summary undeliverable"] != 1 {
				t.Error(got)
			}
			before = len(s.Script.Requests())
			s.again()
			if _, err := s.poster.Deliver(t.Context(), s.repo, 1); err == nil && len(s.writes(before)) > 0 {
				t.Error("it was tried again")
			}
		})
	}
}

// TestHeadMoves: nothing is said of lines that are not there any more.
func TestHeadMoves(t *testing.T) {
	push := func(s *stage) func() { return func() { s.World.Push(s.pull, sha("d"), patch(lines)) } }
	t.Run("before", func(t *testing.T) {
		s := planned(t, 3)
		push(s)()
		before := len(s.Script.Requests())
		d := s.deliver()
		if !d.Superseded || d.Left != 0 || len(s.writes(before)) != 0 {
			t.Errorf("%+v", d)
		}
		s.want(seen{})
	})
	t.Run("between two reviews", func(t *testing.T) {
		s := newStage(t)
		brief := finding(41) // nobody gets to see it
		brief.Placement = precedent.Summary
		s.plan(s.review(1, append(findings(1, 40), brief)...), Options{})
		s.Script.Plan(on("review", forgetest.Fault{CallAfter: push(s)}))
		d := s.deliver()
		if !d.Superseded || d.Posted() != 30 || d.Left != 0 || len(s.threads()) != 30 {
			t.Errorf("%+v, %d threads", d, len(s.threads()))
		}
		s.want(seen{Reviews: 1, Threads: 30})
	})
	t.Run("after an answer that was lost", func(t *testing.T) {
		s := planned(t, 3)
		s.Script.Plan(on("review", forgetest.Fault{CallAfter: push(s), Drop: true, After: true}))
		d := s.deliver()
		if !d.Superseded || d.Left != 0 || len(s.threads()) != 3 {
			t.Errorf("%+v, %d threads", d, len(s.threads()))
		}
		s.want(seen{Reviews: 1, Threads: 3})
	})
}

// TestGivesUpForNow: a wrong token and a forge that is down are the caller's errors. A forge is not asked for ever, and a
// later delivery goes on.
func TestGivesUpForNow(t *testing.T) {
	for kind, fault := range map[forge.ErrorKind]forgetest.Fault{
		forge.KindAuth: {Status: 401, Body: `{"message":"Bad credentials"}`}, forge.KindServer: {Status: 503, Times: 1000},
	} {
		s := planned(t, 3)
		s.Script.Plan(on("review", fault))
		before := len(s.Script.Requests())
		d, err := s.poster.Deliver(t.Context(), s.repo, 1)
		if forge.KindOf(err) != kind || d.Left != 5 || d.Posted() != 0 ||
			len(s.writes(before)) > 2*maxTries { // the claim is renewed between tries
			t.Errorf("%+v, %v after %d requests that write", d, err, len(s.writes(before)))
		}
		s.want(seen{Summaries: 1})
		s.Script.Forget()
		s.again()
		s.deliver()
		s.want(once1)
	}
}

// TestPeopleHaveTheLastWord: what they resolved or deleted is not posted again. Another defect of its place has no
// comment of its own, so that the summary says it in full.
func TestPeopleHaveTheLastWord(t *testing.T) {
	s := newStage(t)
	s.say(1, findings(1, 3)...)
	ts := s.threads()
	s.World.Close(s.pull, ts[0].Comment, forgetest.Bo)
	s.World.Remove(s.pull, forge.CommentRef{Kind: forge.OnLine, ID: ts[1].Comment})
	s.World.Push(s.pull, sha("d"), patch(lines))
	later := findings(1, 4)
	for i, body := range []string{"Closed: it overflows.", "Deleted: it overflows.", "Open: it overflows."} {
		later[i].Body = body
	}
	// The review does not know them, as if nobody had told it.
	d := s.say(2, later...)
	s.want(seen{Reviews: 2, Threads: 3, Summaries: 1, Checks: 2})
	if d.Adopted != 2 || s.states()["remark superseded"] != 1 {
		t.Errorf("%+v, %v", d, s.states())
	}
	if said := s.summary(); !strings.Contains(said, later[0].Body) || !strings.Contains(said, later[1].Body) ||
		strings.Contains(said, later[2].Body) {
		t.Errorf("the summary is:\n%s", said)
	}
	checkClosed(t, s, map[precedent.ForgeID]string{ts[0].Comment: "bo", ts[2].Comment: "", s.threads()[3].Comment: ""})
}

// TestForeignMarkers: a copied marker of ours in another's comment is nothing to
// us, and a marker that does not hold is none.
func TestForeignMarkers(t *testing.T) {
	s := planned(t, 2)
	first := mustPosts(t, s.rows)[0]
	w := s.writer()
	mark := comment.Marker{
		Thread: first.ID, Review: first.Review, Head: sha("c"), Fingerprint: finding(1).Fingerprint,
	}
	forged := w.Finding(finding(1), mark, false)
	s.World.Remark(s.pull, forgetest.Bo, spot(1), forged)
	s.World.Say(s.pull, forgetest.Bo, "", w.Summary("A summary.", mark))
	other := w
	other.PullRequest.Number = 2
	s.World.Remark(s.pull, s.poster.Me, spot(1), other.Finding(finding(1), mark, false))
	before := s.World.By(s.pull, forgetest.Bo)
	d := s.deliver()
	if d.Adopted != 0 || d.Posted() != 4 || d.Deleted != 0 {
		t.Errorf("%+v", d)
	}
	needs.Equal(t, 2, len(before))
	needs.Equal(t, before, s.World.By(s.pull, forgetest.Bo))
}

// TestWithoutAKey: a marker that another program repeats hides nothing, whatever the memory
// knows. safety.md: without a key "the own id plus the stored comment ids count".
func TestWithoutAKey(t *testing.T) {
	s := newStage(t)
	s.poster.Writer.Key = comment.Key{}
	w := s.writer()
	mark := comment.Marker{
		Thread: "01980000-0000-7000-8000-aaaaaaaaaaaa", Review: "01980000-0000-7000-8000-bbbbbbbbbbbb",
		Head: sha("c"), Fingerprint: finding(1).Fingerprint,
	}
	empty := precedent.Finding{Title: "Nothing to see here"}
	// Nothing is stored: the finding is posted, and what repeats its marker goes.
	s.World.Remark(s.pull, s.poster.Me, spot(1), w.Finding(empty, mark, false))
	s.World.Say(s.pull, s.poster.Me, "", w.Summary("All is well.", mark))
	if d := s.say(1, findings(1, 2)...); d.Adopted != 0 || d.Remarks != 2 || d.Summaries != 1 || d.Deleted != 2 ||
		len(d.Notes) != 1 {
		t.Errorf("%+v", d)
	}
	s.want(seen{Reviews: 1, Threads: 2, Summaries: 1, Checks: 1})
	// Something is stored, and the marker repeats the ids of a comment that everybody sees.
	ts := s.threads()
	mark.Thread, mark.Review, mark.Fingerprint = ts[0].ID, ts[0].Review, finding(3).Fingerprint
	s.World.Remark(s.pull, s.poster.Me, spot(3), w.Finding(empty, mark, false))
	s.again()
	s.poster.Writer.Key = comment.Key{}
	known := findings(1, 3)
	known[0].Thread, known[1].Thread = ts[0].ID, ts[1].ID
	if d := s.say(2, known...); d.Adopted != 0 || d.Remarks != 1 || d.Deleted != 1 {
		t.Errorf("%+v", d)
	}
	s.want(seen{Reviews: 2, Threads: 3, Summaries: 1, Checks: 1})
	for _, c := range s.World.By(s.pull, s.poster.Me) {
		if strings.Contains(string(c.Body), "Nothing to see here") || strings.Contains(string(c.Body), "All is well") {
			t.Errorf("this is still there:\n%s", c.Body)
		}
	}
}

// TestAForgedClaimDelays: without a key, a summary that repeats our marker can name a run that
// does not exist, for ever. The review is posted all the same.
func TestAForgedClaimDelays(t *testing.T) {
	s := newStage(t)
	s.poster.Writer.Key = comment.Key{}
	w := s.writer()
	forged := s.World.Say(s.pull, s.poster.Me, "", w.Summary("Busy.",
		comment.Marker{Thread: "01980000-0000-7000-8000-aaaaaaaaaaaa", Run: "0198"}))
	sleep := s.poster.Sleep
	s.poster.Sleep = func(ctx context.Context, d time.Duration) error {
		s.World.Rewrite(s.pull, forge.CommentRef{Kind: forge.OnThread, ID: forged.ID}, string(forged.Body))
		return sleep(ctx, d)
	}
	began := s.Clock.Now()
	d := s.say(1, findings(1, 3)...)
	if took := s.Clock.Now().Sub(began); d.Remarks != 3 || d.Summaries != 1 || d.Left != 0 || took < claimWait ||
		took > 2*claimWait {
		t.Errorf("%+v after %v", d, took)
	}
}

// double posts a second comment of the n-th thread.
func (s *stage) double(n int) forge.Comment {
	th := s.threads()[n]
	mark := comment.Marker{Thread: th.ID, Review: "01980000-0000-7000-9000-000000000001", Fingerprint: th.Fingerprint}
	return s.World.Remark(s.pull, s.poster.Me, spot(1), s.writer().Finding(finding(1+n), mark, false))
}

// TestSweepSparesPeople: a duplicate that somebody has answered stays.
func TestSweepSparesPeople(t *testing.T) {
	s := newStage(t)
	s.say(1, findings(1, 2)...)
	s.World.Say(s.pull, forgetest.Bo, s.double(0).ID, "Why?")
	if d := s.deliver(); d.Deleted != 0 {
		t.Errorf("%+v", d)
	}
	s.double(1)
	if d := s.deliver(); d.Deleted != 1 {
		t.Errorf("%+v", d)
	}
}

// TestDuplicateThatCannotBeDeleted: it stays, that is said, and nothing else suffers.
func TestDuplicateThatCannotBeDeleted(t *testing.T) {
	s := newStage(t)
	s.say(1, finding(1))
	s.double(0)
	s.Script.Plan(forgetest.Fault{
		Method: http.MethodDelete, Status: 403, Body: `{"message":"Resource not accessible by integration"}`,
	})
	known := inThread(1, s.threads()[0].ID)
	s.plan(s.review(2, known, finding(2)), failOn)
	d := s.deliver()
	if len(d.Notes) != 1 || d.Left != 0 || d.Deleted != 1 { // the sweep at the end could
		t.Errorf("%+v", d)
	}
	s.want(seen{Reviews: 2, Threads: 2, Summaries: 1, Checks: 1})
}

// TestFencedDelivery: when the lease is lost before a reply or a check, nothing more is sent, and
// the delivery ends with that error. The next one sends the rest.
func TestFencedDelivery(t *testing.T) {
	lost := errors.New("the lease is lost")
	for writes := range 7 {
		s := newStage(t)
		s.say(1, findings(1, 2)...)
		r := s.answered(2, precedent.Addressed, "Fixed.", s.threads()...)
		r.Findings, r.Verdict = findings(3, 3), precedent.Findings
		s.plan(r, failOn)
		left := writes
		fenced := forge.WithFence(t.Context(), func(context.Context) error {
			if left--; left < 0 {
				return lost
			}
			return nil
		})
		before := len(s.Script.Requests())
		d, err := s.poster.Deliver(fenced, s.repo, 1)
		if !errors.Is(err, lost) || len(d.Notes) != 0 || d.Left == 0 {
			t.Errorf("after %d writes: %v, %+v", writes, err, d)
		}
		if n := len(s.writes(before)); n > writes {
			t.Errorf("%d requests were sent, want at most %d", n, writes)
		}
		if d := s.deliver(); d.Left != 0 {
			t.Errorf("then %+v", d)
		}
	}
}
