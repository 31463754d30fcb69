package workflow

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/thread"
)

// earlier is the state that earlier reviews of a pull request left. The zero value
// is the state before the first review.
type earlier struct {
	me      forge.Person
	threads []precedent.Thread       // as they are now, relocated to the head
	votes   map[string][]thread.Vote // reactions to their comments, by thread
	convs   []forge.Thread           // all conversations on lines, also those of people
	noConvs bool                     // they could not be read
	since   *review.Since            // nil to read everything
	rules   []precedent.Rule         // of the guide, that were checked up to since
	// trees are the files that threads were relocated through; nil if git could not fetch.
	trees *thread.Trees
}

// readThreads reads our threads on the pull request and relocates them to its head.
// It fails if it cannot determine which comments are ours.
func (p *Pull) readThreads(ctx context.Context, s *pullState, of purpose) error {
	me, err := p.connection.Me(ctx)
	if err != nil {
		return err
	}
	s.earlier.me = me
	rows, err := p.workspace.rows(ctx)
	if err != nil {
		return err
	}
	stored, err := p.storedThreads(rows).All(ctx)
	if err != nil {
		return err
	}
	posts, err := rows.Posts(ctx, p.Number)
	if err != nil {
		return err
	}
	convs, err := p.connection.Threads(ctx, p.repo.Repo, p.Number)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		s.fail("threads", err, "it is not known who closed which conversation")
	}
	s.earlier.convs, s.earlier.noConvs = convs, err != nil
	p.people.noteResolvers(convs, p.Author, me)
	s.earlier.threads = thread.Assemble(s.comments, convs, withPostStates(stored, posts), thread.Identity{
		Number: p.Number, Me: me, Author: p.Author.ID, Read: p.writer.Read, Signed: !p.writer.Key.IsZero(), Partial: s.partial, Now: p.reviewer.Now(),
		Relocated: p.relocated(ctx, s),
	}, p.mayWrite(ctx))
	if s.earlier.votes, err = p.votes(ctx, s); err != nil {
		if ctx.Err() != nil {
			return err
		}
		s.fail("threads", err, "not all reactions are known")
	}
	thread.Dismiss(s.earlier.threads, s.earlier.votes)
	if s.patched {
		s.fail("threads", errNotFetched, "threads could not be located in the code, and everything was read again")
		return nil
	}
	last, readers, err := lastPosted(ctx, rows, posts, of.engine)
	if err != nil {
		return err
	}
	return p.relocate(ctx, s, last, readers)
}

// relocated returns a function that relocates copies of threads to a commit; nil if git
// could not fetch.
func (p *Pull) relocated(ctx context.Context, s *pullState) func(string, []precedent.Thread) []precedent.Thread {
	if s.patched {
		return nil
	}
	return func(commit string, ts []precedent.Thread) []precedent.Thread {
		ids := []string{commit}
		for _, t := range ts {
			ids = append(ids, t.Commit, t.SeenAt)
		}
		there := append(p.repo.commits.earlier(ctx, s.spec, ids), s.rg.Head, s.rg.Base)
		moved := slices.Clone(ts)
		thread.Relocate(moved, treesAt(ctx, s.subject, there, commit, s.rg.Base))
		return moved
	}
}

// storedThreads returns the threads in the memory.
func (p *Pull) storedThreads(rows *store.Repo) thread.Kept {
	return thread.Kept{Rows: rows, Number: p.Number}
}

