package converse

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/chat"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/post"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// answerer is the engine that answers free text. It gets no tools, and its cost counts towards
// the limits of the review, the pull request and the day.
type answerer struct {
	engine.Engine
	budget *engine.Budget
	end    func() error
	asked  int // in this run
}

// openEngine creates the engine on first use.
func (c *conversation) openEngine() *answerer {
	if c.answerer == nil {
		t := &answerer{budget: workspace.BookedBudget(c.job.Settings, c.Rows, c.Pull.Number,
			c.Pull.PostedSpending(c.job.Settings))}
		t.Engine, t.end = c.job.Engine.New(workspace.EngineOptions{Budget: t.budget, Window: c.job.Settings.Context.Value})
		c.answerer = t
	}
	return c.answerer
}

// closeEngine ends the engine, and notes what the review has left to spend.
func (c *conversation) closeEngine(ctx context.Context) {
	if c.answerer == nil {
		return
	}
	_ = c.answerer.end()               // what stays behind is a temporary folder
	_ = c.answerer.budget.Release(ctx) // a failure is counted too high
	tokens, usd := c.answerer.budget.Spent()
	c.Pull.SpentTokens += tokens
	c.Pull.SpentUSD += usd
}

// reply is the engine's answer.
type reply struct {
	Class, Validity, Reply, Quote string
	Code                          []struct{ Path, Quote string }
	Learning                      *struct {
		Kind                 precedent.LearningKind
		Directive, Rationale string
	}
}

// talk has the engine answer what is not a command. It is false if that fails: then the
// review, which reads the threads, has to answer. Without an engine nobody does.
func (c *conversation) talk(ctx context.Context, h *request, a *post.ToComment) (bool, error) {
	switch {
	case h.thread != nil && (h.thread.State.Final() || answeredSince(h.thread, h.ID)), c.tooMany(h):
		return true, nil
	case !c.job.Engine.Enabled():
		c.Pull.Env.Notice(ctx, "without a model only commands are answered: %s", h.URL)
		return true, nil
	case h.thread != nil && c.inARow(h.thread) >= maxInARow:
		return false, nil
	}
	t := c.openEngine()
	if t.asked >= maxConversations {
		return false, nil
	}
	t.asked++
	said, err := c.ask(ctx, t, h)
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		h.record.Failed++
		c.Pull.Env.Notice(ctx, "%v; the comment is not answered: %s", err, h.URL)
		return false, nil
	}
	a.Parts = append(a.Parts, said.Reply)
	if text.Proves(said.Quote) && strings.Contains(plainWords(string(h.Body)), plainWords(said.Quote)) {
		return true, c.follow(ctx, h, said, a)
	}
	return true, nil
}

// plainWords is text as quotes are compared.
func plainWords(s string) string { return text.Collapse(text.Clean(s)) }

// answeredSince tells whether we wrote in a thread after a message.
func answeredSince(t *precedent.Thread, message precedent.ForgeID) bool {
	i := slices.IndexFunc(t.Messages, func(m precedent.Message) bool { return m.ID == message })
	return i < 0 || slices.ContainsFunc(t.Messages[i:], func(m precedent.Message) bool { return m.Own })
}

// inARow counts our answers in a thread since the last review.
func (c *conversation) inARow(t *precedent.Thread) int {
	n := 0
	for _, m := range slices.Backward(t.Messages) {
		marker, ok := c.Pull.Writer.Read(string(m.Body))
		switch {
		case !m.Own:
		case ok && marker.Kind == comment.Answer && marker.Head == c.state.Range.Head:
			n++
		default:
			return n
		}
	}
	return n
}

