package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/workflow"
)

// timeouts limit jobs. A round may run a gate, a review and a fix.
var timeouts = map[queue.Kind]time.Duration{
	queue.Review: 2 * time.Hour, queue.Fix: 2 * time.Hour, queue.Reply: 20 * time.Minute, queue.Outcomes: 20 * time.Minute, queue.CheckCI: 5 * time.Minute,
	queue.CorpusSync: time.Hour, queue.CatchUp: time.Hour, queue.Consolidate: 10 * time.Minute, queue.Sweep: 5 * time.Minute, queue.Prune: 30 * time.Minute,
}

const (
	nextPause = 5 * time.Second  // before a sync that was not ended goes on
	syncPart  = 50 * time.Minute // of a long sync, which then goes on as another run
	syncBack  = 18               // months that the first sync reads
)

// do does one job.
func (s *Server) do(ctx context.Context, run *queue.Run) error {
	if wait := s.breaker.Wait(); wait > 0 && run.Kind != queue.Prune && run.Kind != queue.Sweep {
		s.metrics.Job(run.Kind, "later")
		return queue.Later(wait, forgePause)
	}
	failed := s.work(ctx, run)
	if m, ok := errors.AsType[movedError](failed); ok {
		failed = s.goOn(ctx, run, m.to)
	}
	result, err := s.judge(ctx, failed)
	s.metrics.Job(run.Kind, result)
	return err
}

// later is the error of a job that goes on after a pause.
type later struct {
	after time.Duration
	why   string // for people
}

func (l later) Error() string { return "again in " + l.after.String() + ": " + l.why }

// goesOn is the error of a round that wants another one.
func goesOn(did workflow.RoundResult) error {
	return later{did.Again, cmp.Or(did.Why, "goes on after: "+cmp.Or(string(did.Did), "nothing"))}
}

// forgePause is why jobs wait while the forge refuses requests or fails.
const forgePause = "the forge asks for a pause, or does not answer"

// work does what the kind of a job says.
func (s *Server) work(ctx context.Context, run *queue.Run) error {
	switch run.Kind {
	case queue.Review:
		return s.round(ctx, run)
	case queue.Fix:
		return s.fix(ctx, run)
	case queue.CheckCI:
		return s.checkCI(ctx, run)
	case queue.Reply:
		return s.reply(ctx, run)
	case queue.Outcomes:
		return s.outcomes(ctx, run)
	case queue.CorpusSync, queue.CatchUp:
		return s.syncCorpus(ctx, run)
	case queue.Consolidate:
		return s.consolidate(ctx, run)
	case queue.Sweep:
		return s.sweep(ctx)
	case queue.Prune:
		return s.prune(ctx)
	}
	return queue.Never(fmt.Errorf("unknown kind of job %q", run.Kind))
}

// judge turns the error of a job into what the queue does next, and names the result: a label of a
// metric.
func (s *Server) judge(ctx context.Context, err error) (string, error) {
	if err == nil {
		return "done", nil
	}
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		return "stopped", cause
	}
	if again, ok := errors.AsType[later](err); ok {
		return "later", queue.Later(again.after, again.why)
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
		return "later", queue.Later(max(s.breaker.Wait(), firstBreak), forgePause)
	case forge.KindNotFound, forge.KindClosed:
		return "dead", queue.Never(err)
	}
	if wait := s.breaker.Wait(); wait > 0 {
		return "later", queue.Later(wait, forgePause)
	}
	return "failed", err
}

// connection is the forge for one job, which writes only as long as the job is still its own.
func (s *Server) connection(run *queue.Run) workflow.Connection {
	conn := s.o.Connection
	conn.Forge = forge.Fenced(conn.Forge, run.Check)
	return conn
}

// round does the one thing that is due on a pull request.
func (s *Server) round(ctx context.Context, run *queue.Run) error {
	job, o := s.options(run)
	did, err := s.o.Reviewer.Round(ctx, s.o.Connection, run.Repo, run.Pull, job, o)
	if did.Made != nil {
		s.metrics.Review(did.Made)
	}
	if err != nil {
		return err
	}
	if !did.Moved.IsZero() {
		return movedError{forge.Branch{Repo: did.Moved}} // its memory has followed
	}
	s.o.Log.Info("round", "job", run.ID, "repo", run.Repo.String(), "pull", run.Pull, "head", did.Head, "result", cmp.Or(string(did.Did), "nothing"), "status", string(did.After), "reason", did.Why)
	if did.Again > 0 {
		return goesOn(did)
	}
	return s.o.Reviewer.RoundEnded(ctx, run.Repo, run.Pull, did.Head)
}

// options are those of a round.
func (s *Server) options(run *queue.Run) (workflow.Job, workflow.RoundOptions) {
	o := s.o.Round
	o.At, o.Check, o.Pushing = s.location(), run.Check, run.Pushing
	if s.o.Fixes {
		o.Fix = &workflow.FixOptions{}
	}
	return s.job(run), o
}

// job says how a pull request is reviewed, and how its comments ask for a fix. What one comment asks
// for is wanted once, as an event is, and starts a dead letter again.
func (s *Server) job(run *queue.Run) workflow.Job {
	job := s.o.Job
	job.Resume = true
	if s.o.Fixes {
		job.AskFix = func(ctx context.Context, comment string) error {
			d := queue.Delivery{Forge: run.Repo.Host, ID: fmt.Sprintf("fix.%s#%d.%s", run.Repo, run.Pull, comment), Event: "fix", At: s.o.Now()}
			_, err := s.queue.Accept(ctx, d, []queue.Task{{Kind: queue.Fix, Repo: run.Repo, Pull: run.Pull, Reason: "a comment asks for it"}})
			return err
		}
	}
	return job
}

