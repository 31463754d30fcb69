package server

import (
	"context"
	"errors"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/workflow"
)

const (
	// maxEdits bounds the events of comments that wait for the corpus. The sync reads what is left
	// out.
	maxEdits = 100
	// redeliverEvery is how often failed deliveries are asked for when none was sent away here.
	redeliverEvery = time.Hour
	// maxRedeliveries bounds those of one repository in one sweep.
	maxRedeliveries = 100
	// downtime is how far back deliveries are redelivered at the start. GitHub keeps them for 3
	// days ("Redelivering webhooks").
	downtime = 72 * time.Hour
	// maxSwept bounds the jobs that a sweep knows of. It may want those again that are beyond.
	maxSwept = 10_000
)

// sweep wants a round of each open pull request whose head had none that ended well and that no
// job is for, and has the forge send failed deliveries again. What people cancelled and dead
// letters stay as they are.
func (s *Server) sweep(ctx context.Context) error {
	type key struct {
		repo precedent.Repo
		pull int
	}
	jobs, err := s.queue.List(ctx, queue.Filter{
		Kind: queue.Review, States: []queue.State{queue.Ready, queue.Waiting, queue.Running, queue.Cancelled, queue.Dead}, Limit: maxSwept,
	})
	if err != nil {
		return err
	}
	known := map[key]queue.Job{}
	for _, j := range jobs {
		known[key{j.Repo, j.Pull}] = j
	}
	for _, repo := range s.served.All() {
		seen, err := s.o.Reviewer.Watched(ctx, repo)
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
	return s.redeliver(ctx)
}

// redeliver has the forge send deliveries again that failed: after the start those of a downtime,
// then those since the last time.
func (s *Server) redeliver(ctx context.Context) error {
	if s.hooks == nil || s.o.Hooks == "" {
		return nil
	}
	now := s.o.Now()
	s.mu.Lock()
	since, shed := s.swept, s.shed
	if since.IsZero() {
		since = now.Add(-downtime)
	} else if !shed && now.Sub(since) < redeliverEvery && now.After(since) {
		s.mu.Unlock()
		return nil
	}
	s.swept, s.shed = now, false
	s.mu.Unlock()
	sources := append([]precedent.Repo{{}}, s.served.All()...) // the zero one is the App's
	for _, repo := range sources {
		failed, unsupported, err := s.o.Connection.Deliveries(ctx, repo, s.o.Hooks, since)
		var e *forge.Error
		switch {
		case errors.As(err, &e) && e.Kind == forge.KindTooLarge:
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			s.breaker.Report(err)
			s.o.Log.Warn("failed deliveries could not be listed", "repo", repo.String(), "error", err)
			if s.breaker.Wait() > 0 {
				return nil
			}
			continue
		case unsupported != "":
			continue // the poller finds what they told
		}
		for _, d := range failed[:min(len(failed), maxRedeliveries)] {
			if _, err := s.o.Connection.Redeliver(ctx, repo, d); err != nil {
				s.o.Log.Warn("a delivery could not be sent again", "repo", repo.String(), "delivery", d.GUID, "error", err)
				break
			}
		}
		if len(failed) > 0 {
			s.o.Log.Info("failed deliveries are sent again", "repo", repo.String(), "count", len(failed))
		}
		if repo.IsZero() && unsupported == "" && err == nil {
			return nil // an App has one webhook for all repositories
		}
	}
	return nil
}

// syncCorpus reads what people wrote since the last time. Without a repository, it wants that of
// each.
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
	_, err = s.o.Reviewer.SyncCorpus(part, s.connection(run), w, workflow.CorpusSync{Since: s.o.Now().AddDate(0, -syncBack, 0), Sleep: s.o.Sleep})
	if err != nil && part.Err() != nil && ctx.Err() == nil {
		return later{nextPause} // what was read is stored
	}
	return err
}

// consolidate looks for patterns in the memory of a repository if that is due. Without one, it
// wants that of each.
func (s *Server) consolidate(ctx context.Context, run *queue.Run) error {
	if !s.o.Job.Settings.Consolidation.Value {
		return nil
	}
	if run.Repo.IsZero() {
		return s.wantEach(ctx, queue.Consolidate, "hourly")
	}
	w, err := s.o.Reviewer.SharedWorkspace(ctx, run.Repo)
	if err != nil {
		return err
	}
	defer w.Close()
	if due, err := w.Memory.ConsolidationDue(ctx); err != nil || !due {
		return err
	}
	_, err = s.o.Reviewer.Consolidate(ctx, w, workflow.Consolidation{Settings: s.o.Job.Settings, Engine: s.o.Job.Engine})
	return err
}

func (s *Server) wantEach(ctx context.Context, kind queue.Kind, why string) error {
	var all []queue.Task
	for _, repo := range s.served.All() {
		all = append(all, queue.Task{Kind: kind, Repo: repo, Reason: why})
	}
	return s.queue.Found(ctx, all...)
}

// prune deletes what is too old from the memory of all repositories. The queue prunes itself.
func (s *Server) prune(ctx context.Context) error {
	deleted, err := s.o.Reviewer.PruneInstallation(ctx, s.o.Reviewer.Shared)
	s.o.Log.Info("the memory was pruned", "count", deleted.Reviews+deleted.Findings+deleted.Comments)
	return err
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
				s.o.Log.Warn("an event was not applied to the corpus; the next sync reads it", "repo", e.Repo.String(), "error", err)
			}
		}
	}
}
