// Package report prints a review: for people on a terminal and in a comment, as
// the JSON contract for programs, and in the formats that code hosts read. It
// decides nothing; it shows what a complete precedent.Review holds, what was
// hidden and what was not read included.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// Style says how a review is shown to people, and what of its surroundings is
// shown with it.
type Style struct {
	Width int  // columns; 0 means DefaultWidth
	Color bool // only ever with 16-colour SGR sequences
	// Engine says which engine read, why it was chosen and where the code
	// went, in one line; with no engine, why none was chosen.
	Engine string
	// NoEngine tells that no engine is configured, so that no model was to read anything.
	NoEngine bool
	// Remembered counts the findings that memory holds about the touched files.
	Remembered int
	// Change is where code excerpts come from; nil shows the quotes alone.
	Change *diff.Change
	// Version is this program's, for the formats that name the tool.
	Version string
	// Links lists the hosts that a link in Markdown may lead to; none by default.
	Links []string
	// Posted tells, by id, of the findings that stand in comments of their own on a
	// pull request, or that the forge did not take there. Markdown shows the others
	// in full. Nil for a review that is not posted: it shows all of them.
	Posted map[string]Posting
	// LineURL is the address of lines on the forge; nil, or empty for lines that
	// have none.
	LineURL func(precedent.Span) string
}

// Posting is where a finding stands on a pull request.
type Posting struct {
	State PostingState
	URL   string // of its comment; may be empty
	Why   string // the forge's reason to refuse it
}

// PostingState tells when a finding got its comment.
type PostingState string

// The states.
const (
	PostedNow    PostingState = "new"
	PostedBefore PostingState = "said before"
	Refused      PostingState = "refused" // the forge takes no comment there: it stands in the summary
)

// How much of the less important lists is shown. The JSON form has everything.
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
		writeFinding(p, r, f, excerpts)
	}
	writeBrief(p, brief)
	writeThreads(p, r)
	writeSuppressed(p, r)
	writePraise(p, r)
	writeFooter(p, r, s)
	return p.Err()
}

func writeHeader(p *Page, r *precedent.Review, s Style) {
	t, c := r.Target, r.Coverage
	p.Flow("", 3, []string{
		p.Ink(Bold, "precedent") + "  " + p.Ink(Cyan, t.Head) + " ← " + p.Ink(Plain, t.Base),
		p.Inkf(Plain, "%s · %s · +%s −%s", Plural(c.Files, "file"), Plural(c.Hunks, "hunk"), thousands(t.Added), thousands(t.Removed)),
	})
	if t.Why != "" {
		p.Para("           ", p.Ink(Faint, t.Why))
	}
	if s.Engine != "" {
		p.Para("engine     ", p.Ink(Plain, s.Engine))
	}
	p.Para("memory     ", p.Ink(Plain, remembered(r, s)))
	writeFinders(p, r)
}

// remembered says what memory knew about the change before the review.
func remembered(r *precedent.Review, s Style) string {
	said := []string{"nothing yet about these files"}
	if s.Remembered > 0 {
		said[0] = Plural(s.Remembered, "finding") + " about these files"
	}
	var hot []string
	for _, h := range r.Memory.Hotspots[:min(len(r.Memory.Hotspots), maxHotspots)] {
		note := Plural(h.Findings, "finding")
		if h.Dismissed > 0 {
			note += fmt.Sprintf(", %d declined", h.Dismissed)
		}
		hot = append(hot, fmt.Sprintf("%s (%s)", h.Path, note))
	}
	if len(hot) > 0 {
		said = append(said, "hot: "+strings.Join(hot, ", "))
	}
	return strings.Join(said, " · ")
}

