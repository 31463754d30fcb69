package eval

import (
	"context"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
)

// Replay is what a memory with the negative marks as dismissals would have hidden.
type Replay struct {
	// InSample is set if the dismissals are of the candidates' own changes: no memory
	// has them before the review, so the figures are too good.
	InSample   bool `json:"in_sample"`
	Cases      int  `json:"cases"`      // with at least one dismissal
	Dismissals int  `json:"rejections"` // in memory, summed over the cases
	Dismissed  int  `json:"dismissed"`  // hidden: the same finding was rejected
	Patterns   int  `json:"patterns"`   // hidden: similar findings were rejected
	Lowered    int  `json:"lowered"`    // hidden: a dismissal lowered its confidence below the threshold
	// Questions counts what a review asks a judge: whether a dismissal covers a
	// candidate. If no judge answered, text alone decided.
	Questions int `json:"questions"`
	Answered  int `json:"answered"`
	// Location and Judge say what the hidden candidates match; Judge is nil if no case was judged.
	Location Hidden  `json:"location"`
	Judge    *Hidden `json:"judge"`
}

// Hidden counts what the hidden candidates match.
type Hidden struct {
	Candidates int `json:"candidates"` // hidden and not hidden
	Hidden     int `json:"hidden"`
	Gold       int `json:"gold"`     // hidden wrongly
	Negative   int `json:"negative"` // hidden rightly
	Neither    int `json:"neither"`
}

func (h *Hidden) count(m *matched, k int) {
	h.Hidden++
	switch {
	case m.gold[k] >= 0:
		h.Gold++
	case m.negative[k] >= 0:
		h.Negative++
	default:
		h.Neither++
	}
}

// rejectedAt is the time of the dismissals in a replay; the replay happens an hour later.
var rejectedAt = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// replay measures what the dismissals of a repository's earlier changes hide, and what those of the change
// itself hide. It asks judge for the judge of a case. Changes that were missed take no part.
func replay(ctx context.Context, all []scored, below bool, judge func(*scored) memory.Judge) (others, own Replay, err error) {
	own.InSample = true
	all = slices.DeleteFunc(slices.Clone(all), func(s scored) bool { return s.missed })
	rejected := make([][]precedent.Dismissal, len(all))
	for i := range all {
		if rejected[i], err = dismissals(ctx, &all[i]); err != nil {
			return others, own, err
		}
	}
	for i := range all {
		var elsewhere []precedent.Dismissal
		for k := range all {
			if all[k].before(all[i].Case) {
				elsewhere = append(elsewhere, rejected[k]...)
			}
		}
		others.suppress(&all[i], elsewhere, below, judge(&all[i]))
		own.suppress(&all[i], rejected[i], below, judge(&all[i]))
	}
	return others, own, nil
}

// suppress runs the candidates of a case through the review stage that applies dismissals.
func (r *Replay) suppress(s *scored, dismissals []precedent.Dismissal, below bool, judge memory.Judge) {
	if len(dismissals) == 0 {
		return
	}
	r.Cases++
	r.Dismissals += len(dismissals)
	r.Location.Candidates += len(s.counts)
	if s.judged != nil {
		if r.Judge == nil {
			r.Judge = &Hidden{}
		}
		r.Judge.Candidates += len(s.counts)
	}
	threshold := s.cs.Threshold
	if below {
		threshold = 0
	}
	var fs []precedent.Finding
	for _, k := range s.counts {
		f := s.cs.Findings[k].finding()
		f.Dropped = "" // only the threshold can have dropped a scored finding
		fs = append(fs, f)
	}
	counted := func(questions []memory.Question) map[int]bool {
		covered := judge(questions)
		r.Questions += len(questions)
		r.Answered += len(covered)
		return covered
	}
	for k, f := range memory.Suppress(fs, dismissals, rejectedAt.Add(time.Hour), threshold, counted) {
		switch {
		case f.Dropped == precedent.Dismissed:
			r.Dismissed++
		case !f.Live():
			r.Patterns++
		case f.Confidence < threshold:
			r.Lowered++
		default:
			continue
		}
		r.Location.count(&s.near, k)
		if s.judged != nil {
			r.Judge.count(s.judged, k)
		}
	}
}
