package review

import (
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
)

// inexactDelta is the effect of an inexact quote on the confidence of a finding without
// a verdict, in percent points.
const inexactDelta = -5

// place finds the line of every finding by its quote, and removes evidence that is
// not in the files. A finding whose quote is not found is dropped. It returns the
// spans that the findings came with.
func place(fs []precedent.Finding, p *Placer, src *sources) []precedent.Span {
	var named []precedent.Span
	for i := range fs {
		f := &fs[i]
		said := f.Span
		named = append(named, said)
		switch {
		case f.Analyzer && p.isAt(f):
			f.Note("place", "found at %s", f.Span)
		case p.Place(f):
		case f.Analyzer && src.holdsQuote(said, f.Quote):
			f.Span = said
			f.Note("place", "found at %s, outside the diff", said)
		case p.file(f.Path) == nil:
			f.Drop("place", precedent.NoEvidence, "", "the change has no file %s, and no other file has the quote", f.Path)
		default:
			f.Drop("place", precedent.NoEvidence, "", "the quote is nowhere in the change")
		}
		if f.Analyzer {
			continue
		}
		dropUnplaced(f, p, src)
		if f.Start == 0 && len(f.Evidence) == 0 {
			f.Drop("place", precedent.NoEvidence, "", "about %s as a whole, without valid evidence", f.Path)
		}
	}
	return named
}

// isAt tells whether a finding's quote, which may be a blank line, is at the line that
// the finding names. If so, the range is limited to its hunk.
func (p *Placer) isAt(f *precedent.Finding) bool {
	file := p.change.File(f.Path)
	if file == nil || f.Start == 0 {
		return false
	}
	s := p.lines(file, f.Side)
	i, ok := slices.BinarySearchFunc(s.glances, f.Start, func(g glance, n int) int { return g.number - n })
	quote, _, _ := strings.Cut(f.Quote, "\n")
	if !ok || newLineText(quote).plain != s.lines[i].plain {
		return false
	}
	f.End = s.end(i, f.End-f.Start)
	return true
}

// dropUnplaced removes evidence that is not in the files of the head, and corrects
// the line numbers of the rest.
func dropUnplaced(f *precedent.Finding, p *Placer, src *sources) {
	holds := verifiedEvidence(f.Evidence, p, src)
	if n := len(f.Evidence) - len(holds); n > 0 {
		f.Note("place", "removed %d of %d pieces of evidence that are not in the files they name", n, len(f.Evidence))
	}
	f.Evidence = holds
}

// verifiedEvidence returns the evidence that is in the files of the head, with
// correct line numbers.
func verifiedEvidence(offered []precedent.Evidence, p *Placer, src *sources) []precedent.Evidence {
	var holds []precedent.Evidence
	for _, e := range offered {
		if file := p.file(e.Path); file != nil {
			e.Path = file.Path
		}
		e.Quote = undoRedaction(firstLines(e.Quote), p.file(e.Path))
		if line, ok := src.file(precedent.Right, e.Path).quoted(e.Quote, e.Line); ok {
			e.Line = line
			holds = append(holds, e)
		}
	}
	return holds
}
