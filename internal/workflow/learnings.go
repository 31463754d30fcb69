package workflow

import (
	"cmp"
	"context"
	"errors"
	"io/fs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/memory"
)

// readLearnings reads the file of learnings at the base. What cannot be read, and rows with
// errors, are failures of the review, which goes on without them.
func (p *Prepared) readLearnings(at base) {
	data, err := at.read(guide.LearningsFile, maxPolicy)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		p.fail(learningsStep, err.Error())
		return
	}
	all, errs := guide.ParseLearnings(data, guide.LearningsFile)
	for _, err := range errs {
		what := err.Error()
		if hint := HintOf(err); hint != "" {
			what += "; " + hint
		}
		p.fail(learningsStep, what)
	}
	p.learnings = all
}

const learningsStep = "learnings"

// recallLearnings adds the learnings that apply to the change. If the memory cannot be read,
// the review goes on without them, and says so.
func (p *Prepared) recallLearnings(ctx context.Context, w *Workspace) error {
	q := memory.LearningQuery{Change: p.Input.Change, Policy: p.Input.Policy.Learnings, File: p.learnings}
	if p.number != nil {
		q.PullRequest = *p.number
	}
	q.Private = p.visibility == forge.Private
	found, refused, err := w.Memory.RecallLearnings(ctx, q)
	p.Input.Recall.Learnings = found
	for _, why := range refused {
		p.fail(learningsStep, why)
	}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		p.fail(learningsStep, err.Error()+"; the review does not use stored learnings")
	}
	return nil
}

// Learn stores what the user of the computer tells. The memory is the user's own, so that the
// directive is active at once; user is the name if git's configuration has none. Nobody knows
// here whether the repository is public, so that it counts as private.
func (r *Reviewer) Learn(ctx context.Context, w *Workspace, p memory.Proposal, user string) (memory.Captured, error) {
	p.From = precedent.LearningSource{By: precedent.FromCommand, Who: r.learner(ctx, w, user), MayWrite: true, Words: p.Directive}
	if err := r.keep(ctx, w); err != nil {
		return memory.Captured{}, err
	}
	return w.Memory.Propose(ctx, p)
}

// LearnFromAgent stores what an agent proposes. It stays pending, no matter who runs the agent: an
// agent repeats what it reads, and that may be a stranger's.
func (r *Reviewer) LearnFromAgent(ctx context.Context, w *Workspace, p memory.Proposal) (memory.Captured, error) {
	p.From = precedent.LearningSource{By: precedent.FromAgent, Who: "an agent", Words: p.Directive}
	p.Inferred = true
	if err := r.keep(ctx, w); err != nil {
		return memory.Captured{}, err
	}
	return w.Memory.Propose(ctx, p)
}

// learner is the person at the computer.
func (r *Reviewer) learner(ctx context.Context, w *Workspace, user string) string {
	return cmp.Or(r.userName(ctx, w), user)
}

// ApproveLearning approves a pending learning in the name of the user of the computer.
func (r *Reviewer) ApproveLearning(ctx context.Context, w *Workspace, id, user string) (memory.Captured, error) {
	return w.Memory.ApproveLearning(ctx, id, r.learner(ctx, w, user), true)
}

// EditLearning changes a learning in the name of the user of the computer.
func (r *Reviewer) EditLearning(ctx context.Context, w *Workspace, id, user string, change func(*precedent.Learning)) (memory.Captured, error) {
	return w.Memory.EditLearning(ctx, id, r.learner(ctx, w, user), true, change)
}

// ForgetLearnings forgets a learning, by its id or its words, in the name of the user of the
// computer.
func (r *Reviewer) ForgetLearnings(ctx context.Context, w *Workspace, which, user string) ([]precedent.Learning, error) {
	return w.Memory.ForgetLearnings(ctx, which, r.learner(ctx, w, user))
}
