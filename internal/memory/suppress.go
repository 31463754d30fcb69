package memory

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
)

// The rules for patterns; what they cover is in internal/match.
const (
	rejectionsToDrop = 2  // of the pattern, before it is dropped
	maxQuestions     = 40 // that a judge is asked about one review
	suppressPenalty  = 15 // percent points: what an uncertain verifier costs
	auditOneIn       = 20 // of what a pattern drops, 5 % is shown collapsed
)

// Question asks whether what people dismissed covers a finding: whether it
// claims the same, and the reason holds for its place as well.
type Question struct {
	Finding   *precedent.Finding
	Rejection precedent.Rejection
}

// Judge answers questions, by their index; what it leaves out it has no answer to.
type Judge func([]Question) map[int]bool

// Suppress says what people's rejections mean for the findings. It annotates
// copies and never deletes; a finding that was dropped before is left alone.
//
// A finding whose very fingerprint a person dismissed is dropped, whatever its
// severity. Beyond that a rejection stands for a pattern, which speaks of
// findings as far as the reason's scope reaches. The judge decides about those
// at the same place and those whose claims are alike. Without a judge, which is
// nil then, and where it has no answer, the pattern speaks of findings at the
// same place that claim the same, and of findings about the same symbol whose
// claim is very similar. A pattern
// drops a finding only if it was rejected at least twice, or once with an
// explicit "never", and the finding is below high, not in a protected category,
// and not worse than what was rejected. Else it lowers the confidence, of a
// finding that it may not drop never from the threshold or above to below it;
// an analyzer's confidence is fixed, so there it leaves a note alone.
//
// One in twenty of the findings that a pattern drops is shown collapsed, so that
// people notice a pattern that hides too much. Which ones depends on their
// fingerprint alone. What a person dismissed by name is not sampled.
func Suppress(findings []precedent.Finding, rejections []precedent.Rejection, now time.Time, threshold int, judge Judge) []precedent.Finding {
	out := slices.Clone(findings)
	r := newDismissals(rejections, now)
	r.askJudge(out, judge)
	for i := range out {
		f := &out[i]
		if !f.Live() {
			continue
		}
		f.Trail = slices.Clip(f.Trail)
		if j, ok := r.exact[f.Fingerprint]; ok && f.Fingerprint != "" {
			f.Drop("suppress", precedent.Dismissed, j.ID, "%s dismissed exactly this finding on %s%s", dismisser(j), day(j), reasonSuffix(j))
			continue
		}
		if spoke := r.matching(f); len(spoke) > 0 {
			suppressByPattern(f, spoke, threshold)
		}
	}
	return out
}

func suppressByPattern(f *precedent.Finding, spoke []*pattern, threshold int) {
	mayDrop := !f.Severity.AtLeast(precedent.High) && !f.Category.Protected()
	if mayDrop {
		var counted []*pattern
		for _, p := range spoke {
			if f.Severity.Rank() >= p.Severity.Rank() {
				counted = append(counted, p)
			}
		}
		dropper := -1
		if len(counted) >= rejectionsToDrop {
			dropper = 0
		}
		if i := slices.IndexFunc(counted, func(p *pattern) bool { return p.never }); i >= 0 {
			dropper = i
		}
		if dropper >= 0 {
			j := counted[dropper].Rejection
			f.Drop("suppress", precedent.Rejected, j.ID, "%s, last by %s on %s%s", countDismissals(len(counted)), dismisser(j), day(j), reasonSuffix(j))
			if audited(f.Fingerprint) {
				f.Placement = precedent.Collapsed
			}
			return
		}
	}
	j := spoke[0].Rejection
	lowered := max(f.Confidence-suppressPenalty, 0)
	if !mayDrop && f.Confidence >= threshold {
		lowered = max(lowered, threshold)
	}
	if f.Analyzer {
		lowered = f.Confidence
	}
	f.Trail = append(f.Trail, precedent.Decision{
		Step: "suppress", Text: fmt.Sprintf("%s, last by %s on %s%s", countDismissals(len(spoke)), dismisser(j), day(j), reasonSuffix(j)),
		Delta: lowered - f.Confidence, By: j.ID,
	})
	f.Confidence = lowered
}

// audited picks one fingerprint in auditOneIn, the same ones every time.
func audited(fingerprint string) bool {
	sum := sha256.Sum256([]byte("precedent.audit/1\x00" + fingerprint))
	return sum[0]%auditOneIn == 0
}

func countDismissals(n int) string {
	if n == 1 {
		return "people dismissed a finding like this one"
	}
	return fmt.Sprintf("people dismissed %d findings like this one", n)
}

func dismisser(j precedent.Rejection) string { return cmp.Or(j.Who, "somebody") }

func day(j precedent.Rejection) string { return j.At.UTC().Format(time.DateOnly) }

func reasonSuffix(j precedent.Rejection) string {
	if j.Reason == "" {
		return ""
	}
	return ": " + j.Reason
}
