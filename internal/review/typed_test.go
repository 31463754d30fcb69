package review

import (
	"testing"

	"github.com/precedent-dev/precedent"
)

// TestStateIsTyped: no decision depends on the wording of the trail or of an
// error.
func TestStateIsTyped(t *testing.T) {
	exact := precedent.Finding{Trail: []precedent.Decision{{Step: "place", Text: "other words", Delta: inexactDelta}}}
	inexact := precedent.Finding{Inexact: true}
	if !moreSpecific(&exact, &inexact) || moreSpecific(&inexact, &exact) {
		t.Error("the trail decides which quote is exact")
	}
	lowered := precedent.Finding{Verifier: precedent.Confirmed, Confidence: 50, Trail: []precedent.Decision{{Step: "suppress", Text: "other words", Delta: -15}}}
	if was := asBefore(lowered); !isMinor(&lowered) || was.Confidence != 50 {
		t.Errorf("the trail decides what dismissals lowered: confidence was %d", was.Confidence)
	}
	lowered.Weigh(35, precedent.Decision{})
	if was := asBefore(lowered); isMinor(&lowered) || was.Confidence != 50 {
		t.Errorf("confidence was %d", was.Confidence)
	}
	f := precedent.Finding{}
	f.Drop("suppress", precedent.Dismissed, "t-1", "because of %s", "this")
	f.Note("score", "other words")
	q := &inquiry{found: &f}
	if !q.decideWithoutReading(&Input{}) || q.answer.State != precedent.DeclinedHere || q.answer.Why != "because of this" {
		t.Errorf("answer %+v", q.answer)
	}
	x := &reader{}
	x.fail("verify", "not done", &unanswered{precedent.StatusOverBudget, "other words"})
	if got := x.failures[0]; got.Status != precedent.StatusOverBudget || got.Error != "not done: over-budget: other words" {
		t.Errorf("failure %+v", got)
	}
	in := input(t, shopBase, shopHead)
	if !run(t, in).NoEngine {
		t.Error("a review without an engine does not say so")
	}
	in.Engine = answering()
	if run(t, in).NoEngine {
		t.Error("a review with an engine says that it had none")
	}
}
