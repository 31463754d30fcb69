package comment

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/secret"
)

// maxDetails limits the list of details, and that of decisions.
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
	before := ""
	if f.Side == precedent.Left {
		before = ", before the change"
	}
	switch {
	case f.Start == 0:
	case w.FixedLines:
		d.quote(f, before)
	case before != "":
		d.block("At " + d.code(f.String()) + before + ".")
	case f.Placement == precedent.WholeFile:
		d.block("At " + d.place(f.Span) + ".")
	}
	if at := f.Breaks; at.Path != "" {
		d.block("This change breaks " + d.place(precedent.Span{
			Path: at.Path, Side: precedent.Right, Start: at.Line,
			End: at.Line,
		}) +
			", which it does not touch: " + d.evidence(at))
	}
	d.block(markdown.Body(sanitize(f.Body, d.own), w.Links)...)
	d.suggestion(f, committable)
	d.details(f)
	d.decided(f)
	switch f.Origin {
	case precedent.MissedBefore:
		d.block("Missed before: an earlier review read this code, which has not changed since, and did not report this.")
	case precedent.CausedByFix:
		d.block("Caused by a fix: these lines were changed for an earlier finding.")
	}
	if f.ID != "" {
		d.block("Why: reply " + d.code("explain why you flagged this") + " · Dismiss: " + d.Answers.invitation())
	}
	return w.seal(strings.Join(d.blocks, "\n\n"), m.withFinding(f), d.own)
}

// evidence is the first line of what evidence quotes of its file.
func (d *draft) evidence(e precedent.Evidence) string {
	quote := strings.TrimSpace(string(secret.RedactFile(e.Path, []byte(e.Quote))))
	line, _, _ := strings.Cut(quote, "\n")
	return d.code(strings.TrimSpace(line))
}

// invitation says how a finding is dismissed.
func (a Answers) invitation() string {
	switch {
	case !a.Unknown:
		return "with write permission, reply `not applicable here` or react with 👎"
	case a.Maintainers:
		return "as a maintainer that the policy lists, reply `not applicable here` or react with 👎; with write " +
			"permission, resolve this conversation"
	}
	return "with write permission, resolve this conversation"
}

// maxQuoted limits the lines of a quote: a finding's has at most three.
const maxQuoted = 3

// quote names the lines of the finding and quotes the first of them, for forges on which a
// comment does not stay with its code.
func (d *draft) quote(f precedent.Finding, before string) {
	quoted := strings.Trim(string(secret.RedactFile(f.Path, []byte(f.Quote))), "\r\n")
	if quoted == "" {
		d.block("At " + d.place(f.Span) + before + ".")
		return
	}
	d.block("At " + d.place(f.Span) + before + ":")
	lines := strings.Split(sanitize(quoted, d.own), "\n")
	d.block(markdown.Fenced("", func(i int) string { return strconv.Itoa(f.Start+i) + " │ " },
		lines[:min(len(lines), maxQuoted)])...)
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
	return Marker{
		Kind: Finding, Thread: m.Thread, Review: m.Review, Head: m.Head,
		Fingerprint: cmp.Or(m.Fingerprint, f.Fingerprint), Finding: cmp.Or(m.Finding, f.ID),
		Category: f.Category, Severity: f.Severity, Confidence: f.Confidence, Title: f.Title, Start: f.Start, End: f.End,
	}
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
	block := d.committable(fix)
	switch {
	case !committable || f.Side == precedent.Left || f.Start == 0 || block == nil:
		d.block("Suggested change:")
		d.block(d.changed(fix)...)
		return
	case d.FixedLines:
		d.block("Replace " + lineNumbers(f.Span) + ":")
	}
	d.block(block...)
}

// committable returns lines as a block that the forge offers to commit; nil if they have a credential, a command or a
// mention.
func (d *draft) committable(lines string) []string {
	if sanitize(lines, d.own) != lines || strings.Contains(lines, "<!-- precedent:") {
		return nil
	}
	block, _ := markdown.Suggestion(strings.Split(lines, "\n"))
	return block
}

// changed returns lines as a block that shows what to add.
func (d *draft) changed(lines string) []string {
	return markdown.Fenced("diff", func(int) string { return "+" }, strings.Split(sanitize(lines, d.own), "\n"))
}

// lineNumbers names the lines of a span for people.
func lineNumbers(s precedent.Span) string {
	if s.End > s.Start {
		return fmt.Sprintf("lines %d–%d", s.Start, s.End)
	}
	return fmt.Sprintf("line %d", s.Start)
}

// details lists who found the finding, its evidence, the guide rules and what people wrote before,
// in a collapsed section.
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
	if f.ID != "" {
		by += " · finding " + d.code(f.ID)
	}
	items := []string{by}
	for i, e := range f.Evidence {
		// by the comment's own lines
		shown := e.Path == f.Path && (e.Side == precedent.Left) == (f.Side == precedent.Left) && e.Line >= f.Start &&
			e.Line <= f.End
		if shown || slices.ContainsFunc(f.Evidence[:i], func(o precedent.Evidence) bool {
			return o.Path == e.Path &&
				o.Side == e.Side && o.Line == e.Line
		}) {
			continue
		}
		at := d.code(precedent.Span{Path: e.Path, Start: e.Line}.String())
		if e.Side == precedent.Left {
			at += " before the change"
		}
		items = append(items, "Evidence at "+at+": "+d.evidence(e))
	}
	for _, c := range f.Cites {
		if !remembered(c) && c.Kind != precedent.CitesPrecedent {
			items = append(items, d.cite(c))
		}
	}
	items = append(items, d.citing().Receipts(f.Cites)...)
	d.block("<details>", "<summary>Details</summary>")
	d.list(items)
	d.block("</details>")
}

// decided lists earlier decisions of the team, and names who flagged the same before.
func (d *draft) decided(f precedent.Finding) {
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
	if line := d.citing().Line(f.Cites); line != "" {
		d.block(line)
	}
}

// citing is how the comment cites what people wrote.
func (d *draft) citing() markdown.Citing {
	return markdown.Citing{
		Display: d.Precedents, Repo: d.PullRequest.Repo, Hosts: d.Links,
		Clean: func(s string) string { return sanitize(s, d.own) },
	}
}

func remembered(c precedent.Cite) bool { return c.Kind == "learning" }

// cite names a memory or a rule, and where it comes from. That is not a link, which would show on
// the pull request that it leads to.
func (d *draft) cite(c precedent.Cite) string {
	cited := markdown.Phrase(sanitize(c.Kind, d.own), d.Links, true) + " " + d.code(c.ID) + ": " + d.phrase(c.Text)
	if from := markdown.Address(c.URL, d.Links); from != "" && !d.own.In(c.URL) {
		cited += " (from " + from + ")"
	}
	return cited
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
