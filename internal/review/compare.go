package review

import (
	"cmp"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// flagged is the line that a quote flags, which is its first.
func flagged(quote string) string {
	line, _, _ := strings.Cut(quote, "\n")
	return text.Collapse(line)
}

// movedLines is how far a remark strays that is made again, when nobody can say
// whether it is the same.
const movedLines = 3

// match is what comparing a thread with a finding gives.
type match struct {
	like       Likeness
	how        how
	similarity float64
	otherwise  bool               // where a judge is to decide: what holds without one
	said       *precedent.Finding // the words that were compared
}

// how says by what a finding is recognised, the surest first.
type how int

const (
	samePlace how = iota // the same line and kind
	sameName             // the same fingerprint, or place
	sameLines            // the same lines, in similar words
	judgedSame
	sameWords // similar words about the same file, and no lines to hold on to
)

// compare decides whether a finding says what the thread says.
//
// A thread that people ended silences its finding and nothing else, so place and
// kind are not enough there: another defect of the same line is news.
func (t *carried) compare(f *precedent.Finding) match {
	r := &t.remark
	m := match{like: NotSame, said: f}
	if f.Path != r.Path || f.Side != r.Side {
		return m
	}
	m.similarity = Similarity(r, f)
	kind := f.Category == r.Category
	switch {
	case r.Start > 0 && r.Start == f.Start && kind:
		return t.surely(m, samePlace)
	case r.Fingerprint != "" && f.Fingerprint == r.Fingerprint:
		return t.surely(m, sameName)
	case r.Start == 0:
		return t.compareText(m)
	}
	return t.compareLines(m)
}

// surely is a match by place, of which an ended thread wants similar words too.
func (t *carried) surely(m match, by how) match {
	m.like, m.how, m.otherwise = SurelySame, by, true
	if t.settled() && m.similarity < samePlaceSimilarity {
		m.like = PerhapsSame
	}
	return m
}

// compareText compares with a thread that stands on no line, or not any more.
func (t *carried) compareText(m match) match {
	r, f := &t.remark, m.said
	whole := r.Quote == "" && f.Start == 0
	place := whole || r.Place != "" && r.Place == f.Place
	line := place || r.Quote != "" && flagged(r.Quote) == flagged(f.Quote)
	kind := f.Category == r.Category
	switch {
	case place && kind:
		return t.surely(m, sameName)
	case line && m.similarity >= samePlaceSimilarity:
		m.like, m.how = SurelySame, sameName
	case m.similarity >= nearSimilarity && t.settled(): // here a mistake hides something
		m.like, m.otherwise = PerhapsSame, kind
	case m.similarity >= nearSimilarity:
		m.like, m.how = SurelySame, sameWords
	}
	return m
}

// compareLines compares with a thread whose lines are known, as merge compares two
// findings. A judge is asked about more, because the words may be months apart.
func (t *carried) compareLines(m match) match {
	r, f := &t.remark, m.said
	a, b := r, f
	if b.Start < a.Start {
		a, b = b, a
	}
	overlap := r.Start <= f.End && f.Start <= r.End
	kind := f.Category == r.Category
	m.how = sameLines
	m.like = alike(a, b, func() float64 { return m.similarity })
	switch {
	case m.like == PerhapsSame:
		strays := b.Start-a.End <= movedLines || flagged(r.Quote) == flagged(f.Quote)
		m.otherwise = overlap || kind && strays
	case m.like == SurelySame:
	case overlap && kind && t.changed && m.similarity >= samePlaceSimilarity: // an analyzer's too, if its line was edited
		m.like = SurelySame
	case f.Start > 0 && (r.Start == f.Start || overlap && kind && !r.Analyzer):
		m.like = PerhapsSame
	}
	return m
}

// nearest compares the thread with a finding and with all that merge dropped for
// it, and returns the match that says most.
func (t *carried) nearest(f *precedent.Finding, dropped []*precedent.Finding) match {
	best := t.compare(f)
	for _, d := range dropped {
		if m := t.compare(d); cmp.Or(
			cmp.Compare(rank[m.like], rank[best.like]), cmp.Compare(m.how, best.how), -cmp.Compare(m.similarity, best.similarity),
		) < 0 {
			best = m
		}
	}
	return best
}

// rank orders likenesses, the surest first.
var rank = map[Likeness]int{SurelySame: 0, PerhapsSame: 1, NotSame: 2}
