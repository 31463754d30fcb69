package eval

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/secret"
)

// DeclinedName is the name of the task that an engine gets as judge of a replay.
const DeclinedName = "eval-declined"

// Declined is what a judge said of rejections that may cover the candidates of a case.
type Declined struct {
	Engine  string   `json:"engine"`
	Answers []Covers `json:"answers"`
}

// Covers says whether a rejection covers a finding.
type Covers struct {
	Finding   string `json:"finding"`   // its fingerprint
	Rejection string `json:"rejection"` // the name of its case, and its mark's index there
	Covered   bool   `json:"covered"`
}

// answers returns a judge of what was answered already.
func (d *Declined) answers(questions []memory.Question) map[int]bool {
	covered := map[int]bool{}
	if d == nil {
		return covered
	}
	for i, q := range questions {
		for _, a := range d.Answers {
			if a.Finding == q.Finding.Fingerprint && a.Rejection == q.Rejection.ID {
				covered[i] = a.Covered
			}
		}
	}
	return covered
}

// Decline has the engine answer what a review would ask a judge about the
// rejections of a replay, as far as it is not answered in the file. Each answer
// is saved as a new line of its case. The first request that fails ends it; the
// error is that of saving, or of a cancelled context.
func (v Reviewer) Decline(ctx context.Context, cases []Case, file File, o Options, save func(Candidates) error) (trouble string, err error) {
	all, err := admit(cases, file, o, &Result{})
	if err != nil {
		return "", err
	}
	var failed error
	ask := func(s *scored) memory.Judge {
		return func(questions []memory.Question) map[int]bool {
			covered := s.cs.Declined.answers(questions)
			var open []int
			for i := range questions {
				if _, known := covered[i]; !known {
					open = append(open, i)
				}
			}
			if len(open) == 0 || failed != nil || trouble != "" {
				return covered
			}
			trouble, failed = v.decline(ctx, s, questions, open)
			if failed == nil && s.cs.Declined != nil {
				failed = save(*s.cs)
			}
			return s.cs.Declined.answers(questions)
		}
	}
	if _, _, err := replay(ctx, all, o.All, ask); err != nil {
		return trouble, err
	}
	return trouble, failed
}

// decline asks the open ones of the questions, and keeps the answers.
func (v Reviewer) decline(ctx context.Context, s *scored, questions []memory.Question, open []int) (trouble string, err error) {
	var pairs []prompt.Declined
	for i, at := range open {
		q := questions[at]
		pairs = append(pairs, declinedPair(pairID(i), ofFinding(q.Finding), &q.Rejection))
	}
	a, err := v.compare(ctx, DeclinedName, prompt.Covers(pairs), len(pairs))
	if err != nil {
		return "", err
	}
	cs := *s.cs
	d := Declined{Engine: v.Engine.Info().Who}
	if cs.Declined != nil {
		d.Answers = append(d.Answers, cs.Declined.Answers...)
	}
	for i, at := range open {
		said, ok := a.said[i]
		if !ok {
			continue
		}
		q := questions[at]
		d.Answers = append(d.Answers, Covers{
			q.Finding.Fingerprint, q.Rejection.ID,
			said.Same && said.stands(pairs[i].Claim, pairs[i].Reason), // hiding takes proof
		})
	}
	cs.Declined, cs.Spent = &d, a.spent
	s.cs = &cs
	if a.status != precedent.StatusOK {
		trouble = string(a.status) + ": " + a.message
	}
	return trouble, nil
}

// declinedPair is a finding and a rejection as a judge reads them.
func declinedPair(id string, f prompt.Remark, j *precedent.Rejection) prompt.Declined {
	where := j.Path
	if j.Symbol != "" {
		where += " in " + j.Symbol
	}
	claim, _ := secret.Redact(j.Claim)
	reason, _ := secret.Redact(j.Reason)
	return prompt.Declined{ID: id, Finding: f, Claim: claim, Where: where, Reason: reason}
}
