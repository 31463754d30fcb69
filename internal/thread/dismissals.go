package thread

import (
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/chat"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxQuote limits the sentence with which a person dismisses a finding, in characters.
const maxQuote = 300

// dismissers returns whose dismissals end a thread: those of people with write permission, and
// of the author unless the thread is severe.
func dismissers(t precedent.Thread, author precedent.ForgeID) func(precedent.Message) bool {
	return func(m precedent.Message) bool { return m.MayWrite || !t.Severe() && author != "" && m.WhoID == author }
}

// fromTeam tells whether the author of a message has write permission.
func fromTeam(m precedent.Message) bool { return m.MayWrite }

// dismissedIn returns the last message of a person that dismisses the finding, with the
// sentence. Only messages for which counts is true are considered.
func dismissedIn(t precedent.Thread, counts func(precedent.Message) bool) (by precedent.Message, quote string,
	ok bool,
) {
	for _, m := range slices.Backward(t.Messages) {
		if !fromPerson(m) || !counts(m) {
			continue
		}
		if quote, ok := chat.Dismissal(m.Body); ok {
			return m, text.Cut(quote, maxQuote), true
		}
	}
	return precedent.Message{}, "", false
}

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
