package review

import (
	"slices"
	"strings"
	"unicode"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// The score of a line against a line of a quote: the first of these that applies. A line that has the quote beats
// one that looks like it, and an equal one beats both, however far they are from the given number.
const (
	equalScore     = 1.0
	squeezedScore  = 0.98  // equal except for white space
	substringScore = 0.979 // the quote is a part of the line
	alikeScore     = 0.9   // at most, of a line that at best looks like the quote
	substringMin   = 8     // minimum length of such a part, in bytes without white space
)

// lineText is a line in the forms in which lines are compared.
type lineText struct {
	plain    string   // without white space at its end
	squeezed string   // without any white space
	tokens   []string // made on first use
	parts    []string // of a cut line of a quote, in order, without white space
}

func newLineText(s string) lineText {
	return lineText{plain: strings.TrimRightFunc(s, unicode.IsSpace), squeezed: text.Squeeze(s)}
}

// newQuoteLine returns a line of a quote. Where it was cut, it may have an ellipsis.
func newQuoteLine(s string) lineText {
	l := newLineText(s)
	if !strings.Contains(l.squeezed, "…") && !strings.Contains(l.squeezed, "...") {
		return l
	}
	for _, part := range strings.Split(strings.ReplaceAll(l.squeezed, "...", "…"), "…") {
		if part != "" {
			l.parts = append(l.parts, part)
		}
	}
	return l
}

// has reports whether the line has all parts of a cut quote, in order.
func (l *lineText) has(parts []string) bool {
	rest, n := l.squeezed, 0
	for _, part := range parts {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
		n += len(part)
	}
	return n >= substringMin
}

func (l *lineText) blank() bool { return l.squeezed == "" }

// tokens matches each identifier, number and sign of a line of code.
var tokens = text.Pattern(`[\pL\p{Nd}_]+|[^\s\pZ]`)

func (l *lineText) tokenized() []string {
	if l.tokens == nil {
		l.tokens = tokens().FindAllString(l.plain, text.MaxRatio)
	}
	return l.tokens
}

// score returns how well the line fits a line of a quote, 0 to 1.
func (l *lineText) score(quote *lineText) float64 {
	if s := l.holds(quote); s > 0 || l.blank() || quote.blank() {
		return s
	}
	return alikeScore * text.Ratio(l.tokenized(), quote.tokenized())
}

// holds returns the score of a line that has a line of a quote, whole or cut; 0 for one
// that at best looks like it.
func (l *lineText) holds(quote *lineText) float64 {
	switch {
	case l.blank() || quote.blank():
		return 0
	case l.plain == quote.plain:
		return equalScore
	case l.squeezed == quote.squeezed:
		return squeezedScore
	case len(quote.squeezed) >= substringMin && strings.Contains(l.squeezed, quote.squeezed), l.has(quote.parts):
		return substringScore
	}
	return 0
}

// sideLine is a line that can have a comment.
type sideLine struct {
	lineText
	number  int
	hunk    int
	deleted bool
	next    int // index of the next line of the hunk that is not blank; -1 if none
}

// sideLines are the commentable lines of one side of one file, by number.
type sideLines struct {
	file  *diff.File
	side  precedent.Side
	lines []sideLine
}

// find returns the index of the line with a number, or of the first after it.
func (s *sideLines) find(number int) (i int, ok bool) {
	return slices.BinarySearchFunc(s.lines, number, func(l sideLine, n int) int { return l.number - n })
}

func newSideLines(f *diff.File, side precedent.Side) *sideLines {
	s := &sideLines{file: f, side: side}
	for h := range f.Hunks {
		first := len(s.lines)
		for i := range f.Hunks[h].Lines {
			l := &f.Hunks[h].Lines[i]
			if n := l.On(side); n > 0 {
				s.lines = append(s.lines, sideLine{
					lineText: newLineText(l.Text), number: n, hunk: h, deleted: l.Op == diff.Delete,
					next: -1,
				})
			}
		}
		next := -1
		for i := len(s.lines) - 1; i >= first; i-- {
			s.lines[i].next = next
			if !s.lines[i].blank() {
				next = i
			}
		}
	}
	return s
}
