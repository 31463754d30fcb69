package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// indent precedes the lines about a finding.
const indent = "      "

// Limits of what is shown of a finding; explain shows all of it.
const (
	maxBody     = 2000 // bytes
	maxFixLines = 12
)

// writeFinding writes one finding: severity and place, the code, why, the fix, and its id.
func writeFinding(p *Page, r *precedent.Review, f precedent.Finding, e excerpts, s Style) {
	head := p.Ink(severityInk(f.Severity), string(f.Severity)) + p.Inkf(Plain, " %d", f.Confidence) + "   "
	place := f.String()
	if f.Side == precedent.Left {
		place += " (before the change)"
	}
	title := p.Ink(Bold, f.Title)
	if w := ansi.StringWidth(head) + ansi.StringWidth(place) + 3 + ansi.StringWidth(title); w <= p.width {
		p.Line(head, p.Ink(Cyan, place), "   ", title)
	} else {
		p.Line(head, p.Ink(Cyan, place))
		p.Para(indent, title)
	}
	e.write(p, f)
	if f.Breaks.Path != "" {
		p.Para(indent+p.Ink(Faint, "breaks")+" ", p.Ink(Cyan, f.Breaks.String())+"  "+p.Ink(Plain,
			strings.TrimSpace(f.Breaks.Quote)))
	}
	writeProse(p, "why  ", f.Body)
	writeFix(p, cmp.Or(f.Suggestion, f.Sketch))
	writeCites(p, f, s)
	p.Para(indent+p.Ink(Faint, "id   "), p.Ink(Faint, f.ID+" · "+statusOf(r, f)))
}

// writeHint says what can be done about a finding, with the id of the first one that is printed.
func writeHint(p *Page, r *precedent.Review, options string) {
	if live := r.Live(); len(live) > 0 {
		p.Line()
		p.Line(p.Ink(Faint, "why it is shown:     precedent explain "+live[0].ID+options))
		p.Line(p.Ink(Faint, "not a problem here:  precedent dismiss "+live[0].ID+options))
	}
}

// statusOf says which finder has it, how many agree, how it relates to earlier reviews, and
// how often it was shown.
func statusOf(r *precedent.Review, f precedent.Finding) string {
	parts := []string{"by " + f.Finder}
	if f.Rule != "" {
		parts[0] += " (" + f.Rule + ")"
	}
	if f.Votes > 1 {
		parts = append(parts, fmt.Sprintf("%d finders agree", f.Votes))
	}
	switch f.Verifier {
	case precedent.Confirmed:
		parts = append(parts, "confirmed by the verifier")
	case precedent.Uncertain:
		parts = append(parts, "the verifier is uncertain")
	}
	switch f.Origin {
	case precedent.MissedBefore:
		parts = append(parts, "missed before")
	case precedent.CausedByFix:
		parts = append(parts, "caused by a fix")
	}
	if f.Thread != "" {
		parts = append(parts, "already posted in a thread")
	}
	if n := r.Sightings[f.ID]; n > 1 {
		parts = append(parts, fmt.Sprintf("seen %d×", n))
	}
	return strings.Join(parts, " · ")
}

// writeProse writes paragraphs behind a label.
func writeProse(p *Page, label, s string) {
	for line := range strings.Lines(text.Head(s, maxBody)) {
		if line = strings.TrimSpace(line); line != "" {
			p.Say(indent+p.Ink(Faint, label), line)
			label = strings.Repeat(" ", len(label))
		}
	}
}

// writeFix writes the lines of a suggestion, without their common indentation and never
// shortened, so that they can be copied.
func writeFix(p *Page, s string) {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return
	}
	lines := strings.Split(s, "\n")
	margin := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " \t"))]
	for _, line := range lines[1:] {
		for !strings.HasPrefix(line, margin) && strings.TrimSpace(line) != "" {
			margin = margin[:len(margin)-1]
		}
	}
	label := "fix  "
	for i, line := range lines {
		if i == maxFixLines {
			p.Line(indent, label, p.Inkf(Faint, "… and %s", Plural(len(lines)-i, "more line")))
			return
		}
		p.Line(indent, p.Ink(Faint, label), p.Ink(Green, strings.TrimSuffix(strings.TrimPrefix(line, margin), "\r")))
		label = strings.Repeat(" ", len(label))
	}
}

func severityInk(s precedent.Severity) Ink {
	switch s {
	case precedent.Critical:
		return BoldRed
	case precedent.High:
		return Red
	case precedent.Medium:
		return Yellow
	case precedent.Low:
		return Cyan
	}
	return Faint
}
