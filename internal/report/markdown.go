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

// Limits of a Markdown report. The JSON form has everything.
const (
	maxRows  = 100    // rows of the table, and entries of each list
	maxList  = 4_000  // bytes after which a list is cut
	maxTable = 20_000 // bytes after which the table is cut
	maxAbout = 16_000 // bytes of the section about the review
	maxBytes = 58_000 // without the last lines: a comment on GitHub has at most 65,536 characters
)

// markdownWriter writes Markdown.
type markdownWriter struct {
	strings.Builder
	hosts    []string // that links may lead to
	reserved int      // bytes to leave free
}

func (n *markdownWriter) line(format string, args ...any) { fmt.Fprintf(n, format+"\n", args...) }

// add appends a part if there is room for it.
func (n *markdownWriter) add(write func(*markdownWriter)) bool {
	part := &markdownWriter{hosts: n.hosts}
	write(part)
	if n.Len()+part.Len() > maxBytes-n.reserved {
		return false
	}
	n.WriteString(part.String())
	return true
}

// phrase escapes text from outside within a line of ours.
func (n *markdownWriter) phrase(s string) string { return markdown.Phrase(s, n.hosts, false) }

// Markdown writes the review as a comment for a pull request: verdict, what to do first, the
// findings in a table and in full as far as a comment has room, and, collapsed, how the review
// was done. It never approves. Text from the change or from a model is inert: no images, no
// HTML, no links except to s.Links, no mentions, no references, no commands.
func Markdown(w io.Writer, r *precedent.Review, s Style) error {
	about := &markdownWriter{hosts: s.Links, reserved: maxBytes - maxAbout}
	about.about(r, s)
	n := &markdownWriter{hosts: s.Links, reserved: about.Len()}
	n.verdict(r, s)
	n.first(r, s)
	n.blocked(s.Blocking)
	n.part("Findings", func(n *markdownWriter) { n.table(r, s) })
	n.part("Minor findings", func(n *markdownWriter) { n.minor(r) })
	n.part("Findings that a model ended", func(n *markdownWriter) { n.taken(r) })
	n.part("Threads", func(n *markdownWriter) { n.threads(r, s) })
	n.part("Closed findings", func(n *markdownWriter) { n.closed(s) })
	n.part("Pending learnings", func(n *markdownWriter) { n.learningsPending(r) })
	n.findings(r, s)
	n.WriteString(about.String())
	n.line("---")
	n.line("Reviewed by precedent%s. An automated review is not an approval.", codeSuffix(s.Version))
	_, err := io.WriteString(w, n.String())
	return err
}

// about says in a collapsed section how the review was done: what was read, what was dropped
// and suppressed, by which rules, and what it cost.
func (n *markdownWriter) about(r *precedent.Review, s Style) {
	n.line("<details>\n<summary>About this review</summary>\n")
	n.part("Coverage", func(n *markdownWriter) { n.coverage(r) })
	n.part("Counts", func(n *markdownWriter) { n.counts(r, s.Posted == nil) })
	n.part("Suppressed findings", func(n *markdownWriter) { n.suppressed(r) })
	n.part("Learnings", func(n *markdownWriter) { n.learningsUsed(r) })
	n.part("Sources", func(n *markdownWriter) { n.sources(r) })
	n.line("Cost: %s.\n", cost(r))
	if r.Head != "" {
		n.line("Commit %s.\n", markdown.Code(r.Head))
	}
	n.line("</details>\n")
}

// part appends a part, or says that there was no room for it.
func (n *markdownWriter) part(what string, write func(*markdownWriter)) {
	if !n.add(write) {
		n.line("%s: omitted to fit a comment.\n", what)
	}
}

func codeSuffix(s string) string {
	if s == "" {
		return ""
	}
	return " " + markdown.Code(s)
}

