package review

import (
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// Placer finds the lines of a change that remarks are about. It is not safe
// for concurrent use.
type Placer struct {
	change *diff.Change
	sides  map[sideKey]*sideLines
	// everywhere lists all commentable lines by their text without white space.
	// It is made when a quote is first missed in the file that was named.
	everywhere map[string][]spot
}

type sideKey struct {
	path string
	side precedent.Side
}

// NewPlacer returns a Placer for the change.
func NewPlacer(c *diff.Change) *Placer {
	return &Placer{change: c, sides: map[sideKey]*sideLines{}}
}

// Place moves a finding to the line of its quote and reports whether there is one. The
// line numbers that the finding came with are a hint; they are cleared if the quote
// is not found. A finding with an empty quote is about its file as a whole.
func (p *Placer) Place(f *precedent.Finding) bool {
	said := f.Span
	f.Start, f.End = 0, 0
	if f.Side != precedent.Left {
		f.Side = precedent.Right
	}
	file := p.file(f.Path)
	if file != nil {
		f.Path = file.Path
	}
	f.Quote = undoRedaction(f.Quote, file)
	quote := quoteTexts(f.Quote)
	if len(quote) == 0 {
		return file != nil
	}
	s := p.find(quote, file, f.Side, said.Start)
	if bare := withoutMargin(f.Quote); !s.isExact(quote) && bare != f.Quote {
		words := quoteTexts(bare)
		if t := p.find(words, file, f.Side, said.Start); t.isExact(words) {
			s, quote, f.Quote = t, words, bare
		}
	}
	if s.on == nil {
		return false
	}
	s.applyTo(f, said, quote)
	return true
}

// find returns the line that a quote fits best: in the file if there is one, else elsewhere; its on is nil if there is
// none.
func (p *Placer) find(quote []lineText, file *diff.File, side precedent.Side, near int) (s spot) {
	if file != nil && len(quote) > 0 {
		here := p.lines(file, side)
		if s = here.bestMatch(quote, near); !s.holds(quote) {
			there := p.lines(file, otherSide(side)).bestMatch(quote, near)
			if s.on == nil {
				s = there
			}
			if below := here.belowHeader(quote[0].squeezed, near); below.on != nil && !there.holds(quote) {
				s = below
			}
		}
	}
	if s.on == nil && len(quote) > 0 {
		s = p.unique(quote, file)
	}
	return s
}

// isExact reports whether the spot has the first line of the quote.
func (s spot) isExact(quote []lineText) bool {
	return s.on != nil && s.on.lines[s.index].squeezed == quote[0].squeezed
}

// holds reports whether the spot has the first line of the quote, whole or cut, and not only one that looks like it.
func (s spot) holds(quote []lineText) bool {
	return s.on != nil && s.on.lines[s.index].holds(&quote[0]) > 0
}

var margin = text.Pattern(`(?m)^(?:\d+ )?[-+ ]`)

// withoutMargin returns a quote without the signs and numbers that a prompt shows before lines: models copy them.
func withoutMargin(quote string) string { return margin().ReplaceAllString(quote, "") }

// undoRedaction replaces lines of a quote as a prompt shows them, with secrets redacted and
// hidden characters and invalid bytes spelled out, by the lines of the file.
func undoRedaction(quote string, f *diff.File) string {
	if f == nil || !strings.Contains(quote, "[REDACTED:") && !strings.Contains(quote, "<U+") &&
		!strings.Contains(quote, "<0x") {
		return quote
	}
	written := map[string]string{}
	for i := range f.Hunks {
		shown := redactedHunk(f.Path, &f.Hunks[i])
		for j, l := range f.Hunks[i].Lines {
			is := strings.TrimSuffix(l.Text, "\r")
			if v := text.VisibleLine(strings.TrimSuffix(shown.Lines[j].Text, "\r")); v != is {
				written[text.Squeeze(v)] = is
			}
		}
	}
	lines := strings.Split(quote, "\n")
	for i, l := range lines {
		if w, ok := written[text.Squeeze(l)]; ok {
			lines[i] = w
		}
	}
	return strings.Join(lines, "\n")
}

// file returns the changed file that a path refers to. Models copy the prefixes of
// diff headers, the old names of renamed files, and hidden characters as a prompt
// shows them.
func (p *Placer) file(path string) *diff.File {
	if f := p.change.File(path); f != nil {
		return f
	}
	for _, prefix := range []string{"a/", "b/", "./", "/"} {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			if f := p.change.File(rest); f != nil {
				return f
			}
		}
	}
	for i := range p.change.Files {
		if f := &p.change.Files[i]; f.OldPath == path || text.VisibleLine(f.Path) == path {
			return f
		}
	}
	return nil
}

// fileOn returns the changed file that has a path on a side: in the base, a renamed file
// has its old one.
func (p *Placer) fileOn(side precedent.Side, path string) *diff.File {
	if side == precedent.Left {
		for i := range p.change.Files {
			if f := &p.change.Files[i]; f.OldPath == path {
				return f
			}
		}
	}
	return p.file(path)
}

func (p *Placer) lines(f *diff.File, side precedent.Side) *sideLines {
	key := sideKey{f.Path, side}
	s := p.sides[key]
	if s == nil {
		s = newSideLines(f, side)
		p.sides[key] = s
	}
	return s
}

// applyTo moves the finding to the spot. The range keeps its length, within the hunk.
// An inexact quote is replaced by the file's text.
func (s spot) applyTo(f *precedent.Finding, said precedent.Span, quote []lineText) {
	l := &s.on.lines[s.index]
	f.Path, f.Side, f.Start = s.on.file.Path, s.on.side, l.number
	f.End = s.on.end(s.index, said.End-said.Start)
	d := precedent.Decision{Step: "place", Text: "the quote is at " + f.String()}
	switch {
	case f.Path != said.Path:
		d.Text += ", not in " + said.Path
	case f.Side != said.Side && said.Side != "":
		d.Text += ", on the other side of the diff"
	case said.Start != f.Start:
		d.Text += ", not on the line given"
	}
	if !s.isExact(quote) {
		f.Inexact, d.Delta = true, inexactDelta
		d.Text += "; it is not exact"
		f.Quote = s.on.text(s.index, len(quote))
	}
	f.Decide(d)
}

func otherSide(s precedent.Side) precedent.Side {
	if s == precedent.Left {
		return precedent.Right
	}
	return precedent.Left
}
