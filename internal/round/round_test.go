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

// talk is what we said, in order, one a minute: kind, id of the review or round, head.
func talk(all ...[3]string) []pull.OwnComment {
	var own []pull.OwnComment
	for i, s := range all {
		own = append(own, pull.OwnComment{Marker: comment.Marker{
			Kind: comment.Kind(s[0]), Review: s[1], Head: s[2], Thread: fmt.Sprint(i),
		}, At: time.Unix(int64(60*i), 0)})
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
		{"nothing", nil, 1, ""},
		{"one review in all kinds of comments", talk([3]string{"review", "a"}, [3]string{"finding", "a"},
			[3]string{"reply", "a"}, [3]string{"summary", "a"}), 1, ""},
		{"answers to people and remarks", talk([3]string{"summary", "a"}, [3]string{"answer", "b"}, [3]string{"answer", "c"},
			[3]string{"note", "d"}), 1, ""},
		{"each kind of a cycle", talk([3]string{"finding", "a"}, [3]string{"gate", "b"}, [3]string{"checks", "c"},
			[3]string{"nofix", "d"}, [3]string{"summary", "e"}), 5, ""},
		{"six", talk([3]string{"finding", "a"}, [3]string{"gate", "b"}, [3]string{"checks", "c"}, [3]string{"nofix", "d"},
			[3]string{"summary", "e"}, [3]string{"checks", "f"}), 6, fmt.Sprintf(manyCycles, 5)},
		{"fixes belong to their reviews", talk([3]string{"finding", "a"}, [3]string{"fixed", "b", "1"},
			[3]string{"reply", "b"}, [3]string{"finding", "c"}, [3]string{"fixed", "d", "2"}, [3]string{"summary", "e"}), 3, ""},
		{"fixes of reviews that the summary alone had", talk([3]string{"summary", "z"}, [3]string{"fixed", "a", "1"},
			[3]string{"fixed", "b", "2"}, [3]string{"fixed", "c", "3"}, [3]string{"fixed", "d", "4"},
			[3]string{"fixed", "e", "5"}), 6, fmt.Sprintf(manyCycles, 5)},
		{"two failed fixes of the head", talk([3]string{"summary", "a"}, [3]string{"nofix", "b", "h"},
			[3]string{"nofix", "c", "h"}), 3, failedFixes},
		{"two failed fixes, of two heads", talk([3]string{"summary", "a"}, [3]string{"nofix", "b", "g"},
			[3]string{"nofix", "c", "h"}), 3, ""},
		{"one failed fix in two comments", talk([3]string{"summary", "a"}, [3]string{"nofix", "b", "h"},
			[3]string{"reply", "b"}), 2, ""},
		{"anew", talk([3]string{"summary", "e"}, [3]string{"finding", "a"}, [3]string{"nofix", "b", "h"},
			[3]string{"nofix", "c", "h"}, [3]string{"giveup", "e"}), 1, ""},
		{"anew, and then one", talk([3]string{"summary", "f"}, [3]string{"finding", "a"}, [3]string{"nofix", "b", "h"},
			[3]string{"giveup", "e"}, [3]string{"reply", "a"}, [3]string{"finding", "f"}), 1, ""},
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
	gate, checks := [3]string{"gate", "a", "h"}, [3]string{"checks", "b", "h"}
	failed, gaveUp := [3]string{"nofix", "c", "h"}, [3]string{"giveup", "c", "h"}
	for _, test := range []struct {
		name string
		own  []pull.OwnComment
		want string // the note's place
	}{
		{"nothing", nil, ""},
		{"a failed gate", talk(gate), "0"},
		{"a failed gate, and an attempt", talk(gate, failed), "0"},
		{"begun anew", talk(gate, failed, failed, gaveUp), "0"},
		{"failed checks", talk([3]string{"summary", "x", "g"}, [3]string{"fixed", "f", "h"}, checks, failed), "2"},
		{"a gate of another head", talk([3]string{"gate", "a", "g"}), ""},
		{"a gate that passed later", talk([3]string{"summary", "x", "h"}, gate), ""},
		// the gate of the base has changed
		{"a gate that fails after a review", talk([3]string{"summary", "0", "h"}, gate), "1"},
		{"checks of a head that a review has read", talk([3]string{"summary", "x", "h"}, checks), "1"},
		{"the newer of two", talk(checks, gate), "1"},
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
	own := talk([3]string{"summary", "c"}, [3]string{"giveup", "c"})
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
		var all [][3]string
		before := 0
		for i := range rapid.IntRange(0, 40).Draw(t, "n") {
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			id := fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "id"))
			if kind == "fixed" || kind == "nofix" { // a round of its own
				id = fmt.Sprint("f", i)
			}
			all = append(all, [3]string{kind, id, "h"})
			c := countCycles(talk(all...), "h")
			if c.n() < before {
				t.Fatalf("%v: %d cycles after %d", all, c.n(), before)
			}
			before = c.n()
		}
		c := countCycles(talk(append(all, [3]string{"giveup", "x"})...), "h")
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
	own := forge.CommitCheck{Name: "precedent", State: forge.CheckFailed, Own: true, Started: ago(time.Hour)}
	long, short, none := ago(11*time.Minute), ago(9*time.Minute), time.Time{}
	for _, test := range []struct {
		name            string
		all             []forge.CommitCheck
		pushed, updated time.Time
		want            label.EventKind
	}{
		{"none, just pushed", nil, ago(59 * time.Second), now, label.ChecksWait},
		{"none configured", nil, ago(time.Minute), now, label.ChecksPassed},
		{"none, by an update", nil, none, ago(time.Minute), label.ChecksPassed},
		{"our own alone", []forge.CommitCheck{own}, ago(time.Hour), now, label.ChecksPassed},
		{
			"green",
			[]forge.CommitCheck{check(forge.CheckPassed, short), check(forge.CheckSkipped, short), own},
			short, now,
			label.ChecksPassed,
		},
		{
			"green, just pushed",
			[]forge.CommitCheck{check(forge.CheckPassed, ago(59*time.Second))},
			ago(59 * time.Second),
			now, label.ChecksWait,
		},
		{
			"green, a minute after the push",
			[]forge.CommitCheck{check(forge.CheckPassed, ago(time.Minute))},
			ago(time.Minute), now, label.ChecksPassed,
		},
		{"red, just pushed", []forge.CommitCheck{check(forge.CheckFailed, now)}, now, now, label.ChecksFailed},
		{
			"red beside pending",
			[]forge.CommitCheck{check(forge.CheckPending, short), check(forge.CheckFailed, short)},
			short, now, label.ChecksFailed,
		},
		{
			"pending",
			[]forge.CommitCheck{check(forge.CheckPassed, short), check(forge.CheckPending, short)},
			short, now,
			label.ChecksWait,
		},
		{"too old", []forge.CommitCheck{check(forge.CheckPending, long)}, long, now, label.ChecksFailed},
		{"an unknown state, too old", []forge.CommitCheck{check("odd", long)}, long, now, label.ChecksFailed},
		{"not pushed by us", []forge.CommitCheck{check(forge.CheckPending, long)}, none, now, label.ChecksFailed},
		{"not pushed by us, and young", []forge.CommitCheck{check(forge.CheckPending, short)}, none, now, label.ChecksWait},
		{"an old push, started late", []forge.CommitCheck{check(forge.CheckPending, short)}, long, now, label.ChecksWait},
		{
			"from the future",
			[]forge.CommitCheck{check(forge.CheckPending, now.AddDate(50, 0, 0))},
			long, now,
			label.ChecksFailed,
		},
		{
			"from the future, just pushed",
			[]forge.CommitCheck{check(forge.CheckPending, now.AddDate(50, 0, 0))},
			short, now,
			label.ChecksWait,
		},
		{
			"from the past, just pushed",
			[]forge.CommitCheck{check(forge.CheckPending, now.AddDate(-50, 0, 0))},
			short, now,
			label.ChecksWait,
		},
		{"without a time", []forge.CommitCheck{check(forge.CheckPending, none)}, none, long, label.ChecksFailed},
		{
			"a push from the future",
			[]forge.CommitCheck{check(forge.CheckPending, none)},
			now.AddDate(50, 0, 0), now,
			label.ChecksWait,
		},
	} {
		if got, why := lookAtChecks(test.all, test.pushed, test.updated, now).event(); got != test.want {
			t.Errorf("%s: %s (%s), want %s", test.name, got, why, test.want)
		}
	}
	slow := lookAtChecks([]forge.CommitCheck{check(forge.CheckPending, long)}, long, now, now)
	slow.timeout = time.Hour // the policy's
	if got, _ := slow.event(); got != label.ChecksWait {
		t.Errorf("a slow CI: %s", got)
	}
	cut := lookAtChecks([]forge.CommitCheck{check(forge.CheckPassed, short)}, short, now, now)
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
		{"severe", live(precedent.Collapsed, precedent.High), label.Findings},
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
