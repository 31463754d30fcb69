package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
)

// hasComment tells whether a finding has a comment of its own.
func hasComment(s Style, f precedent.Finding) bool {
	p, ok := s.Posted[f.ID]
	return ok && p.State != Refused
}

// openFinding is a row of the table: a finding of the review, or an earlier one that is open.
type openFinding struct {
	precedent.Span
	severity   precedent.Severity
	title      string
	confidence int    // percent; 0 for an earlier one
	comment    string // where it is in full: new, earlier, below
	url        string // of its comment; may be empty
}

// openFindings lists everything that is open, the worst first.
func openFindings(r *precedent.Review, s Style) []openFinding {
	var all []openFinding
	for _, f := range r.Live() {
		all = append(all, openFinding{f.Span, f.Severity, f.Title, f.Confidence, placementOf(s, f), s.commentURL(f.ID)})
	}
	for _, t := range r.OpenThreads() {
		all = append(all, openFinding{t.Span, t.Severity, t.Title, 0, "earlier", s.commentURL(t.Finding)})
	}
	slices.SortStableFunc(all, func(a, b openFinding) int { return cmp.Compare(a.severity.Rank(), b.severity.Rank()) })
	return all
}

// commentURL returns the address of a finding's comment; empty if it has none.
func (s Style) commentURL(finding string) string {
	if p := s.Posted[finding]; p.State != Refused {
		return p.URL
	}
	return ""
}

// placementOf says where a finding is shown in full.
func placementOf(s Style, f precedent.Finding) string {
	switch p, ok := s.Posted[f.ID]; {
	case !ok && f.Thread != "":
		return "earlier, and below"
	case !ok || p.State == Refused:
		return "below"
	case p.State == PostedBefore:
		return "earlier"
	}
	return "new"
}

// refused says that the forge rejected a comment on the lines, with a link to them.
func (n *markdownWriter) refused(f precedent.Finding, s Style) {
	p, ok := s.Posted[f.ID]
	if !ok || p.State != Refused {
		return
	}
	n.line("Shown here because the forge rejected a comment on the line%s.\n", because(n.phrase(p.Why)))
}

// samples shows a sample of the suppressed findings, so that people notice when memory is
// wrong.
func (n *markdownWriter) samples(r *precedent.Review, s Style, e excerpts) {
	if s.Posted == nil {
		return
	}
	sampled := slices.DeleteFunc(slices.Clone(r.Findings), func(f precedent.Finding) bool {
		return f.Live() || f.Placement != precedent.Collapsed || f.Dropped == precedent.Minor || hasComment(s, f)
	})
	for _, f := range sampled {
		n.add(func(n *markdownWriter) {
			n.line("<details>\n<summary>Sample of a suppressed finding</summary>\n")
			n.finding(r, f, s, e)
			n.line("</details>\n")
		})
	}
}

// answers are the states of a thread, worst first, with their wording.
var answers = []struct {
	state precedent.AnswerState
	words string
}{
	{precedent.Unanswered, "undetermined"},
	{precedent.StillThere, "still there"},
	{precedent.Addressed, "addressed"},
	{precedent.NoLonger, "no longer applicable"},
	{precedent.DeclinedHere, "dismissed"},
}

// answerWords is the wording of an answer; the answer itself if it is unknown.
func answerWords(a precedent.AnswerState) string {
	for _, one := range answers {
		if one.state == a {
			return one.words
		}
	}
	return string(a)
}

// threadCounts counts the threads by answer.
func threadCounts(r *precedent.Review) []string {
	var parts []string
	known := 0
	for _, one := range answers {
		count := 0
		for _, t := range r.Threads {
			if t.State == one.state {
				count++
			}
		}
		if known += count; count > 0 {
			parts = append(parts, thousands(count)+" "+one.words)
		}
	}
	if rest := len(r.Threads) - known; rest > 0 {
		parts = append(parts, thousands(rest)+" other")
	}
	return parts
}

// threads lists the answers to threads that were open before the review, except those that
// closed lists.
func (n *markdownWriter) threads(r *precedent.Review, s Style) {
	if len(r.Threads) == 0 {
		return
	}
	n.line("**Earlier findings**: %s.\n", strings.Join(threadCounts(r), " · "))
	open := slices.DeleteFunc(slices.Clone(r.Threads), func(t precedent.ThreadAnswer) bool {
		return slices.ContainsFunc(s.Closed, func(c Closed) bool { return c.Thread == t.Thread })
	})
	n.folded("Earlier findings", len(open), maxTable, func(i int) string {
		t := open[i]
		return fmt.Sprintf("At %s · %s: **%s**%s", s.place(t.Span, s.commentURL(t.Finding)), n.phrase(t.Title),
			n.phrase(answerWords(t.State)), because(n.phrase(t.Why)))
	})
}

