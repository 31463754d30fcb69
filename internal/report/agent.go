package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxAgentBody limits the body of a finding for an agent, in bytes.
const maxAgentBody = 600

// Agent writes the review in few tokens: a line "path:line: severity category id title" for
// each live finding, below it the body and the suggested lines, indented, and at the end
// one line with the outcome.
func Agent(w io.Writer, r *precedent.Review, s Style) error {
	var b strings.Builder
	if content := incomplete(r); content != "" {
		b.WriteString(content + "\n")
	}
	for _, f := range r.Live() {
		place := f.Path
		if f.Start > 0 {
			place = fmt.Sprintf("%s:%d", f.Path, f.Start)
		}
		fmt.Fprintf(&b, "%s: %s %s %s %s\n", visible(text.Head(place, maxInk)), visible(string(f.Severity)),
			visible(string(f.Category)), visible(f.ID), visible(text.Head(f.Title, maxTitle)))
		if body := visible(text.Collapse(text.Head(f.Body, maxAgentBody))); body != "" {
			b.WriteString("  " + body + "\n")
		}
		for _, c := range s.precedentsOf(f) {
			b.WriteString("  precedent by " + visible(text.Collapse(citedAt(c.Precedent)+": "+text.Head(c.Text, maxCitedText))) +
				"\n")
		}
		if f.Suggestion == "" {
			continue
		}
		fmt.Fprintf(&b, "  replace lines %d-%d by:\n", f.Start, f.End)
		for line := range strings.Lines(text.Head(f.Suggestion, maxBody)) {
			b.WriteString("  | " + visible(strings.TrimRight(line, "\r\n")) + "\n")
		}
	}
	if since := sinceLast(r); since != "" {
		b.WriteString(since + "\n")
	}
	b.WriteString(lastLine(r, s) + "\n")
	p := NewPage(w, 0, false)
	for line := range strings.Lines(b.String()) {
		p.Line(strings.TrimSuffix(line, "\n"))
	}
	return p.Err()
}

// lastLine counts the open findings by severity, and says what decides the exit status.
func lastLine(r *precedent.Review, s Style) string {
	var parts []string
	blocking := 0
	for _, severity := range precedent.Severities {
		n := 0
		for _, found := range openSeverities(r) {
			if found == severity {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", thousands(n), severity))
		}
		if severity.Blocks(s.FailOn) {
			blocking += n
		}
	}
	if len(parts) == 0 {
		parts = []string{"no findings"}
	}
	if n := len(r.Coverage.NotChecked); n > 0 {
		parts = append(parts, thousands(n)+" not checked")
	}
	var why string
	switch {
	case s.FailOn == "":
		return strings.Join(parts, ", ")
	case !complete(r):
		why = "not everything was read"
	case s.FailOn == precedent.FailNever:
		why = "--fail-on none"
	case blocking > 0:
		why = fmt.Sprintf("%s at or above %s", thousands(blocking), visible(string(s.FailOn)))
	default:
		why = "none at or above " + visible(string(s.FailOn))
	}
	return fmt.Sprintf("%s; exit status %d: %s", strings.Join(parts, ", "), r.ExitStatus(s.FailOn), why)
}
