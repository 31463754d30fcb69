package report

import (
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
	there := ""
	if s.LineURL != nil {
		if link := markdown.Link("the line", s.LineURL(f.Span), s.Links); link != "the line" {
			there = " Go to " + link + "."
		}
	}
	n.line("Shown here because the forge rejected a comment on the line%s.%s\n", because(n.phrase(p.Why)), there)
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

// threads lists the answers to threads that were open before the review.
func (n *markdownWriter) threads(r *precedent.Review, s Style) {
	if len(r.Threads) == 0 {
		return
	}
	n.line("**Threads**: %s.\n", strings.Join(threadCounts(r), " · "))
	n.line("<details>\n<summary>Earlier findings</summary>\n")
	shown := 0
	for shown < min(len(r.Threads), maxRows) && n.Len() < maxTable {
		t := r.Threads[shown]
		at := markdown.Code(t.String())
		if p, ok := s.Posted[t.Finding]; ok {
			at = markdown.Link(at, p.URL, s.Links)
		}
		n.line("- At %s · %s: **%s**%s", at, n.phrase(t.Title), n.phrase(answerWords(t.State)), because(n.phrase(t.Why)))
		shown++
	}
	if left := len(r.Threads) - shown; left > 0 {
		n.line("- and %s more", thousands(left))
	}
	n.line("\n</details>\n")
}

// writeThreads lists them on a terminal.
func writeThreads(p *Page, r *precedent.Review) {
	if len(r.Threads) == 0 {
		return
	}
	p.Line()
	p.Para("threads    ", p.Ink(Plain, strings.Join(threadCounts(r), " · ")))
	for i, t := range r.Threads {
		if i == maxThreads {
			p.Line(p.Inkf(Plain, "  and %s more", thousands(len(r.Threads)-i)))
			return
		}
		p.Para("  "+p.Ink(Faint, t.Finding)+"  ", p.Ink(Cyan, t.String())+"  "+p.Inkf(Plain, "%s: %s%s", t.Title, answerWords(t.State), because(t.Why)))
	}
}

// maxThreads limits the threads that a terminal shows. The JSON form has all.
const maxThreads = 50

// Check returns the result of a review as a check on its commit: success, failure or neutral,
// and a title of one line. It is failure only if a live finding is as bad as failOn, and
// success only if none is and a model read everything. An incomplete review, or one without a
// model, is neutral. A nit never fails.
func Check(r *precedent.Review, failOn precedent.Severity) (result, title string) {
	live := len(r.Live())
	open, found := stillThere(r), statusNow(r)
	switch {
	case !complete(r):
		return "neutral", "incomplete: not everything was read; " + found
	case r.Verdict == precedent.Skipped:
		return "neutral", "nothing to review"
	case r.Scope == precedent.AnalyzersScope:
		return "neutral", "analyzers only, no model read this change; " + found
	case r.ExitStatus(failOn) == precedent.ExitFindings:
		blocking := 0
		count := func(s precedent.Severity) {
			if s.Blocks(failOn) {
				blocking++
			}
		}
		for _, f := range r.Live() {
			count(f.Severity)
		}
		for _, t := range open {
			count(t.Severity)
		}
		return "failure", fmt.Sprintf("%s, %s at or above %s", found, thousands(blocking), visible(string(failOn)))
	case live+len(open) > 0:
		return "success", fmt.Sprintf("%s, none at or above %s", found, visible(string(failOn)))
	}
	return "success", "clean, no findings"
}

// statusNow counts the live findings, and the earlier ones in open threads that were not found
// again.
func statusNow(r *precedent.Review) string {
	live, open := len(r.Live()), len(stillThere(r))
	switch {
	case open == 0:
		return Plural(live, "finding")
	case live == 0:
		return Plural(open, "earlier finding") + " still open"
	}
	return Plural(live, "finding") + ", and " + Plural(open, "earlier one") + " still open"
}

// stillThere returns the answers of threads whose finding is still there and not among the
// live findings.
func stillThere(r *precedent.Review) []precedent.ThreadAnswer {
	live := map[string]bool{}
	for _, f := range r.Live() {
		live[f.Thread] = true
	}
	var open []precedent.ThreadAnswer
	for _, t := range r.Threads {
		if t.State == precedent.StillThere && !live[t.Thread] {
			open = append(open, t)
		}
	}
	return open
}