// writeFinders shows how each finder ended: good ends side by side, then the others,
// those that share an end and a reason on one line.
func writeFinders(p *Page, r *precedent.Review) {
	var good []string
	type end struct {
		status precedent.Status
		why    string
	}
	var ends []end
	names := map[end][]string{}
	for _, f := range r.Finders {
		if f.Status == precedent.StatusOff && f.Engine != "" {
			continue // it ran, and found that nobody had set it up: no news
		}
		if f.Status.Good() {
			name := p.Ink(Plain, f.Name) + " " + p.Ink(Green, Ended(f.Status, f.Found))
			if d := time.Duration(f.TookMS) * time.Millisecond; d >= time.Second {
				name += p.Inkf(Faint, " %s", d.Round(time.Second))
			}
			good = append(good, name)
			if f.Error == "" {
				continue
			}
		}
		e := end{f.Status, f.Error}
		if names[e] == nil {
			ends = append(ends, e)
		}
		names[e] = append(names[e], f.Name)
	}
	p.Flow("  ", 3, good)
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

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// writeBrief lists the live findings beyond the cap on those shown in full.
func writeBrief(p *Page, fs []precedent.Finding) {
	if len(fs) == 0 {
		return
	}
	p.Line()
	p.Line(p.Inkf(Plain, "and %s more:", thousands(len(fs))))
	for _, f := range fs {
		p.Para("  "+p.Ink(severityInk(f.Severity), string(f.Severity))+p.Inkf(Plain, " %d  ", f.Confidence)+p.Ink(Faint, f.ID)+"  ",
			p.Ink(Cyan, f.String())+"  "+p.Ink(Plain, f.Title))
	}
}

// writeSuppressed lists every finding that memory hid, with who said so and why.
func writeSuppressed(p *Page, r *precedent.Review) {
	if len(r.Memory.Suppressed) == 0 {
		return
	}
	p.Line()
	p.Line("hidden by memory:")
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
		p.Para("              ", p.Ink(Plain, suppressedBy(h)))
		if h.Dropped == precedent.Dismissed {
			p.Para("              ", p.Ink(Faint, "bring it back: precedent dismiss --undo "+h.Finding))
		}
	}
}

func suppressedBy(h precedent.SuppressedFinding) string {
	who := h.Who
	if who == "" {
		who = "somebody"
	}
	verb := "dismissed it"
	switch h.Dropped {
	case precedent.Rejected:
		verb = "declined the pattern"
	case precedent.ByLearning:
		verb = "said not to flag it"
	}
	if h.Why == "" {
		return fmt.Sprintf("%s %s, without a reason", who, verb)
	}
	return fmt.Sprintf("%s %s: “%s”", who, verb, h.Why)
}

// writePraise tells what the change does best.
func writePraise(p *Page, r *precedent.Review) {
	if r.Positive == "" {
		return
	}
	p.Line()
	p.Para(p.Ink(Green, "does best")+"  ", p.Ink(Plain, r.Positive))
}

func writeFooter(p *Page, r *precedent.Review, s Style) {
	p.Line()
	p.Para(verdict(p, r)+"  ", p.Ink(Plain, counts(r)))
	p.Para("", p.Ink(Faint, coverage(r)))
	if n := len(r.Coverage.Skipped); n > 0 {
		p.Para("skipped    ", p.Ink(Faint, joinSome(r.Coverage.Skipped, maxSkipped, func(s precedent.SkippedFile) string {
			return fmt.Sprintf("%s (%s)", s.Path, s.Reason)
		})))
	}
	if n := len(r.Coverage.Truncated); n > 0 {
		p.Para("not read   ", p.Ink(Yellow, joinSome(r.Coverage.Truncated, maxTruncated, func(t precedent.TruncatedHunk) string {
			return fmt.Sprintf("%s hunk %d (%s)", t.Path, t.Hunk, t.Reason)
		})))
	}
	if line := rules(r); line != "" {
		p.Para("", p.Ink(Faint, line))
	}
	for _, f := range r.Failures {
		p.Para(p.Ink(Yellow, "without")+"    ", p.Inkf(Plain, "%s: %s", f.Step, f.Error))
	}
	if s.NoEngine {
		p.Line()
		p.Para("", p.Ink(Bold, "No model read this change")+p.Ink(Plain, ": only the analyzers did."))
		p.Para("", p.Ink(Plain, "To have one read it, set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL, or name a program: "+
			"precedent review --engine command:PATH, or “engine: command:PATH” in the file that precedent config names."))
	}
}

// verdict is the verdict as a word; those that are no result shout.
func verdict(p *Page, r *precedent.Review) string {
	switch r.Verdict {
	case precedent.Clean:
		return p.Ink(Green, "clean")
	case precedent.Partial:
		return p.Ink(BoldRed, "partial: not everything was read")
	case precedent.Failed:
		return p.Ink(BoldRed, "failed: nothing was read by the engine")
	case precedent.Skipped:
		return p.Ink(Faint, "skipped: nothing to review")
	}
	return p.Ink(Bold, string(r.Verdict))
}

