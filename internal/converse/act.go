package converse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/chat"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/post"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// act carries out what a comment asks, and adds what to answer. It is false if the review, which
// reads the threads, has to answer.
func (c *conversation) act(ctx context.Context, h *request, a *post.ToComment) (bool, error) {
	if len(h.commands) == 1 && h.commands[0].Kind == chat.FreeText {
		return c.talk(ctx, h, a)
	}
	if c.tooMany(h) {
		return true, nil
	}
	for i, cmd := range h.commands {
		h.nth = i
		part, err := c.obey(ctx, h, cmd, a)
		if err != nil {
			return false, err
		}
		if part != "" {
			a.Parts = append(a.Parts, part)
		}
	}
	for _, r := range h.refusals {
		part := r.Why
		if r.Example != "" {
			part += " For example: " + say(r.Example)
		}
		a.Parts = append(a.Parts, part)
	}
	if h.edited && len(a.Parts) > 0 {
		a.Parts = append(a.Parts,
			"The comment was edited after it was read, so it counts as if somebody without write permission had written it.")
	}
	return true, nil
}

// say is a command for people to write.
func say(command string) string { return workspace.Quoted("@precedent " + command) }

// obey carries out a command and returns what to answer; empty for nothing.
func (c *conversation) obey(ctx context.Context, h *request, cmd chat.Command, a *post.ToComment) (string, error) {
	switch cmd.Kind {
	case chat.Remember, chat.RememberReferential, chat.Dismiss, chat.Stricter, chat.Lenient, chat.FocusMore,
		chat.FocusLess, chat.UpdatePreference:
		return c.store(ctx, h, cmd, a)
	case chat.Exception, chat.WontFix, chat.NotApplicable:
		return c.dismiss(ctx, h, cmd, a)
	case chat.Forget, chat.ForgetRule, chat.Undo, chat.ForgetAll, chat.Confirm, chat.ResetPreferences:
		return c.forget(ctx, h, cmd)
	case chat.Approve:
		return c.approve(ctx, h, cmd)
	case chat.ResetThresholds:
		return c.resetThresholds(ctx, h)
	case chat.AskRemember, chat.ListPreferences, chat.PreferencesForFile:
		return c.list(ctx, h, cmd)
	case chat.ExplainFlag:
		return c.explain(ctx, h)
	case chat.Help:
		return helpText, nil
	}
	if !h.mayWrite && !h.author {
		return "Only the author of the pull request and people with write permission can ask for that.", nil
	}
	switch cmd.Kind {
	case chat.Review, chat.ReviewAgain:
		return "", c.request(ctx, cmd.Kind == chat.ReviewAgain)
	case chat.Pause, chat.Resume:
		if !h.mayWrite { // nothing would be found in what the author pushes next
			return "Pausing and resuming reviews needs write permission.", nil
		}
		return c.pause(ctx, h, cmd.Kind == chat.Pause)
	case chat.Resolve:
		return c.resolve(ctx, h)
	case chat.Fix:
		return c.fix(ctx, h)
	}
	return "", nil
}

// request notes that a person asks for a review.
func (c *conversation) request(ctx context.Context, again bool) error {
	c.did.Review, c.did.Again = true, c.did.Again || again
	if !c.Keeps {
		return nil
	}
	asking := store.AskedReview
	if again {
		asking = store.AskedAgain
	}
	return c.Rows.AskPull(ctx, c.Pull.Number, asking)
}

const helpText = "Start a sentence with `@precedent`: `remember this: …`, `for future reviews: …`, `our convention " +
	"is …`, `don't flag …`, " +
	"`be stricter about …`, `be more lenient with …`, `focus more on …`, `focus less on …`, `update preference: …`, " +
	"`forget: …`, `undo ID`, `approve ID`, " +
	"`list my preferences`, `what do you remember about this repo?`, `review again`, `fix`, `pause`, `resume`.\n\n" +
	"In the conversation about a finding: `this is intentional because …`, `won't fix: …`, `not applicable here`, " +
	"`explain why you flagged this`, `resolve`, `fix`."

