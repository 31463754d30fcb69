package pull

import (
	"context"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/thread"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// earlier is the state that earlier reviews of a pull request left. The zero value
// is the state before the first review.
type earlier struct {
	me      forge.Person
	Threads []precedent.Thread       // as they are now, relocated to the head
	votes   map[string][]thread.Vote // reactions to their comments, by thread
	Convs   []forge.Thread           // all conversations on lines, also those of people
	NoConvs bool                     // they could not be read
	unsure  bool                     // it is not known who ended or reopened which thread
	since   *review.Since            // nil to read everything
	rules   []precedent.Rule         // of the guide, that were checked up to since
	// trees are the files that threads were relocated through; nil if git could not fetch.
	trees *thread.Trees
}

// readThreads reads our threads on the pull request and relocates them to its head.
// It fails if it cannot determine which comments are ours.
func (p *Pull) readThreads(ctx context.Context, s *State, of Purpose) error {
	me, err := p.Conn.Me(ctx)
	if err != nil {
		return err
	}
	s.Earlier.me = me
	stored, err := p.Workspace.Memory.Rows.Threads(ctx, p.Number)
	if err != nil {
		return err
	}
	posts, err := p.Workspace.Memory.Rows.Posts(ctx, p.Number)
	if err != nil {
		return err
	}
	convs, err := p.Conn.Threads(ctx, p.Repo.Repo, p.Number)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		s.fail("threads", err, "it is not known who closed which conversation")
	}
	s.Earlier.Convs, s.Earlier.NoConvs = convs, err != nil
	p.People.NoteResolvers(convs, p.Author, me)
	s.Earlier.Threads = thread.Assemble(s.Comments, convs, withPostStates(stored, posts), thread.Identity{
		Number: p.Number, Me: me, Author: p.Author.ID, Read: p.Writer.Read,
		Proven: !p.Writer.Key.IsZero() || !me.SharedByWorkflows(), Partial: s.partial, Now: p.Env.Now(),
		Relocated: p.Relocated(ctx, s),
	}, p.mayWrite(ctx))
	if s.Earlier.votes, err = p.votes(ctx, s); err != nil {
		if ctx.Err() != nil {
			return err
		}
		s.fail("threads", err, "not all reactions are known")
	}
	thread.Dismiss(s.Earlier.Threads, s.Earlier.votes)
	s.Earlier.unsure = err != nil || s.Earlier.NoConvs || s.partial || len(p.People.Failures()) > 0
	if !s.Earlier.unsure {
		if err := p.unlearn(ctx, s); err != nil {
			return err
		}
	}
	if s.Patched {
		s.fail("threads", errNotFetched, "threads could not be located in the code, and everything was read again")
		return nil
	}
	last, readers, err := lastPosted(ctx, p.Workspace.Memory.Rows, posts, of.Engine)
	if err != nil {
		return err
	}
	return p.relocate(ctx, s, last, readers)
}

// Relocated returns a function that relocates copies of threads to a commit; nil if git could not fetch.
func (p *Pull) Relocated(ctx context.Context, s *State) func(string, []precedent.Thread) []precedent.Thread {
	if s.Patched {
		return nil
	}
	return func(commit string, ts []precedent.Thread) []precedent.Thread {
		ids := []string{commit}
		for _, t := range ts {
			ids = append(ids, t.Commit, t.SeenAt)
		}
		there := append(p.Repo.commits.Earlier(ctx, s.Spec, ids), s.Range.Head, s.Range.Base)
		moved := slices.Clone(ts)
		thread.Relocate(moved, run.TreesAt(ctx, s.Subject, there, commit, s.Range.Base))
		return moved
	}
}

// relocate moves the threads to the head, and determines what has to be read again
// since last, the review that was posted last, by these finders; nil for none.
func (p *Pull) relocate(ctx context.Context, s *State, last *precedent.Review, readers []string) error {
	var ids []string
	named := s.Repo.Named(ctx, s.Range.Head)
	for i := range s.Earlier.Threads {
		t := &s.Earlier.Threads[i]
		t.Path, t.SeenPath = named(t.Path), named(t.SeenPath)
		ids = append(ids, t.Commit, t.SeenAt)
	}
	if last != nil {
		ids = append(ids, last.Head, last.Base)
	}
	there := append(p.Repo.commits.Earlier(ctx, s.Spec, ids), s.Range.Head, s.Range.Base)
	trees := run.TreesAt(ctx, s.Subject, there, s.Range.Head, s.Range.Base)
	s.Earlier.trees = &trees
	thread.Relocate(s.Earlier.Threads, trees)
	if last == nil || last.Head == s.Range.Head {
		return nil
	}
	if !slices.Contains(there, last.Head) || !slices.Contains(there, last.Base) {
		p.Env.Notice(ctx, "%s, the last reviewed commit, is no longer on the server: reading everything again",
			workspace.ShortID(last.Head))
		return nil
	}
	again, err := p.takenBack(ctx, last)
	if err != nil {
		return err
	}
	if again {
		p.Env.Notice(ctx, "what hid a finding of the last review was taken back: everything is read again")
		return nil
	}
	since, err := changesSince(ctx, s, there, last)
	if err != nil {
		return err
	}
	since.Finders = readers
	for _, f := range last.Coverage.Skipped {
		since.Skipped = append(since.Skipped, f.Path)
	}
	s.Earlier.since, s.Earlier.rules = since, last.RulesChecked
	return nil
}

