package fix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/fixround"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/gate"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// Status is how a fix round ended.
type Status string

// The ends of a fix round. All but Pushed, Nothing, Malformed, Superseded and Planned count as an attempt that
// failed: a comment with the id of the round says so.
const (
	Pushed      Status = "pushed"       // a commit is at the head of the pull request
	NoChange    Status = "no-change"    // nothing was changed
	Nothing     Status = "nothing-open" // there is nothing to fix
	BuildFailed Status = "build-failed" // the gate failed after the change
	Conflict    Status = "conflict"     // the conflicts with the base could not be resolved
	Malformed   Status = "malformed"    // the engine's answers were not in the required format
	Refused     Status = "refused"      // the change, the branch or the push is not allowed
	Fork        Status = "fork"         // the head is in another repository: the change was suggested
	Superseded  Status = "superseded"   // the head moved meanwhile: nothing was pushed
	Planned     Status = "planned"      // a dry run: the change would be pushed
)

// Options say how a fix round runs.
type Options struct {
	// Gate builds and tests the change before it is pushed; nil for no gate.
	Gate *gate.Runner
	// Ungated pushes also what no gate has built and tested. Without it, and if the policy does not
	// allow that either, such a round is refused.
	Ungated bool
	// Asked tells that a person asked for the fix, who then gets a comment in any case.
	Asked bool
	// Problems are what failed besides the open threads, such as the end of what a test printed.
	Problems []precedent.Untrusted
	// DryRun pushes and posts nothing.
	DryRun bool
	// Pushing is called with a commit right before it is pushed. It may be nil.
	Pushing func(commit string)
	// Check is called right before each push and each comment; its error ends the round. It may be nil.
	Check func(ctx context.Context) error
}

// Result is a completed fix round.
type Result struct {
	Status Status
	// Review is the id of the round, which is in the trailer of its commits and in the marker
	// of each of its comments.
	Review string
	Commit string // that was pushed, or is at the head already; empty for none
	// Addressed are the ids of the threads that the change addresses, as the engine says. That of a
	// conversation that a person opened is "comment-" and the id of its first comment.
	Addressed []string
	Patch     []byte // what was changed, as git prints it; without what the merge of the base brings
	Why       string // for people; may have text from outside, made printable

	log string // what a program printed
}

// fixing is one fix round.
type fixing struct {
	*pull.Publisher
	job    run.Job
	o      Options
	id     string
	state  *pull.State
	policy run.Policy
	limits fixround.Limits
	engine engine.Engine
	fork   bool

	merged   git.Merge // of the base; the zero Merge if the head has it already
	resolved string    // the merged tree without conflicts; empty if nothing was merged
	conflict bool      // it had some
	change   fixround.Change
	answer   fixround.Answer
	threads  []*precedent.Thread // that the engine was shown, in the order of the prompt
	people   pull.PeoplesThreads // the conversations that people opened
	gated    string              // what the gate said, for people
}

// Round does one round: it merges the base, asks the engine to address all unresolved threads, ours and those of people
// with write permission, checks what it changed, runs the gate, pushes one commit (two if the base was merged) to the
// branch of the pull request, and replies to the threads. It never forces, and it pushes nothing to another branch. A
// round that is killed and repeated pushes nothing twice.
//
// What a round cannot do is a result. An error means that it should be repeated.
func Round(ctx context.Context, p *pull.Publisher, job run.Job, o Options) (Result, error) {
	f := &fixing{Publisher: p, job: job, o: o, id: p.Pull.Env.NewID()}
	if o.Check == nil {
		f.o.Check = func(context.Context) error { return nil }
	}
	result, err := f.run(ctx)
	result.Review = cmp.Or(result.Review, f.id)
	return result, err
}

// ended is a result for people, without a commit.
func ended(status Status, format string, args ...any) Result {
	return Result{Status: status, Why: fmt.Sprintf(format, args...)}
}

func (f *fixing) run(ctx context.Context) (Result, error) {
	pr := f.Pull
	switch {
	case pr.State != forge.Open:
		return ended(Refused, "the pull request is %s", pr.State), nil
	case pr.Locked:
		return ended(Refused, "the pull request is locked, so that nothing can be posted"), nil
	case !f.job.Engine.Enabled():
		return Result{}, workspace.Hinted(fmt.Errorf("fix #%d: no engine is set up", pr.Number),
			"choose one: --engine anthropic, openai, claude or command:PATH")
	}
	var err error
	if f.state, err = pr.Gather(ctx, pull.Purpose{Posts: true, Engine: true}); err != nil {
		return Result{}, err
	}
	if f.state.Patched {
		return Result{}, fmt.Errorf("fix #%d: %w", pr.Number, f.state.FetchError)
	}
	f.fork = pr.Head.Repo.IsZero() || !workspace.SameRepo(pr.Head.Repo, pr.Base.Repo)
	if result, done, err := f.resume(ctx); done || err != nil {
		return result, err
	}
	result, err := f.attempt(ctx)
	if err != nil {
		return result, err
	}
	return result, f.explain(ctx, &result)
}

