package thread

import (
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/chat"
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
