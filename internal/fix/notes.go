package fix

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/post"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// notes are what is said about a push: one comment on the pull request, and a reply in each thread that the
// engine says it addressed. The next review decides whether it did.
func (f *fixing) notes(commit string) []post.ToComment {
	lead := fmt.Sprintf("**Pushed `%s`** to address %s: %s changed.", workspace.ShortID(commit),
		workspace.Count(len(f.answer.Addressed), "conversation", "conversations"), f.changed())
	if f.change.Empty() {
		lead = fmt.Sprintf("**Pushed `%s`**, which resolves the conflicts with the base.", workspace.ShortID(commit))
	}
	after := ""
	if f.gated != gatePassed {
		after = f.gateSentence()
	}
	all := []post.ToComment{{Key: "fixed." + commit, Note: &post.ToNote{
		Kind: comment.Fixed, Review: f.id, Note: pull.Redacted(comment.Note{
			Lead: lead, After: after, Text: f.answer.Summary, Items: f.unthreaded(), End: f.leftOut(),
		}),
	}}}
	for _, a := range f.answer.Addressed {
		if t := f.thread(a.Thread); t.Comment != "" {
			all = append(all, f.reply(t, commit, comment.Note{Lead: pull.AddressedLead, After: withCommit(a.How, commit)}))
		}
	}
	return all
}

// gateSentence is what the gate said. It may quote what a program of the change printed.
func (f *fixing) gateSentence() string {
	return strings.ToUpper(f.gated[:1]) + f.gated[1:] + "."
}

// unthreaded are the addressed findings that have no thread to reply in.
func (f *fixing) unthreaded() []comment.NoteItem {
	var items []comment.NoteItem
	for _, a := range f.answer.Addressed {
		if t := f.thread(a.Thread); t.Comment == "" {
			items = append(items, comment.NoteItem{Name: text.Cut(t.Title, pull.MaxTitle), Words: "addressed: " + a.How})
		}
	}
	return items
}

func withCommit(how, commit string) string {
	return strings.TrimRight(cmp.Or(strings.TrimSpace(how), "Changed"), ". ") + ", in `" + workspace.ShortID(commit) + "`."
}

// reply is a reply in a thread, once in a round. In a conversation that a person opened, it has no
// thread of ours.
func (f *fixing) reply(t *precedent.Thread, what string, n comment.Note) post.ToComment {
	own := t.ID
	if strings.HasPrefix(own, pull.PersonsID) {
		own = ""
	}
	return post.ToComment{
		Key: "fix." + f.id + "." + t.ID + "." + what[:min(len(what), 12)], Root: t.Comment, URL: t.URL,
		Note: &post.ToNote{Kind: comment.Reply, Review: f.id, Thread: own, Note: pull.Redacted(n)},
	}
}

// leftOut says which conversations the engine was not shown.
func (f *fixing) leftOut() string {
	switch n := f.people.Others; {
	case f.state.Earlier.NoConvs:
		return "Not all conversations that people opened could be read; the others were left out."
	case n == 1:
		return "1 conversation was left out: who opened it has no write permission."
	case n > 1:
		return fmt.Sprintf("%d conversations were left out: the people who opened them have no write permission.", n)
	}
	return ""
}

// fixWords say how an attempt to fix ended.
var fixWords = map[Status]string{
	NoChange: "the attempt changed nothing", BuildFailed: "the build or the tests fail after the change",
	Conflict: "the conflicts with the base could not be resolved", Refused: "the change is not allowed",
	Fork: "the head is not a branch of this repository",
}

// explain posts why nothing was pushed, with the id of the round, so that the attempt is counted.
func (f *fixing) explain(ctx context.Context, r *Result) error {
	r.Why = text.VisibleLine(r.Why)
	words, failed := fixWords[r.Status]
	if !failed || f.o.DryRun || r.Status == Fork {
		return nil
	}
	lead := "**Nothing was fixed** at `" + workspace.ShortID(f.state.Range.Head) + "`: " + words + "."
	return f.sayUnfixed(ctx, comment.Note{Lead: lead, Text: r.Why, Log: r.log, End: f.leftOut()})
}

