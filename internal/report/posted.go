package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
)

// hasComment tells whether a finding stands in a comment of its own.
func hasComment(s Style, f precedent.Finding) bool {
	p, ok := s.Posted[f.ID]
	return ok && p.State != Refused
}

// placementOf says where a finding is said in full.
func placementOf(s Style, f precedent.Finding) string {
	switch p, ok := s.Posted[f.ID]; {
	case !ok && f.Thread != "":
		return "before, and below"
	case !ok || p.State == Refused:
		return "below"
	case p.State == PostedBefore:
		return "before"
	}
	return "new"
}

// refused says that the forge took no comment on the lines, and leads there.
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
	n.line("It stands here because the forge takes no comment on the line%s.%s\n", because(n.phrase(p.Why)), there)
}

// samples shows what memory hid and is shown nonetheless, so that people notice
// when memory is wrong.
func (n *markdownWriter) samples(r *precedent.Review, s Style, e excerpts) {
	if s.Posted == nil {
		return
	}
	sampled := slices.DeleteFunc(slices.Clone(r.Findings), func(f precedent.Finding) bool {
		return f.Live() || f.Placement != precedent.Collapsed || hasComment(s, f)
	})
	for _, f := range sampled {
		n.add(func(n *markdownWriter) {
			n.line("<details>\n<summary>A sample of what memory hides</summary>\n")
			n.finding(r, f, s, e)
			n.line("</details>\n")
		})
	}
}

// answers are what can become of a thread, worst first, with the words for many of it.
var answers = []struct {
	state precedent.AnswerState
	words string
}{
	{precedent.Unanswered, "unanswered, because nobody could tell"},
	{precedent.StillThere, "still there"},
	{precedent.Addressed, "addressed"},
	{precedent.NoLonger, "no longer applicable"},
	{precedent.DeclinedHere, "declined"},
}

// answerWords says of an answer what it means; the answer itself if that is not known.
func answerWords(a precedent.AnswerState) string {
	for _, one := range answers {
		if one.state == a {
			return one.words
		}
	}
	return string(a)
}

// threadCounts says how many threads came to which end.
func threadCounts(r *precedent.Review) []string {
	var said []string
	known := 0
	for _, one := range answers {
		count := 0
		for _, t := range r.Threads {
			if t.State == one.state {
				count++
			}
		}
		if known += count; count > 0 {
			said = append(said, thousands(count)+" "+one.words)
		}
	}
	if rest := len(r.Threads) - known; rest > 0 {
		said = append(said, thousands(rest)+" otherwise")
	}
	return said
}

// threads says what the review answers to threads that were there before it.
func (n *markdownWriter) threads(r *precedent.Review, s Style) {
	if len(r.Threads) == 0 {
		return
	}
	n.line("**Threads**: %s.\n", strings.Join(threadCounts(r), " · "))
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
	n.line("")
}

// writeThreads is the same for a terminal.
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

// maxThreads bounds the threads that a terminal shows. The JSON form has all.
const maxThreads = 50

// Check is the end of a review as a check on its commit says it: success, failure
// or neutral, and a title of one line. It is success only if a model read all that
// was to be read and no live finding is as bad as failOn, and failure only if one
// is. A review that is not complete, or that no model took part in, can tell
// neither. A nit never fails.
func Check(r *precedent.Review, failOn precedent.Severity) (result, title string) {
	live := len(r.Live())
	open, found := stillThere(r), statusNow(r)
	switch {
	case !complete(r):
		return "neutral", "not complete: not everything was read; " + found
	case r.Verdict == precedent.Skipped:
		return "neutral", "there was nothing to review"
	case r.Scope == precedent.AnalyzersScope:
		return "neutral", "no model read this change; the analyzers have " + found
	case r.ExitStatus(failOn) == precedent.ExitFindings:
		blocking := 0
		count := func(s precedent.Severity) {
			if s != precedent.Nit && s.AtLeast(failOn) {
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
	return "success", "clean, nothing found"
}

// statusNow counts what holds at the head: the live findings, and the earlier
// ones that stand in open threads and were not found anew.
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

// stillThere are the answers of threads whose remark still holds and that is not
// among the live findings.
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
