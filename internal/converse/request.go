package converse

import (
	"context"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/chat"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// request is a comment of a person that asks something.
type request struct {
	forge.Comment
	thread   *precedent.Thread // nil outside of our threads
	commands []chat.Command
	nth      int // of the commands, which is carried out
	refusals []chat.Refusal
	record   record
	hash     string // of what it asks
	// mayWrite tells that the person may write and that the comment is as it was when it was first read: forges
	// let others edit a comment, and do not say who did. author is that of the pull request.
	mayWrite, author, edited bool
}

// read parses a comment. Its hash is empty if it asks nothing, or the same as before.
func (c *conversation) read(ctx context.Context, m forge.Comment) *request {
	h := &request{Comment: m, thread: c.threadOf(m), record: record{
		Body: workspace.ShortHash(string(m.Body)),
		Who:  m.Author.ID,
	}}
	h.commands, h.refusals = c.parse(m)
	if h.hash = hashOf(h.commands, h.refusals); h.hash == "" {
		return h
	}
	if before, known := c.handled[keyOf(m)]; known {
		r := readRecord(before)
		if !r.unfinished() && before.Hash == h.hash {
			h.hash = ""
			return h
		}
		h.edited = before.Hash != h.hash
		if !h.edited {
			h.record.Targets, h.record.Failed = r.Targets, r.Failed
		}
	} else {
		seen := readRecord(c.handled[seenKey]).Through
		h.edited = !m.At.After(seen) && m.Edited.After(seen)
	}
	h.author = c.Pull.Author.ID != "" && m.Author.ID == c.Pull.Author.ID
	may := c.Pull.People.Permission(ctx, m.Author).MayWrite()
	h.mayWrite = may && !h.edited
	h.record.Stranger = !may && !h.author
	return h
}

// parse returns what a comment asks.
func (c *conversation) parse(m forge.Comment) ([]chat.Command, []chat.Refusal) {
	return chat.Parse(m.Body, chat.Options{Names: c.names(), InThread: c.threadOf(m) != nil, Own: c.ownWords(m)})
}

// isPlain tells whether a comment has free text only.
func (h *request) isPlain() bool {
	return len(h.refusals) == 0 && !slices.ContainsFunc(h.commands,
		func(cmd chat.Command) bool { return cmd.Kind != chat.FreeText })
}

// hashOf identifies what a comment asks; empty if it asks nothing. Another wording of a free
// text, or of a sentence that is not a command, asks the same.
func hashOf(commands []chat.Command, refusals []chat.Refusal) string {
	var all []string
	for _, cmd := range commands {
		content := cmd.Content
		if cmd.Kind == chat.FreeText {
			content = ""
		}
		all = append(all, strings.Join([]string{string(cmd.Kind), content, cmd.Glob, string(cmd.Place)}, "\x00"))
	}
	for _, r := range refusals {
		if r.Reason == chat.NoCommand {
			continue
		}
		all = append(all, strings.Join([]string{"refused", string(r.Kind), string(r.Reason), r.Sentence}, "\x00"))
	}
	if len(all) == 0 {
		return ""
	}
	return workspace.ShortHash(strings.Join(all, "\x01"))
}

// ownWords are our comments in the conversation of a comment.
func (c *conversation) ownWords(m forge.Comment) []precedent.Untrusted {
	var own []precedent.Untrusted
	for _, o := range c.comments {
		if o.Author.ID == c.Poster.Me.ID && !c.byPerson(o) && (o.Kind != forge.OnLine || o.Span.Path == m.Span.Path) {
			own = append(own, o.Body)
		}
	}
	return own
}
