package run

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// addEngine adds the engine, with its budget, and stores its answers as they arrive.
func (p *Prepared) addEngine(ctx context.Context, job Job) error {
	if !job.Engine.Enabled() {
		p.Engine = job.Engine.WhyNone
		return nil
	}
	in := &p.Input
	pull := 0
	if p.Number != nil {
		pull = *p.Number
	}
	rows := p.workspace.Memory.Rows
	p.Budget = workspace.BookedBudget(p.settings, rows, pull, p.Posted)
	p.onClose(func() error { return p.Budget.Release(ctx) })
	e, end := job.Engine.New(workspace.EngineOptions{
		Budget: p.Budget, Files: p.files(ctx), Window: in.Window,
		Learnings: in.Recall.OmittedLearnings(prompt.RoomForLearnings(in.Window)),
	})
	p.onClose(end)
	p.answers = &engine.Keeper{
		Engine: e, Of: in.Base + ".." + in.Head, Load: rows.Answer, Save: rows.KeepAnswer,
		Resume: job.Resume,
	}
	in.Engine = p.answers
	if job.Resume {
		in.Kept = p.answers.Kept
	}
	p.Engine = in.Engine.Info().Line
	return nil
}

// Unfinished is what a review that was not completed used.
type Unfinished struct {
	Answers int // that are stored: a review that is resumed does not pay for them again
	Tokens  int
	USD     float64
}

// Unfinished returns what the review used. Without an
// engine, ok is false.
func (p *Prepared) Unfinished() (u Unfinished, ok bool) {
	if p.Budget == nil {
		return u, false
	}
	u.Tokens, u.USD = p.Budget.Spent()
	if p.answers != nil {
		tasks, _ := p.answers.Done()
		u.Answers = len(tasks)
	}
	return u, true
}

// dropAnswers deletes the answers of a review that is complete and saved. Of one that is not complete, they stay.
func (p *Prepared) dropAnswers(ctx context.Context, r *precedent.Review) error {
	switch {
	case p.answers == nil:
		return nil
	case r.Verdict == precedent.Partial || r.Verdict == precedent.Failed:
		return p.answers.Settle(ctx)
	}
	tasks, _ := p.answers.Done()
	return p.workspace.Memory.Rows.DropAnswers(ctx, tasks)
}

// files let a model look at the repository at the reviewed head and at the base. Neither
// changes, so each is listed once, however often a model searches it.
func (p *Prepared) files(ctx context.Context) engine.Files {
	s := p.subject
	list := func(rev string) func() ([]string, error) {
		return sync.OnceValues(func() ([]string, error) {
			entries, err := s.Repo.Tree(ctx, rev)
			var paths []string
			for _, e := range entries {
				if strings.HasPrefix(e.Mode, "100") { // no links, no submodules
					paths = append(paths, e.Path)
				}
			}
			slices.Sort(paths)
			return paths, err
		})
	}
	base, head := list(s.Range.Base), list(s.Range.Head)
	return engine.Files{
		List: func(_ context.Context, at precedent.Side) ([]string, error) {
			if at == precedent.Left {
				return base()
			}
			return head()
		},
		Read: func(_ context.Context, at precedent.Side, path string, limit int64) ([]byte, error) {
			if at == precedent.Left {
				return s.Blobs.Read(s.Range.Base, path, limit)
			}
			return s.Blobs.Read(s.Range.Head, path, limit)
		},
		History: func(ctx context.Context, path string) (string, error) {
			log, err := s.Repo.History(ctx, s.Range.HeadCommit, path)
			return string(log), err
		},
	}
}
