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
	var p page
	if t.Remark != nil {
		remark := posted(t.Remark, t.Then)
		for _, e := range t.Remark.Evidence {
			remark += "\nevidence, " + text.VisibleLine(e.String()) + ":\n" + limit(text.Visible(e.Quote), maxReply)
		}
		p.block("The remark:", "remark", remark)
	}
	p.data(aroundPlace, "code", excerpt(t.Code))
	p.data("What the team asked reviewers to remember:", "learnings",
		limit(strings.TrimSpace(text.Clean(string(t.Learnings))), maxLearnings))
	p.replies(" wrote", "message", t.Said)
	p.language("`reply`", tag(t.Language))
	p.say("Answer the last message with the JSON object alone.")
	return Prompt{System: load("reply.md"), Suffix: p.alone()}
}