// pause pauses or resumes the reviews of the pull request.
func (c *conversation) pause(ctx context.Context, h *request, paused bool) (string, error) {
	if err := c.Rows.Pause(ctx, c.Pull.Number, h.Author.Login, paused); err != nil {
		return "", err
	}
	if paused {
		return "Reviews of this pull request are paused. To go on: " + say("resume"), nil
	}
	return "The next run reviews this pull request again.", nil
}

// byHand is how to get a fix without a server.
const byHand = "In a clone of the branch, `precedent review --fix` applies suggestions to the work tree, and " +
	"commits nothing."

// fix asks for a fix round, which addresses all open conversations: one alone would be a push, a run
// of CI and a review for each.
func (c *conversation) fix(ctx context.Context, h *request) (string, error) {
	if !h.mayWrite {
		return "Asking for a fix needs write permission. " + byHand, nil
	}
	who, paused, err := c.Rows.PausedBy(ctx, c.Pull.Number)
	switch {
	case err != nil:
		return "", err
	case paused:
		return fmt.Sprintf("Nothing is fixed, because %s has paused this pull request. To go on: %s",
			workspace.Quoted(text.VisibleLine(who)), say("resume")), nil
	case c.job.AskFix == nil:
		return "Nothing is fixed on request here: only a server does that. With a token that may push, run " +
			workspace.Quoted(fmt.Sprintf("precedent fix %d", c.Pull.Number)) + ". " + byHand, nil
	}
	if err := c.job.AskFix(ctx, keyOf(h.Comment)+"."+h.hash); err != nil {
		return "", err
	}
	return "A fix round follows, for all open conversations. A comment will say how it ended.", nil
}

// mayEnd tells whether the person may end a thread: people with write permission, and the author
// of the pull request unless the finding is severe.
func (h *request) mayEnd() bool { return h.mayWrite || h.author && !h.thread.Severe() }

// whyNotEnded says why a thread stays open.
func (h *request) whyNotEnded() string {
	if !h.author {
		return "The finding stays open: dismissing it needs write permission."
	}
	return fmt.Sprintf("The finding stays open: one of %s severity about %s is dismissed only by somebody with write "+
		"permission.", h.thread.Severity, h.thread.Category)
}

// resolve closes a conversation.
func (c *conversation) resolve(ctx context.Context, h *request) (string, error) {
	t := h.thread
	switch {
	case t == nil:
		return "Ask that in the conversation about a finding.", nil
	case !h.mayEnd():
		return h.whyNotEnded(), nil
	}
	t.State = precedent.ThreadResolved
	if !h.mayWrite { // what the author ends stays so only as long as the finding is mild: thread.EndedByAuthor
		t.State = precedent.ThreadWontFix
	}
	c.did.Ended = true
	no, err := c.closeOnForge(ctx, t)
	if err != nil {
		return "", err
	}
	if no != "" {
		return "The finding is resolved. The conversation stays open: " + string(no), nil
	}
	return "The finding is resolved.", nil
}

// closeOnForge saves a thread and resolves its conversation on the forge, or returns why the forge cannot. The memory
// knows its state first: it must not take that for a person's decision.
func (c *conversation) closeOnForge(ctx context.Context, t *precedent.Thread) (forge.Unsupported, error) {
	if err := c.Rows.SaveThreads(ctx, []precedent.Thread{*t}); err != nil {
		return "", err
	}
	no, err := c.Pull.Conn.Resolve(ctx, c.Pull.Repo.Repo, c.Pull.Number,
		forge.Thread{ID: t.Forge, Comments: []precedent.ForgeID{t.Comment}}, true)
	if e, ok := errors.AsType[*forge.Error](err); ok && (e.Kind == forge.KindInvalid || e.Kind == forge.KindNotFound) {
		return forge.Unsupported(e.Msg), nil // as it would be the next time, and others wait for their answers
	}
	if err != nil {
		return "", c.Pull.Conn.Explain(err)
	}
	return no, nil
}