// ask sends the conversation to the engine. An answer that quotes code which does not exist is an error.
func (c *conversation) ask(ctx context.Context, t *answerer, h *request) (said reply, err error) {
	shown, learnings := c.shown(ctx, h)
	p := prompt.Answer(shown, learnings, c.state.Language)
	answer, err := t.Run(ctx, engine.Task{
		Role: engine.Answerer, Name: string(engine.Answerer), System: p.System, Prompt: p.Suffix,
		Schema: prompt.Schema(string(engine.Answerer)), Timeout: c.job.Settings.Timeout.Value,
	})
	switch {
	case err != nil:
		return said, err
	case answer.Status != precedent.StatusOK:
		return said, fmt.Errorf("ask the engine: %s: %s", answer.Status, answer.Message)
	}
	if err := json.Unmarshal(answer.JSON, &said); err != nil {
		return said, fmt.Errorf("read the engine's answer: %w", err)
	}
	if strings.TrimSpace(said.Reply) == "" {
		return said, fmt.Errorf("read the engine's answer: it says nothing")
	}
	read := run.FilesAt(c.state.Blobs, c.state.Range.Head)
	for _, q := range said.Code {
		data, err := read(q.Path)
		if err != nil || !text.Proves(q.Quote) || !bytes.Contains([]byte(text.Collapse(string(data))),
			[]byte(text.Collapse(q.Quote))) {
			return said, fmt.Errorf("read the engine's answer: it quotes code that is not in %s", text.VisibleLine(q.Path))
		}
	}
	return said, nil
}

// follow does what follows from an answer whose quote is in the comment. A thread is ended only
// for somebody with write permission, and not if its finding is severe: a model read it.
func (c *conversation) follow(ctx context.Context, h *request, said reply, a *post.ToComment) error {
	if t := h.thread; t != nil && said.Class == "explained" && said.Validity == "valid" && h.mayWrite && !t.Severe() {
		t.State, t.DismissedBy, t.DismissedWords = precedent.ThreadWontFix, h.Author.Login,
			text.Cut(plainWords(said.Quote), 300)
		if err := c.Rows.SaveThreads(ctx, []precedent.Thread{*t}); err != nil {
			return err
		}
		c.did.Ended = true
		a.Parts = append(a.Parts, "The finding is dismissed: it is not reported here again.")
	}
	l := said.Learning
	if l == nil || h.record.Stranger {
		return nil
	}
	p := c.proposal(h, chat.Command{Sentence: plainWords(said.Quote)},
		memory.Proposal{Kind: l.Kind, Directive: l.Directive, Rationale: l.Rationale, Inferred: true})
	if h.thread != nil && l.Kind.Quieter() {
		p.Glob = guide.Literal(h.thread.Path)
	}
	captured, err := c.propose(ctx, p)
	if err != nil || captured.Refused != "" || captured.Known && captured.From.Comment != h.ID {
		return err
	}
	a.Learnings = append(a.Learnings, captured.ID)
	a.Parts = append(a.Parts, confirmation(h, captured))
	return nil
}

// shown is what the engine is shown: the conversation and what it is about, with what the team taught about it, nothing
// else.
func (c *conversation) shown(ctx context.Context, h *request) (shown prompt.Conversation, learnings precedent.Untrusted) {
	t := h.thread
	if t == nil {
		shown.Replies = []prompt.Reply{{
			Who:  prompt.RoleOf(h.mayWrite, h.author),
			Text: precedent.Untrusted(secret.RedactText(string(h.Body))),
		}}
		return shown, ""
	}
	m := c.Pull.Workspace.Memory
	f := pull.RemarkOf(t)
	if e, err := m.Explain(ctx, t.Finding); err == nil {
		f.Evidence = e.Finding.Evidence
	}
	shown.Remark, shown.Then, shown.Code = f, t.Span, c.state.CodeAround(t)
	if active, err := m.Learnings(ctx, precedent.LearningActive); err == nil {
		var b strings.Builder
		for _, l := range active {
			if memory.InFiles(l.Glob, f.Path) {
				fmt.Fprintf(&b, "%s (%s): %s\n", l.ID, l.Kind, text.Collapse(l.Directive))
			}
		}
		learnings = precedent.Untrusted(secret.RedactText(b.String()))
	}
	for _, message := range t.Messages {
		shown.Replies = append(shown.Replies, c.Pull.Reply(message))
		if message.ID == h.ID {
			break
		}
	}
	return shown, learnings
}
