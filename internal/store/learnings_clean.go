package store

import (
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// CleanLearning returns the learning as it is stored and shown: its texts on one line each,
// without credentials, hidden characters, comments, tags and pictures, and within their
// bounds. What is clean already does not change. Call it for each
// learning from outside; the store does so again before it writes.
func CleanLearning(l precedent.Learning) precedent.Learning {
	for _, s := range []*string{&l.Directive, &l.Rationale, &l.From.Words} {
		*s = cleanWords(*s, precedent.MaxLearningField)
	}
	for _, s := range []*string{&l.From.Who, &l.Approver, &l.From.URL} {
		*s = cleanWords(*s, precedent.MaxLearningGlob)
	}
	l.Glob = strings.TrimSpace(l.Glob)
	if l.About != nil {
		about := *l.About
		about.Claim, about.Symbol = cleanWords(about.Claim, precedent.MaxLearningGlob),
			cleanWords(about.Symbol, precedent.MaxLearningGlob)
		l.About = &about
	}
	return l
}

// cleanWords repeats what it does, because what one step takes out can join what another one
// looks for. Each round that changes something makes the text shorter or is the last but one.
func cleanWords(s string, most int) string {
	s = text.Head(s, 8*most) // a character has at most 4 bytes, and a reference to one some more
	for range maxCleanings {
		before := s
		s = secret.RedactText(text.VisibleLine(text.Collapse(withoutMarkup(text.Clean(s)))))
		if s == before {
			break
		}
	}
	return text.Cut(s, most)
}

const maxCleanings = 8

var (
	tag     = text.Pattern(`</?[A-Za-z][A-Za-z0-9-]*(\s[^<>]*)?/?>|<[!?][^<>]*>`)
	picture = text.Pattern(`!\[([^\[\]]*)\](\([^()]*\))?`)
)

// withoutMarkup takes tags and pictures out of prose; code spans keep theirs. A picture leaves
// its description.
func withoutMarkup(s string) string {
	parts := strings.Split(s, "`")
	for i := range parts {
		if i%2 == 0 || i == len(parts)-1 { // outside of code
			parts[i] = picture().ReplaceAllString(tag().ReplaceAllString(parts[i], " "), "$1")
		}
	}
	return strings.Join(parts, "`")
}
