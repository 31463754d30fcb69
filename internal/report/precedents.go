package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxCitedText limits the excerpt of a comment of a person, in bytes.
const maxCitedText = 800

// precedentsOf returns the comments of people that a finding cites; none if nothing is cited.
func (s Style) precedentsOf(f precedent.Finding) []precedent.Cite {
	if s.Precedents == precedent.PrecedentsOff {
		return nil
	}
	return markdown.Precedents(f.Cites)
}

// precedentUse says in one line how many comments of people were searched, shown and cited, and
// what failed that is not among the failures of the review; empty if there is no corpus.
func precedentUse(r *precedent.Review) string {
	u := r.Memory.PrecedentUse
	if u.Searched == 0 && u.Cited == 0 {
		return ""
	}
	parts := []string{
		Plural(u.Searched, "comment") + " of people searched", thousands(u.Shown) + " shown to the finders",
		thousands(u.Cited) + " cited",
	}
	for _, f := range u.Failures[:min(len(u.Failures), maxRows)] {
		if slices.ContainsFunc(r.Failures, func(of precedent.Failure) bool { return of.Error == f }) {
			continue
		}
		parts = append(parts, "failed: "+strings.TrimSuffix(text.Collapse(text.Head(f, maxBody)), "."))
	}
	return strings.Join(parts, " · ")
}

// citedAt says who wrote a comment, when and where.
func citedAt(p *precedent.CitedComment) string {
	parts := []string{p.Author}
	if p.Author == "" {
		parts[0] = "a former user"
	}
	if !p.At.IsZero() {
		parts = append(parts, p.At.UTC().Format(time.DateOnly))
	}
	parts = append(parts, fmt.Sprintf("PR %d", p.Pull))
	switch {
	case p.Path == "":
		parts = append(parts, "general review")
	case p.Line > 0:
		parts = append(parts, fmt.Sprintf("%s:%d", p.Path, p.Line))
	default:
		parts = append(parts, p.Path)
	}
	return strings.Join(parts, " · ")
}

// writeCites lists what a finding cites, on a terminal.
func writeCites(p *Page, f precedent.Finding, s Style) {
	for _, c := range s.precedentsOf(f) {
		p.Say(indent+p.Ink(Faint, "cite")+" ", "precedent by "+citedAt(c.Precedent))
		for _, line := range []string{"“" + text.Head(c.Text, maxCitedText) + "”", c.URL} {
			if line != "" && line != "“”" {
				p.Para(indent+"     ", p.Ink(Faint, line))
			}
		}
	}
	for _, c := range f.Cites {
		if c.Kind != precedent.CitesPrecedent {
			p.Sayf(indent+p.Ink(Faint, "cite")+" ", "%s %s: %s", c.Kind, c.ID, c.Text)
		}
	}
}

// cites lists what a finding cites, in Markdown.
func (n *markdownWriter) cites(r *precedent.Review, f precedent.Finding, s Style) {
	before := n.Len()
	for _, c := range f.Cites {
		if c.Kind != precedent.CitesPrecedent {
			n.line("- See %s %s: %s", n.phrase(c.Kind), markdown.Code(c.ID), n.phrase(c.Text))
		}
	}
	people := markdown.Citing{Display: s.Precedents, Repo: r.Repo, Hosts: s.Links}
	for _, line := range people.Receipts(f.Cites) {
		n.line("- %s", line)
	}
	if n.Len() > before {
		n.line("")
	}
	if line := people.Line(f.Cites); line != "" {
		n.line("%s\n", line)
	}
}

// saidBefore is a sentence for formats that other tools post: it has a number and no name, so
// that no forge takes it for more than words. It is empty if nothing is cited.
func (s Style) saidBefore(f precedent.Finding) string {
	if all := s.precedentsOf(f); len(all) > 0 {
		return fmt.Sprintf("\n\nReviewers have previously flagged this pattern (PR %d).", all[0].Precedent.Pull)
	}
	return ""
}

// samePoint says why a comment counts as making the same point.
func samePoint(p *precedent.CitedComment) string {
	s := fmt.Sprintf("similarity %.2f", p.Similarity)
	if p.Quote != "" {
		s += fmt.Sprintf("; a model found the same point in “%s”", p.Quote)
	}
	return s
}
