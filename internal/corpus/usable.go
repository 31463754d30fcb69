package corpus

import (
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

// Why a chunk is not a precedent.
const (
	byAuthor   = "author"   // the author of the pull request wrote it
	tooShort   = "short"    // fewer than four words with a meaning of their own
	isPraise   = "praise"   // it only agrees
	isQuestion = "question" // it only asks, and does not suggest anything
	isReport   = "report"   // it only says what its author did
)

// leastWords is how many words that are no function words a precedent has at least.
const leastWords = 4

// unusable says why the first comment of a conversation is not a precedent; empty if it is one.
// words are its own words.
func unusable(v store.CorpusConversation, words string) string {
	first := &v.Comments[0]
	switch {
	case samePerson(first.AuthorID, first.Author, v.Pull.AuthorID, v.Pull.Author):
		return byAuthor
	case text.ContentWords(words, leastWords) < leastWords:
		return tooShort
	}
	return classify(words)
}

func classify(string) string { return "" }

func answerOf(string, bool) answer { return unclear }

func takesBack(string) bool { return false }
