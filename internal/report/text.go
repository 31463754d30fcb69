// Package report prints a review: for people on a terminal and in a comment, as
// JSON for programs, and in the formats that code hosts read. It makes no
// decisions; it shows a complete precedent.Review, including what was hidden and
// what was not read.
package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// Style says how a review is shown to people, with details from outside of the review.
type Style struct {
	Width int  // columns; 0 means DefaultWidth
	Color bool // with the 16 basic colours only
	// Engine is one line about the engine: which one, why it was chosen and where the code was
	// sent; without an engine, why there is none.
	Engine string
	// NoEngine tells that no engine is configured.
	NoEngine bool
	// Options are those that commands about the findings need in this folder, each after a space.
	Options string
	// Unstored tells that the review is not in the memory, where commands look for its findings.
	Unstored bool
	// NoHint omits how to set up an engine.
	NoHint bool
	// FailOn is the severity from which findings decide the exit status; empty if nothing is
	// said about it.
	FailOn precedent.Severity
	// Remembered is the number of findings in memory about the touched files.
	Remembered int
	// Change is the source of code excerpts; if it is nil, only quotes are shown.
	Change *diff.Change
	// Version is the version of this program, for the formats that name the tool.
	Version string
	// Links lists the hosts that links in Markdown may lead to; none by default.
	Links []string
	// Posted holds, by id, the findings that have a comment of their own on a pull request, or
	// whose comment the forge rejected. Markdown shows all others in full. It is nil for a
	// review that is not posted.
	Posted map[string]Posting
	// Closed lists the findings of the pull request that are not open any more.
	Closed []Closed
	// PassWithoutModel tells that a clean review passes although no model read the change.
	PassWithoutModel bool
	// Precedents says how Markdown, and formats that other tools post, cite the comments of people.
	Precedents precedent.CitationDisplay
	// Blocking is a review that still requests changes although nothing is left that it is for, since the
	// account may not dismiss it. The zero value means none.
	Blocking Blocking
	// LineURL returns the address of lines on the forge, empty if they have none. It may be nil.
	LineURL func(precedent.Span) string
}

// Blocking is a review that requests changes.
type Blocking struct {
	Left bool
	URL  string // may be empty
}

// Posting says where a finding was posted on a pull request.
type Posting struct {
	State PostingState
	URL   string // of its comment; may be empty
	Why   string // why the forge rejected it
}

// PostingState says when the comment of a finding was posted.
type PostingState string

// The states.
const (
	PostedNow    PostingState = "new"
	PostedBefore PostingState = "posted before"
	Refused      PostingState = "refused" // the forge rejected the comment: the finding is in the summary
)

// Closed is a finding of the pull request that is not open any more.
type Closed struct {
	Thread         string
	precedent.Span // where it was posted
	Severity       precedent.Severity
	Title          string
	How            string // fixed, not applicable, dismissed, resolved, deleted
	Commit         string // that fixed it; empty if that is unknown
	Who            string // the person who decided; empty if none did
	Why            string
	URL            string // of its comment; may be empty
}

// Limits of the less important lists. The JSON form has everything.
const (
	maxSkipped   = 6
	maxTruncated = 10
	maxHotspots  = 3
)

// Text writes the review for a terminal.
func Text(w io.Writer, r *precedent.Review, s Style) error {
	p := NewPage(w, s.Width, s.Color)
	writeHeader(p, r, s)
	excerpts := newExcerpts(r, s.Change)
	var brief []precedent.Finding
	for _, f := range r.Live() {
		if f.Placement == precedent.Summary {
			brief = append(brief, f)
			continue
		}
		p.Line()
		writeFinding(p, r, f, excerpts, s)
	}
	writeBrief(p, fmt.Sprintf("and %s more:", thousands(len(brief))), brief)
	minor := minorFindings(r)
	writeBrief(p, fmt.Sprintf("minor: %s, mostly not worth a change:", Plural(len(minor), "finding")), minor)
	writeTaken(p, r)
	writeThreads(p, r)
	writeSuppressed(p, r, s.Options)
	writeLearnings(p, r)
	writePraise(p, r)
	if !s.Unstored {
		writeHint(p, r, s.Options)
	}
	writeFooter(p, r, s)
	return p.Err()
}

