package memory

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
)

// The rules for patterns. internal/match decides what they cover.
const (
	dismissalsToDrop = 2  // needed to drop a finding; an explicit "never" counts as many
	maxQuestions     = 40 // to the judge for one review
	maxPatterns      = 6  // that it is asked about for one finding
	suppressPenalty  = 15 // percent points, as for an uncertain verifier
	auditOneIn       = 20 // 5 % of the findings that patterns drop are shown collapsed
)

// Question asks whether a dismissal covers a finding: whether the claim is the same, and the
// reason applies there, too. With a Learning it asks whether that speaks of the finding.
type Question struct {
	Finding   *precedent.Finding
	Dismissal precedent.Dismissal
	Learning  *precedent.Learning
}

// Judge answers questions by their index. It may leave some unanswered.
type Judge func([]Question) map[int]bool

// Suppress applies dismissals to the findings. It annotates copies and never deletes; findings
// that were dropped before are left alone.
//
// A finding whose fingerprint a person dismissed is dropped, whatever its severity. Beyond
// that a dismissal is a pattern for findings within its scope. The judge decides whether the
// pattern covers a finding at the same place or with a similar claim. Without a judge (nil),
// or without its answer, the pattern covers findings at the same place with the same claim,
// and findings about the same symbol with a very similar claim.
//
// Patterns drop a finding only if at least two cover it, or one with an explicit "never", and
// if the finding is below high, not in a protected category, and not worse than the rejected
// ones. Otherwise they lower its confidence, but not below the threshold for a finding that
// they may not drop. The confidence of an analyzer is fixed, so there they only leave a note.
// The dismissal of an analyzer's rule covers its findings, and counts as an explicit "never".
// A pattern counts half for each similar finding that people accepted after it was made.
//
// One in twenty of the findings that patterns drop is shown collapsed, so that people notice
// patterns that hide too much. The fingerprint decides which ones. Dismissed findings are not
// sampled.
func Suppress(findings []precedent.Finding, dismissals []precedent.Dismissal, now time.Time, threshold int,
	judge Judge,
) []precedent.Finding {
	out := slices.Clone(findings)
	for i := range out {
		out[i].Trail = slices.Clip(out[i].Trail)
	}
	r := NewDismissals(dismissals, now)
	r.Drop(out, judge)
	r.Lower(out, threshold)
	return out
}

// Drop is the part of Suppress that drops findings. It does not depend on their confidence,
// so that it can spare what follows the work on them.
func (r *Dismissals) Drop(findings []precedent.Finding, judge Judge) {
	r.askJudge(findings, judge)
	if r.covering == nil { // it may be called for several lists
		r.covering, r.meant = map[*precedent.Finding][]*pattern{}, map[*precedent.Finding][]*directive{}
	}
	for i := range findings {
		f := &findings[i]
		if !f.Live() {
			continue
		}
		said := r.about(f)
		if j := said.exact; j != nil {
			f.Drop("suppress", precedent.Dismissed, j.ID, "%s dismissed exactly this finding on %s%s", dismisser(*j), day(*j),
				reasonSuffix(*j))
			continue
		}
		r.covering[f], r.meant[f] = said.patterns, said.directives
		dropByPattern(f, said.patterns)
		dropByLearning(f, said.directives)
	}
}

// Lower is the part of Suppress that lowers confidences, after Drop.
func (r *Dismissals) Lower(findings []precedent.Finding, threshold int) {
	for i := range findings {
		f := &findings[i]
		if f.Live() && len(r.covering[f]) > 0 {
			p := r.covering[f]
			lower(f, threshold, precedent.Decision{
				Step: "suppress", Text: describePatterns(p[0].Dismissal, len(p)),
				By: p[0].ID,
			})
		}
		if d := first(r.meant[f], true); f.Live() && d != nil {
			lower(f, threshold, precedent.Decision{Step: "suppress", Text: d.describe(), By: d.ID})
		}
	}
}

// mayDrop reports whether patterns may drop a finding.
func mayDrop(f *precedent.Finding) bool {
	return !f.Severity.AtLeast(precedent.High) && !f.Category.Protected()
}

func dropByPattern(f *precedent.Finding, patterns []*pattern) {
	if !mayDrop(f) {
		return
	}
	var counted []*pattern
	for _, p := range patterns {
		if f.Severity.Rank() >= p.Severity.Rank() {
			counted = append(counted, p)
		}
	}
	weight := 0.0
	for _, p := range counted {
		weight += p.weight()
	}
	if weight < dismissalsToDrop {
		return
	}
	j := counted[0].Dismissal
	if i := slices.IndexFunc(counted, func(p *pattern) bool { return p.never && p.weight() >= dismissalsToDrop }); i >= 0 {
		j = counted[i].Dismissal
	}
	hide(f, precedent.Rejected, j.ID, describePatterns(j, len(counted)))
}

// hide drops a finding because of what people said of others. A few are shown folded.
func hide(f *precedent.Finding, as precedent.Dropped, by, why string) {
	f.Drop("suppress", as, by, "%s", why)
	if audited(f.Fingerprint) {
		f.Placement = precedent.Collapsed
	}
}

// lower lowers the confidence of a finding for a decision about it.
func lower(f *precedent.Finding, threshold int, d precedent.Decision) {
	lowered := max(f.Confidence-suppressPenalty, 0)
	if !mayDrop(f) && f.Confidence >= threshold {
		lowered = max(lowered, threshold)
	}
	if f.Analyzer {
		lowered = f.Confidence
	}
	f.Weigh(lowered, d)
}

// audited selects one fingerprint in auditOneIn, always the same ones.
func audited(fingerprint string) bool {
	sum := sha256.Sum256([]byte("precedent.audit/1\x00" + fingerprint))
	return sum[0]%auditOneIn == 0
}

// describePatterns describes the n patterns that cover a finding; j is one of them.
func describePatterns(j precedent.Dismissal, n int) string {
	if j.Rule != "" {
		where := described(j.Rule)
		if j.Glob != "" {
			where += " in " + j.Glob
		}
		return fmt.Sprintf("%s dismissed %s on %s%s", dismisser(j), where, day(j), reasonSuffix(j))
	}
	said := "people dismissed a finding like this one"
	if n > 1 {
		said = fmt.Sprintf("people dismissed %d findings like this one", n)
	}
	if j.Accepted > 0 {
		said += fmt.Sprintf(", and accepted %d since", j.Accepted)
	}
	return fmt.Sprintf("%s, last by %s on %s%s", said, dismisser(j), day(j), reasonSuffix(j))
}

func dismisser(j precedent.Dismissal) string { return cmp.Or(j.Who, "someone") }

func day(j precedent.Dismissal) string { return j.At.UTC().Format(time.DateOnly) }

func reasonSuffix(j precedent.Dismissal) string {
	if j.Reason == "" {
		return ""
	}
	return ": " + j.Reason
}
