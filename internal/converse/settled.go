package converse

import (
	"context"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/chat"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/intent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// statement is what a conversation settled.
type statement struct {
	text, url string
	kind      precedent.LearningKind // empty for what the text means
	// inferred tells that somebody else or a model put it into words.
	inferred bool
}

// settled returns what "remember this" points to: what people with write permission said before it in the same
// conversation, in the words of the engine if it has any, else their last relevant statement. Commands and what
// others said do not count.
func (c *conversation) settled(ctx context.Context, h *request) (statement, bool) {
	var last statement
	heard := map[precedent.ForgeID]bool{h.ID: true}
	for _, m := range c.comments {
		if m.Kind != h.Kind || c.threadOf(m) != h.thread || !c.byPerson(m) || m.ID == h.ID || m.At.After(h.At) ||
			!c.Pull.People.Permission(ctx, m.Author).MayWrite() {
			continue
		}
		said := c.stated(m)
		if said == "" || !isRelevant(said, h.thread) {
			continue
		}
		heard[m.ID] = true
		last = statement{text: said, url: m.URL, inferred: m.Author.ID != h.Author.ID}
	}
	if last.text == "" {
		return last, false
	}
	if digest, ok := c.digest(ctx, h, heard); ok {
		return digest, true
	}
	return last, true
}

// stated is what a comment says besides commands: its prose, or the reason of a dismissal; empty if it is a command, or
// if an edit changed what it asks: forges do not say who edited it.
func (c *conversation) stated(m forge.Comment) string {
	commands, refusals := c.parse(m)
	before := c.handled[keyOf(m)].Hash
	switch {
	case before != "" && before != hashOf(commands, refusals), len(refusals) > 0, len(commands) > 1:
		return ""
	case len(commands) == 0 || commands[0].Kind == chat.FreeText:
		return chat.Prose(m.Body)
	case commands[0].Kind == chat.Exception:
		return commands[0].Content
	}
	return ""
}

// normative matches words with which people say how things are to be done, and why.
var normative = text.Pattern(`(?i)\b(?:must|should|shall|always|never|because|since|we|our|instead|prefer|avoid|use|only|` +
	`don't|do not|convention|rule|style)\b`)

// isRelevant reports whether a statement could be remembered: it says how things are to be done, or names what the
// finding of its thread is about.
func isRelevant(said string, t *precedent.Thread) bool {
	if m := intent.Of(said); m.Kind != precedent.LearnDo || normative().MatchString(said) {
		return true
	}
	if t == nil {
		return false
	}
	about := strings.ToLower(t.Title + " " + t.Body + " " + t.Path)
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(said), func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_", r)
	}), func(word string) bool { return len(word) >= leastWord && strings.Contains(about, word) })
}

// maxUnasked limits the learnings that a run proposes from comments that nobody addressed to us.
const maxUnasked = 5

// directive is what a comment that is not addressed to us says about how the project does things; empty for nothing.
// Authors explain their change in such words.
func (c *conversation) directive(m forge.Comment) string {
	if c.only != "" || c.Pull.Author.ID == "" || m.Author.ID == c.Pull.Author.ID {
		return ""
	}
	return corpus.Directive(chat.Prose(m.Body))
}

// proposeUnasked proposes what somebody with write permission says about how the project does things, without being
// asked. The review lists it; nobody is notified. A comment that was edited is not read again.
func (c *conversation) proposeUnasked(ctx context.Context, m forge.Comment) error {
	directive := c.directive(m)
	if directive == "" || c.unasked == maxUnasked {
		return nil
	}
	h := &request{Comment: m, record: record{Body: workspace.ShortHash(string(m.Body)), Who: m.Author.ID}}
	_, edited := c.handled[keyOf(m)]
	off := c.state.Capture == precedent.CaptureOff || c.Pull.Workspace.Memory.LearningsOff
	if h.mayWrite = !edited && !off && c.Pull.People.Permission(ctx, m.Author).MayWrite(); h.mayWrite {
		c.unasked++
		p := c.proposal(h, chat.Command{Sentence: directive}, memory.Proposal{
			Directive: directive, Rationale: "said at " + m.URL, Inferred: true,
		})
		if _, err := c.propose(ctx, p); err != nil {
			return err
		}
	}
	return c.skip(ctx, h)
}

// leastWord is the length of words, in bytes, that tell what a statement is about.
const leastWord = 5

// digest has the engine say what the conversation of a finding settled, from the messages that count. It is false
// without an engine, outside of threads, and if the engine has no answer, which costs only its words.
func (c *conversation) digest(ctx context.Context, h *request, heard map[precedent.ForgeID]bool) (statement, bool) {
	if h.thread == nil || !c.job.Engine.Enabled() {
		return statement{}, false
	}
	thread := *h.thread
	thread.Messages = slices.DeleteFunc(slices.Clone(thread.Messages), func(m precedent.Message) bool {
		return !m.Own && !heard[m.ID]
	})
	asking := *h
	asking.thread = &thread
	t := c.openEngine()
	if t.asked >= maxConversations {
		return statement{}, false
	}
	t.asked++
	said, err := c.ask(ctx, t, &asking)
	if err != nil || said.Learning == nil || !text.Proves(said.Learning.Directive) {
		return statement{}, false
	}
	return statement{text: said.Learning.Directive, url: h.URL, kind: said.Learning.Kind, inferred: true}, true
}
