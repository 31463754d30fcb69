package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/report"
)

func newExplain(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain FINDING",
		Short: "Say why a finding was shown or hidden",
		Long: `Explain prints everything that led to the finding whose id begins with FINDING
being shown or hidden, as the review that saw it last decided: who found it, how
its place was found, what it was merged with, what changed its confidence, which
memory spoke, and the threshold at the time.`,
		Example: `  precedent explain k7m2q0v5xa
  precedent explain k7m --json`,
		Args:              exactly(1),
		ValidArgsFunction: a.completeFindings,
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := a.remember(cmd.Context(), settingFlags(cmd))
			if err != nil {
				return err
			}
			defer w.close()
			e, err := w.memory.Explain(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return report.Value(a.out, whole(e))
			}
			p := a.page()
			explain(p, e)
			return p.Err()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	addSettings(cmd, memorySettings...)
	return cmd
}

func explain(p *report.Page, e memory.Explanation) {
	f := e.Finding
	p.Para("", p.Ink(report.Bold, f.ID)+p.Inkf(report.Plain, "  %s %d  ", f.Severity, f.Confidence)+
		p.Ink(report.Cyan, f.String())+"  "+p.Ink(report.Bold, f.Title))
	p.Para("", p.Ink(report.Plain, standing(e)))
	p.Line()
	section(p, "found by", foundBy(f))
	for line := range strings.Lines(f.Quote) {
		section(p, "quote", strings.TrimRight(line, "\r\n"))
	}
	for line := range strings.Lines(f.Body) {
		if strings.TrimSpace(line) != "" {
			section(p, "says", strings.TrimSpace(line))
		}
	}
	for _, v := range f.Evidence {
		section(p, "evidence", fmt.Sprintf("%s:%d  %s", v.Path, v.Line, v.Quote))
	}
	for _, c := range f.Cites {
		section(p, "cites", fmt.Sprintf("%s %s  %s %s", c.Kind, c.ID, c.Text, c.URL))
	}
	section(p, "seen", fmt.Sprintf("%s, first %s, last %s", times(e.Seen, "shown"), e.FirstSeen.Format(time.DateTime), e.LastSeen.Format(time.DateTime)))
	if e.Review.ID != "" {
		section(p, "review", fmt.Sprintf("%s of %s…%s, threshold %d", e.Review.ID, short(e.Review.Base), short(e.Review.Head), e.Review.Threshold))
	}
	p.Line()
	trail(p, e)
	for _, d := range e.Duplicates {
		section(p, "same", fmt.Sprintf("%s by %s at %s: %s", d.ID, d.Finder, d.String(), d.Title))
	}
	for _, j := range e.Spoke {
		section(p, "memory", fmt.Sprintf("%s %s declined %s: %s", j.ID, j.Path, j.Finding, said(j)))
	}
}

// whole returns e with empty lists in place of nil ones, which JSON calls null.
func whole(e memory.Explanation) memory.Explanation {
	e.Finding.Evidence = append([]precedent.Evidence{}, e.Finding.Evidence...)
	e.Finding.Cites = append([]precedent.Cite{}, e.Finding.Cites...)
	e.Trail = append([]precedent.Decision{}, e.Trail...)
	e.Duplicates = append([]precedent.Finding{}, e.Duplicates...)
	e.Spoke = append([]precedent.Rejection{}, e.Spoke...)
	return e
}

// standing says in a sentence whether the finding is shown, and why not.
func standing(e memory.Explanation) string {
	f := e.Finding
	switch {
	case e.Dismissal != nil && f.Dropped != precedent.Dismissed:
		return "Shown when it was last seen; dismissed since by " + said(*e.Dismissal) + ". The next review hides it."
	case e.Dismissal != nil:
		return "Hidden: dismissed by " + said(*e.Dismissal) + ". Rejection " + e.Dismissal.ID + "."
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

// trail prints the decisions in the order in which they were made.
func trail(p *report.Page, e memory.Explanation) {
	for _, d := range e.Trail {
		says := d.Says
		if d.Delta != 0 {
			says = fmt.Sprintf("%+d: %s", d.Delta, says)
		}
		if d.By != "" {
			says += " [" + d.By + "]"
		}
		section(p, d.Step, says)
	}
}

// section prints what is said under a label.
func section(p *report.Page, label, said string) {
	p.Para("  "+p.Inkf(report.Faint, "%-9s ", label), p.Ink(report.Plain, said))
}

// short is an object's id as people write it.
func short(id string) string { return id[:min(len(id), 12)] }
