package main

import (
	"context"
	"errors"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/thread"
)

// history is what earlier reviews of a pull request left.
type history struct {
	me      forge.Person
	threads []precedent.Thread // as they are now, carried to the head
	since   *review.Since      // nil to read everything
	posts   []store.Post
	// permission asks what a person may do, once each.
	permission func(forge.Person) forge.Permission
	rules      []precedent.Rule // of the guide, that were checked up to since
	trees      thread.Trees     // that the threads were carried through; none if git could not fetch
	end        func() error     // gives the trees back; nil without any
}

func (h *history) close() {
	if h.end != nil {
		_ = h.end() // they were only read
	}
}

// follow finds our threads on the pull request and carries them to its head.
// A review goes on without what cannot be found; whoever posts needs to know
// whose comments are whose.
func (a *app) follow(ctx context.Context, st *station, d *desk, s subject, e errand) (history, error) {
	p := s.pull
	lost := func(err error, so string) {
		p.failures = append(p.failures, precedent.Failure{Step: "threads", Error: err.Error() + "; " + so})
	}
	var h history
	var err error
	if h.me, err = st.Me(ctx); err != nil {
		return h, err
	}
	rows, err := d.rows(ctx)
	if err != nil {
		return h, err
	}
	stored, err := rows.Threads(ctx, p.Number)
	if err != nil {
		return h, err
	}
	if h.posts, err = rows.Posts(ctx, p.Number); err != nil {
		return h, err
	}
	convs, err := st.Threads(ctx, d.named, p.Number)
	if err != nil {
		if ctx.Err() != nil {
			return h, err
		}
		lost(err, "who closed which conversation is not known")
	}
	h.permission = a.permissions(ctx, st, d, p)
	h.threads = thread.Assemble(p.comments, convs, asSaid(stored, h.posts), thread.Self{
		Number: p.Number, Me: h.me, Read: e.writer.Read, Signed: !e.writer.Key.IsZero(), Partial: p.unheard, Now: a.now(),
	}, func(who forge.Person) bool { return h.permission(who).MayWrite() })
	if p.patch != nil {
		lost(errNotFetched, "threads are known by what they say alone, and everything is read again")
		return h, nil
	}
	return h, a.carry(ctx, d, s, rows, &h, e.engine)
}

// permissions asks for each person once, and says once for whom nobody could
// be asked.
func (a *app) permissions(ctx context.Context, st *station, d *desk, p *pull) func(forge.Person) forge.Permission {
	known := map[precedent.ForgeID]forge.Permission{}
	return func(who forge.Person) forge.Permission {
		got, ok := known[who.ID]
		if ok || len(known) >= maxPeople || who.ID == "" {
			return got
		}
		got, err := st.Permission(ctx, d.named, who)
		if err != nil {
			got = forge.None
			p.failures = append(p.failures, precedent.Failure{Step: "discussion", Error: err.Error() + "; what " + text.VisibleLine(who.Login) + " said counts like anybody's"})
		}
		known[who.ID] = got
		return got
	}
}

// carry moves the threads to the head, and finds out since when nothing has to
// be read again.
func (a *app) carry(ctx context.Context, d *desk, s subject, rows *store.Repo, h *history, engine bool) error {
	last, readers, err := lastPosted(ctx, rows, h.posts, engine)
	if err != nil {
		return err
	}
	var earlier []string
	for _, t := range h.threads {
		earlier = append(earlier, t.Commit, t.SeenAt)
	}
	if last != nil {
		earlier = append(earlier, last.Head, last.Base)
	}
	there := d.earlier(ctx, s.pull.spec, earlier)
	blobs, err := s.repo.Blobs(ctx)
	if err != nil {
		return err
	}
	h.end = blobs.Close
	there = append(there, s.rg.Head, s.rg.Base)
	h.trees = treesAt(ctx, s.repo, blobs, there, s.rg.Head, s.rg.Base)
	thread.Carry(h.threads, h.trees)
	if last == nil || last.Head == s.rg.Head {
		return nil
	}
	if !slices.Contains(there, last.Head) || !slices.Contains(there, last.Base) {
		a.notice("%s, which was reviewed last, is gone from the server: everything is read again", short(last.Head))
		return nil
	}
	if err := h.sinceThen(ctx, s, blobs, there, last); err != nil {
		return err
	}
	h.since.Finders, h.rules = readers, last.RulesChecked
	for _, f := range last.Coverage.Skipped {
		h.since.Skipped = append(h.since.Skipped, f.Path)
	}
	return nil
}

// sinceThen compares the head with the one that was reviewed last.
func (h *history) sinceThen(ctx context.Context, s subject, blobs *git.Blobs, there []string, last *precedent.Review) error {
	between := func(from, to string) (*diff.Change, error) {
		return readChange(ctx, s.repo, git.Range{Kind: git.PullRequest, Base: from, Head: to})
	}
	changed, err := between(last.Head, s.rg.Head)
	if err != nil {
		return err
	}
	h.since = &review.Since{Head: last.Head, Review: last.ID, Changed: changed}
	if last.Base != s.rg.Base {
		if h.since.Before, err = between(last.Base, last.Head); err != nil {
			return err
		}
	}
	then := slices.Clone(h.threads)
	thread.Carry(then, treesAt(ctx, s.repo, blobs, there, last.Head, last.Base))
	h.since.Answered = answered(then, changed)
	return nil
}

// errNoCommit says that nobody can tell what a commit had.
var errNoCommit = errors.New("the commit is not there")