func (n *markdownWriter) verdict(r *precedent.Review, s Style) {
	n.line("## Precedent: %s\n", outcome(r))
	if t := r.Target; t.Head != "" {
		n.line("Change: %s ← %s%s\n", markdown.Code(t.Head), markdown.Code(t.Base), because(n.phrase(t.Why)))
	}
	if !complete(r) {
		n.line("**This review is incomplete: code that it does not mention may not have been read.**\n")
		why := gaps(r, maxRows-1)
		n.items(len(why), n.Len()+maxList, func(i int) string { return markdown.Phrase(why[i], n.hosts, true) })
		n.line("")
	}
	if r.Verdict != precedent.Skipped && (s.NoEngine || r.Scope == precedent.AnalyzersScope) {
		n.line("**No model read this change: only the analyzers did.**%s\n", checkWithoutModel(s))
	}
	if wrong := failuresOf(r, true); len(wrong) > 0 {
		n.line("**Policy**: %s\n", joinSome(wrong, maxRows, func(f precedent.Failure) string { return n.phrase(f.Error) }))
	}
	if r.Positive != "" {
		n.line("Done well: %s\n", n.phrase(r.Positive))
	}
}

// checkWithoutModel says what the check of a clean review without a model is.
func checkWithoutModel(s Style) string {
	switch {
	case s.Posted == nil:
		return ""
	case s.PassWithoutModel:
		return " The policy lets the check succeed without a model."
	}
	return " Without a model the check is neutral at best; `pass_without_model` in the policy lets it succeed."
}

// first says what to do first: the worst open finding, the surest one of several.
func (n *markdownWriter) first(r *precedent.Review, s Style) {
	open := openFindings(r, s)
	if len(open) == 0 {
		return
	}
	worst := slices.MinFunc(open, func(a, b openFinding) int {
		return cmp.Or(cmp.Compare(a.severity.Rank(), b.severity.Rank()), cmp.Compare(b.confidence, a.confidence))
	})
	n.line("**Fix first**: %s, at %s.\n", n.phrase(worst.title), s.place(worst.Span, worst.url))
}

// blocked says that a person has to dismiss a review.
func (n *markdownWriter) blocked(b Blocking) {
	if !b.Left {
		return
	}
	review := "its review that requested changes"
	if b.URL != "" {
		review = "[" + review + "](" + b.URL + ")"
	}
	n.line("**Still blocked**: Precedent may not dismiss %s. A person who may dismiss reviews has to.\n", review)
}

// outcome is the verdict in words, for a heading.
func outcome(r *precedent.Review) string {
	found := statusNow(r)
	switch r.Verdict {
	case precedent.Clean:
		return "clean, no findings"
	case precedent.NoFindings:
		return markdown.Phrase("no findings; "+cmp.Or(notChecked(r), onlyChecks(r)), nil, false)
	case precedent.Findings:
		return found + markdown.Phrase(after("; ", notChecked(r)), nil, false)
	case precedent.Partial:
		return "partial, not everything was read; " + found
	case precedent.Failed:
		return "failed, no model read the change; " + found
	case precedent.Skipped:
		return "skipped, nothing to review"
	}
	return markdown.Phrase(string(r.Verdict), nil, false) + ", " + found
}

// complete tells whether the review was complete. An unknown verdict is not.
func complete(r *precedent.Review) bool {
	return slices.Contains([]precedent.Verdict{
		precedent.Clean, precedent.NoFindings, precedent.Findings,
		precedent.Skipped,
	}, r.Verdict)
}

// gaps lists what made a review incomplete, at most limit reasons.
func gaps(r *precedent.Review, limit int) []string {
	var reasons []string
	for _, f := range r.Finders {
		if f.Status.Bad() {
			reasons = append(reasons, fmt.Sprintf("%s %s%s", f.Name, Ended(f.Status, f.Found), because(f.Error)))
		}
	}
	for _, t := range r.Coverage.Truncated {
		reasons = append(reasons, fmt.Sprintf("%s%s was not read: %s", t.Path, hunkOf(t, ", "), t.Reason))
	}
	if rest := len(reasons) - limit; rest > 0 {
		reasons = append(reasons[:limit], fmt.Sprintf("and %s more", thousands(rest)))
	}
	if len(reasons) == 0 {
		reasons = []string{fmt.Sprintf("the verdict is %s; read %d of %s", r.Verdict, r.Coverage.HunksRead,
			Plural(r.Coverage.Hunks, "hunk"))}
	}
	return reasons
}

