package prompt

import (
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Talk is a conversation whose last message is to be answered. All secrets in it must be
// redacted.
type Talk struct {
	// Remark is the finding that it is about; nil for the pull request as a whole. Then is where
	// it was made.
	Remark *precedent.Finding
	Then   precedent.Span
	// Code are lines around its place at the head, with their numbers; empty if it has none.
	Code precedent.Untrusted
	// Learnings are what the team taught about the file, one a line.
	Learnings precedent.Untrusted
	Said      []Reply // oldest first
	Language  string  // IETF tag; empty for English
}

// Answer returns the prompt about a message of a person. It contains nothing but the talk.
func Answer(t Talk) Prompt {
	own := struct {
		Nonce, Remark, Code, Learnings, Language string
		Said                                     []said
	}{
		Language: tag(t.Language), Code: excerpt(t.Code),
		Learnings: limit(strings.TrimSpace(text.Clean(string(t.Learnings))), maxLearnings),
	}
	contents := []string{own.Code, own.Learnings}
	if t.Remark != nil {
		own.Remark = posted(t.Remark, t.Then)
		for _, e := range t.Remark.Evidence {
			own.Remark += "\nevidence, " + text.VisibleLine(e.String()) + ":\n" + limit(text.Visible(e.Quote), maxReply)
		}
		contents = append(contents, own.Remark)
	}
	own.Said = newest(t.Said)
	for _, r := range own.Said {
		contents = append(contents, r.Text)
	}
	own.Nonce = nonce(contents)
	return Prompt{System: load("reply.md"), Suffix: execute("conversation.md", own.Nonce, own)}
}
