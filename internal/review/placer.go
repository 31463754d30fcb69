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
	var s spot
	if file != nil {
		here, there := p.lines(file, f.Side), p.lines(file, otherSide(f.Side))
		if s = here.bestMatch(quote, said.Start); s.on == nil {
			s = there.bestMatch(quote, said.Start)
		}
	}
	if s.on == nil {
		s = p.unique(quote, file)
	}
	if s.on == nil {
		return false
	}
	s.applyTo(f, said, quote)
	return true
}

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
	if l.squeezed != quote[0].squeezed {
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
