package prompt

import (
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Answer returns the prompt about the last message of a conversation, which has no remark if it is about the pull request
// as a whole. learnings are what the team taught about the file, one a line. It contains nothing else.
func Answer(c Conversation, learnings precedent.Untrusted, language string) Prompt {
	var p page
	if c.Remark.Path != "" {
		remark := posted(&c.Remark, c.Then)
		for _, e := range c.Remark.Evidence {
			remark += "\nevidence, " + text.VisibleLine(e.String()) + ":\n" + limit(text.Visible(e.Quote), maxReply)
		}
		p.block("The remark:", "remark", remark)
	}
	p.data(aroundPlace, "code", excerpt(c.Code))
	p.data("What the team asked reviewers to remember:", "learnings",
		limit(strings.TrimSpace(text.Clean(string(learnings))), maxLearnings))
	p.replies(" wrote", "message", c.Replies)
	p.language("`reply`", tag(language))
	p.say("Answer the last message with the JSON object alone.")
	return Prompt{System: load("reply.md"), Suffix: p.alone()}
}
