package workflow

import (
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
)

// FixStatus is how a fix round ended.
type FixStatus string

// The ends of a fix round. All but FixPushed, FixNothing and FixSuperseded count as an attempt that failed:
// a comment with the id of the round says so.
const (
	FixPushed      FixStatus = "pushed"       // a commit is at the head of the pull request
	FixNoChange    FixStatus = "no-change"    // nothing was changed
	FixNothing     FixStatus = "nothing-open" // there is nothing to fix
	FixBuildFailed FixStatus = "build-failed" // the gate failed after the change
	FixConflict    FixStatus = "conflict"     // the conflicts with the base could not be resolved
	FixRefused     FixStatus = "refused"      // the change, the branch or the push is not allowed
	FixFork        FixStatus = "fork"         // the head is in another repository: the change was suggested
	FixSuperseded  FixStatus = "superseded"   // the head moved meanwhile: nothing was pushed
	FixPlanned     FixStatus = "planned"      // a dry run: the change would be pushed
)

// FixOptions say how a fix round runs.
type FixOptions struct {
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

// FixResult is a completed fix round.
type FixResult struct {
	Status FixStatus
	// Review is the id of the round, which is in the trailer of its commits and in the marker
	// of each of its comments.
	Review string
	Commit string // that was pushed, or is at the head already; empty for none
	// Addressed are the ids of the threads that the change addresses, as the engine says. That of a
	// conversation that a person opened is "comment-" and the id of its first comment.
	Addressed []string
	Patch     []byte // what was changed, as git prints it; without what the merge of the base brings
	Why       string // for people; may have text from outside, made printable
	Adopted   bool   // an earlier, interrupted round had pushed the commit

	log string // what a program printed
}

// fixing is one fix round.
type fixing struct {
	*Publisher
	job    Job
	o      FixOptions
	id     string
	state  *pullState
	policy Policy
	limits fixround.Limits
	engine engine.Engine
	fork   bool

	merged   git.Merge // of the base; the zero Merge if the head has it already
	resolved string    // the merged tree without conflicts; empty if nothing was merged
	conflict bool      // it had some
	change   fixround.Change
	answer   fixround.Answer
	threads  []*precedent.Thread // that the engine was shown, in the order of the prompt
	people   peoplesThreads      // the conversations that people opened
	gated    string              // what the gate said, for people
}

// Fix does one round: it merges the base, asks the engine to address all unresolved threads, ours
// and those of people with write permission, checks what it changed, runs the gate, pushes one commit (two if the base was merged) to the
// branch of the pull request, and replies to the threads. It never forces, and it pushes nothing
// to another branch. A round that is killed and repeated pushes nothing twice.
//
// What a round cannot do is a result. An error means that it should be repeated.
func (p *Publisher) Fix(ctx context.Context, job Job, o FixOptions) (FixResult, error) {
	f := &fixing{Publisher: p, job: job, o: o, id: p.pull.reviewer.NewID()}
	if o.Check == nil {
		f.o.Check = func(context.Context) error { return nil }
	}
	result, err := f.run(ctx)
	if result.Review == "" {
		result.Review = f.id
	}
	return result, err
}

// ended is a result for people, without a commit.
func ended(status FixStatus, format string, args ...any) FixResult {
	return FixResult{Status: status, Why: fmt.Sprintf(format, args...)}
}

func (f *fixing) run(ctx context.Context) (FixResult, error) {
	pull := f.pull
	switch {
	case pull.State != forge.Open:
		return ended(FixRefused, "the pull request is %s", pull.State), nil
	case pull.Locked:
		return ended(FixRefused, "the pull request is locked, so that nothing can be posted"), nil
	case !f.job.Engine.enabled():
		return FixResult{}, Hinted(fmt.Errorf("fix #%d: no engine is set up", pull.Number), "choose one: --engine anthropic, openai, claude or command:PATH")
	}
	var err error
	if f.state, err = pull.state(ctx, purpose{posts: true, engine: true}); err != nil {
		return FixResult{}, err
	}
	if f.state.patched {
		return FixResult{}, fmt.Errorf("fix #%d: %w", pull.Number, f.state.fetchError)
	}
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
func (f *fixing) attempt(ctx context.Context) (FixResult, error) {
	for _, step := range []func(context.Context) (FixResult, bool, error){f.rules, f.mergeBase, f.edit, f.build} {
		if result, done, err := step(ctx); done || err != nil {
			return result, err
		}
	}
	if f.o.DryRun {
		return f.done(FixPlanned), nil
	}
	moved, err := f.hasMoved(ctx)
	switch {
	case err != nil:
		return FixResult{}, err
	case moved != "":
		return f.superseded(ctx, moved)
	case f.fork:
		return f.suggest(ctx)
	}
	return f.push(ctx)
}

// done is a result with what was changed.
func (f *fixing) done(status FixStatus) FixResult {
	r := FixResult{Status: status, Review: f.id, Patch: f.change.Patch, Why: f.gated}
	for _, a := range f.answer.Addressed {
		r.Addressed = append(r.Addressed, f.thread(a.Thread).ID)
	}
	return r
}

// rules reads the policy of the base, and asks whether the branch may be pushed to, before
// anything is paid for.
func (f *fixing) rules(ctx context.Context) (FixResult, bool, error) {
	pull := f.pull
	policy, ok := f.state.policy(ctx)
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
		return FixResult{}, true, ctx.Err()
	case !ok:
		return ended(FixRefused, "the policy of the base cannot be read, so it is not known what may be fixed"), true, nil
	case policy.Fix.Broken != "":
		return ended(FixRefused, "the policy has an error, so it is not known what may be fixed: %s", policy.Fix.Broken), true, nil
	case policy.Fix.Off:
		return ended(FixRefused, "the policy of the base turns fixes off"), true, nil
	}
	head := pull.Head
	if f.fork = head.Repo.IsZero() || !sameRepo(head.Repo, pull.Base.Repo); f.fork {
		return FixResult{}, false, nil
	}
	if head.Name == "" || head.Name == pull.Base.Name {
		return ended(FixRefused, "the pull request has no branch of its own"), true, nil
	}
	why, err := pull.connection.Pushable(ctx, pull.repo.Repo, head.Name)
	var known *forge.Error
	switch {
	case errors.As(err, &known) && known.Kind == forge.KindNotFound:
		return ended(FixRefused, "the branch does not exist any more"), true, nil
	case err != nil:
		return FixResult{}, true, pull.connection.Explain(err)
	case why != "":
		return ended(FixRefused, "the branch cannot be pushed to: %s", why), true, nil
	}
	return FixResult{}, false, nil
}

// hasMoved reads the pull request again, and says what has changed about it since; empty for nothing.
func (f *fixing) hasMoved(ctx context.Context) (string, error) {
	pull := f.pull
	now, err := pull.connection.PullRequest(ctx, pull.repo.Repo, pull.Number)
	switch {
	case err != nil:
		return "", pull.connection.Explain(err)
	case now.Head.SHA != f.state.rg.Head, now.Head.Name != pull.Head.Name, !sameRepo(now.Head.Repo, pull.Head.Repo):
		return "the pull request has new commits: nothing was pushed for " + shortID(f.state.rg.Head), nil
	case now.Base.Name != pull.Base.Name, !sameRepo(now.Base.Repo, pull.Base.Repo):
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
	if f.people, err = f.peoplesThreads(ctx, f.state.comments, f.state.earlier.convs); err != nil {
		return nil, err
	}
	theirs := f.people.open
	if relocated := f.pull.relocated(ctx, f.state); relocated != nil && len(theirs) > 0 {
		theirs = relocated(f.state.rg.Head, theirs)
	}
	var open []*precedent.Thread
	for i := range f.state.earlier.threads {
		t := &f.state.earlier.threads[i]
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
