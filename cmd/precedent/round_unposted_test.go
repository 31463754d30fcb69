package main

import (
	"net/http"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/round"
)

// TestRoundsFinishPosting: a round that ended between the summary and the check is followed by one
// that sends the check, also if no label asks for a review. The summary alone does not mean that the
// head is done.
func TestRoundsFinishPosting(t *testing.T) {
	t.Parallel()
	s := newRounds(t)
	s.asApp()
	s.relabel(label.None)
	s.o.Reviews = &precedent.ReviewTriggers{On: []precedent.ReviewTrigger{precedent.OnOpen, precedent.OnPush}}
	s.door.stage.Script.Plan(forgetest.Fault{On: "/check-runs", Method: http.MethodPost, Times: 1000, Drop: true})
	if did, err := s.try(); err == nil {
		t.Fatalf("%+v although the check was not sent", did)
	}
	if n := s.said()[forge.OnThread]; n != 1 || len(s.conclusions()) != 0 {
		t.Fatalf("%d summaries, checks %q", n, s.conclusions())
	}
	s.door.stage.Script.Forget()
	before := s.said()
	s.round("the rest", round.Review, label.None)
	if len(s.conclusions()) != 1 {
		t.Errorf("checks %q", s.conclusions())
	}
	for kind, n := range s.said() {
		if n != before[kind] {
			t.Errorf("%d comments of the kind %v, not %d", n, kind, before[kind])
		}
	}
	if did, err := s.try(); err != nil || did.Did != round.Nothing {
		t.Errorf("nothing is left: %+v, %v", did, err)
	}
}
