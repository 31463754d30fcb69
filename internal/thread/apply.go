package thread

import (
	"context"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// Answer saves what a review means for the stored threads of its pull request. Call it before anything is posted: if the
// process is killed after it closed a conversation, the memory must not take that for a person's decision.
func Answer(ctx context.Context, rows *store.Repo, number int, r *precedent.Review) error {
	all, err := rows.Threads(ctx, number)
	if err != nil {
		return err
	}
	return rows.SaveThreads(ctx, Apply(all, r))
}

// EndedByAuthor tells whether the author of the pull request dismissed the thread, and nobody with write permission is
// known to have ended it: its finding was mild then.
func EndedByAuthor(t precedent.Thread) bool {
	who, _ := Dismisser(t, nil, "")
	return t.State == precedent.ThreadWontFix && !t.Deleted && !t.Severe() && who == "" && t.DismissedBy == ""
}

// Apply returns the threads with the states that follow from a review's answers, and with the
// paths at which they were seen at the head. States that a person decided stay. Addressed is
// what the review found fixed or gone: we then close the conversation, and reopen it if the
// finding comes back. A dismissal that the review read counts only if somebody with write
// permission wrote in the thread, because a model read it. Any other answer means open, but a
// person who waits for a reply still does if there is none.
//
// A thread becomes as severe as the finding that the review has in it. If only the author of the pull request had
// dismissed it, and may not dismiss what it is now, it is open again.
func Apply(ts []precedent.Thread, r *precedent.Review) []precedent.Thread {
	given, severe := map[string]precedent.ThreadAnswer{}, map[string]precedent.Finding{}
	for _, f := range r.Live() {
		if f.Thread != "" && (f.Severity.AtLeast(precedent.High) || f.Category.Protected()) {
			severe[f.Thread] = f
		}
	}
	for _, a := range r.Threads {
		given[a.Thread] = a
	}
	out := slices.Clone(ts)
	for i := range out {
		t := &out[i]
		if t.Current.Path != "" {
			t.SeenPath, t.SeenAt = t.Current.Path, r.Head
		}
		if f, worse := severe[t.ID]; worse && !t.Severe() && given[t.ID].State == precedent.StillThere {
			if EndedByAuthor(*t) {
				t.State = precedent.ThreadOpen
			}
			t.Severity, t.Category = f.Severity, f.Category
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
