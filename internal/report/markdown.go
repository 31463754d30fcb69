package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// How much a Markdown report holds. The JSON form has everything.
const (
	maxRows  = 100    // rows of the table, and entries of each list
	maxList  = 4_000  // bytes after which a list ends
	maxTable = 20_000 // bytes after which the table ends
	maxBytes = 58_000 // of all but the last lines: GitHub takes 65,536 characters in a comment
)

// markdownWriter writes Markdown.
type markdownWriter struct {
	strings.Builder
	hosts []string // that links may lead to
}

func (n *markdownWriter) line(format string, args ...any) { fmt.Fprintf(n, format+"\n", args...) }

// add appends a part if there is room for it.
func (n *markdownWriter) add(write func(*markdownWriter)) bool {
	part := &markdownWriter{hosts: n.hosts}
	write(part)
	if n.Len()+part.Len() > maxBytes {
		return false
	}
	n.WriteString(part.String())
	return true
}

// phrase is text from outside within a line of ours.
func (n *markdownWriter) phrase(s string) string { return markdown.Phrase(s, n.hosts, false) }

// Markdown writes the review as the comment that stands on a pull request:
// verdict, findings, what was read, what was not shown, what it cost, and the
// findings in full as far as a comment has room. It never approves. Whatever
// comes from the change or from a model does nothing in it: no image, no HTML,
// no link but to s.Links, no mention, no reference and no command.
func Markdown(w io.Writer, r *precedent.Review, s Style) error {
	n := &markdownWriter{hosts: s.Links}
	n.verdict(r, s)
	for _, part := range []struct {
		what  string
		write func(*markdownWriter)
	}{
		{"The findings", func(n *markdownWriter) { n.table(r, s) }},
		{"Threads", func(n *markdownWriter) { n.threads(r, s) }},
		{"Coverage", func(n *markdownWriter) { n.coverage(r) }},
		{"Counts", func(n *markdownWriter) { n.counts(r) }},
		{"What memory hid", func(n *markdownWriter) { n.suppressed(r) }},
		{"Sources", func(n *markdownWriter) { n.sources(r) }},
		{"Cost", func(n *markdownWriter) { n.cost(r) }},
	} {
		if !n.add(part.write) {
			n.line("%s: left out for want of room.\n", part.what)
		}
	}
	n.findings(r, s)
	n.line("---")
	n.line("Reviewed by precedent%s%s. A review by a program is not an approval.", codeSuffix(s.Version), reviewedAt(r))
	_, err := io.WriteString(w, n.String())
	return err
}

func codeSuffix(s string) string {
	if s == "" {
		return ""
	}
	return " " + markdown.Code(s)
}

func reviewedAt(r *precedent.Review) string {
	said := ""
	if r.ID != "" {
		said += ", review " + markdown.Code(r.ID)
	}
	if r.Head != "" {
		said += ", at " + markdown.Code(r.Head)
	}
	return said
}

func (n *markdownWriter) verdict(r *precedent.Review, s Style) {
	n.line("## Precedent: %s\n", outcome(r))
	if t := r.Target; t.Head != "" {
		n.line("Change: %s ← %s%s\n", markdown.Code(t.Head), markdown.Code(t.Base), because(n.phrase(t.Why)))
	}
	if !complete(r) {
		n.line("**This review is not complete: what it does not mention may not have been read.**\n")
		said := 0
		for i, why := range gaps(r, maxRows) {
			if said > maxList {
				n.line("- and %s more", thousands(len(gaps(r, maxRows))-i))
				break
			}
			line := markdown.Phrase(why, n.hosts, true)
			n.line("- %s", line)
			said += len(line)
		}
		n.line("")
	}
	if r.Verdict != precedent.Skipped && (s.NoEngine || r.Scope == precedent.AnalyzersScope) {
		n.line("**No model read this change: only the analyzers did.**\n")
	}
	if r.Positive != "" {
		n.line("Does best: %s\n", n.phrase(r.Positive))
	}
}

// outcome is the verdict in words that a heading can hold.
func outcome(r *precedent.Review) string {
	found := statusNow(r)
	switch r.Verdict {
	case precedent.Clean:
		return "clean, nothing found"
	case precedent.Findings:
		return found
	case precedent.Partial:
		return "partial, not everything was read; " + found
	case precedent.Failed:
		return "failed, no model read the change; " + found
	case precedent.Skipped:
		return "skipped, there was nothing to review"
	}
	return markdown.Phrase(string(r.Verdict), nil, false) + ", " + found
}

// complete tells whether the verdict stands for a whole review. A verdict that
// nobody knows does not.
func complete(r *precedent.Review) bool {
	return r.Verdict == precedent.Clean || r.Verdict == precedent.Findings || r.Verdict == precedent.Skipped
}

