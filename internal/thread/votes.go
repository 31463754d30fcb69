package thread

import (
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Vote is a reaction to a thread's first comment.
type Vote struct {
	forge.Reaction
	MayWrite bool // the person has write permission, asked live
}

// lastVote returns the last reaction of a kind by a person with write permission.
func lastVote(votes []Vote, content string) (Vote, bool) {
	for _, v := range slices.Backward(votes) {
		if v.Content == content && v.MayWrite && v.Who.ID != "" && !v.Who.Bot {
			return v, true
		}
	}
	return Vote{}, false
}

// Dismiss dismisses the open threads to whose comment a person with write permission reacted
// with 👎, which counts like the words that chat.Dismissal recognizes. The votes are by thread.
func Dismiss(ts []precedent.Thread, votes map[string][]Vote) {
	for i := range ts {
		if by, down := lastVote(votes[ts[i].ID], "-1"); down && !ts[i].State.Final() {
			ts[i].State, ts[i].DismissedBy = precedent.ThreadWontFix, by.Who.Login
		}
	}
}

// Dismisser returns who dismissed the finding of a thread, with the sentence, which is empty
// for a reaction. Both are empty if nobody did whose dismissal counts.
func Dismisser(t precedent.Thread, votes []Vote, author precedent.ForgeID) (who, words string) {
	if by, words, ok := dismissedIn(t, fromTeam); ok {
		return by.Who, words
	}
	if down, ok := lastVote(votes, "-1"); ok {
		return down.Who.Login, ""
	}
	if t.DismissedWords != "" {
		return t.DismissedBy, t.DismissedWords
	}
	by, words, _ := dismissedIn(t, dismissers(t, author))
	return by.Who, words
}
