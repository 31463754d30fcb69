package review

import (
	"cmp"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
)

// citeMatches cites the matches of a finding, except for those that are older than a decision of
// the team against findings like it.
func citeMatches(f *precedent.Finding, against objections) {
	if f.Basis == nil || !f.Live() {
		return
	}
	for _, m := range f.Basis.Matches {
		if o, ok := against.to(f.Basis, m.Precedent.At); ok {
			f.Trail = append(f.Trail, precedent.Decision{
				Step: precedentStep, Text: "not cited: " + m.Why + "; but " + o.what,
				By: o.id,
			})
			continue
		}
		f.Cites = append(f.Cites, m.Cite)
		f.Trail = append(f.Trail, precedent.Decision{Step: precedentStep, Text: m.Why, By: m.ID})
	}
}

// objection is a decision of the team against findings of a kind.
type objection struct {
	id, what string
	at       time.Time // zero for one that stands in a file, which has no date
}

// objections are those of a team, by the id of the memory.
type objections map[string]objection

// newObjections returns the dismissals and the learnings that ask for less.
func newObjections(dismissals []precedent.Dismissal, learnings []precedent.Learning) objections {
	all := objections{}
	add := func(id, who, what string, at time.Time) {
		what = cmp.Or(who, "somebody") + " " + what
		if !at.IsZero() {
			what += " on " + at.UTC().Format(time.DateOnly)
		}
		all[id] = objection{id, what, at}
	}
	for _, j := range dismissals {
		add(j.ID, j.Who, "dismissed a finding like this one", j.At)
	}
	for _, l := range learnings {
		if !l.Kind.Quieter() {
			continue
		}
		at := l.CreatedAt
		if l.UpdatedAt.After(at) {
			at = l.UpdatedAt
		}
		add(l.ID, l.From.Who, "asked not to flag this, or less", at)
	}
	return all
}

// objections are those that a review knows.
func (in *Input) objections() objections {
	learnings := make([]precedent.Learning, len(in.Recall.Learnings))
	for i := range learnings {
		learnings[i] = in.Recall.Learnings[i].Learning
	}
	return newObjections(in.Recall.Dismissals, learnings)
}

// to returns the last objection that speaks of a finding, if it is later than a comment.
func (all objections) to(b *precedent.FindingBasis, at time.Time) (last objection, ok bool) {
	for _, id := range slices.Concat([]string{b.Exact}, b.Patterns, b.Learnings) {
		o, known := all[id]
		if known && (o.at.IsZero() || o.at.After(at)) && (!ok || o.at.After(last.at)) {
			last, ok = o, true
		}
	}
	return last, ok
}