// treesAt are the files that threads are carried through, up to a head. Only the
// commits that are there can be read.
func treesAt(ctx context.Context, repo *git.Repo, blobs *git.Blobs, there []string, head, base string) thread.Trees {
	return thread.Trees{
		Head: head, Base: base,
		Read: func(commit, path string) ([]byte, error) {
			if !slices.Contains(there, commit) {
				return nil, errNoCommit
			}
			data, err := blobs.Read(commit, path, maxFile)
			return data, notFound(err)
		},
		Renamed: func(from string) map[string]string { return renamed(ctx, repo, from, head) },
	}
}

// lastPosted is the newest complete review whose summary stands on the pull
// request, one by a model if a model is to read, and the finders that have read
// what it speaks of; nil if there is none. After a push in which there was nothing
// to read no finder was asked: what the review before it asked counts then.
func lastPosted(ctx context.Context, rows *store.Repo, posts []store.Post, engine bool) (*precedent.Review, []string, error) {
	var last *precedent.Review
	readers := []string{}
	for _, p := range slices.Backward(posts) {
		if p.Kind != store.PostSummary || p.State != store.PostConfirmed {
			continue
		}
		r, err := rows.Review(ctx, p.Review)
		if errors.Is(err, store.ErrNoReview) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if r.Verdict != precedent.Clean && r.Verdict != precedent.Findings || r.Scope != precedent.FullScope && engine {
			continue
		}
		asked := false
		for _, f := range r.Finders {
			analyzer := f.Engine == analyzerEngine
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

// asSaid corrects the states of threads by what became of the posts. A process can
// end between the two, and a push between a review and its words: what we closed
// is addressed, though nobody wrote that down, and an answer that was never said is
// still to be given.
func asSaid(stored []precedent.Thread, posts []store.Post) []precedent.Thread {
	if len(posts) == 0 {
		return stored
	}
	newest := posts[len(posts)-1].Review
	said := map[string]store.Post{} // the last of each thread
	for _, p := range posts {
		switch p.Kind {
		case store.PostReply, store.PostClose, store.PostReopen:
			said[p.Thread] = p
		}
	}
	threads := slices.Clone(stored)
	for i := range threads {
		t := &threads[i]
		p, ok := said[t.ID]
		switch {
		case !ok || t.State.Settled():
		case p.State == store.PostConfirmed:
			if p.Kind == store.PostClose && p.Review == newest {
				t.State, t.Closed = precedent.ThreadAddressed, true
			}
		case p.State != store.PostRejected && p.Kind != store.PostReopen:
			t.State = precedent.ThreadPending // open if nobody waits
		}
	}
	return threads
}

// earlier fetches commits that the pull request had before, and returns those
// that can be read.
func (d *desk) earlier(ctx context.Context, spec git.Pull, ids []string) []string {
	if d.clone != nil {
		return d.clone.FetchEarlier(ctx, spec, ids)
	}
	return d.mirror.FetchEarlier(ctx, spec, ids)
}

// rows are the memory's of the repository.
func (w *workspace) rows(ctx context.Context) (*store.Repo, error) {
	return w.memory.DB.RepoFor(ctx, w.ids...)
}

// renamed maps the paths of files to those that they have at the head. Without
// an answer a file is taken to have kept its path.
func renamed(ctx context.Context, repo *git.Repo, from, head string) map[string]string {
	change, err := readChange(ctx, repo, git.Range{Kind: git.PullRequest, Base: from, Head: head})
	if err != nil {
		return nil
	}
	moved := map[string]string{}
	for i := range change.Files {
		if f := &change.Files[i]; f.Status == diff.Renamed {
			moved[f.OldPath] = f.Path
		}
	}
	return moved
}

// answered are the lines that a push put in the place of flagged ones: the
// added lines of hunks that take a flagged line away. The threads are carried
// to the head from which the change starts.
func answered(threads []precedent.Thread, changed *diff.Change) []precedent.Span {
	var spans []precedent.Span
	for _, t := range threads {
		if t.Now.Start == 0 || t.Now.Side != precedent.Right {
			continue
		}
		for i := range changed.Files {
			f := &changed.Files[i]
			if f.OldPath != t.Now.Path {
				continue
			}
			for h := range f.Hunks {
				spans = append(spans, inPlaceOf(f.Path, &f.Hunks[h], t.Now)...)
			}
		}
	}
	return spans
}

// inPlaceOf returns the added lines of a hunk if it deletes one of the span's.
func inPlaceOf(path string, h *diff.Hunk, old precedent.Span) []precedent.Span {
	deletes := slices.ContainsFunc(h.Lines, func(l diff.Line) bool {
		return l.Op == diff.Delete && l.Old >= old.Start && l.Old <= old.End
	})
	if !deletes {
		return nil
	}
	var spans []precedent.Span
	for _, l := range h.Lines {
		if l.Op == diff.Add {
			spans = append(spans, precedent.Span{Path: path, Side: precedent.Right, Start: l.New, End: l.New})
		}
	}
	return spans
}

// recheck has the finder of the team's rules read everything again if the guide
// got rules that the last review did not check.
func (h *history) recheck(guide []precedent.Rule) {
	if h.since == nil {
		return
	}
	for _, r := range guide {
		if !slices.ContainsFunc(h.rules, func(old precedent.Rule) bool { return old.ID == r.ID }) {
			h.since.Finders = slices.DeleteFunc(h.since.Finders, func(name string) bool { return name == string(precedent.Guidelines) })
			return
		}
	}
}

// analyzerEngine is what analyzers' runs have in place of an engine.
const analyzerEngine = "analyzer"
