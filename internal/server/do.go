package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/precedent-dev/precedent/internal/converse"
	"github.com/precedent-dev/precedent/internal/fix"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/round"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// timeouts limit jobs. A round may run a gate, a review and a fix.
var timeouts = map[queue.Kind]time.Duration{
	queue.Review: 2 * time.Hour, queue.Fix: 2 * time.Hour,
	queue.Reply: 20 * time.Minute, queue.Outcomes: 20 * time.Minute, queue.CheckCI: 5 * time.Minute,
	queue.CorpusSync: time.Hour, queue.CatchUp: time.Hour, queue.Consolidate: 10 * time.Minute,
	queue.Sweep: 5 * time.Minute, queue.Prune: 30 * time.Minute,
}

const (
	nextPause = 5 * time.Second  // before a sync that was not ended goes on
	syncPart  = 50 * time.Minute // of a long sync, which then goes on as another run
	syncBack  = 18               // months that the first sync reads
)

func (s *Server) do(ctx context.Context, job *queue.Run) error {
	if wait := s.breaker.Wait(job.Repo.Owner); wait > 0 && job.Kind != queue.Prune && job.Kind != queue.Sweep {
		s.metrics.Job(job.Kind, "later")
		return queue.LaterError{After: wait, Why: forgePause}
	}
	wanted, err := s.wants(ctx, job.Repo)
	if err != nil {
		return err
	}
	if !wanted {
		s.o.Log.Info("the repository is not served any more", "repo", job.Repo.String(), "pull", job.Pull)
		s.metrics.Job(job.Kind, "stopped")
		return nil
	}
	// It writes only as long as the job is still its own.
	failed := s.work(forge.WithFence(ctx, job.Check), job)
	if m, ok := errors.AsType[movedError](failed); ok {
		failed = s.goOn(ctx, job, m.to)
	}
	if s.isDeleted(ctx, job, failed) {
		s.o.Log.Info("the pull request was deleted", "repo", job.Repo.String(), "pull", job.Pull)
		failed = nil
	}
	result, err := s.judge(ctx, job.Repo.Owner, failed)
	s.metrics.Job(job.Kind, result)
	return err
}

// isDeleted tells whether a job failed because its pull request was deleted, which Gitea lets administrators do and which
// a poll takes for closed. In a repository that cannot be read, nobody knows.
func (s *Server) isDeleted(ctx context.Context, job *queue.Run, failed error) bool {
	gone := func(err error) bool { return forge.KindOf(err) == forge.KindNotFound }
	if job.Pull == 0 || !gone(failed) {
		return false
	}
	if _, err := s.o.Connection.PullRequest(ctx, job.Repo, job.Pull); !gone(err) {
		return false
	}
	_, err := s.o.Connection.Open(ctx, job.Repo)
	return err == nil
}

// forgePause is why jobs wait while the forge refuses requests or fails.
const forgePause = "the forge asks for a pause, or does not answer"

func (s *Server) work(ctx context.Context, job *queue.Run) error {
	switch job.Kind {
	case queue.Review, queue.Fix:
		return s.round(ctx, job)
	case queue.CheckCI:
		return s.checkCI(ctx, job)
	case queue.Reply:
		return s.reply(ctx, job)
	case queue.Outcomes:
		return s.outcomes(ctx, job)
	case queue.CorpusSync, queue.CatchUp:
		return s.syncCorpus(ctx, job)
	case queue.Consolidate:
		return s.consolidate(ctx, job)
	case queue.Sweep:
		return s.sweep(ctx)
	case queue.Prune:
		return s.prune(ctx)
	}
	return queue.Never(fmt.Errorf("unknown kind of job %q", job.Kind))
}