func writeHeader(p *Page, r *precedent.Review, s Style) {
	t, c := r.Target, r.Coverage
	p.Flow("", []string{
		p.Ink(Bold, "precedent") + "  " + p.Ink(Cyan, t.Head) + " ← " + p.Ink(Plain, t.Base),
		p.Inkf(Plain, "%s · %s · +%s −%s", Plural(c.Files, "file"), Plural(c.Hunks, "hunk"), thousands(t.Added),
			thousands(t.Removed)),
	})
	if t.Why != "" {
		p.Para("           ", p.Ink(Faint, t.Why))
	}
	if len(t.Paths) > 0 {
		p.Say("           ", "only "+strings.Join(t.Paths, ", "))
	}
	if t.Uncommitted > 0 {
		p.Para("           ", p.Inkf(Yellow, "%s with uncommitted changes not included", Plural(t.Uncommitted, "file")))
	}
	if s.Engine != "" {
		p.Say("engine     ", s.Engine)
	}
	p.Say("memory     ", remembered(r, s))
	writeFinders(p, r)
}

// remembered says what memory had about the change before the review.
func remembered(r *precedent.Review, s Style) string {
	parts := []string{"no findings yet in these files"}
	if s.Remembered > 0 {
		parts[0] = Plural(s.Remembered, "finding") + " about these files"
	}
	if n := r.Memory.Learnings.Rendered + r.Memory.Learnings.Omitted; n > 0 {
		parts = append(parts, Plural(n, "learning"))
	}
	var hot []string
	for _, h := range r.Memory.Hotspots[:min(len(r.Memory.Hotspots), maxHotspots)] {
		note := Plural(h.Findings, "finding")
		if h.Dismissed > 0 {
			note += fmt.Sprintf(", %d dismissed", h.Dismissed)
		}
		hot = append(hot, fmt.Sprintf("%s (%s)", h.Path, note))
	}
	if len(hot) > 0 {
		parts = append(parts, "hot: "+strings.Join(hot, ", "))
	}
	return strings.Join(parts, " · ")
}

// writeFinders shows how each finder ended: those that succeeded side by side, then the
// others, grouped by status and reason.
func writeFinders(p *Page, r *precedent.Review) {
	var succeeded []string
	type end struct {
		status precedent.Status
		why    string
	}
	var ends []end
	names := map[end][]string{}
	for _, f := range r.Finders {
		if f.Status == precedent.StatusOff && f.Engine != "" {
			continue // it is not configured
		}
		if f.Status.Good() {
			name := p.Ink(Plain, f.Name) + " " + p.Ink(Green, Ended(f.Status, f.Found))
			if d := time.Duration(f.TookMS) * time.Millisecond; d >= time.Second {
				name += p.Inkf(Faint, " %s", d.Round(time.Second))
			}
			succeeded = append(succeeded, name)
			if f.Error == "" {
				continue
			}
		}
		e := end{f.Status, f.Error}
		if f.Status.Good() {
			e.status = precedent.StatusOK // whether it found something is said above
		}
		if names[e] == nil {
			ends = append(ends, e)
		}
		names[e] = append(names[e], f.Name)
	}
	p.Flow("  ", succeeded)
	for _, e := range ends {
		who := strings.Join(names[e], ", ")
		switch {
		case e.status.Bad():
			p.Para("  ", p.Ink(Plain, who+" ")+p.Ink(Red, Ended(e.status, 0))+p.Ink(Plain, because(e.why)))
		case e.status.Good():
			p.Para("  ", p.Ink(Faint, who+because(e.why)))
		default:
			p.Para("  ", p.Inkf(Faint, "%s %s%s", who, Ended(e.status, 0), because(e.why)))
		}
	}
}

func because(why string) string { return after(": ", why) }

// minorFindings returns the findings that are folded as minor.
func minorFindings(r *precedent.Review) []precedent.Finding {
	var minor []precedent.Finding
	for _, f := range r.Findings {
		if f.Dropped == precedent.Minor {
			minor = append(minor, f)
		}
	}
	return minor
}

// writeBrief lists findings that are not shown in full, a line each.
func writeBrief(p *Page, heading string, fs []precedent.Finding) {
	if len(fs) == 0 {
		return
	}
	p.Line()
	p.Say("", heading)
	for _, f := range fs {
		p.Para("  "+p.Ink(severityInk(f.Severity), string(f.Severity))+p.Inkf(Plain, " %d  ", f.Confidence)+p.Ink(Faint,
			f.ID)+"  ",
			p.Ink(Cyan, f.String())+"  "+p.Ink(Plain, f.Title))
	}
}

