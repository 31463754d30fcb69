package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/secret"
)

// maxReceipts bounds the list of receipts, and that of precedents.
const maxReceipts = 20

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

// phrase is text from outside within a line of ours, and code the name of something.
func (d *draft) phrase(s string) string {
	return markdown.Phrase(sanitize(s, d.own), d.Links, false)
}
func (d *draft) code(s string) string { return markdown.Code(sanitize(s, d.own)) }

// Finding writes the comment that opens a thread. What m does not say of the
// finding is taken from f. With committable, the lines of the suggestion equal the
// change's and can replace them as they are: the forge then offers to commit them,
// unless something in them could be obeyed by somebody.
func (w Writer) Finding(f precedent.Finding, m Marker, committable bool) string {
	d := &draft{Writer: w, own: w.own()}
	d.block(fmt.Sprintf("**[%s · %d]** %s", d.severity(f.Severity), f.Confidence, d.phrase(f.Title)))
	if f.Side == precedent.Left && f.Start > 0 {
		d.block("At " + d.code(f.String()) + ", before the change.")
	}
	d.block(markdown.Body(sanitize(f.Body, d.own), w.Links)...)
	d.suggestion(f, committable)
	d.receipts(f)
	d.precedents(f)
	switch f.Origin {
	case precedent.MissedBefore:
		d.block("Missed before: an earlier review read this code, which has not changed since, and did not say this.")
	case precedent.CausedByFix:
		d.block("Caused by the fix: these lines answered an earlier finding.")
	}
	if f.ID != "" {
		d.block("Why: " + d.code("precedent explain "+f.ID) + " · not a problem here: reply “not applicable here”, react with 👎, or run " + d.code("precedent dismiss "+f.ID))
	}
	return w.seal(strings.Join(d.blocks, "\n\n"), m.withFinding(f), d.own)
}

// withFinding takes from the finding what the mark does not say of it.
func (m Marker) withFinding(f precedent.Finding) Marker {
	said := Marker{
		Kind: Finding, Thread: m.Thread, Review: m.Review, Head: m.Head,
		Fingerprint: f.Fingerprint, Finding: f.ID, Category: f.Category, Severity: f.Severity, Confidence: f.Confidence, Title: f.Title,
	}
	if m.Fingerprint != "" {
		said.Fingerprint = m.Fingerprint
	}
	if m.Finding != "" {
		said.Finding = m.Finding
	}
	return said
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
	fix = strings.TrimSuffix(strings.TrimSuffix(fix, "\n"), "\r") // a line that ends; blank ones behind it count
	asItIs := committable && f.Side != precedent.Left && f.Start > 0
	if asItIs && sanitize(fix, d.own) == fix && !strings.Contains(fix, "<!-- precedent:") {
		if block, ok := markdown.Suggestion(strings.Split(fix, "\n")); ok {
			d.block(block...)
			return
		}
	}
	d.block("Suggested instead:")
	d.block(markdown.Fenced("diff", func(int) string { return "+" }, strings.Split(sanitize(fix, d.own), "\n"))...)
}

// receipts is what speaks for the finding, closed until somebody asks.
func (d *draft) receipts(f precedent.Finding) {
	by := "By " + d.phrase(f.Finder)
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
		by += " · the verifier is not sure"
	}
	if d.Version != "" {
		by += " · precedent " + d.code(d.Version)
	}
	said := []string{by}
	for _, e := range f.Evidence {
		at := precedent.Span{Path: e.Path, Start: e.Line}
		quote, _, _ := strings.Cut(strings.TrimSpace(e.Quote), "\n")
		said = append(said, "Seen at "+d.code(at.String())+": "+d.code(strings.TrimSpace(quote)))
	}
	for _, c := range f.Cites {
		if !remembered(c) {
			said = append(said, d.cite(c))
		}
	}
	d.block("<details>", "<summary>Receipts</summary>")
	d.list(said)
	d.block("</details>")
}

// precedents names what the team said before.
func (d *draft) precedents(f precedent.Finding) {
	var said []string
	for _, c := range f.Cites {
		if remembered(c) {
			said = append(said, d.cite(c))
		}
	}
	if len(said) > 0 {
		d.block("The team said before:")
		d.list(said)
	}
}

func remembered(c precedent.Cite) bool { return c.Kind == "precedent" || c.Kind == "learning" }

func (d *draft) cite(c precedent.Cite) string {
	return markdown.Phrase(sanitize(c.Kind, d.own), d.Links, true) + " " + markdown.Link(d.code(c.ID), c.URL, d.Links) + ": " + d.phrase(c.Text)
}

func (d *draft) list(said []string) {
	var lines []string
	for _, s := range said[:min(len(said), maxReceipts)] {
		lines = append(lines, "- "+s)
	}
	if left := len(said) - maxReceipts; left > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more", left))
	}
	d.block(lines...)
}