// closed lists the findings that are not open any more, and why.
func (n *markdownWriter) closed(s Style) {
	if len(s.Closed) == 0 {
		return
	}
	counts, order := map[string]int{}, []string{}
	for _, c := range s.Closed {
		if counts[c.How] == 0 {
			order = append(order, c.How)
		}
		counts[c.How]++
	}
	for i, how := range order {
		order[i] = thousands(counts[how]) + " " + how
	}
	n.line("**Closed**: %s.\n", n.phrase(strings.Join(order, " · ")))
	n.folded("Closed findings", len(s.Closed), maxTable, func(i int) string {
		c := s.Closed[i]
		how := "**" + n.phrase(c.How) + "**"
		if c.Commit != "" {
			how += " in " + markdown.Code(c.Commit)
		}
		if c.Who != "" {
			how += " by " + n.phrase(c.Who)
		}
		at := markdown.Link(markdown.Code(c.String()), c.URL, s.Links)
		return fmt.Sprintf("At %s · %s · %s: %s%s", at, n.phrase(string(c.Severity)), n.phrase(c.Title), how,
			because(n.phrase(c.Why)))
	})
}

// writeThreads lists them on a terminal.
func writeThreads(p *Page, r *precedent.Review) {
	if len(r.Threads) == 0 {
		return
	}
	p.Line()
	p.Say("threads    ", strings.Join(threadCounts(r), " · "))
	for i, t := range r.Threads {
		if i == maxThreads {
			p.Line(p.Inkf(Plain, "  and %s more", thousands(len(r.Threads)-i)))
			return
		}
		p.Para("  "+p.Ink(Faint, t.Finding)+"  ", p.Ink(Cyan, t.String())+"  "+p.Inkf(Plain, "%s: %s%s", t.Title,
			answerWords(t.State), because(t.Why)))
	}
}

// maxThreads limits the threads that a terminal shows. The JSON form has all.
const maxThreads = 50

// Check returns the result of a review as a check on its commit, and a title of one line. It
// is failure if an open finding is as bad as failOn, which a nit never is; incomplete if not
// everything was read; success if a model read everything, or if modelless reviews pass; else
// neutral.
func Check(r *precedent.Review, failOn precedent.Severity, passWithoutModel bool) (result, title string) {
	found := statusNow(r)
	blocking := 0
	for _, s := range openSeverities(r) {
		if s.Blocks(failOn) {
			blocking++
		}
	}
	switch {
	case !complete(r):
		return "incomplete", "incomplete: not everything was read; " + found
	case r.Verdict == precedent.Skipped:
		return "neutral", "nothing to review"
	case blocking > 0:
		found += fmt.Sprintf(", %s at or above %s", thousands(blocking), visible(string(failOn)))
		result = "failure"
	case len(openSeverities(r)) > 0:
		found += ", none at or above " + visible(string(failOn))
		result = "success"
	case r.Verdict == precedent.NoFindings:
		found, result = "no findings", "success"
	default:
		found, result = "clean, no findings", "success"
	}
	found += after("; ", notChecked(r))
	if r.Scope != precedent.AnalyzersScope {
		return result, found
	}
	if result == "success" && !passWithoutModel {
		result = "neutral"
	}
	return result, "analyzers only, no model read this change; " + found
}

// statusNow counts the live findings, and the earlier ones that are open and were not found
// again.
func statusNow(r *precedent.Review) string {
	live, open := len(r.Live()), len(r.OpenThreads())
	switch {
	case open == 0:
		return Plural(live, "finding")
	case live == 0:
		return Plural(open, "earlier finding") + " still open"
	}
	return Plural(live, "finding") + ", and " + Plural(open, "earlier one") + " still open"
}

// openSeverities returns the severities of all open findings, found again or not.
func openSeverities(r *precedent.Review) []precedent.Severity {
	var all []precedent.Severity
	for _, f := range r.Live() {
		all = append(all, f.Severity)
	}
	for _, t := range r.OpenThreads() {
		all = append(all, t.Severity)
	}
	return all
}