// judge turns the error of a job into what the queue does next, and names the result: a label of a metric.
func (s *Server) judge(ctx context.Context, owner string, err error) (string, error) {
	if err == nil {
		return "done", nil
	}
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		return "stopped", cause
	}
	if _, ok := errors.AsType[queue.LaterError](err); ok {
		return "later", err
	}
	var e *forge.Error
	if !errors.As(err, &e) {
		return "failed", err
	}
	s.breaker.Report(err)
	switch e.Kind {
	case forge.KindFenced:
		return "stopped", e.Err
	case forge.KindRate:
		return "later", queue.LaterError{After: max(s.breaker.Wait(owner), firstBreak), Why: forgePause}
	case forge.KindNotFound, forge.KindClosed:
		return "dead", queue.Never(err)
	}
	if wait := s.breaker.Wait(owner); wait > 0 {
		return "later", queue.LaterError{After: wait, Why: forgePause}
	}
	return "failed", err
}

// round does the one thing that is due on a pull request, or the fix that a comment asked for.
func (s *Server) round(ctx context.Context, job *queue.Run) error {
	how, o := s.options(job)
	name := "round"
	if o.FixAsked = job.Kind == queue.Fix; o.FixAsked {
		name = "fix"
		if o.Fix == nil {
			return queue.Never(errors.New("fixes are turned off on this server"))
		}
	}
	did, err := round.Do(ctx, s.o.Reviewer, s.o.Connection, job.Repo, job.Pull, how, o)
	if did.Made != nil {
		s.metrics.Review(did.Made)
	}
	if err != nil {
		return err
	}
	if !did.Moved.IsZero() {
		return movedError{forge.Branch{Repo: did.Moved}} // its memory has followed
	}
	result := cmp.Or(string(did.Did), "nothing")
	s.o.Log.Info(name, "job", job.ID, "repo", job.Repo.String(), "pull", job.Pull, "head", did.Head, "result", result,
		"status", string(did.After), "reason", did.Why)
	switch {
	case did.Again > 0:
		return queue.LaterError{After: did.Again, Why: cmp.Or(did.Why, "goes on after: "+result)}
	case o.FixAsked:
		return s.wantAsked(ctx, job, did.Head, false)
	}
	rows, err := s.o.Reviewer.Shared.RepoFor(ctx, job.Repo)
	if err != nil {
		return err
	}
	return rows.SetWatchedDone(ctx, job.Pull, did.Head) // so that no sweep repeats it
}

func (s *Server) options(job *queue.Run) (run.Job, round.Options) {
	o := s.o.Round
	o.At, o.Check, o.Pushing = s.location(), job.Check, job.Pushing
	if s.o.Fixes {
		o.Fix = &fix.Options{}
	}
	return s.job(job), o
}

// job says how a pull request is reviewed, and how its comments ask for a fix. What one comment asks
// for is wanted once, as an event is, and starts a dead letter again.
func (s *Server) job(job *queue.Run) run.Job {
	how := s.o.Job
	how.Resume = true
	if s.o.Fixes {
		how.AskFix = func(ctx context.Context, comment string) error {
			d := queue.Delivery{
				Forge: job.Repo.Host, ID: fmt.Sprintf("fix.%s#%d.%s", job.Repo, job.Pull, comment),
				Event: "fix",
			}
			_, err := s.queue.Accept(ctx, d, []queue.Task{{
				Kind: queue.Fix, Repo: job.Repo, Pull: job.Pull, Reason: "a comment asks for it",
			}})
			return err
		}
	}
	return how
}

// location is where repositories are opened: never in a clone around the working folder.
func (s *Server) location() workspace.Location {
	return workspace.Location{
		Dir: s.o.Reviewer.CacheDir, Forge: s.o.Job.Settings.Forge.Value, NoLearnings: !s.o.Job.Settings.Learnings.Value,
	}
}