// takenBack reports whether a dismissal or a learning that hid a finding of a review does not hold any more. A finding
// with a thread is followed by that.
func (p *Pull) takenBack(ctx context.Context, last *precedent.Review) (bool, error) {
	by := []precedent.Dropped{precedent.Dismissed, precedent.Rejected, precedent.ByLearning}
	hidden := slices.DeleteFunc(slices.Clone(last.Findings), func(f precedent.Finding) bool {
		return f.Thread != "" || !slices.Contains(by, f.Dropped)
	})
	if len(hidden) == 0 {
		return false, nil
	}
	held, err := p.Workspace.Memory.Dismissals(ctx)
	if err != nil {
		return false, err
	}
	learned, err := p.Workspace.Memory.Learnings(ctx)
	return slices.ContainsFunc(hidden, func(f precedent.Finding) bool {
		if f.Dropped == precedent.ByLearning {
			return slices.ContainsFunc(learned, func(l precedent.Learning) bool {
				return l.ID == f.DroppedBy && l.State != precedent.LearningActive
			})
		}
		return !slices.ContainsFunc(held, func(j precedent.Dismissal) bool {
			return j.ID == f.DroppedBy || f.Dropped == precedent.Dismissed && j.Fingerprint == f.Fingerprint
		})
	}), err
}

// changesSince compares the head with the one that was reviewed last.
func changesSince(ctx context.Context, s *State, there []string, last *precedent.Review) (*review.Since, error) {
	between := func(from, to string) (*diff.Change, error) {
		return run.ReadChange(ctx, s.Repo.Diff, git.Range{Kind: git.PullRequest, Base: from, Head: to})
	}
	changed, err := between(last.Head, s.Range.Head)
	if err != nil {
		return nil, err
	}
	since := &review.Since{Head: last.Head, Changed: changed}
	if last.Base != s.Range.Base {
		if since.Before, err = between(last.Base, last.Head); err != nil {
			return nil, err
		}
	}
	then := slices.Clone(s.Earlier.Threads)
	thread.Relocate(then, run.TreesAt(ctx, s.Subject, there, last.Head, last.Base))
	since.Answered = replacedLines(then, changed)
	return since, nil
}

// lastPosted returns the newest complete review whose summary is on the pull request, with an engine if
// engine is set, and the finders that have read the code up to it; nil for none. After a push with nothing to
// read, no finder ran: then the finders of the review before it count.
func lastPosted(ctx context.Context, rows *store.Repo, posts []store.Post, engine bool) (*precedent.Review, []string,
	error,
) {
	return run.LastRead(func(yield func(*precedent.Review, error) bool) {
		for _, p := range slices.Backward(posts) {
			if p.Kind == store.PostSummary && p.State == store.PostConfirmed && !yield(rows.Review(ctx, p.Review)) {
				return
			}
		}
	}, engine)
}

// withPostStates corrects the stored states of threads with the states of the posts. A process can end
// between storing the two, and a push can arrive between a review and its posts: a thread that we closed is
// addressed, and an answer that was not posted is still pending.
func withPostStates(stored []precedent.Thread, posts []store.Post) []precedent.Thread {
	if len(posts) == 0 {
		return stored
	}
	newest := posts[len(posts)-1].Review
	latest := map[string]store.Post{} // of each thread
	for _, p := range posts {
		switch p.Kind {
		case store.PostReply, store.PostClose, store.PostReopen:
			latest[p.Thread] = p
		}
	}
	threads := slices.Clone(stored)
	for i := range threads {
		t := &threads[i]
		p, ok := latest[t.ID]
		switch {
		case !ok || t.State.Final():
		case p.State == store.PostConfirmed:
			if p.Kind == store.PostClose && p.Review == newest {
				t.State, t.Closed = precedent.ThreadAddressed, true
			}
		case p.Kind == store.PostReopen && !p.State.Done():
			t.State, t.Closed = precedent.ThreadAddressed, true // it was us who closed it
		case p.Kind == store.PostClose && (p.State == store.PostSending || p.State == store.PostUnknown):
			t.State = precedent.ThreadAddressed // if it is closed, it was us
		case p.State != store.PostRejected && p.Kind != store.PostReopen:
			t.State = precedent.ThreadPending // open if nobody waits
		}
	}
	return threads
}
