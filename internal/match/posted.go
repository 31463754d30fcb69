package match

import (
	"cmp"

	"github.com/precedent-dev/precedent"
)

// Posted is a posted finding that findings of a later review are compared with.
type Posted struct {
	// Remark has its current place: no line if its lines were deleted, or if it never had one.
	Remark *precedent.Finding
	// Ended reports whether people closed its conversation. That hides this finding and no other, so place
	// and category are not enough: another defect of the same line is new.
	Ended   bool
	Changed bool // the lines were changed or deleted
}

// Comparison is the result of comparing a finding with a posted one.
type Comparison struct {
	Like       Likeness
	By         By
	Similarity float64
	Unjudged   bool               // for PerhapsSame: whether they are the same if no judge answers
	With       *precedent.Finding // the finding that was compared
}

// By says how a finding was recognized, the surest first.
type By int

// The ways to recognize a finding.
const (
	ByPlace    By = iota // the same line and category
	ByIdentity           // the same fingerprint, or place
	ByLines              // the same lines, in similar words
	ByJudge
	ByWords // similar words about the same file, without lines to compare
)

// Compare decides whether a finding is the posted one.
func (p *Posted) Compare(f *precedent.Finding) Comparison {
	r := p.Remark
	c := Comparison{Like: NotSame, With: f}
	if f.Path != r.Path || f.Side != r.Side {
		return c
	}
	c.Similarity = Similarity(r, f)
	switch {
	case r.Start > 0 && r.Start == f.Start && f.Category == r.Category:
		return p.sureMatch(c, ByPlace)
	case r.Fingerprint != "" && f.Fingerprint == r.Fingerprint:
		return p.sureMatch(c, ByIdentity)
	case r.Start == 0:
		return p.compareText(c)
	}
	return p.compareLines(c)
}

// Nearest compares a finding and its duplicates with the posted one, and returns the best match.
func (p *Posted) Nearest(f *precedent.Finding, repeats []*precedent.Finding) Comparison {
	best := p.Compare(f)
	for _, r := range repeats {
		if c := p.Compare(r); cmp.Or(cmp.Compare(rank(c.Like), rank(best.Like)), cmp.Compare(c.By, best.By),
			-cmp.Compare(c.Similarity, best.Similarity)) < 0 {
			best = c
		}
	}
	return best
}

// sureMatch is a match by place. A closed conversation needs similar words, too.
func (p *Posted) sureMatch(c Comparison, by By) Comparison {
	c.Like, c.By, c.Unjudged = SurelySame, by, true
	if p.Ended && c.Similarity < SamePlace {
		c.Like = PerhapsSame
	}
	return c
}

// compareText compares with a remark that has no line.
func (p *Posted) compareText(c Comparison) Comparison {
	r, f := p.Remark, c.With
	whole := r.Quote == "" && f.Start == 0
	place := whole || r.Place != "" && r.Place == f.Place
	line := place || r.Quote != "" && Flagged(r.Quote) == Flagged(f.Quote)
	kind := f.Category == r.Category
	switch {
	case place && kind:
		return p.sureMatch(c, ByIdentity)
	case line && c.Similarity >= SamePlace:
		c.Like, c.By = SurelySame, ByIdentity
	case c.Similarity >= Near && p.Ended: // a mistake would hide a finding
		c.Like, c.Unjudged = PerhapsSame, kind
	case c.Similarity >= Near:
		c.Like, c.By = SurelySame, ByWords
	}
	return c
}

// compareLines compares with a remark whose lines are known, like two findings. More
// pairs go to a judge, because the texts may be months apart.
func (p *Posted) compareLines(c Comparison) Comparison {
	r, f := p.Remark, c.With
	a, b := r, f
	if b.Start < a.Start {
		a, b = b, a
	}
	overlap := r.Start <= f.End && f.Start <= r.End
	kind := f.Category == r.Category
	c.By = ByLines
	c.Like = inOrder(a, b, func() float64 { return c.Similarity })
	if c.Like == LikelySame {
		c.Like = SurelySame // a posted remark is not said again in other words
	}
	switch {
	case c.Like == PerhapsSame:
		strays := b.Start-a.End <= StrayLines || Flagged(r.Quote) == Flagged(f.Quote)
		c.Unjudged = overlap || kind && strays
	case c.Like == SurelySame:
	case overlap && kind && p.Changed && c.Similarity >= SamePlace: // an analyzer's too, if its line was edited
		c.Like = SurelySame
	case f.Start > 0 && (r.Start == f.Start || overlap && kind && !r.Analyzer):
		c.Like = PerhapsSame
	}
	return c
}
