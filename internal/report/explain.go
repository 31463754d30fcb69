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
	p.Say("", shownOrHidden(e))
	p.Line()
	writeSection(p, "found by", foundBy(f))
	for line := range strings.Lines(f.Quote) {
		writeSection(p, "quote", strings.TrimRight(line, "\r\n"))
	}
	for line := range strings.Lines(f.Body) {
		if strings.TrimSpace(line) != "" {
			writeSection(p, "detail", strings.TrimSpace(line))
		}
	}
	if f.Breaks.Path != "" {
		writeSection(p, "breaks", fmt.Sprintf("%s  %s", f.Breaks, f.Breaks.Quote))
	}
	for _, v := range f.Evidence {
		writeSection(p, "evidence", fmt.Sprintf("%s  %s", v, v.Quote))
	}
	for _, c := range f.Cites {
		what := c.Kind + " " + c.ID
		if c.Precedent != nil {
			what = c.Kind + " by " + citedAt(c.Precedent)
		}
		writeSection(p, "cites", fmt.Sprintf("%s  %s %s", what, c.Text, c.URL))
		if c.Precedent != nil {
			writeSection(p, "", samePoint(c.Precedent))
		}
	}
	writeSection(p, "seen", fmt.Sprintf("%s, first %s, last %s", times(e.Seen, "shown"), e.FirstSeen.Format(time.DateTime),
		e.LastSeen.Format(time.DateTime)))
	if e.Review.ID != "" {
		writeSection(p, "review", strings.TrimSuffix(fmt.Sprintf("%s of %s…%s, threshold %d (%s)", e.Review.ID,
			short(e.Review.Base), short(e.Review.Head), e.Review.Threshold, e.Review.ThresholdFrom), " ()"))
	}
	p.Line()
	for _, d := range e.Trail {
		writeSection(p, d.Step, decision(d))
	}
	for _, d := range e.Duplicates {
		writeSection(p, "duplicate", fmt.Sprintf("%s by %s at %s: %s", d.ID, d.Finder, d.String(), d.Title))
	}
	for _, j := range e.Dismissals {
		what := "finding " + j.Finding + " in " + j.Path
		if j.Rule != "" {
			what = j.Claim
		}
		writeSection(p, "memory", fmt.Sprintf("%s, %s dismissed by %s", j.ID, what, dismissedBy(j)))
	}
	if e.Retired != "" {
		writeSection(p, "memory", "its dismissal was ended: "+e.Retired)
	}
	if e.Counterfactual != nil {
		p.Line()
		writeCounterfactual(p, e.Counterfactual)
	}
}

// writeCounterfactual prints what would have been decided without some of what influenced the
// finding.
func writeCounterfactual(p *Page, c *precedent.Counterfactual) {
	writeSection(p, "without", strings.Join(c.Without, ", "))
	for _, id := range c.Silent {
		writeSection(p, "", id+" had no say about this finding.")
	}
	writeSection(p, "before", fate(c.Before))
	writeSection(p, "after", fate(c.After))
	if c.Unknown != "" {
		writeSection(p, "", "Not known without a model: "+c.Unknown+".")
	}
	for _, d := range c.Removed {
		writeSection(p, "no more", d.Step+": "+decision(d))
	}
	for _, d := range c.Added {
		writeSection(p, "instead", d.Step+": "+decision(d))
	}
	for _, o := range c.Others {
		writeSection(p, "also", fmt.Sprintf("%s %s: %s, instead of %s", o.Finding, o.Title, fate(o.After), fate(o.Before)))
	}
}

// fate says how a finding is shown.
func fate(f precedent.Fate) string {
	s := "shown " + map[precedent.Placement]string{
		precedent.Inline: "on its lines", precedent.WholeFile: "on the file", precedent.Summary: "in the summary",
	}[f.Placement]
	switch {
	case f.Dropped != "" && f.Placement == precedent.Collapsed:
		s = fmt.Sprintf("folded (%s)", f.Dropped)
	case f.Dropped != "":
		s = fmt.Sprintf("hidden (%s)", f.Dropped)
	}
	return fmt.Sprintf("%s, confidence %d, threshold %d", s, f.Confidence, f.Threshold)
}

// shownOrHidden says in a sentence whether the finding is shown, and why not.
func shownOrHidden(e precedent.Explanation) string {
	f := e.Finding
	switch {
	case e.Dismissal != nil && !f.Live() && f.Dropped != precedent.Dismissed:
		return "Hidden: " + string(f.Dropped) + ". Dismissed since by " + dismissedBy(*e.Dismissal) + "."
	case e.Dismissal != nil && f.Live():
		return "Shown by the last review; dismissed since by " + dismissedBy(*e.Dismissal) + ". The next review hides it."
	case e.Dismissal != nil:
		return "Hidden: dismissed by " + dismissedBy(*e.Dismissal) + ". Dismissal: " + e.Dismissal.ID + "."
	case f.Dropped == precedent.Dismissed:
		return "Hidden by the last review; the dismissal was undone or has expired. The next review shows it."
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

func decision(d precedent.Decision) string {
	line := d.Text
	if d.Delta != 0 {
		line = fmt.Sprintf("%+d: %s", d.Delta, line)
	}
	if d.By != "" {
		line += " [" + d.By + "]"
	}
	return line
}

// writeSection prints text behind a label.
func writeSection(p *Page, label, content string) {
	p.Say("  "+p.Inkf(Faint, "%-9s ", label), content)
}

// short abbreviates an object id.
func short(id string) string { return id[:min(len(id), 12)] }
