package converse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/chat"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/intent"
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
	if err := c.Pull.StoredThreads(c.Rows).Save(ctx, []precedent.Thread{*t}); err != nil {
		return "", err
	}
	no, err := c.closeOnForge(ctx, t)
	if err != nil {
		return "", err
	}
	if no != "" {
		return "The finding is resolved. The conversation stays open: " + string(no), nil
	}
	return "The finding is resolved.", nil
}

// closeOnForge resolves the conversation of a thread on the forge, or returns why the forge cannot.
func (c *conversation) closeOnForge(ctx context.Context, t *precedent.Thread) (forge.Unsupported, error) {
	no, err := c.Pull.Conn.Resolve(ctx, c.Pull.Repo.Repo, c.Pull.Number,
		forge.Thread{ID: t.Forge, Comments: []precedent.ForgeID{t.Comment}}, true)
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
		said = "The finding is dismissed on this pull request."
		if h.mayWrite {
			said = "The finding is dismissed: it is not reported here again."
		}
	}
	if cmd.Kind == chat.WontFix && h.mayEnd() {
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
		Category: h.thread.Category, Glob: cmp.Or(cmd.Glob, h.thread.Path),
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

// store proposes a learning, and confirms it.
func (c *conversation) store(ctx context.Context, h *request, cmd chat.Command, a *post.ToComment) (string, error) {
	p := memory.Proposal{Kind: kindOf(cmd), Directive: cmd.Content}
	if cmd.Scope == chat.InPullRequest {
		p.PullRequest = c.Pull.Number
	}
	if cmd.Kind == chat.RememberReferential {
		said, ok := c.settled(ctx, h)
		if !ok {
			return "It is not clear what to remember. For example: " + say("remember this: errors are wrapped with %w"), nil
		}
		p.Directive, p.Kind, p.Inferred = text.Cut(said.text, precedent.MaxLearningField), said.kind, said.inferred
		p.Rationale = "said at " + said.url
	}
	if cmd.Kind == chat.UpdatePreference {
		if done, answer, err := c.update(ctx, h, cmd); done || err != nil {
			return answer, err
		}
	}
	captured, err := c.propose(ctx, c.proposal(h, cmd, p))
	if err != nil {
		return "", err
	}
	if captured.Refused == "" && isShown(captured.Learning) {
		a.Learnings = append(a.Learnings, captured.ID)
	}
	answer := confirmation(h, captured)
	if cmd.Kind == chat.RememberReferential && captured.Refused == "" {
		answer += " In other words: " + say("update preference: …")
	}
	return answer, nil
}

// kindOf returns the kind of learning that a command stores; empty for what its words mean.
func kindOf(cmd chat.Command) precedent.LearningKind {
	switch cmd.Kind {
	case chat.Dismiss:
		return precedent.LearnDontFlag
	case chat.Stricter:
		return precedent.LearnStricter
	case chat.Lenient, chat.FocusLess:
		return precedent.LearnLenient
	case chat.FocusMore:
		return precedent.LearnFocus
	}
	return ""
}

// proposal completes a proposal with what the comment says about its files and its source.
func (c *conversation) proposal(h *request, cmd chat.Command, p memory.Proposal) memory.Proposal {
	p.Glob, p.Public = cmp.Or(p.Glob, cmd.Glob), c.Pull.Base.Visibility == forge.Public
	p.From = precedent.LearningSource{
		By: precedent.FromComment, Who: h.Author.Login, WhoID: h.Author.ID, MayWrite: h.mayWrite, PullRequest: c.Pull.Number,
		Comment: h.ID, Head: c.state.Range.Head, URL: h.URL, Words: cmd.Sentence,
	}
	if t := h.thread; t != nil {
		p.From.By, p.From.Thread = precedent.FromThread, t.ID
		p.About = &precedent.LearningAbout{
			Fingerprint: t.Fingerprint, Place: t.Place, Claim: t.Title, Path: t.Path, Category: t.Category, Severity: t.Severity,
		}
		switch dir := path.Dir(t.Path); {
		case cmd.Place == chat.ThisFile:
			p.Glob = t.Path
		case cmd.Place == chat.ThisDirectory && dir != ".":
			p.Glob = dir + "/**"
		}
	}
	return p
}

// minUpdated is the similarity from which a preference is taken for another version of one that
// is known. It is that of the candidates for a dismissal, doubled: an edit replaces words.
const minUpdated = 0.5

// update changes the learning that a new preference is most similar to. It is false if there is
// none, or if the person may not change it: then the new one is proposed.
func (c *conversation) update(ctx context.Context, h *request, cmd chat.Command) (done bool, answer string, err error) {
	m := c.Pull.Workspace.Memory
	active, err := m.Learnings(ctx, precedent.LearningActive)
	if err != nil || !h.mayWrite {
		return false, "", err
	}
	var nearest precedent.Learning
	most := minUpdated
	for _, l := range active {
		if s := text.Cosine(text.NewVector(cmd.Content), text.NewVector(l.Directive)); s >= most {
			nearest, most = l, s
		}
	}
	switch {
	case nearest.ID == "":
		return false, "", nil
	case nearest.Directive == text.Collapse(text.Clean(cmd.Content)):
		return true, fmt.Sprintf("Updated %s: %s", workspace.Quoted(nearest.ID), quote(nearest.Directive)), nil
	}
	captured, err := m.EditLearning(ctx, nearest.ID, h.Author.Login, true,
		func(l *precedent.Learning) { l.Directive = cmd.Content })
	if err != nil || captured.Refused != "" {
		return captured.Refused != "", "Not updated: " + captured.Refused, err
	}
	return true, fmt.Sprintf("Updated %s: %s It said: %s", workspace.Quoted(captured.ID), quote(captured.Directive),
		quote(nearest.Directive)), nil
}

// maxShown bounds what somebody else has to approve, in bytes. An answer has 2,000, and shows all
// of it: nobody approves what only finders would read.
const maxShown = 1_200

func isShown(l precedent.Learning) bool {
	return len(l.Directive)+len(l.Rationale)+len(l.Glob) <= maxShown
}

// propose stores a proposal, unless somebody has to approve it and could not see all of it.
func (c *conversation) propose(ctx context.Context, p memory.Proposal) (memory.Captured, error) {
	l := precedent.Learning{Directive: p.Directive, Rationale: p.Rationale, Glob: p.Glob}
	if (!p.From.MayWrite || p.Inferred) && !isShown(l) {
		return memory.Captured{Learning: l, Refused: fmt.Sprintf("what somebody has to approve has at most %d bytes",
			maxShown)}, nil
	}
	return c.Pull.Workspace.Memory.Propose(ctx, p)
}

// inFull is all that a learning gives to finders, if an answer has room for it.
func inFull(l precedent.Learning) string {
	if !isShown(l) {
		return quote(l.Directive)
	}
	said := "“" + l.Directive + "”"
	if l.Rationale != "" {
		said += " Why: “" + l.Rationale + "”"
	}
	return said
}

// quote is what a person wrote, in a sentence of ours.
func quote(words string) string { return "“" + text.Cut(text.Collapse(words), 300) + "”" }

// confirmation says what was stored, where it applies, its state, and how to undo it.
func confirmation(h *request, l memory.Captured) string {
	id := workspace.Quoted(l.ID)
	where := "in all files"
	if l.Glob != "" {
		where = "in " + workspace.Quoted(l.Glob)
	}
	scope := "this repository"
	if l.PullRequest != 0 {
		scope = "this pull request"
	}
	var b strings.Builder
	switch {
	case l.Refused != "":
		return fmt.Sprintf("Not stored: %s.", l.Refused)
	case l.Known && l.From.Comment != h.ID:
		return fmt.Sprintf("Already known as %s (%s): %s", id, l.State, inFull(l.Learning))
	case l.Active():
		fmt.Fprintf(&b, "Stored for %s as %s: %s It is active from the next review on.", scope, id,
			promise(l.Learning, where))
	default:
		fmt.Fprintf(&b, "Noted for %s as %s, %s, %s: %s", scope, id, kindWords[l.Kind], where, inFull(l.Learning))
		if o := l.Contradicts; o != nil {
			fmt.Fprintf(&b, " It says the opposite of %s, which stays active: %s Which one holds?", workspace.Quoted(o.ID),
				quote(o.Directive))
		}
		b.WriteString(" It is pending until somebody with write permission approves it, with " + say("approve "+l.ID) +
			post.ByVote + ".")
	}
	if l.Note != "" {
		b.WriteString(" Note: " + l.Note + ".")
	}
	return b.String() + " Undo: " + say("undo "+l.ID)
}

// promises say what reviews do because of a learning, before what it is about.
var promises = map[precedent.LearningKind]string{
	precedent.LearnDontFlag: "I will no longer show", precedent.LearnStricter: "I will be stricter about",
	precedent.LearnLenient: "I will be more lenient with", precedent.LearnFocus: "I will look first at",
}

// promise says what reviews do because of a learning, and where, unless its words say that.
func promise(l precedent.Learning, where string) string {
	subject, says := intent.Of(l.Directive).Subject, promises[l.Kind]
	switch {
	case l.Kind == precedent.LearnException:
		return "I will no longer show this finding " + where + "."
	case says == "":
		return "I will check " + where + ": " + quote(l.Directive)
	case l.Kind == precedent.LearnDontFlag && l.Glob == "":
		return "I will give less weight to " + quote(subject) + " " + where +
			"; name files, and I will no longer show it there."
	case l.Glob != "" && strings.Contains(subject, l.Glob):
		return says + " " + quote(subject) + "."
	}
	return says + " " + quote(subject) + " " + where + "."
}

// kindWords name the kinds of learnings for people.
var kindWords = map[precedent.LearningKind]string{
	precedent.LearnDo: "to check", precedent.LearnDontFlag: "not to be reported", precedent.LearnStricter: "stricter",
	precedent.LearnLenient: "more lenient", precedent.LearnFocus: "to focus on",
	precedent.LearnConvention: "a convention", precedent.LearnException: "an exception",
}

// approved says what an approval did.
func approved(l memory.Captured, who string) string {
	switch {
	case l.Refused != "":
		return fmt.Sprintf("%s was not approved: %s.", workspace.Quoted(l.ID), l.Refused)
	case l.Active():
		note := ""
		if l.Note != "" {
			note = " Note: " + l.Note + "."
		}
		return fmt.Sprintf("Approved by %s: %s is active from the next review on: %s%s Undo: %s",
			text.VisibleLine(l.Approver), workspace.Quoted(l.ID), quote(l.Directive), note, say("undo "+l.ID))
	case l.Contradicts != nil:
		return fmt.Sprintf("%s says the opposite of %s: %s To replace that one, %s has to approve it again.",
			workspace.Quoted(l.ID), workspace.Quoted(l.Contradicts.ID), quote(l.Contradicts.Directive), who)
	}
	return fmt.Sprintf("%s is %s.", workspace.Quoted(l.ID), l.State)
}

// approve makes a pending learning active: the one that is named, or the only one that the
// conversation or the pull request has.
func (c *conversation) approve(ctx context.Context, h *request, cmd chat.Command) (string, error) {
	if !h.mayWrite {
		return "Approving needs write permission.", nil
	}
	m := c.Pull.Workspace.Memory
	id := cmd.Content
	if id == "" {
		found := c.pending
		if t := h.thread; t != nil {
			found = slices.DeleteFunc(slices.Clone(found), func(l precedent.Learning) bool { return l.From.Thread != t.ID })
		}
		switch {
		case len(h.record.Targets[h.nth]) == 1:
			id = h.record.Targets[h.nth][0]
		case len(found) == 1:
			id = found[0].ID
		case len(found) == 0:
			return "Nothing is pending here.", nil
		default:
			return "Which one? " + several(found, "approve"), nil
		}
	}
	h.target(id)
	if err := c.saveActing(ctx, h); err != nil {
		return "", err
	}
	captured, err := m.ApproveLearning(ctx, id, h.Author.Login, true)
	if answer, ok := misnamed(err); ok {
		return answer, nil
	}
	return approved(captured, h.Author.Login), err
}

// several lists learnings, each with the command for it.
func several(found []precedent.Learning, verb string) string {
	var b strings.Builder
	for _, l := range found[:min(len(found), maxListed)] {
		fmt.Fprintf(&b, "\n- %s: %s", say(verb+" "+l.ID), quote(text.Cut(l.Directive, 100)))
	}
	return b.String()
}

// maxListed is how many learnings one answer lists.
const maxListed = 10

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
	h.record.Targets[h.nth] = append(h.record.Targets[h.nth], id)
}

// saveActing records what a command changes before it does, so that a run after a kill does the
// same and answers the same.
func (c *conversation) saveActing(ctx context.Context, h *request) error {
	r := h.record
	r.Acting = true
	return c.saveHandled(ctx, keyOf(h.Comment), h.hash, r, post.ToComment{})
}