// hunkOf names the hunk that was not read, after a separator; empty for a whole file.
func hunkOf(t precedent.TruncatedHunk, separator string) string {
	if t.Hunk == 0 {
		return ""
	}
	return fmt.Sprintf("%shunk %d", separator, t.Hunk)
}

// table lists all open findings, found again or not.
func (n *markdownWriter) table(r *precedent.Review, s Style) {
	open := openFindings(r, s)
	if len(open) == 0 {
		return
	}
	last, rule := "", ""
	if s.Posted != nil {
		last, rule = " comment |", "---|"
	}
	n.line("| severity | finding | place | confidence |%s", last)
	n.line("|---|---|---|---|%s", rule)
	shown := 0
	for shown < min(len(open), maxRows) && n.Len() < maxTable {
		f := open[shown]
		if s.Posted != nil {
			last = " " + markdown.Link(f.comment, f.url, s.Links) + " |"
		}
		confidence := ""
		if f.confidence > 0 {
			confidence = strconv.Itoa(f.confidence)
		}
		n.line("| %s | %s | %s | %s |%s", n.phrase(string(f.severity)), n.phrase(f.title), s.place(f.Span, f.url), confidence,
			last)
		shown++
	}
	n.line("")
	if left := len(open) - shown; left > 0 {
		n.line("And %s more.\n", thousands(left))
	}
}

// place is a place, linked to its lines at the reviewed commit or, if the forge does not show
// those, to the comment.
func (s Style) place(span precedent.Span, comment string) string {
	to := comment
	if s.LineURL != nil {
		to = cmp.Or(s.LineURL(span), comment)
	}
	at := markdown.Link(markdown.Code(span.String()), to, s.Links)
	if span.Side == precedent.Left {
		at += " (before the change)"
	}
	return at
}

// findings writes live findings in full, as many as fit, except those with a comment of their
// own.
func (n *markdownWriter) findings(r *precedent.Review, s Style) {
	e := newExcerpts(r, s.Change)
	live := slices.DeleteFunc(r.Live(), func(f precedent.Finding) bool { return hasComment(s, f) })
	for i, f := range live {
		if !n.add(func(n *markdownWriter) { n.finding(r, f, s, e) }) {
			n.line("%s not shown in full to fit a comment.\n", Plural(len(live)-i, "finding"))
			break
		}
	}
	n.samples(r, s, e)
}

func (n *markdownWriter) finding(r *precedent.Review, f precedent.Finding, s Style, e excerpts) {
	n.line("### %s %d · %s\n", n.phrase(string(f.Severity)), f.Confidence, n.phrase(f.Title))
	n.line("At %s · %s\n", s.place(f.Span, s.commentURL(f.ID)), n.phrase(statusOf(r, f)))
	if b := f.Breaks; b.Path != "" {
		at := markdown.Code(b.String())
		if s.LineURL != nil {
			at = markdown.Link(at, s.LineURL(precedent.Span{Path: b.Path, Side: precedent.Right, Start: b.Line, End: b.Line}),
				s.Links)
		}
		n.line("It breaks %s, which the change does not touch.\n", at)
	}
	n.refused(f, s)
	if s.Posted != nil && f.Live() { // samples are collapsed as a whole
		n.line("<details>\n<summary>Details</summary>\n")
		defer n.line("</details>\n")
	}
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
		fix = secret.RedactText(string(secret.RedactFile(f.Path, []byte(text.Head(fix, maxBody)))))
		n.line("Suggested change:\n")
		n.lines(markdown.Fenced("diff", func(int) string { return "+" }, strings.Split(fix, "\n")))
	}
	n.cites(r, f, s)
	if s.Posted != nil || s.Unstored { // nobody can run a command on the forge's page
		n.line("Finding %s\n", markdown.Code(f.ID))
		return
	}
	n.line("Explain: %s · Dismiss: %s\n", markdown.Code("precedent explain "+f.ID+s.Options),
		markdown.Code("precedent dismiss "+f.ID+s.Options))
}

// lines writes a block and an empty line.
func (n *markdownWriter) lines(lines []string) {
	if len(lines) > 0 {
		n.line("%s\n", strings.Join(lines, "\n"))
	}
}
