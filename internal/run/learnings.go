package run

import (
	"context"
	"errors"
	"io/fs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// readLearnings reads the file of learnings at the base. What cannot be read, and rows with
// errors, are failures of the review, which goes on without them.
func (p *Prepared) readLearnings(at Base) {
	data, err := at.Read(guide.LearningsFile, maxPolicy)
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
		if hint := workspace.HintOf(err); hint != "" {
			what += "; " + hint
		}
		p.fail(learningsStep, what)
	}
	p.learnings = all
}

const learningsStep = "learnings"

// recallLearnings adds the learnings that apply to the change. If the memory cannot be read,
// the review goes on without them, and says so.
func (p *Prepared) recallLearnings(ctx context.Context, w *workspace.Workspace) error {
	q := memory.LearningQuery{Change: p.Input.Change, Policy: p.Input.Policy.Learnings, File: p.learnings}
	if p.Number != nil {
		q.PullRequest = *p.Number
		waiting, err := w.Memory.PendingOn(ctx, *p.Number)
		if err != nil {
			p.fail(learningsStep, err.Error())
		}
		p.Input.Recall.Pending = waiting
	}
	q.Private = p.Visibility == forge.Private
	if p.Number == nil {
		own, err := p.reviewer.OwnLearnings(ctx, w, precedent.LearningActive)
		if err != nil {
			p.fail(learningsStep, err.Error()+"; the review does not use your own learnings")
		}
		q.Own = own
	}
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

// embedding is the embedding model of a review, within its budget, or within that of the day if no
// engine is used.
func (p *Prepared) embedding(rows *store.Repo) *corpus.Embedding {
	return p.reviewer.Embedding(func(*settings.Settings) *engine.Budget {
		if p.Budget != nil {
			return p.Budget
		}
		return workspace.DayBudget(p.settings, rows)
	})
}