// attempt does a round from the start.
func (f *fixing) attempt(ctx context.Context) (Result, error) {
	for _, step := range []func(context.Context) (Result, bool, error){f.rules, f.mergeBase, f.edit, f.build} {
		if result, done, err := step(ctx); done || err != nil {
			return result, err
		}
	}
	if f.o.DryRun {
		return f.done(Planned), nil
	}
	moved, err := f.hasMoved(ctx)
	switch {
	case err != nil:
		return Result{}, err
	case moved != "":
		return f.superseded(ctx, moved)
	case f.fork:
		return f.suggest(ctx)
	}
	return f.push(ctx)
}

// done is a result with what was changed.
func (f *fixing) done(status Status) Result {
	r := Result{Status: status, Review: f.id, Patch: f.change.Patch, Why: f.gated}
	for _, a := range f.answer.Addressed {
		r.Addressed = append(r.Addressed, f.thread(a.Thread).ID)
	}
	return r
}

// rules reads the policy of the base, and asks whether the branch may be pushed to, before
// anything is paid for.
func (f *fixing) rules(ctx context.Context) (Result, bool, error) {
	pr := f.Pull
	policy, ok := f.state.Policy(ctx)
	f.policy = policy
	f.limits = fixround.Limits{LockFiles: policy.Fix.LockFiles, Files: guide.MaxFixFiles, Lines: guide.MaxFixLines}
	if n := policy.Fix.MaxFiles; n > 0 {
		f.limits.Files = min(f.limits.Files, n)
	}
	if n := policy.Fix.MaxLines; n > 0 {
		f.limits.Lines = min(f.limits.Lines, n)
	}
	switch {
	case ctx.Err() != nil:
		return Result{}, true, ctx.Err()
	case !ok:
		return ended(Refused, "the policy of the base cannot be read, so it is not known what may be fixed"), true, nil
	case policy.Fix.Broken != "":
		return ended(Refused, "the policy has an error, so it is not known what may be fixed: %s", policy.Fix.Broken), true,
			nil
	case policy.Fix.Off:
		return ended(Refused, "the policy of the base turns fixes off"), true, nil
	case f.fork:
		return Result{}, false, nil
	case pr.Head.Name == "" || pr.Head.Name == pr.Base.Name:
		return ended(Refused, "the pull request has no branch of its own"), true, nil
	}
	why, err := pr.Conn.Pushable(ctx, pr.Repo.Repo, pr.Head.Name)
	switch {
	case forge.KindOf(err) == forge.KindNotFound:
		return ended(Refused, "the branch does not exist any more"), true, nil
	case err != nil:
		return Result{}, true, pr.Conn.Explain(err)
	case why != "":
		return ended(Refused, "the branch cannot be pushed to: %s", why), true, nil
	case f.o.DryRun:
		return Result{}, false, nil
	}
	// The forge tells what the account may do, and not the token; and it may take some time to show a push.
	err = f.state.Repo.PushCommit(ctx, git.Push{
		To: f.state.Spec, Branch: pr.Head.Name, Expect: f.state.Range.Head, Commit: f.state.Range.Head, Try: true,
	})
	if errors.Is(err, git.ErrRejected) {
		return ended(Refused, "the branch cannot be pushed to: %s: %s", err, workspace.HintOf(err)), true, nil
	} else if errors.Is(err, git.ErrStale) {
		result, err := f.superseded(ctx, err.Error())
		return result, true, err
	}
	return Result{}, err != nil, err
}

// hasMoved reads the pull request again, and says what has changed about it since; empty for nothing.
func (f *fixing) hasMoved(ctx context.Context) (string, error) {
	pr := f.Pull
	now, err := pr.Conn.PullRequest(ctx, pr.Repo.Repo, pr.Number)
	switch {
	case err != nil:
		return "", pr.Conn.Explain(err)
	case now.Head.SHA != f.state.Range.Head, now.Head.Name != pr.Head.Name,
		!workspace.SameRepo(now.Head.Repo, pr.Head.Repo):
		return "the pull request has new commits: nothing was pushed for " + workspace.ShortID(f.state.Range.Head), nil
	case now.Base.Name != pr.Base.Name, !workspace.SameRepo(now.Base.Repo, pr.Base.Repo):
		return "the pull request has another base branch", nil
	case now.State != forge.Open, now.Locked:
		return "the pull request was closed or locked", nil
	}
	return "", nil
}

// openThreads are the threads that nobody has settled: those that people with write permission
// opened, and then ours, the most severe first.
func (f *fixing) openThreads(ctx context.Context) ([]*precedent.Thread, error) {
	var err error
	if f.people, err = f.PeoplesThreads(ctx, f.state.Comments, f.state.Earlier.Convs); err != nil {
		return nil, err
	}
	theirs := f.people.Open
	if relocated := f.Pull.Relocated(ctx, f.state); relocated != nil && len(theirs) > 0 {
		theirs = relocated(f.state.Range.Head, theirs)
	}
	var open []*precedent.Thread
	for i := range f.state.Earlier.Threads {
		t := &f.state.Earlier.Threads[i]
		if t.Closed || t.Deleted || t.State.Final() || t.State == precedent.ThreadAddressed {
			continue
		}
		open = append(open, t)
	}
	slices.SortStableFunc(open, func(a, b *precedent.Thread) int {
		return a.Severity.Rank() - b.Severity.Rank()
	})
	var all []*precedent.Thread
	for i := range theirs {
		all = append(all, &theirs[i])
	}
	return append(all, open...), nil
}