// counts says where all findings went: shown, and how many of those a verifier
// confirmed and how many stood in a thread before, or for which reason not.
func counts(r *precedent.Review) string {
	parts := []string{Plural(len(r.Live()), "finding")}
	confirmed, before := 0, 0
	for _, f := range r.Live() {
		if f.Thread != "" {
			before++
		}
		if f.Verifier == precedent.Confirmed {
			confirmed++
		}
	}
	if confirmed > 0 {
		parts[0] += fmt.Sprintf(", %s confirmed", thousands(confirmed))
	}
	if before > 0 {
		parts[0] += fmt.Sprintf(", %s said before", thousands(before))
	}
	add := func(n int, format string, args ...any) {
		if n > 0 {
			parts = append(parts, thousands(n)+" "+fmt.Sprintf(format, args...))
		}
	}
	add(len(stillThere(r)), "still open from before")
	add(r.Count(precedent.BelowThreshold), "below %d", r.Threshold)
	add(r.Count(precedent.Duplicate), "duplicate%s", pluralEnding(r.Count(precedent.Duplicate)))
	add(r.Count(precedent.Refuted), "refuted")
	add(r.Count(precedent.NoEvidence), "without evidence")
	add(r.Count(precedent.UnchangedCode), "on unchanged code")
	add(r.Count(precedent.IgnoredPath), "in ignored files")
	suppressed := r.Count(precedent.Rejected) + r.Count(precedent.ByLearning) + r.Count(precedent.Dismissed)
	parts = append(parts, fmt.Sprintf("%d hidden by memory", suppressed))
	return strings.Join(parts, " · ")
}

func pluralEnding(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// coverage says what was read, and what it cost if a model was asked.
func coverage(r *precedent.Review) string {
	c := r.Coverage
	parts := []string{fmt.Sprintf("read %s of %s", thousands(c.HunksRead), Plural(c.Hunks, "hunk"))}
	if c.HunksBefore > 0 {
		parts = append(parts, thousands(c.HunksBefore)+" read before")
	}
	if n := len(c.Skipped); n > 0 {
		parts = append(parts, Plural(n, "file")+" skipped")
	}
	if u := r.Usage; u.Requests > 0 {
		if r.CostUSD > 0 {
			parts = append(parts, fmt.Sprintf("$%.2f", r.CostUSD))
		}
		if total := u.InputTokens + u.OutputTokens; total > 0 {
			said := tokens(total)
			if u.CachedTokens > 0 && u.InputTokens > 0 {
				said += fmt.Sprintf(", %d %% cached", 100*u.CachedTokens/u.InputTokens)
			}
			parts = append(parts, said)
		}
	}
	took := time.Duration(r.TookMS) * time.Millisecond
	if took >= 10*time.Second {
		took = took.Round(time.Second)
	}
	return strings.Join(append(parts, took.String()), " · ")
}

// tokens is a number of tokens in thousands, from 1,000 upwards.
func tokens(n int) string {
	if n < 1000 {
		return Plural(n, "token")
	}
	return fmt.Sprintf("%sk tokens", thousands((n+500)/1000))
}

// rules names the guide's rules that the finders were given.
func rules(r *precedent.Review) string {
	var sources []string
	for _, rule := range r.RulesChecked {
		if !slices.Contains(sources, rule.Source) {
			sources = append(sources, rule.Source)
		}
	}
	if len(sources) == 0 {
		return ""
	}
	return fmt.Sprintf("checked %s of %s", Plural(len(r.RulesChecked), "rule"), strings.Join(sources, ", "))
}

// joinSome joins the first of many and counts the rest.
func joinSome[T any](all []T, most int, say func(T) string) string {
	var said []string
	for _, one := range all[:min(len(all), most)] {
		said = append(said, say(one))
	}
	if rest := len(all) - len(said); rest > 0 {
		said = append(said, fmt.Sprintf("and %s more", thousands(rest)))
	}
	return strings.Join(said, " · ")
}