// checkCI wants a round of the pull requests whose checks have changed, if they may be in the
// cycle of the labels. Without a number, it is all that have the head.
func (s *Server) checkCI(ctx context.Context, job *queue.Run) error {
	if job.Pull > 0 {
		p, err := s.o.Connection.PullRequest(ctx, job.Repo, job.Pull)
		if err == nil && isOther(p.Base.Repo, job.Repo) {
			return movedError{p.Base}
		}
		if err != nil || p.State != forge.Open || len(p.Labels) == 0 {
			return err
		}
		return s.queue.Want(ctx, queue.Task{
			Kind: queue.Review, Repo: job.Repo, Pull: job.Pull, Head: p.Head.SHA, Reason: job.Reason,
		})
	}
	// One entry stands for several events, of which only the last head is known. A policy can name the
	// labels otherwise, so those whose last round waits for something count, too.
	open, err := s.o.Connection.Open(ctx, job.Repo)
	if err != nil {
		return err
	}
	if base, moved := presentName(job.Repo, open); moved {
		return movedError{base}
	}
	waiting, err := s.queue.List(ctx, queue.Filter{
		Kind: queue.Review, Repo: job.Repo, States: []queue.State{queue.Waiting}, Limit: len(open),
	})
	if err != nil {
		return err
	}
	var all []queue.Task
	for i := range open {
		p := &open[i]
		// one that failed has its own pause
		waits := slices.ContainsFunc(waiting, func(j queue.Job) bool { return j.Pull == p.Number && j.Problem == "" })
		if len(p.Labels) > 0 && (waits || p.Head.SHA == job.Head ||
			label.Of(p.Labels, label.DefaultNames()) == label.CIPending) {
			all = append(all, queue.Task{
				Kind: queue.Review, Repo: job.Repo, Pull: p.Number, Head: p.Head.SHA, Reason: job.Reason,
			})
		}
	}
	return s.queue.Want(ctx, all...)
}

// reply obeys and answers new comments, and wants a review if one asks for it.
func (s *Server) reply(ctx context.Context, job *queue.Run) error {
	pr, end, err := s.pull(ctx, job)
	if err != nil {
		return err
	}
	defer end()
	publisher, err := pr.Publisher(ctx)
	if err != nil {
		return err
	}
	publisher.Keeps = true
	did, err := converse.Answer(ctx, publisher, s.job(job), "")
	if err != nil {
		return err
	}
	if !did.Paused {
		if err := s.wantAsked(ctx, job, pr.Head.SHA, did.Ended); err != nil {
			return err
		}
	}
	if did.Posted.Left > 0 {
		return fmt.Errorf("answer comments: %d answers are left", did.Posted.Left)
	}
	return nil
}

// wantAsked wants the review that comments ask for, also those that an interrupted run has read, and the round
// after something was ended that the summary has.
func (s *Server) wantAsked(ctx context.Context, job *queue.Run, head string, ended bool) error {
	rows, err := s.o.Reviewer.Shared.RepoFor(ctx, job.Repo)
	if err != nil {
		return err
	}
	asked, err := rows.PullAsked(ctx, job.Pull)
	if err != nil || asked == store.NotAsked && !ended {
		return err
	}
	reason := "a comment asks for it"
	if asked == store.NotAsked {
		reason = "a comment ended a finding, or approved or forgot a learning"
	}
	return s.queue.Want(ctx, queue.Task{
		Kind: queue.Review, Repo: job.Repo, Pull: job.Pull, Head: head, Reason: reason,
	})
}

func (s *Server) pull(ctx context.Context, job *queue.Run) (*pull.Pull, func(), error) {
	repo, err := pull.OpenRepository(ctx, s.o.Reviewer, s.location(), job.Repo)
	if err != nil {
		return nil, nil, err
	}
	pr, err := pull.Read(ctx, s.o.Reviewer, s.o.Connection, repo, job.Pull)
	if err != nil {
		repo.Close()
		return nil, nil, err
	}
	if isOther(pr.Base.Repo, job.Repo) {
		pr.Close()
		repo.Close()
		return nil, nil, movedError{pr.Base}
	}
	return pr, func() { pr.Close(); repo.Close() }, nil
}

// outcomes learns what became of the findings on a pull request.
func (s *Server) outcomes(ctx context.Context, job *queue.Run) error {
	pr, end, err := s.pull(ctx, job)
	if err != nil {
		return err
	}
	defer end()
	_, err = pr.Outcomes(ctx)
	return err
}