// relocate moves the threads to the head, and determines what has to be read again
// since last, the review that was posted last, by these finders; nil for none.
func (p *Pull) relocate(ctx context.Context, s *pullState, last *precedent.Review, readers []string) error {
	var ids []string
	for _, t := range s.earlier.threads {
		ids = append(ids, t.Commit, t.SeenAt)
	}
	if last != nil {
		ids = append(ids, last.Head, last.Base)
	}
	there := append(p.repo.commits.earlier(ctx, s.spec, ids), s.rg.Head, s.rg.Base)
	trees := treesAt(ctx, s.subject, there, s.rg.Head, s.rg.Base)
	s.earlier.trees = &trees
	thread.Relocate(s.earlier.threads, trees)
	if last == nil || last.Head == s.rg.Head {
		return nil
	}
	if !slices.Contains(there, last.Head) || !slices.Contains(there, last.Base) {
		p.reviewer.notice(ctx, "%s, the last reviewed commit, is no longer on the server: reading everything again", shortID(last.Head))
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
	s.earlier.since, s.earlier.rules = since, last.RulesChecked
	return nil
}

// changesSince compares the head with the one that was reviewed last.
func changesSince(ctx context.Context, s *pullState, there []string, last *precedent.Review) (*review.Since, error) {
	between := func(from, to string) (*diff.Change, error) {
		return readChange(ctx, s.repo.Diff, git.Range{Kind: git.PullRequest, Base: from, Head: to})
	}
	changed, err := between(last.Head, s.rg.Head)
	if err != nil {
		return nil, err
	}
	since := &review.Since{Head: last.Head, Review: last.ID, Changed: changed}
	if last.Base != s.rg.Base {
		if since.Before, err = between(last.Base, last.Head); err != nil {
			return nil, err
		}
	}
	then := slices.Clone(s.earlier.threads)
	thread.Relocate(then, treesAt(ctx, s.subject, there, last.Head, last.Base))
	since.Answered = replacedLines(then, changed)
	return since, nil
}

// errNoCommit means that a commit could not be fetched.
var errNoCommit = errors.New("the commit is missing")

// treesAt returns the files that threads are relocated through, up to a head. Only
// the commits in there can be read.
func treesAt(ctx context.Context, s subject, there []string, head, base string) thread.Trees {
	return thread.Trees{
		Head: head, Base: base,
		Read: func(commit, path string) ([]byte, error) {
			if !slices.Contains(there, commit) {
				return nil, errNoCommit
			}
			return FilesAt(s.blobs, commit)(path)
		},
		Renamed: func(from string) map[string]string { return renamed(ctx, s.repo, from, head) },
	}
}

// lastPosted returns the newest complete review whose summary is on the pull request,
// with an engine if engine is set, and the finders that have read the code up to it;
// nil for none. After a push with nothing to read, no finder ran: then the finders of
// the review before it count.
func lastPosted(ctx context.Context, rows *store.Repo, posts []store.Post, engine bool) (*precedent.Review, []string, error) {
	return lastRead(func(yield func(*precedent.Review, error) bool) {
		for _, p := range slices.Backward(posts) {
			if p.Kind == store.PostSummary && p.State == store.PostConfirmed && !yield(rows.Review(ctx, p.Review)) {
				return
			}
		}
	}, engine)
}

// lastRead returns the first complete one of reviews, which come newest first, with an
// engine if engine is set, and the finders that have read the code up to it; nil for none.
func lastRead(reviews iter.Seq2[*precedent.Review, error], engine bool) (*precedent.Review, []string, error) {
	var last *precedent.Review
	readers := []string{}
	for r, err := range reviews {
		if errors.Is(err, store.ErrNoReview) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if !slices.Contains([]precedent.Verdict{precedent.Clean, precedent.NoFindings, precedent.Findings}, r.Verdict) || r.Scope != precedent.FullScope && engine {
			continue
		}
		asked := false
		for _, f := range r.Finders {
			analyzer := f.Engine == precedent.AnalyzerEngine
			asked = asked || f.Status.Good() && !analyzer
			if f.Status.Good() && (last == nil || !analyzer) {
				readers = append(readers, f.Name)
			}
		}
		if last == nil {
			last = r
		}
		if asked || !engine {
			break
		}
	}
	return last, readers, nil
}

// withPostStates corrects the stored states of threads with the states of the posts. A
// process can end between storing the two, and a push can arrive between a review and
// its posts: a thread that we closed is addressed, and an answer that was not posted
// is still pending.
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

// recheckRules has the finder of the team's rules read everything again if the guide
// got rules that the last review did not check.
func (e *earlier) recheckRules(guide []precedent.Rule) {
	if e.since == nil {
		return
	}
	for _, r := range guide {
		if !slices.ContainsFunc(e.rules, func(old precedent.Rule) bool { return old.ID == r.ID }) {
			e.since.Finders = slices.DeleteFunc(e.since.Finders, func(name string) bool { return name == string(precedent.Guidelines) })
			return
		}
	}
}