// gaps says, at most most times, what made a review incomplete.
func gaps(r *precedent.Review, most int) []string {
	var said []string
	for _, f := range r.Finders {
		if f.Status.Bad() {
			said = append(said, fmt.Sprintf("%s ended as %s%s", f.Name, f.Status, because(f.Error)))
		}
	}
	for _, t := range r.Coverage.Truncated {
		said = append(said, fmt.Sprintf("%s, hunk %d was not read: %s", t.Path, t.Hunk, t.Reason))
	}
	if left := len(said) - most; left > 0 {
		said = append(said[:most], fmt.Sprintf("and %s more", thousands(left)))
	}
	if len(said) == 0 {
		said = []string{fmt.Sprintf("the verdict is %s; read %d of %s", r.Verdict, r.Coverage.HunksRead, Plural(r.Coverage.Hunks, "hunk"))}
	}
	return said
}

func (n *markdownWriter) table(r *precedent.Review, s Style) {
	live := r.Live()
	if len(live) == 0 {
		return
	}
	last, rule := "", ""
	if s.Posted != nil {
		last, rule = " said |", "---|"
	}
	n.line("| severity | finding | place | confidence |%s", last)
	n.line("|---|---|---|---|%s", rule)
	shown := 0
	for shown < min(len(live), maxRows) && n.Len() < maxTable {
		f := live[shown]
		if s.Posted != nil {
			last = " " + placementOf(s, f) + " |"
		}
		n.line("| %s | %s | %s | %d |%s", n.phrase(string(f.Severity)), n.phrase(f.Title), placeLink(f, s), f.Confidence, last)
		shown++
	}
	n.line("")
	if left := len(live) - shown; left > 0 {
		n.line("And %s more.\n", thousands(left))
	}
}

// placeLink is the finding's place as code, linked to its comment.
func placeLink(f precedent.Finding, s Style) string {
	at := markdown.Code(f.String())
	if p, ok := s.Posted[f.ID]; ok && p.State != Refused {
		at = markdown.Link(at, p.URL, s.Links)
	}
	if f.Side == precedent.Left {
		at += " (before the change)"
	}
	return at
}

// findings writes the live findings in full, as many as a comment has room for,
// but for those that stand in comments of their own.
func (n *markdownWriter) findings(r *precedent.Review, s Style) {
	e := newExcerpts(r, s.Change)
	live := slices.DeleteFunc(r.Live(), func(f precedent.Finding) bool { return hasComment(s, f) })
	for i, f := range live {
		if !n.add(func(n *markdownWriter) { n.finding(r, f, s, e) }) {
			n.line("%s not shown in full here for want of room: `precedent review --format json` has all.\n", Plural(len(live)-i, "finding"))
			break
		}
	}
	n.samples(r, s, e)
}

func (n *markdownWriter) finding(r *precedent.Review, f precedent.Finding, s Style, e excerpts) {
	n.line("### %s %d · %s\n", n.phrase(string(f.Severity)), f.Confidence, n.phrase(f.Title))
	n.line("At %s · %s\n", placeLink(f, s), n.phrase(statusOf(r, f)))
	n.refused(f, s)
	if lines := e.lines(f); len(lines) > 0 {
		lines = lines[:min(len(lines), maxExcerpt)]
		digits := len(strconv.Itoa(lines[len(lines)-1].n))
		shown := make([]string, len(lines))
		for i, l := range lines {
			shown[i] = l.text
		}
		n.lines(markdown.Fenced("", func(i int) string {
			at := " "
			if lines[i].n >= f.Start && lines[i].n <= max(f.End, f.Start) {
				at = "▸"
			}
			return fmt.Sprintf("%s %*d │ ", at, digits, lines[i].n)
		}, shown))
	}
	n.lines(markdown.Body(f.Body, n.hosts))
	if fix := strings.TrimRight(cmp.Or(f.Suggestion, f.Sketch), "\n"); fix != "" {
		fix, _ = secret.Redact(text.Head(fix, maxBody))
		n.line("Suggested instead:\n")
		n.lines(markdown.Fenced("diff", func(int) string { return "+" }, strings.Split(fix, "\n")))
	}
	for _, c := range f.Cites {
		n.line("- See %s %s: %s", n.phrase(c.Kind), markdown.Code(c.ID), n.phrase(c.Text))
	}
	if len(f.Cites) > 0 {
		n.line("")
	}
	n.line("Why it is shown: %s. Not a problem here: %s.\n", markdown.Code("precedent explain "+f.ID), markdown.Code("precedent dismiss "+f.ID))
}

// lines writes a block and the empty line behind it.
func (n *markdownWriter) lines(lines []string) {
	if len(lines) > 0 {
		n.line("%s\n", strings.Join(lines, "\n"))
	}
}