// writeSuppressed lists every finding that memory hid, with who dismissed what and why.
func writeSuppressed(p *Page, r *precedent.Review, options string) {
	if len(r.Memory.Suppressed) == 0 {
		return
	}
	p.Line()
	p.Line("dismissed or suppressed by memory:")
	for _, h := range r.Memory.Suppressed {
		where, sample := "", ""
		for _, f := range r.Findings {
			if f.ID == h.Finding {
				where = f.String()
				if f.Placement == precedent.Collapsed {
					sample = " (shown as a sample)"
				}
			}
		}
		p.Para("  "+p.Ink(Faint, h.Finding)+"  ", p.Ink(Cyan, where)+"  "+p.Ink(Plain, h.Title+sample))
		p.Say("              ", suppressedBy(h))
		if h.Dropped == precedent.Dismissed {
			p.Line("              ", p.Ink(Faint, "undo: precedent dismiss --undo "+h.Finding+options)) // whole, to be pasted
		}
	}
}

func suppressedBy(h precedent.SuppressedFinding) string {
	who := cmp.Or(h.Who, "someone")
	verb := "dismissed it"
	switch h.Dropped {
	case precedent.Rejected:
		verb = "dismissed similar findings"
	case precedent.ByLearning:
		verb = "asked not to flag it"
	}
	if h.Why == "" {
		return fmt.Sprintf("%s %s, no reason given", who, verb)
	}
	return fmt.Sprintf("%s %s: “%s”", who, verb, h.Why)
}

// writePraise says what the change does best.
func writePraise(p *Page, r *precedent.Review) {
	if r.Positive == "" {
		return
	}
	p.Line()
	p.Say(p.Ink(Green, "done well")+"  ", r.Positive)
}

func writeFooter(p *Page, r *precedent.Review, s Style) {
	p.Line()
	p.Say(verdict(p, r)+"  ", counts(r))
	if s := sinceLast(r); s != "" {
		p.Say("", s)
	}
	p.Para("", p.Ink(Faint, coverage(r)))
	if n := len(r.Coverage.Skipped); n > 0 {
		p.Para("skipped    ", p.Ink(Faint, joinSome(r.Coverage.Skipped, maxSkipped, func(s precedent.SkippedFile) string {
			return fmt.Sprintf("%s (%s)", s.Path, s.Reason)
		})))
	}
	if n := len(r.Coverage.Truncated); n > 0 {
		p.Para("not read   ", p.Ink(Yellow, joinSome(r.Coverage.Truncated, maxTruncated,
			func(t precedent.TruncatedHunk) string {
				return fmt.Sprintf("%s%s (%s)", t.Path, hunkOf(t, " "), t.Reason)
			})))
	}
	if s := unchecked(r.Coverage.NotChecked); s != "" {
		p.Para("unchecked  ", p.Ink(Yellow, s))
	}
	if line := rules(r); line != "" {
		p.Para("", p.Ink(Faint, line))
	}
	if line := precedentUse(r); line != "" {
		p.Para("precedents ", p.Ink(Faint, line))
	}
	for _, f := range r.Failures {
		if f.Step == precedent.PolicyStep {
			p.Say(p.Ink(Yellow, "policy")+"     ", f.Error)
			continue
		}
		p.Sayf(p.Ink(Yellow, "failed")+"     ", "%s: %s", f.Step, f.Error)
	}
	if s.NoEngine && !s.NoHint {
		p.Para("", p.Ink(Bold, "No model read this change")+p.Ink(Plain,
			": set ANTHROPIC_API_KEY or OPENAI_API_KEY, or use --engine command:PATH."))
	}
	p.Line()
	p.Say("", lastLine(r, s))
}

// verdict is the verdict in words; incomplete ones are highlighted.
func verdict(p *Page, r *precedent.Review) string {
	switch r.Verdict {
	case precedent.Clean:
		return p.Ink(Green, "clean")
	case precedent.NoFindings:
		return p.Ink(Bold, "no findings")
	case precedent.Partial:
		return p.Ink(BoldRed, "partial: not everything was read")
	case precedent.Failed:
		return p.Ink(BoldRed, "failed: the engine read nothing")
	case precedent.Skipped:
		return p.Ink(Faint, "skipped: nothing to review")
	}
	return p.Ink(Bold, string(r.Verdict))
}

// joinSome joins the first items, as many as a list may hold, and counts the rest.
func joinSome[T any](all []T, limit int, format func(T) string) string {
	var parts []string
	size := 0
	for len(parts) < min(len(all), limit) && size < maxList {
		parts = append(parts, format(all[len(parts)]))
		size += len(parts[len(parts)-1])
	}
	if rest := len(all) - len(parts); rest > 0 {
		parts = append(parts, fmt.Sprintf("and %s more", thousands(rest)))
	}
	return strings.Join(parts, " · ")
}
