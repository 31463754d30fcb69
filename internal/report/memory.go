package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
)

// Dismissals lists the dismissals.
func Dismissals(p *Page, all []precedent.Dismissal) {
	if len(all) == 0 {
		p.Line("No findings are dismissed in this repository.")
	}
	for _, j := range all {
		writeDismissal(p, j)
	}
}

func writeDismissal(p *Page, j precedent.Dismissal) {
	about := ""
	if j.Rule == "" {
		about = p.Inkf(Plain, "%s %s  ", j.Severity, j.Category)
	}
	p.Para(p.Ink(Bold, j.Finding)+"  ", about+DismissedWhat(p, j))
	p.Say("            ", dismissedBy(j))
	if j.Source != "" {
		p.Para("            ", p.Ink(Faint, "from "+j.Source))
	}
	since := ""
	if j.Accepted > 0 {
		since = fmt.Sprintf(" · %s accepted since", Plural(j.Accepted, "similar finding"))
	}
	p.Para("            ", p.Inkf(Faint, "%s · until %s%s", times(j.Hits, "hid it"), j.ExpiresAt.Format(time.DateOnly),
		since))
}

// DismissedWhat says what was dismissed: the place and the claim of a finding, or a rule, and
// the files that it is limited to.
func DismissedWhat(p *Page, j precedent.Dismissal) string {
	where := j.Glob
	if j.Rule != "" {
		if where != "" {
			where = p.Ink(Plain, " in ") + p.Ink(Cyan, where)
		}
		return p.Ink(Plain, j.Claim) + where
	}
	if where != "" {
		where = p.Ink(Plain, "; similar ones in ") + p.Ink(Cyan, where)
	}
	return p.Ink(Cyan, j.Path) + "  " + p.Ink(Plain, j.Claim) + where
}

// dismissedBy says who dismissed a finding, when and why.
func dismissedBy(j precedent.Dismissal) string {
	who := cmp.Or(j.Who, "someone")
	s := fmt.Sprintf("%s on %s", who, j.At.Format(time.DateOnly))
	if j.Reason == "" {
		return s + ", no reason given"
	}
	return s + ": “" + j.Reason + "”"
}

// times counts an event: "hid it once", "hid it 3 times", "never hid it".
func times(n int, what string) string {
	switch n {
	case 0:
		return "never " + what
	case 1:
		return what + " once"
	}
	return fmt.Sprintf("%s %d times", what, n)
}

// Hotspots lists the files with the most findings.
func Hotspots(p *Page, hot []precedent.Hotspot) {
	if len(hot) == 0 {
		p.Line("No file has two or more findings yet.")
		return
	}
	rows := [][]string{{
		p.Ink(Faint, "findings"), p.Ink(Faint, "dismissed"), p.Ink(Faint, "worst"),
		p.Ink(Faint, "last seen"), p.Ink(Faint, "file"),
	}}
	for _, h := range hot {
		var categories []string
		for _, c := range h.Categories {
			categories = append(categories, string(c))
		}
		rows = append(rows, []string{
			strconv.Itoa(h.Findings), strconv.Itoa(h.Dismissed), p.Ink(Plain, string(h.TopSeverity)),
			h.LastSeen.Format(time.DateOnly), p.Ink(Cyan, h.Path) + p.Ink(Faint, "  "+strings.Join(categories, ", ")),
		})
	}
	p.Table(rows)
}
