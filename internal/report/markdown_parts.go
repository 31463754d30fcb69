package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/text"
)

func (n *markdownWriter) coverage(r *precedent.Review) {
	c := r.Coverage
	before := ""
	if c.HunksBefore > 0 {
		before = fmt.Sprintf("; %s unchanged since an earlier review read them", thousands(c.HunksBefore))
	}
	n.line("**Coverage**: read %s of %s in %s%s.\n", thousands(c.HunksRead), Plural(c.Hunks, "hunk"),
		Plural(c.Files, "file"), before)
	n.list(
		entry{"Skipped", joinSome(c.Skipped, maxRows, func(s precedent.SkippedFile) string {
			return markdown.Code(s.Path) + " (" + n.phrase(s.Reason) + ")"
		})},
		entry{"Not read", joinSome(c.Truncated, maxRows, func(t precedent.TruncatedHunk) string {
			return fmt.Sprintf("%s%s (%s)", markdown.Code(t.Path), hunkOf(t, " "), n.phrase(t.Reason))
		})},
		entry{"Not checked", joinSome(c.NotChecked, maxRows, func(u precedent.NotChecked) string {
			return u.Kind + " " + markdown.Code(u.Path) + " (" + n.phrase(u.Reason) + ")"
		})},
		entry{"Build and tests", n.gate(r.Gate)},
		entry{"Finders", joinSome(notable(r.Finders), maxRows, func(f precedent.FinderRun) string {
			text := n.phrase(f.Name + " " + Ended(f.Status, f.Found))
			if f.Status.Bad() {
				text = "**" + text + "**"
			}
			return text + because(n.phrase(f.Error))
		})},
		entry{"Failed steps", joinSome(failuresOf(r, false), maxRows, func(f precedent.Failure) string {
			return n.phrase(f.Step) + because(n.phrase(f.Error))
		})},
	)
}

// failuresOf returns the failures that are about the policy, or all others.
func failuresOf(r *precedent.Review, policy bool) []precedent.Failure {
	return slices.DeleteFunc(slices.Clone(r.Failures), func(f precedent.Failure) bool {
		return (f.Step == precedent.PolicyStep) != policy
	})
}

// notable returns the finders that found something or did not do their work.
func notable(finders []precedent.FinderRun) []precedent.FinderRun {
	return slices.DeleteFunc(slices.Clone(finders), func(f precedent.FinderRun) bool {
		return f.Found == 0 && (f.Status == precedent.StatusOK || f.Status == precedent.StatusEmpty)
	})
}

// entry is an item of a list; it is omitted if its text is empty.
type entry struct{ label, text string }

func (n *markdownWriter) list(entries ...entry) {
	before := n.Len()
	for _, e := range entries {
		if e.text != "" {
			n.line("- %s: %s", e.label, e.text)
		}
	}
	if n.Len() > before {
		n.line("")
	}
}

// items lists as many items as there is room for, in bytes, and counts the rest.
func (n *markdownWriter) items(count, room int, item func(i int) string) {
	for i := range count {
		if i == maxRows || n.Len() >= room {
			n.line("- and %s more", thousands(count-i))
			return
		}
		n.line("- %s", item(i))
	}
}

// folded lists items in a collapsed section. Without items it writes nothing.
func (n *markdownWriter) folded(heading string, count, room int, item func(i int) string) {
	if count > 0 {
		n.line("<details>\n<summary>%s</summary>\n", heading)
		n.items(count, room, item)
		n.line("\n</details>\n")
	}
}

// counts says how many findings were shown, dropped and suppressed, and how to see those below
// the threshold, if the reader can run the review again.
func (n *markdownWriter) counts(r *precedent.Review, again bool) {
	text, lowest := counts(r), 100
	for _, f := range r.Findings {
		if f.Dropped == precedent.BelowThreshold {
			lowest = min(lowest, f.Confidence)
		}
	}
	if again && r.Count(precedent.BelowThreshold) > 0 {
		below := fmt.Sprintf("below %d", r.Threshold)
		text = strings.Replace(text, below, fmt.Sprintf("%s; set REVIEW_CONFIDENCE_THRESHOLD=%d to include them", below,
			lowest/5*5), 1)
	}
	n.line("**Counts**: %s.\n", text)
}

// minor lists the minor findings, in a collapsed section.
func (n *markdownWriter) minor(r *precedent.Review) {
	all := minorFindings(r)
	heading := fmt.Sprintf("Minor: %s, mostly not worth a change", Plural(len(all), "finding"))
	n.folded(heading, len(all), maxList, func(i int) string {
		return fmt.Sprintf("At %s: %s", markdown.Code(all[i].String()), n.phrase(all[i].Title))
	})
}

// suppressed lists what memory hid.
func (n *markdownWriter) suppressed(r *precedent.Review) {
	hidden := r.Memory.Suppressed
	if len(hidden) == 0 {
		return
	}
	n.line("**Dismissed or suppressed by memory**: %s.\n", Plural(len(hidden), "finding"))
	n.items(len(hidden), maxList, func(i int) string {
		h := hidden[i]
		return fmt.Sprintf("Finding %s %s: %s (memory %s)", markdown.Code(h.Finding), n.phrase(h.Title),
			n.phrase(suppressedBy(h)), markdown.Code(h.By))
	})
	n.line("")
}

// sources names what the finders were given: guide, precedents, insights.
func (n *markdownWriter) sources(r *precedent.Review) {
	n.list(
		entry{"Guidelines", n.phrase(rules(r))},
		entry{"Precedents", n.phrase(precedentUse(r))},
		entry{"Insights", joinSome(r.Memory.Insights, maxRows, func(c precedent.Cite) string {
			return markdown.Code(c.ID) + " " +
				n.phrase(c.Text)
		})},
	)
}

// gate says how the build and the tests ended; empty if nothing was to run them.
func (n *markdownWriter) gate(g *precedent.GateResult) string {
	switch {
	case g == nil:
		return ""
	case g.Command == "":
		return n.phrase(g.Status)
	}
	return n.phrase(g.Status) + " (" + markdown.Code(text.Cut(g.Command, 200)) + ")"
}
