package thread

import (
	"slices"

	"github.com/precedent-dev/precedent"
)

// Apply returns the threads with the states that follow from a review's answers, and with the
// paths at which they were seen at the head. States that a person decided stay. Addressed is
// what the review found fixed or gone: we then close the conversation, and reopen it if the
// finding comes back. A dismissal that the review read counts only if somebody with write
// permission wrote in the thread, because a model read it. Any other answer means open, but a
// person who waits for a reply still does if there is none.
func Apply(ts []precedent.Thread, answers []precedent.ThreadAnswer, head string) []precedent.Thread {
	given := map[string]precedent.ThreadAnswer{}
	for _, a := range answers {
		given[a.Thread] = a
	}
	out := slices.Clone(ts)
	for i := range out {
		t := &out[i]
		if t.Current.Path != "" {
			t.SeenPath, t.SeenAt = t.Current.Path, head
		}
		if t.State.Final() {
			continue
		}
		switch answer := given[t.ID]; answer.State {
		case precedent.Addressed, precedent.NoLonger:
			t.State = precedent.ThreadAddressed
		case precedent.DeclinedHere:
			t.State = precedent.ThreadOpen
			if slices.ContainsFunc(t.Messages, func(m precedent.Message) bool { return fromPerson(m) && m.MayWrite }) {
				t.State = precedent.ThreadWontFix
			}
		case precedent.StillThere:
			if t.State != precedent.ThreadPending || answer.Reply != "" {
				t.State = precedent.ThreadOpen
			}
		}
	}
	return out
}
