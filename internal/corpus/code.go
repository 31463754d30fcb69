package corpus

import (
	"context"
	"strings"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/search"
)

// The weights of lines in a query, by their distance to the line in question, and by what the
// change does to them. GitHub shows hunks that end at the commented line.
const (
	focusWeight = 6
	nearWeight  = 2   // up to nearLines before it, or one after it
	farWeight   = 0.6 // up to farLines before it
	nearLines   = 3
	farLines    = 11

	keptWeight    = 0.7 // of a deleted or context line, relative to an added one
	sectionWeight = 0.5

	// In a hunk without a line in question:
	addedWeight   = 2
	deletedWeight = 1
	contextWeight = 0.5

	maxQueryLines = 400 // lines of a hunk that count
)

// The weights of the ways to compare code with a comment; each is a cosine.
const (
	wordsAbout = 2   // the lines' words with the comment's
	wordsFocus = 2   // the words of the line in question with the comment's
	charsAbout = 1   // the characters of the lines' words with the comment's
	lineChars  = 2   // the line in question with the commented line
	lineShape  = 0.7 // the same, without the words
	fixChars   = 1.5 // the line in question with the suggested code
)

// code is lines that comments may be about.
type code struct {
	focus  string // the line in question; empty for none
	around string // the lines, one a line
	words  bag
}

// codeAt returns the code around a line of a hunk, whose number counts from 0; -1 for the hunk as
// a whole.
func codeAt(h *diff.Hunk, at int) *code {
	c := &code{words: bag{}}
	first, last := 0, min(len(h.Lines), maxQueryLines)-1
	if at >= 0 {
		first, last = max(0, at-farLines), min(at+1, len(h.Lines)-1)
		c.focus = h.Lines[at].Text
	}
	c.words.add(h.Section, sectionWeight)
	var b strings.Builder
	for i := first; i <= last; i++ {
		l := &h.Lines[i]
		c.words.add(l.Text[:min(len(l.Text), maxCodeLine)], lineWeight(l.Op, at-i, at >= 0))
		b.WriteString(l.Text[:min(len(l.Text), maxCodeLine)])
		b.WriteByte('\n')
	}
	c.around = b.String()
	return c
}

// lineWeight is the weight of a line that is so many lines before the one in question.
func lineWeight(op diff.Op, before int, focused bool) float64 {
	if !focused {
		switch op {
		case diff.Add:
			return addedWeight
		case diff.Delete:
			return deletedWeight
		default:
			return contextWeight
		}
	}
	w := farWeight
	switch {
	case before == 0:
		w = focusWeight
	case before <= nearLines: // or one after it
		w = nearWeight
	}
	if op != diff.Add {
		w *= keptWeight
	}
	return w
}

// About finds what people wrote about code like a line of a hunk, whose number counts from 0, or
// like the hunk as a whole for -1; the best first. Of the query, Path, Pull, Before, Limit and All
// count.
func (x *Index) About(ctx context.Context, h *diff.Hunk, at int, q Query) ([]Hit, error) {
	r := x.ranker(&q)
	r.code(ctx, codeAt(h, at))
	return r.hits()
}

// code scores what is like the code.
func (r *ranker) code(ctx context.Context, c *code) {
	focused := bag{}
	focused.add(c.focus[:min(len(c.focus), maxCodeLine)], 1)
	words, focus, chars := c.words.query(r.x.terms), focused.query(r.x.terms), textGrams(c.around)
	line, shape := lineGrams(c.focus), lineGrams(shapeOf(c.focus))
	all := r.candidates(ctx, c.query())
	lines, shapes := make([]grams, len(all)), make([]grams, len(all))
	for i, d := range all {
		lines[i], shapes[i] = d.line, d.shape
	}
	ofLines, ofShapes := raritiesAmong(lines), raritiesAmong(shapes)
	for _, d := range all {
		cosine := d.cosine(words)
		r.score(d, wordsAbout*cosine+wordsFocus*d.cosine(focus)+charsAbout*rarities(nil).cosine(d.chars, chars)+
			lineChars*ofLines.cosine(d.line, line)+lineShape*ofShapes.cosine(d.shape, shape)+
			fixChars*ofLines.cosine(d.fix, line), cosine)
	}
}

// query finds what to compare with the code.
func (c *code) query() search.Query {
	q := fieldQuery(search.Text, c.around)
	q.Fields[search.Lines] = c.focus
	return q
}
