package review

import (
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
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
		case f.Breaks.Path != "":
			p.placeCaused(f, src)
		case f.Analyzer && p.isAt(f):
			f.Note("place", "found at %s", f.Span)
		case f.Analyzer && src.holdsQuote(said, f.Quote):
			f.Note("place", "found at %s, outside the diff", said)
		case p.Place(f):
		case p.file(f.Path) == nil:
			f.Drop("place", precedent.NoEvidence, "", "the change has no file %s, and no other file has the quote", f.Path)
		default:
			f.Drop("place", precedent.NoEvidence, "", "the quote is nowhere in the change")
		}
		if f.Analyzer {
			continue
		}
		holds := verifiedEvidence(f.Evidence, p, src)
		if n := len(f.Evidence) - len(holds); n > 0 {
			f.Note("place", "removed %d of %d pieces of evidence that are not in the files they name", n, len(f.Evidence))
		}
		f.Evidence = holds
		if f.Start == 0 && len(f.Evidence) == 0 {
			f.Drop("place", precedent.NoEvidence, "", "about %s as a whole, without valid evidence", f.Path)
		}
	}
	return named
}

// placeCaused places a finding about a line outside of the change on the changed line
// that causes it. Both must be there. If the line that breaks is in the diff, the finding
// is placed on it.
func (p *Placer) placeCaused(f *precedent.Finding, src *sources) {
	there := verifiedEvidence([]precedent.Evidence{f.Breaks}, p, src)
	if len(there) == 0 {
		f.Drop("place", precedent.NoEvidence, "", "the line that it says breaks is not in %s", f.Breaks.Path)
		f.Breaks = precedent.Evidence{}
		return
	}
	f.Breaks = there[0]
	if file := p.change.File(f.Breaks.Path); file != nil && file.HunkAt(precedent.Right, f.Breaks.Line) >= 0 {
		f.Span = precedent.Span{Path: f.Breaks.Path, Side: precedent.Right, Start: f.Breaks.Line, End: f.Breaks.Line}
		f.Quote, f.Breaks = f.Breaks.Quote, precedent.Evidence{}
		if !p.Place(f) {
			f.Drop("place", precedent.NoEvidence, "", "the quote is nowhere in the change")
		}
		return
	}
	switch {
	case !p.Place(f):
		f.Drop("place", precedent.NoEvidence, "", "the changed line that it says is the cause is nowhere in the change")
	case !p.changes(f):
		f.Drop("place", precedent.UnchangedCode, "", "the line that it says is the cause is not changed")
	default:
		f.Note("place", "breaks %s, which the change does not touch", f.Breaks)
	}
}

// changes reports whether the change adds or deletes one of a finding's lines.
func (p *Placer) changes(f *precedent.Finding) bool {
	return slices.ContainsFunc(p.change.File(f.Path).Commentable(f.Side), func(l diff.Line) bool {
		return l.Op != diff.Context && l.On(f.Side) >= f.Start && l.On(f.Side) <= f.End
	})
}

// isAt reports whether a finding's quote, which may be a blank line, is at the line that
// the finding names. If so, the range is limited to its hunk.
func (p *Placer) isAt(f *precedent.Finding) bool {
	file := p.change.File(f.Path)
	if file == nil || f.Start == 0 {
		return false
	}
	s := p.lines(file, f.Side)
	i, ok := s.find(f.Start)
	quote, _, _ := strings.Cut(f.Quote, "\n")
	if !ok || newLineText(quote).plain != s.lines[i].plain {
		return false
	}
	f.End = s.end(i, f.End-f.Start)
	return true
}

// verifiedEvidence returns the evidence that is in the files of its side, with correct
// line numbers. A quote of punctuation alone proves nothing.
func verifiedEvidence(offered []precedent.Evidence, p *Placer, src *sources) []precedent.Evidence {
	var holds []precedent.Evidence
	for _, e := range offered {
		side := sideOf(e)
		if side == precedent.Right {
			e.Side = ""
		}
		file := p.fileOn(side, e.Path)
		if file != nil {
			e.Path = file.Path
		}
		e.Quote = undoRedaction(firstLines(e.Quote), file)
		if !text.Proves(e.Quote) {
			continue
		}
		for _, quote := range []string{e.Quote, withoutMargin(e.Quote)} {
			if line, ok := src.file(side, e.Path).quoted(quote, e.Line); ok {
				e.Line, e.Quote = line, quote
				holds = append(holds, e)
				break
			}
		}
	}
	return holds
}
