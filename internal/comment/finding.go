package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/secret"
)

// maxDetails limits the list of details, and that of precedents.
const maxDetails = 20

// draft is a comment that is being written.
type draft struct {
	Writer
	own    secret.Own
	blocks []string
}

func (d *draft) block(lines ...string) {
	if len(lines) > 0 {
		d.blocks = append(d.blocks, strings.Join(lines, "\n"))
	}
}

// phrase is text from outside within a line of ours; code is a name.
func (d *draft) phrase(s string) string {
	return markdown.Phrase(sanitize(s, d.own), d.Links, false)
}
func (d *draft) code(s string) string { return markdown.Code(sanitize(s, d.own)) }

// Finding writes the comment that opens a thread. Fields that m lacks are taken from f. If
// committable, the suggestion can replace the lines of the change as it is, and the forge
// offers to commit it, unless it contains a command or mention for somebody.
func (w Writer) Finding(f precedent.Finding, m Marker, committable bool) string {
	d := &draft{Writer: w, own: w.own()}
	d.block(fmt.Sprintf("**[%s · %d]** %s", d.severity(f.Severity), f.Confidence, d.phrase(f.Title)))
	switch {
	case f.Side == precedent.Left && f.Start > 0:
		d.block("At " + d.code(f.String()) + ", before the change.")
	case f.Placement == precedent.WholeFile && f.Start > 0:
		d.block("At " + d.place(f.Span) + ".")
	}
	if at := f.Breaks; at.Path != "" {
		d.block("This change breaks " + d.place(precedent.Span{Path: at.Path, Side: precedent.Right, Start: at.Line, End: at.Line}) +
			", which it does not touch: " + d.quote(at))
	}
	d.block(markdown.Body(sanitize(f.Body, d.own), w.Links)...)
	d.suggestion(f, committable)
	d.details(f)
	d.precedents(f)
	switch f.Origin {
	case precedent.MissedBefore:
		d.block("Missed before: an earlier review read this code, which has not changed since, and did not report this.")
	case precedent.CausedByFix:
		d.block("Caused by a fix: these lines were changed for an earlier finding.")
	}
	if f.ID != "" {
		d.block("Explain: " + d.code("precedent explain "+f.ID) + " · Dismiss: reply “not applicable here”, react with 👎, or run " + d.code("precedent dismiss "+f.ID))
	}
	return w.seal(strings.Join(d.blocks, "\n\n"), m.withFinding(f), d.own)
}

// quote is the first line of what evidence quotes of its file.
func (d *draft) quote(e precedent.Evidence) string {
	return d.code(strings.TrimSpace(firstLine(string(secret.RedactFile(e.Path, []byte(e.Quote))))))
}

func firstLine(quote string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(quote), "\n")
	return line
}

// place is a place, linked to the page that shows it.
func (d *draft) place(s precedent.Span) string {
	if d.LineURL == nil {
		return d.code(s.String())
	}
	return markdown.Link(d.code(s.String()), d.LineURL(s), d.Links)
}

// withFinding takes from the finding what the marker does not set.
func (m Marker) withFinding(f precedent.Finding) Marker {
	marker := Marker{
		Kind: Finding, Thread: m.Thread, Review: m.Review, Head: m.Head,
		Fingerprint: f.Fingerprint, Finding: f.ID, Category: f.Category, Severity: f.Severity, Confidence: f.Confidence, Title: f.Title,
	}
	if m.Fingerprint != "" {
		marker.Fingerprint = m.Fingerprint
	}
	if m.Finding != "" {
		marker.Finding = m.Finding
	}
	return marker
}

func (d *draft) severity(s precedent.Severity) string {
	if slices.Contains(precedent.Severities, s) {
		return strings.ToUpper(string(s[:1])) + string(s[1:])
	}
	return d.phrase(string(s))
}

func (d *draft) suggestion(f precedent.Finding, committable bool) {
	fix := f.Suggestion
	if fix == "" {
		fix, committable = f.Sketch, false
	}
	if strings.Trim(fix, "\r\n") == "" {
		return
	}
	fix = strings.TrimSuffix(strings.TrimSuffix(fix, "\n"), "\r") // the last line end; blank lines before it count
	replaces := committable && f.Side != precedent.Left && f.Start > 0
	if replaces && sanitize(fix, d.own) == fix && !strings.Contains(fix, "<!-- precedent:") {
		if block, ok := markdown.Suggestion(strings.Split(fix, "\n")); ok {
			d.block(block...)
			return
		}
	}
	d.block("Suggested change:")
	d.block(markdown.Fenced("diff", func(int) string { return "+" }, strings.Split(sanitize(fix, d.own), "\n"))...)
}

// details lists who found the finding, its evidence and the guide rules, in a collapsed
// section.
func (d *draft) details(f precedent.Finding) {
	by := "Found by " + d.phrase(f.Finder)
	if f.Rule != "" {
		by += " (" + d.phrase(f.Rule) + ")"
	}
	if f.Votes > 1 {
		by += fmt.Sprintf(" · %d finders agree", f.Votes)
	}
	switch f.Verifier {
	case precedent.Confirmed:
		by += " · confirmed by the verifier"
	case precedent.Uncertain:
		by += " · the verifier is uncertain"
	}
	if d.Version != "" {
		by += " · precedent " + d.code(d.Version)
	}
	items := []string{by}
	for _, e := range f.Evidence {
		at := d.code(precedent.Span{Path: e.Path, Start: e.Line}.String())
		if e.Side == precedent.Left {
			at += " before the change"
		}
		items = append(items, "Evidence at "+at+": "+d.quote(e))
	}
	for _, c := range f.Cites {
		if !remembered(c) {
			items = append(items, d.cite(c))
		}
	}
	d.block("<details>", "<summary>Details</summary>")
	d.list(items)
	d.block("</details>")
}

// precedents lists earlier decisions of the team.
func (d *draft) precedents(f precedent.Finding) {
	var items []string
	for _, c := range f.Cites {
		if remembered(c) {
			items = append(items, d.cite(c))
		}
	}
	if len(items) > 0 {
		d.block("Earlier decisions of the team:")
		d.list(items)
	}
}

func remembered(c precedent.Cite) bool { return c.Kind == "precedent" || c.Kind == "learning" }

func (d *draft) cite(c precedent.Cite) string {
	return markdown.Phrase(sanitize(c.Kind, d.own), d.Links, true) + " " + markdown.Link(d.code(c.ID), c.URL, d.Links) + ": " + d.phrase(c.Text)
}

func (d *draft) list(items []string) {
	var lines []string
	for _, s := range items[:min(len(items), maxDetails)] {
		lines = append(lines, "- "+s)
	}
	if rest := len(items) - maxDetails; rest > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more", rest))
	}
	d.block(lines...)
}
