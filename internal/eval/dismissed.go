package eval

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/review"
)

// DismissedName is the task name for the judge of a replay.
const DismissedName = "eval-dismissed"

// Dismissed is a judge's answers about dismissals that may cover the candidates of a case.
type Dismissed struct {
	Engine  string   `json:"engine"`
	Answers []Covers `json:"answers"`
}

// Covers says whether a dismissal covers a finding.
type Covers struct {
	Finding   string `json:"finding"`   // its fingerprint
	Dismissal string `json:"rejection"` // the name of its case, and its mark's index there
	Covered   bool   `json:"covered"`
}

// answers returns a judge that uses the stored answers.
func (d *Dismissed) answers(questions []memory.Question) map[int]bool {
	covered := map[int]bool{}
	if d == nil {
		return covered
	}
	for i, q := range questions {
		for _, a := range d.Answers {
			if a.Finding == q.Finding.Fingerprint && a.Dismissal == q.Dismissal.ID {
				covered[i] = a.Covered
			}
		}
	}
	return covered
}

// JudgeDismissals asks the engine the questions about dismissals that a review would ask in a replay, except
// those answered in the file. It saves each answer as a new line of its case, and stops at the first request
// that fails. The error is that of saving, or of a cancelled context.
func (v Reviewer) JudgeDismissals(ctx context.Context, cases []Case, file File, o Options, save func(Candidates) error) (trouble string, err error) {
	all, err := admit(cases, file, o, &Result{})
	if err != nil {
		return "", err
	}
	var failed error
	ask := func(s *scored) memory.Judge {
		return func(questions []memory.Question) map[int]bool {
			covered := s.cs.Dismissed.answers(questions)
			var open []int
			for i := range questions {
				if _, known := covered[i]; !known {
					open = append(open, i)
				}
			}
			if len(open) == 0 || failed != nil || trouble != "" {
				return covered
			}
			trouble, failed = v.judgeDismissals(ctx, s, questions, open)
			if failed == nil && s.cs.Dismissed != nil {
				failed = save(*s.cs)
			}
			return s.cs.Dismissed.answers(questions)
		}
	}
	if _, _, err := replay(ctx, all, o.All, ask); err != nil {
		return trouble, err
	}
	return trouble, failed
}

// judgeDismissals asks the open questions and keeps the answers.
func (v Reviewer) judgeDismissals(ctx context.Context, s *scored, questions []memory.Question, open []int) (trouble string, err error) {
	var pairs []prompt.Pair
	for i, at := range open {
		pairs = append(pairs, review.DismissedPair(i, &questions[at]))
	}
	a, err := v.ask(ctx, DismissedName, prompt.Covers(pairs), len(pairs))
	if err != nil {
		return "", err
	}
	cs := *s.cs
	d := Dismissed{Engine: v.Engine.Info().Who}
	if cs.Dismissed != nil {
		d.Answers = append(d.Answers, cs.Dismissed.Answers...)
	}
	for i, at := range open {
		said, ok := a.answers[i]
		if !ok {
			continue
		}
		q := questions[at]
		d.Answers = append(d.Answers, Covers{q.Finding.Fingerprint, q.Dismissal.ID, said.Covered(pairs[i].Texts...)})
	}
	cs.Dismissed, cs.Spent = &d, a.spent
	s.cs = &cs
	if a.status != precedent.StatusOK {
		trouble = string(a.status) + ": " + a.message
	}
	return trouble, nil
}
