package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
)

// Explain prints why a finding was shown or hidden.
func Explain(p *Page, e precedent.Explanation) {
	f := e.Finding
	p.Para("", p.Ink(Bold, f.ID)+p.Inkf(Plain, "  %s %d  ", f.Severity, f.Confidence)+
		p.Ink(Cyan, f.String())+"  "+p.Ink(Bold, f.Title))
	p.Para("", p.Ink(Plain, shownOrHidden(e)))
	p.Line()
	writeSection(p, "found by", foundBy(f))
	for line := range strings.Lines(f.Quote) {
		writeSection(p, "quote", strings.TrimRight(line, "\r\n"))
	}
	for line := range strings.Lines(f.Body) {
		if strings.TrimSpace(line) != "" {
			writeSection(p, "says", strings.TrimSpace(line))
		}
	}
	for _, v := range f.Evidence {
		writeSection(p, "evidence", fmt.Sprintf("%s:%d  %s", v.Path, v.Line, v.Quote))
	}
	for _, c := range f.Cites {
		writeSection(p, "cites", fmt.Sprintf("%s %s  %s %s", c.Kind, c.ID, c.Text, c.URL))
	}
	writeSection(p, "seen", fmt.Sprintf("%s, first %s, last %s", times(e.Seen, "shown"), e.FirstSeen.Format(time.DateTime), e.LastSeen.Format(time.DateTime)))
	if e.Review.ID != "" {
		writeSection(p, "review", fmt.Sprintf("%s of %s…%s, threshold %d", e.Review.ID, short(e.Review.Base), short(e.Review.Head), e.Review.Threshold))
	}
	p.Line()
	writeTrail(p, e)
	for _, d := range e.Duplicates {
		writeSection(p, "same", fmt.Sprintf("%s by %s at %s: %s", d.ID, d.Finder, d.String(), d.Title))
	}
	for _, j := range e.Rejections {
		writeSection(p, "memory", fmt.Sprintf("%s %s declined %s: %s", j.ID, j.Path, j.Finding, dismissedBy(j)))
	}
}

// shownOrHidden says in a sentence whether the finding is shown, and why not.
func shownOrHidden(e precedent.Explanation) string {
	f := e.Finding
	switch {
	case e.Dismissal != nil && f.Dropped != precedent.Dismissed:
		return "Shown when it was last seen; dismissed since by " + dismissedBy(*e.Dismissal) + ". The next review hides it."
	case e.Dismissal != nil:
		return "Hidden: dismissed by " + dismissedBy(*e.Dismissal) + ". Rejection " + e.Dismissal.ID + "."
	case f.Dropped == precedent.Dismissed:
		return "Hidden when it was last seen; the dismissal was taken back or has run out. The next review shows it."
	case f.Live():
		return "Shown."
	}
	return "Hidden: " + string(f.Dropped) + "."
}

func foundBy(f precedent.Finding) string {
	s := f.Finder + ", category " + string(f.Category)
	if f.Rule != "" {
		s += ", rule " + f.Rule
	}
	if f.Votes > 1 {
		s += fmt.Sprintf(", %d finders agree", f.Votes)
	}
	if f.Verifier != "" && f.Verifier != precedent.Unchecked {
		s += ", verifier: " + string(f.Verifier)
	}
	return s
}

// writeTrail prints the decisions in the order in which they were made.
func writeTrail(p *Page, e precedent.Explanation) {
	for _, d := range e.Trail {
		says := d.Text
		if d.Delta != 0 {
			says = fmt.Sprintf("%+d: %s", d.Delta, says)
		}
		if d.By != "" {
			says += " [" + d.By + "]"
		}
		writeSection(p, d.Step, says)
	}
}

// writeSection prints what is said under a label.
func writeSection(p *Page, label, said string) {
	p.Para("  "+p.Inkf(Faint, "%-9s ", label), p.Ink(Plain, said))
}

// short is an object's id as people write it.
func short(id string) string { return id[:min(len(id), 12)] }
