package server

import (
	"context"
	"errors"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/workspace"
)

const (
	// maxEdits bounds the events of comments that wait for the corpus. The sync reads what is left out.
	maxEdits = 100
	// maxSwept bounds the jobs that a sweep knows of. It may want those again that are beyond.
	maxSwept = 10_000
)

// unknownPause is how long a job waits that needs to know what is served.
const unknownPause = 30 * time.Second

// repositories returns those that are served. If they are not known, the error is a queue.LaterError.
func (s *Server) repositories(ctx context.Context) ([]precedent.Repo, error) {
	all, err := s.served.Known(ctx)
	if err != nil && ctx.Err() == nil {
		s.o.Log.Warn("the repositories could not be listed", "error", err)
		return nil, queue.LaterError{After: max(s.breaker.Wait(""), unknownPause), Why: "the forge did not list its repositories"}
	}
	return all, err
}

// sweep wants a round of each open pull request whose head had none that ended well and that no job is for.
// What people cancelled and dead letters stay as they are.
func (s *Server) sweep(ctx context.Context) error {
	type key struct {
		repo precedent.Repo
		pull int
	}
	jobs, err := s.queue.List(ctx, queue.Filter{
		Kind:   queue.Review,
		States: []queue.State{queue.Ready, queue.Waiting, queue.Running, queue.Cancelled, queue.Dead}, Limit: maxSwept,
	})
	if err != nil {
		return err
	}
	known := map[key]queue.Job{}
	for _, j := range jobs {
		known[key{j.Repo, j.Pull}] = j
	}
	served, err := s.repositories(ctx)
	if err != nil {
		return err
	}
	for _, repo := range served {
		rows, err := s.o.Reviewer.Shared.RepoFor(ctx, repo)
		if err != nil {
			return err
		}
		seen, err := rows.WatchedPulls(ctx)
		if err != nil {
			return err
		}
		var due []queue.Task
		for _, p := range seen {
			j, has := known[key{repo, p.Pull}]
			ended := j.State == queue.Cancelled || j.State == queue.Dead
			if p.Done != p.Head && (!has || ended && j.Head != p.Head) {
				due = append(due, queue.Task{Kind: queue.Review, Repo: repo, Pull: p.Pull, Head: p.Head, Reason: "sweep"})
			}
		}
		if err := s.queue.Want(ctx, due...); err != nil {
			return err
		}
	}
	return nil
}

// syncCorpus reads what people wrote since the last time. Without a repository, it wants that of each.
func (s *Server) syncCorpus(ctx context.Context, run *queue.Run) error {
	if !s.o.Job.Settings.Precedents.Value {
		return nil
	}
	if run.Repo.IsZero() {
		return s.wantEach(ctx, queue.CorpusSync, "daily")
	}
	w, err := s.o.Reviewer.SharedWorkspace(ctx, run.Repo)
	if err != nil {
		return err
	}
	defer w.Close()
	part, cancel := context.WithTimeout(ctx, syncPart)
	defer cancel()
	_, err = s.o.Reviewer.SyncCorpus(part, s.o.Connection, w,
		corpus.SyncOptions{Since: s.o.Now().AddDate(0, -syncBack, 0), Sleep: s.o.Sleep})
	if err != nil && part.Err() != nil && ctx.Err() == nil {
		return queue.LaterError{After: nextPause, Why: "there is more to read"} // what was read is stored
	}
	return err
}

// consolidate exchanges the memory of a repository with the one that its team shares, and looks for patterns in it if
// that is due. Without a repository, it wants that of each.
func (s *Server) consolidate(ctx context.Context, run *queue.Run) error {
	if run.Repo.IsZero() {
		return s.wantEach(ctx, queue.Consolidate, "hourly")
	}
	w, err := s.o.Reviewer.SharedWorkspace(ctx, run.Repo)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := s.shareMemory(ctx, run, w); err != nil {
		return err
	}
	if !s.o.Job.Settings.Consolidation.Value {
		return nil
	}
	if due, err := w.Memory.ConsolidationDue(ctx); err != nil || !due {
		return err
	}
	_, err = s.o.Reviewer.Consolidate(ctx, w, workspace.Consolidation{Settings: s.o.Job.Settings, Engine: s.o.Job.Engine})
	return err
}

// shareMemory exchanges the memory of a repository with the ref through which its clones share theirs, if there is
// one. A token that may not push only reads. Reviews do without it.
func (s *Server) shareMemory(ctx context.Context, run *queue.Run, w *workspace.Workspace) error {
	if !s.o.Job.Settings.Learnings.Value {
		return nil
	}
	o := workspace.SyncOptions{
		Ref: s.o.Job.Settings.MemoryRef.Value, Existing: true,
		Connect: func() (workspace.Connection, error) { return s.o.Connection, nil },
	}
	if err := run.Check(ctx); err != nil {
		return err
	}
	_, err := s.o.Reviewer.SyncMemory(ctx, w, o)
	if errors.Is(err, git.ErrRefused) {
		o.ReadOnly = true
		_, err = s.o.Reviewer.SyncMemory(ctx, w, o)
	}
	if err != nil && ctx.Err() == nil {
		s.o.Log.Warn("the shared memory could not be exchanged", "repo", run.Repo.String(), "error", err)
		return nil
	}
	return err
}

func (s *Server) wantEach(ctx context.Context, kind queue.Kind, why string) error {
	repos, err := s.repositories(ctx)
	if err != nil {
		return err
	}
	var all []queue.Task
	for _, repo := range repos {
		all = append(all, queue.Task{Kind: kind, Repo: repo, Reason: why})
	}
	return s.queue.Found(ctx, all...)
}

// prune deletes what is too old from the memory of all repositories. The queue prunes itself.
func (s *Server) prune(ctx context.Context) error {
	deleted, err := s.o.Reviewer.PruneInstallation(ctx, s.o.Reviewer.Shared)
	if err != nil {
		return err
	}
	s.o.Log.Info("the memory was pruned", "count", deleted.Reviews+deleted.Findings+deleted.Comments)
	return nil
}

// noteComments hands an event of comments to the corpus, if there is room.
func (s *Server) noteComments(e forge.Event) {
	select {
	case s.edits <- e:
	default: // the next sync reads it
	}
}

// applyEdits brings the corpus up to date with events of comments, until the context ends. An
// event that is lost here is found by the next sync.
func (s *Server) applyEdits(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-s.edits:
			if err := s.o.Reviewer.ApplyComments(ctx, s.o.Connection, e); err != nil && ctx.Err() == nil {
				s.o.Log.Warn("an event was not applied to the corpus; the next sync reads it", "repo", e.Repo.String(), "error",
					err)
			}
		}
	}
}