// dismiss answers a dismissal of the finding of a thread. What it does to the thread follows
// from the comment itself, each time the thread is read (thread.Assemble).
func (c *conversation) dismiss(ctx context.Context, h *request, cmd chat.Command, a *post.ToComment) (string, error) {
	if h.thread == nil {
		return "Say that in the conversation about a finding.", nil
	}
	said := h.whyNotEnded()
	if h.mayEnd() {
		c.did.Ended = true
		said = "The finding is dismissed on this pull request."
		if h.mayWrite {
			said = "The finding is dismissed: it is not reported here again."
		}
	}
	if cmd.Kind == chat.WontFix && h.mayEnd() {
		h.thread.State = precedent.ThreadWontFix
		if no, err := c.closeOnForge(ctx, h.thread); err != nil {
			return "", err
		} else if no != "" {
			said += " The conversation stays open: " + string(no)
		}
	}
	if cmd.Kind != chat.Exception || h.record.Stranger || c.state.Capture == precedent.CaptureOff {
		if h.mayWrite {
			said += c.widening(ctx, h.thread)
		}
		return said, nil
	}
	captured, err := c.propose(ctx, c.proposal(h, cmd, memory.Proposal{
		Kind: precedent.LearnException, Directive: "Do not report again: " + h.thread.Title, Rationale: cmd.Content,
		Category: h.thread.Category, Glob: cmp.Or(cmd.Glob, guide.Literal(h.thread.Path)),
		Inferred: c.state.Capture == precedent.CaptureAsk || !h.mayWrite || !c.isMaintainer(ctx, h.Author),
	}))
	if err != nil || captured.Refused != "" || captured.Known && captured.From.Comment != h.ID {
		return said, err
	}
	a.Learnings = append(a.Learnings, captured.ID)
	return said + "\n\n" + confirmation(h, captured), nil
}

// widening offers to hide a remark that was dismissed elsewhere before; empty if it was not.
func (c *conversation) widening(ctx context.Context, t *precedent.Thread) string {
	glob, err := c.Pull.Workspace.Memory.Widen(ctx, precedent.Dismissal{
		Fingerprint: t.Fingerprint, Claim: t.Title, Path: t.Path, Category: t.Category, Severity: t.Severity,
		At: c.Pull.Env.Now(),
	})
	if err != nil || glob == "" { // an offer
		return ""
	}
	return fmt.Sprintf(" This remark was dismissed elsewhere before. To hide it in %s: %s", workspace.Quoted(glob),
		say("don't flag "+text.VisibleLine(t.Title)+" in "+glob))
}

// isMaintainer reports whether a person administers the repository, as far as the forge tells, or is one of the
// policy's maintainers.
func (c *conversation) isMaintainer(ctx context.Context, p forge.Person) bool {
	return c.Pull.People.Permission(ctx, p) == forge.Admin ||
		slices.ContainsFunc(c.Pull.People.Maintainers, func(name string) bool { return strings.EqualFold(name, p.Login) })
}

// misnamed returns the answer to an id or to words that are not those of one learning.
func misnamed(err error) (string, bool) {
	if e, ok := errors.AsType[*memory.Error](err); ok {
		return e.Msg, true
	}
	return "", false
}

// target adds to what the command changes.
func (h *request) target(id string) {
	if h.record.Targets == nil {
		h.record.Targets = map[int][]string{}
	}
	if has := h.record.Targets[h.nth]; !slices.Contains(has, id) { // an interrupted run added it
		h.record.Targets[h.nth] = append(has, id)
	}
}

// saveActing records what a command changes before it does, so that a run after a kill does the
// same and answers the same.
func (c *conversation) saveActing(ctx context.Context, h *request) error {
	r := h.record
	r.Acting = true
	return c.saveHandled(ctx, keyOf(h.Comment), h.hash, r, post.ToComment{})
}
