package round

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/pull"
)

// TestDue: of all that may be due, what comes first. A fix that was pushed comes before people who ask, and they come
// before a fix and a look at checks.
func TestDue(t *testing.T) {
	for _, test := range []struct {
		facts facts
		want  step
	}{
		{facts{label.ReviewNeeded, true, true, true, true, true}, doFixAsked},
		{facts{label.ReviewNeeded, false, true, true, true, true}, doReviewLabelled},
		{facts{label.Changes, false, true, true, true, true}, doAfterPush},
		{facts{label.Changes, false, true, false, false, false}, doReview},
		{facts{label.Changes, false, false, false, false, true}, doFix},
		{facts{label.CIPending, false, true, false, true, false}, doReview},
		{facts{label.CIPending, false, false, false, true, true}, doChecks},
		{facts{label.HumanReview, false, false, false, true, true}, doReview},
		{facts{label.HumanReview, false, false, false, true, false}, doTidy},
		{facts{label.Intervention, false, false, false, true, false}, doExplain},
		{facts{label.None, false, false, false, true, true}, doReview},
		{facts{label.None, false, false, false, true, false}, doNothing},
	} {
		if got := test.facts.due(); got != test.want {
			t.Errorf("%+v: %d, want %d", test.facts, got, test.want)
		}
	}
}

// talk is what we said, in order, one a minute: kind, id of the review or round, head.
func talk(all ...string) []pull.OwnComment {
	var own []pull.OwnComment
	for i, s := range all {
		m := comment.Marker{Thread: fmt.Sprint(i)}
		_, _ = fmt.Sscan(s, &m.Kind, &m.Review, &m.Head) // some have no head
		own = append(own, pull.OwnComment{Marker: m, At: time.Unix(int64(60*i), 0)})
	}
	return own
}

func TestCountCycles(t *testing.T) {
	for _, test := range []struct {
		name string
		own  []pull.OwnComment
		n    int
		why  string
	}{
		{"one review in all kinds of comments", talk("review a", "finding a", "reply a", "summary a"), 1, ""},
		{"answers to people and remarks", talk("summary a", "answer b", "answer c", "note d"), 1, ""},
		{"each kind of a cycle", talk("finding a", "gate b", "checks c", "nofix d", "summary e"), 5, ""},
		{
			"six", talk("finding a", "gate b", "checks c", "nofix d", "summary e", "checks f"), 6,
			fmt.Sprintf(manyCycles, 5),
		},
		{
			"fixes belong to their reviews",
			talk("finding a", "fixed b 1", "reply b", "finding c", "fixed d 2", "summary e"), 3, "",
		},
		{
			"fixes of reviews that the summary alone had",
			talk("summary z", "fixed a 1", "fixed b 2", "fixed c 3", "fixed d 4", "fixed e 5"), 6,
			fmt.Sprintf(manyCycles, 5),
		},
		{"two failed fixes of the head", talk("summary a", "nofix b h", "nofix c h"), 3, failedFixes},
		{"two failed fixes, of two heads", talk("summary a", "nofix b g", "nofix c h"), 3, ""},
		{"anew, and then one", talk("summary f", "finding a", "nofix b h", "giveup e", "reply a", "finding f"), 1, ""},
	} {
		c := countCycles(test.own, "h")
		if c.n() != test.n || c.exceeded() != test.why {
			t.Errorf("%s: %d cycles, %q, want %d, %q", test.name, c.n(), c.exceeded(), test.n, test.why)
		}
	}
}

