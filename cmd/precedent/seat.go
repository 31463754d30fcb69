package main

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/store"
)

// seat gives the review its engine: bounded by the budget, and
// with its answers kept as they come.
func (a *app) seat(ctx context.Context, w *workspace, g *gathering, r reader, resume bool) (*answers, error) {
	if !r.reads() {
		return nil, nil
	}
	rows, err := w.memory.DB.RepoFor(ctx, w.ids...)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		rows = nil
		g.input.Failures = append(g.input.Failures, precedent.Failure{Step: "answers", Error: err.Error() + "; answers and what was spent are not kept"})
	}
	pull := 0
	if g.number != nil {
		pull = *g.number
	}
	b := budget(w.op, rows, pull)
	e, end := a.assemble(w.op, r, b, files(ctx, w.repo, g), g.input.Window)
	g.give(end)
	g.input.Engine = e
	if rows == nil {
		return &answers{budget: b}, nil
	}
	k := &engine.Keeper{
		Engine: g.input.Engine, Of: g.input.Base + ".." + g.input.Head,
		Load: rows.Answer, Save: rows.KeepAnswers, Resume: resume, After: time.After,
	}
	g.input.Engine = k
	g.give(func() error { k.Done(ctx); return nil }) // a review that is cancelled has answers to go on from
	return &answers{budget: b, keeper: k, rows: rows}, nil
}

// answers are those that the engine of a review gives. Nil has none.
type answers struct {
	budget *engine.Budget
	keeper *engine.Keeper // nil if they cannot be kept
	rows   *store.Repo
}

// limits is what they may take.
func (s *answers) limits() *engine.Budget {
	if s == nil {
		return nil
	}
	return s.budget
}

func (s *answers) failures(ctx context.Context) []precedent.Failure {
	if s == nil || s.keeper == nil {
		return nil
	}
	_, failures := s.keeper.Done(ctx)
	return failures
}

// settle drops the answers of a review that is complete and saved: nobody has to
// go on from them.
func (s *answers) settle(ctx context.Context, r *precedent.Review) error {
	if s == nil || s.keeper == nil || r.Verdict == precedent.Partial || r.Verdict == precedent.Failed {
		return nil
	}
	tasks, _ := s.keeper.Done(ctx)
	return s.rows.DropAnswers(ctx, tasks)
}
