package report

import (
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// How much code is shown around a finding.
const (
	linesBefore = 2
	maxExcerpt  = 8
)

// redacted replaces the lines of a credential that its quote does not cover.
const redacted = "[REDACTED]"

// place is one line of one side of one file.
type place struct {
	path string
	side precedent.Side
	line int
}

// excerpts shows code without its secrets, because logs are read by more people than the
// change. Lines of a finding about a secret are shown as the finding quotes them, since alone
// they may not look like a secret.
type excerpts struct {
	change *diff.Change
	hidden map[place]string
	clean  map[*diff.Hunk][]string // the lines of hunks without secrets
}

func newExcerpts(r *precedent.Review, c *diff.Change) excerpts {
	e := excerpts{change: c, hidden: map[place]string{}, clean: map[*diff.Hunk][]string{}}
	for _, f := range r.Findings {
		if f.Category != precedent.Secrets || f.Start == 0 {
			continue
		}
		quote := strings.Split(f.Quote, "\n")
		for n := f.Start; n <= max(f.End, f.Start+len(quote)-1); n++ {
			shown := redacted
			if i := n - f.Start; i < len(quote) {
				shown = quote[i]
			}
			e.hidden[place{f.Path, f.Side, n}] = shown
		}
	}
	return e
}

// numbered is a line with its number on the finding's side.
type numbered struct {
	n    int
	text string
}

// write writes the flagged lines, marked, and a few lines before them.
func (e excerpts) write(p *Page, f precedent.Finding) {
	lines := e.lines(f)
	if len(lines) == 0 {
		return
	}
	digits := max(2, len(strconv.Itoa(lines[len(lines)-1].n)))
	for i, l := range lines {
		if i == maxExcerpt {
			p.Line("   ", p.Inkf(Faint, "%*s │ … %s", digits, "", Plural(len(lines)-i, "more line")))
			return
		}
		marker, ink := "   ", Plain
		if l.n >= f.Start && l.n <= max(f.End, f.Start) {
			marker, ink = " "+p.Ink(Red, "▸")+" ", Bold
		}
		p.Line(marker, p.Inkf(Faint, "%*d │ ", digits, l.n), p.Ink(ink, clip(l.text, p.width-digits-6)))
	}
}

// lines returns the flagged lines and a few before them, without secrets: from the change,
// else from the quote.
func (e excerpts) lines(f precedent.Finding) []numbered {
	if f.Start == 0 {
		return nil
	}
	lines := e.around(f)
	if len(lines) == 0 {
		for i, q := range strings.Split(f.Quote, "\n") {
			lines = append(lines, numbered{f.Start + i, q})
		}
	}
	for i, l := range lines {
		shown, ok := e.hidden[place{f.Path, f.Side, l.n}]
		if !ok && i <= maxExcerpt {
			shown = secret.RedactText(text.Head(strings.TrimSuffix(l.text, "\r"), maxInk))
		}
		lines[i].text = shown
	}
	return lines
}

// around returns the lines of the span and a few before it, from the hunk that has the first of them; none if there is
// no such hunk. The hunk is redacted as a whole, because the lines before one can be what makes it a secret.
func (e excerpts) around(f precedent.Finding) (lines []numbered) {
	hunk := e.hunkOf(f)
	if hunk == nil {
		return nil
	}
	clean := e.clean[hunk]
	if clean == nil {
		raw := make([]string, len(hunk.Lines))
		for i := range raw {
			raw[i] = hunk.Lines[i].Text
		}
		clean = strings.Split(string(secret.RedactFile(f.Path, []byte(strings.Join(raw, "\n")))), "\n")
		e.clean[hunk] = clean
	}
	for i := range hunk.Lines {
		if n := hunk.Lines[i].On(f.Side); n >= max(f.Start-linesBefore, 1) && n <= max(f.End, f.Start) {
			lines = append(lines, numbered{n, clean[min(i, len(clean)-1)]})
		}
	}
	return lines
}

// hunkOf returns the hunk that shows the first line of a finding; nil if there is none.
func (e excerpts) hunkOf(f precedent.Finding) *diff.Hunk {
	if e.change == nil {
		return nil
	}
	for i := range e.change.Files {
		file := &e.change.Files[i]
		if file.Path == f.Path || f.Side == precedent.Left && file.OldPath == f.Path {
			if h := file.HunkAt(f.Side, f.Start); h >= 0 {
				return &file.Hunks[h]
			}
		}
	}
	return nil
}