// fix makes the fix round that a comment asked for.
func (s *Server) fix(ctx context.Context, run *queue.Run) error {
	job, o := s.options(run)
	if o.Fix == nil {
		return queue.Never(errors.New("fixes are turned off on this server"))
	}
	o.FixAsked = true
	did, err := s.o.Reviewer.Round(ctx, s.o.Connection, run.Repo, run.Pull, job, o)
	if err != nil {
		return err
	}
	if !did.Moved.IsZero() {
		return movedError{forge.Branch{Repo: did.Moved}} // its memory has followed
	}
	s.o.Log.Info("fix", "job", run.ID, "repo", run.Repo.String(), "pull", run.Pull, "head", did.Head, "result", cmp.Or(string(did.Did), "nothing"), "status", string(did.After), "reason", did.Why)
	if did.Again > 0 {
		return goesOn(did)
	}
	return s.wantAsked(ctx, run, did.Head)
}

// location is where repositories are opened: never in a clone around the working folder.
func (s *Server) location() workflow.Location {
	return workflow.Location{Dir: s.o.Reviewer.CacheDir, Forge: s.o.Job.Settings.Forge.Value, NoLearnings: !s.o.Job.Settings.Learnings.Value}
}

// checkCI wants a round of the pull requests whose checks have changed, if they may be in the
// cycle of the labels. Without a number, it is all that have the head.
func (s *Server) checkCI(ctx context.Context, run *queue.Run) error {
	if run.Pull > 0 {
		p, err := s.o.Connection.PullRequest(ctx, run.Repo, run.Pull)
		if err == nil && isOther(p.Base.Repo, run.Repo) {
			return movedError{p.Base}
		}
		if err != nil || p.State != forge.Open || len(p.Labels) == 0 {
			return err
		}
		return s.queue.Want(ctx, queue.Task{Kind: queue.Review, Repo: run.Repo, Pull: run.Pull, Head: p.Head.SHA, Reason: run.Reason})
	}
	// One entry stands for several events, of which only the last head is known. A policy can name the
	// labels otherwise, so those whose last round waits for something count, too.
	open, err := s.o.Connection.Open(ctx, run.Repo)
	if err != nil {
		return err
	}
	if base, moved := presentName(run.Repo, open); moved {
		return movedError{base}
	}
	waiting, err := s.queue.List(ctx, queue.Filter{Kind: queue.Review, Repo: run.Repo, States: []queue.State{queue.Waiting}, Limit: len(open)})
	if err != nil {
		return err
	}
	var all []queue.Task
	for i := range open {
		p := &open[i]
		waits := slices.ContainsFunc(waiting, func(j queue.Job) bool { return j.Pull == p.Number && j.Problem == "" }) // one that failed has its own pause
		if len(p.Labels) > 0 && (waits || p.Head.SHA == run.Head || label.Of(p.Labels, label.DefaultNames()) == label.CIPending) {
			all = append(all, queue.Task{Kind: queue.Review, Repo: run.Repo, Pull: p.Number, Head: p.Head.SHA, Reason: run.Reason})
		}
	}
	return s.queue.Want(ctx, all...)
}

// reply obeys and answers new comments, and wants a review if one asks for it.
func (s *Server) reply(ctx context.Context, run *queue.Run) error {
	pull, end, err := s.pull(ctx, run)
	if err != nil {
		return err
	}
	defer end()
	publisher, err := pull.Publisher(ctx)
	if err != nil {
		return err
	}
	publisher.KeepRequests()
	did, err := publisher.Converse(ctx, s.job(run), "")
	if err != nil {
		return err
	}
	if !did.Paused {
		if err := s.wantAsked(ctx, run, pull.Head.SHA); err != nil {
			return err
		}
	}
	if did.Posted.Left > 0 {
		return fmt.Errorf("answer comments: %d answers are left", did.Posted.Left)
	}
	return nil
}

// wantAsked wants the review that comments ask for, also those that an interrupted run has read.
func (s *Server) wantAsked(ctx context.Context, run *queue.Run, head string) error {
	asked, err := s.o.Reviewer.AskedReview(ctx, run.Repo, run.Pull)
	if err != nil || !asked {
		return err
	}
	return s.queue.Want(ctx, queue.Task{Kind: queue.Review, Repo: run.Repo, Pull: run.Pull, Head: head, Reason: "a comment asks for it"})
}

// pull reads the pull request of a job.
func (s *Server) pull(ctx context.Context, run *queue.Run) (*workflow.Pull, func(), error) {
	repo, err := s.o.Reviewer.OpenPullRepository(ctx, s.location(), run.Repo)
	if err != nil {
		return nil, nil, err
	}
	pull, err := s.o.Reviewer.ReadPull(ctx, s.connection(run), repo, run.Pull)
	if err != nil {
		repo.Close()
		return nil, nil, err
	}
	if isOther(pull.Base.Repo, run.Repo) {
		pull.Close()
		repo.Close()
		return nil, nil, movedError{pull.Base}
	}
	return pull, func() { pull.Close(); repo.Close() }, nil
}

// outcomes learns what became of the findings on a pull request.
func (s *Server) outcomes(ctx context.Context, run *queue.Run) error {
	pull, end, err := s.pull(ctx, run)
	if err != nil {
		return err
	}
	defer end()
	_, err = pull.Outcomes(ctx)
	return err
}