// TestProblems: what failed is told to each attempt to fix it, also after one that failed and after people
// have let us begin anew, until there is another head or a review has read this one.
func TestProblems(t *testing.T) {
	gate, checks := "gate a h", "checks b h"
	failed, gaveUp := "nofix c h", "giveup c h"
	for _, test := range []struct {
		name string
		own  []pull.OwnComment
		want string // the note's place
	}{
		{"a failed gate", talk(gate), "0"},
		{"a failed gate, and an attempt", talk(gate, failed), "0"},
		{"begun anew", talk(gate, failed, failed, gaveUp), "0"},
		{"failed checks", talk("summary x g", "fixed f h", checks, failed), "2"},
		{"a gate of another head", talk("gate a g"), ""},
		{"a gate that passed later", talk("summary x h", gate), ""},
		// the gate of the base has changed
		{"a gate that fails after a review", talk("summary 0 h", gate), "1"},
	} {
		for i := range test.own {
			test.own[i].Body = precedent.Untrusted(fmt.Sprint(i))
		}
		c := countCycles(test.own, "h")
		got := ""
		for _, p := range c.problems("h") {
			got += string(p)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestCountTries: incomplete reviews in a row, until we gave up because of them.
func TestCountTries(t *testing.T) {
	own := talk("summary c", "giveup c")
	own[0].Tries = 3
	if c := countCycles(own[:1], ""); c.tries != 3 || c.exceeded() != incompleteReviews {
		t.Errorf("%d tries, %q", c.tries, c.exceeded())
	}
	if c := countCycles(own, ""); c.tries != 0 || c.exceeded() != "" {
		t.Errorf("after that, %d tries, %q", c.tries, c.exceeded())
	}
	own[0].Review, own[0].Tries = "d", 1
	if c := countCycles(own, ""); c.tries != 1 {
		t.Errorf("anew, %d tries", c.tries)
	}
}

// TestCountingEnds: whatever we say, more of it never makes the count smaller, until we give up.
func TestCountingEnds(t *testing.T) {
	kinds := []string{"finding", "review", "reply", "answer", "note", "gate", "checks", "fixed", "nofix"}
	rapid.Check(t, func(t *rapid.T) {
		var all []string
		before := 0
		for i := range rapid.IntRange(0, 40).Draw(t, "n") {
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			id := fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "id"))
			if kind == "fixed" || kind == "nofix" { // a round of its own
				id = fmt.Sprint("f", i)
			}
			all = append(all, kind+" "+id+" h")
			c := countCycles(talk(all...), "h")
			if c.n() < before {
				t.Fatalf("%v: %d cycles after %d", all, c.n(), before)
			}
			before = c.n()
		}
		c := countCycles(talk(append(all, "giveup x")...), "h")
		if c.n() != 1 || c.exceeded() != "" {
			t.Fatalf("%v: %d cycles after giving up", all, c.n())
		}
	})
}

// TestLookAtChecks: what they mean, whatever their times claim.
func TestLookAtChecks(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	check := func(s forge.CheckState, started time.Time) forge.CommitCheck {
		return forge.CommitCheck{Name: "build", State: s, Started: started}
	}
	passed := func(started time.Time) forge.CommitCheck { return check(forge.CheckPassed, started) }
	pending := func(started time.Time) forge.CommitCheck { return check(forge.CheckPending, started) }
	own := forge.CommitCheck{Name: "precedent", State: forge.CheckFailed, Own: true, Started: ago(time.Hour)}
	long, short, none := ago(11*time.Minute), ago(9*time.Minute), time.Time{}
	minute, almost := ago(time.Minute), ago(59*time.Second)
	future := now.AddDate(50, 0, 0)
	type checks = []forge.CommitCheck
	for _, test := range []struct {
		name            string
		all             checks
		pushed, updated time.Time
		want            label.EventKind
	}{
		{"none, just pushed", nil, almost, now, label.ChecksWait},
		{"none configured", nil, minute, now, label.ChecksPassed},
		{"our own alone", checks{own}, ago(time.Hour), now, label.ChecksPassed},
		{"green", checks{passed(short), check(forge.CheckSkipped, short), own}, short, now, label.ChecksPassed},
		{"green, just pushed", checks{passed(almost)}, almost, now, label.ChecksWait},
		{"green, a minute after the push", checks{passed(minute)}, minute, now, label.ChecksPassed},
		{"red, just pushed", checks{check(forge.CheckFailed, now)}, now, now, label.ChecksFailed},
		{"red beside pending", checks{pending(short), check(forge.CheckFailed, short)}, short, now, label.ChecksFailed},
		{"pending", checks{passed(short), pending(short)}, short, now, label.ChecksWait},
		{"too old", checks{pending(long)}, long, now, label.ChecksFailed},
		{"not pushed by us", checks{pending(long)}, none, now, label.ChecksFailed},
		{"from the future", checks{pending(future)}, long, now, label.ChecksFailed},
		{"without a time", checks{pending(none)}, none, long, label.ChecksFailed},
		{"a push from the future", checks{pending(none)}, future, now, label.ChecksWait},
	} {
		if got, why := lookAtChecks(test.all, test.pushed, test.updated, now).event(); got != test.want {
			t.Errorf("%s: %s (%s), want %s", test.name, got, why, test.want)
		}
	}
	slow := lookAtChecks(checks{pending(long)}, long, now, now)
	slow.timeout = time.Hour // the policy's
	if got, _ := slow.event(); got != label.ChecksWait {
		t.Errorf("a slow CI: %s", got)
	}
	cut := lookAtChecks(checks{passed(short)}, short, now, now)
	cut.complete = false
	if got, _ := cut.event(); got != label.ChecksWait {
		t.Errorf("a list that was cut: %s", got)
	}
}

// TestReviewEvent: only a complete review with nothing open is for a person.
func TestReviewEvent(t *testing.T) {
	live := func(p precedent.Placement, s precedent.Severity) *precedent.Review {
		return &precedent.Review{
			Verdict:  precedent.Findings,
			Findings: []precedent.Finding{{ID: "a", Severity: s, Placement: p}},
		}
	}
	open := func(s precedent.AnswerState) *precedent.Review {
		return &precedent.Review{Verdict: precedent.Clean, Threads: []precedent.ThreadAnswer{{
			Thread: "a", State: s, Severity: precedent.Nit,
		}}}
	}
	for _, test := range []struct {
		name string
		r    *precedent.Review
		want label.EventKind
	}{
		{"clean", &precedent.Review{Verdict: precedent.Clean}, label.Clean},
		{"nothing to read", &precedent.Review{Verdict: precedent.Skipped}, label.Clean},
		{"partial", &precedent.Review{Verdict: precedent.Partial}, label.Incomplete},
		{"failed", &precedent.Review{Verdict: precedent.Failed}, label.Incomplete},
		{"mild, on lines", live(precedent.Inline, precedent.Low), label.Findings},
		{"mild, in the summary", live(precedent.Summary, precedent.Low), label.Findings},
		{"mild, folded", live(precedent.Collapsed, precedent.Low), label.Clean},
		{"an open thread", open(precedent.StillThere), label.Findings},
		{"a thread that nobody can tell", open(precedent.Unanswered), label.Findings},
		{"an addressed thread", open(precedent.Addressed), label.Clean},
	} {
		if got := pull.ReviewEvent(test.r, precedent.High, 1).Kind; got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