// sayUnfixed posts why nothing was fixed, with other comments. If nobody asked for the attempt, and the
// same was said of this head since we last gave up, that comment is edited, and counts one attempt more:
// nobody needs another mail.
func (f *fixing) sayUnfixed(ctx context.Context, n comment.Note, more ...post.ToComment) error {
	n = pull.Redacted(n)
	var same pull.OwnComment
	for _, s := range f.OwnComments(f.state.Comments) {
		switch {
		case s.Kind == comment.GivenUp:
			same = pull.OwnComment{}
		case s.Kind == comment.Unfixed && s.Head == f.state.Range.Head && strings.HasPrefix(string(s.Body), n.Lead):
			same = s
		}
	}
	if same.Ref.ID != "" && !f.o.Asked {
		if err := f.o.Check(ctx); err != nil {
			return err
		}
		same.Tries = max(1, same.Tries) + 1
		n.Lead += fmt.Sprintf(" This was attempt %d.", same.Tries)
		err := f.Pull.Conn.Edit(ctx, f.Pull.Repo.Repo, f.Pull.Number, same.Ref, f.Poster.Writer.Note(n, same.Marker))
		return f.Pull.Conn.Explain(err)
	}
	note := post.ToComment{Key: "fix." + f.id, Note: &post.ToNote{Kind: comment.Unfixed, Review: f.id, Note: n}}
	if err := f.o.Check(ctx); err != nil {
		return err
	}
	head := func(post.ToComment) string { return f.state.Range.Head }
	if err := f.PlanNotes(ctx, "note.nofix."+note.Key, head, append([]post.ToComment{note}, more...)...); err != nil {
		return err
	}
	return f.deliver(ctx)
}

// suggest offers the change to the owner of a fork: as lines to commit in the threads whose lines
// it replaces, and as a whole in a comment.
func (f *fixing) suggest(ctx context.Context) (Result, error) {
	result := f.done(Fork)
	result.Why = "the head is not a branch of this repository: the change was suggested"
	var all []post.ToComment
	for _, a := range f.answer.Addressed {
		t := f.thread(a.Thread)
		if t.Comment == "" {
			continue
		}
		n := comment.Note{Lead: "**Suggested:**", After: a.How, Suggestion: f.replacement(t)}
		if n.Suggestion == nil {
			n.End = "The change is in a comment on this pull request."
		}
		all = append(all, f.reply(t, f.change.Tree, n))
	}
	lead := "**Nothing was pushed** at `" + workspace.ShortID(f.state.Range.Head) + "`: " + fixWords[Fork] +
		". This change would address " + workspace.Count(len(f.answer.Addressed), "conversation", "conversations") + "."
	n := comment.Note{
		Lead: lead, After: f.gateSentence(), Text: f.answer.Summary, Patch: string(f.change.Patch), End: f.leftOut(),
	}
	return result, f.sayUnfixed(ctx, n, all...)
}

// replacement returns the lines that replace exactly those of a thread; nil if the change is not within them.
func (f *fixing) replacement(t *precedent.Thread) []string {
	at := t.Current
	if at.Start == 0 || at.Side == precedent.Left || t.Commit != f.state.Range.Head {
		return nil
	}
	var sides [2][]string
	for i, rev := range []string{f.state.Range.Head, f.change.Tree} {
		data, err := run.FilesAt(f.state.Blobs, rev)(at.Path)
		if err != nil {
			return nil
		}
		sides[i] = strings.Split(string(data), "\n")
	}
	return within(sides[0], sides[1], at.Start, at.End)
}

// within returns what the lines from start to last became; nil if nothing is left of them, or other lines changed, too.
func within(before, after []string, start, last int) []string {
	end := last + len(after) - len(before)
	if last > len(before) || end < start || slices.Equal(after, before) ||
		!slices.Equal(after[:start-1], before[:start-1]) || !slices.Equal(after[end:], before[last:]) {
		return nil
	}
	return after[start-1 : end]
}
