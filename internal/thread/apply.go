package thread

import (
	"slices"

	"github.com/precedent-dev/precedent"
)

// Apply returns the threads in the states that the answers of a review of the head
// put them in, and with the files in which they were seen there.
// What a person settled stays as it is. Addressed is what the review found fixed
// or gone; the conversation is then ours to close, and if it is back later, ours
// to open again. A "no" that the review read settles a thread only if somebody
// with write permission has spoken in it: it is a model that reads. Whatever else
// is answered is open.
func Apply(ts []precedent.Thread, answers []precedent.ThreadAnswer, head string) []precedent.Thread {
	states := map[string]precedent.AnswerState{}
	for _, a := range answers {
		states[a.Thread] = a.State
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
		switch states[t.ID] {
		case precedent.Addressed, precedent.NoLonger:
			t.State = precedent.ThreadAddressed
		case precedent.DeclinedHere:
			t.State = precedent.ThreadOpen
			if slices.ContainsFunc(t.Messages, func(m precedent.Message) bool { return fromPerson(m) && m.MayWrite }) {
				t.State = precedent.ThreadWontFix
			}
		case precedent.StillThere:
			t.State = precedent.ThreadOpen
		}
	}
	return out
}
