package converse

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/chat"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/intent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/post"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

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
			p.Glob = guide.Literal(t.Path)
		case cmd.Place == chat.ThisDirectory && dir != ".":
			p.Glob = guide.Literal(dir+"/") + "**"
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
	captured, err := m.EditLearning(ctx, nearest.ID, h.Author.Login,
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
		where = "in " + workspace.Quoted(guide.Readable(l.Glob))
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
	captured, err := m.ApproveLearning(ctx, id, h.Author.Login)
	if answer, ok := misnamed(err); ok {
		return answer, nil
	}
	c.did.Ended = true
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
