package review

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/calibration"
	"github.com/precedent-dev/precedent/internal/memory"
)

// ErrNoBasis means that a review does not hold what its decisions were made from.
var ErrNoBasis = errors.New("what the decisions of this review were made from was not stored")

// Decided is a review whose decisions were made again.
type Decided struct {
	Findings  []precedent.Finding
	Threshold int
	// Unverified has the fingerprints of findings that a verifier would read now and did not
	// read then, with the reason: how they would be shown is not known.
	Unverified map[string]string
}

// DecideAgain makes the decisions of a complete review again, from its basis instead of its own
// one, without an engine. With an equal basis the result has exactly the findings of the
// review. What finders, judges and verifiers answered stays, and so do all decisions that were
// made before memory was asked.
func DecideAgain(r *precedent.Review, basis *precedent.Basis) (Decided, error) {
	if basis == nil {
		return Decided{}, ErrNoBasis
	}
	return decideAgain(r, basis, memory.RecordedDismissals(basis.Dismissals, basis.Learnings),
		newObjections(basis.Dismissals, basis.Learnings))
}

// DecideNow makes the decisions of a complete review again, as DecideAgain does, as if the
// dismissals and learnings had held when it was made. Which of them speak of a finding is decided
// by text alone, and by what judges answered then about those that still hold.
func DecideNow(r *precedent.Review, basis *precedent.Basis, dismissals []precedent.Dismissal,
	learnings []precedent.Learning, now time.Time,
) (Decided, error) {
	past := memory.NewDismissals(dismissals, now)
	for _, l := range learnings {
		past.Heed([]memory.Recalled{{Learning: l}})
	}
	return decideAgain(r, basis, past, newObjections(dismissals, learnings))
}

func decideAgain(r *precedent.Review, basis *precedent.Basis, past *memory.Dismissals, against objections) (Decided,
	error,
) {
	if r.Basis == nil || basis == nil || slices.ContainsFunc(r.Findings, hasNoBasis) {
		return Decided{}, ErrNoBasis
	}
	var by scoring
	if err := json.Unmarshal(basis.Scores, &by); err != nil || by.Odds.Confirmed == 0 || by.Curve.Labels == 0 &&
		slices.ContainsFunc(r.Findings, func(f precedent.Finding) bool { return f.Refit != 0 }) {
		return Decided{}, errors.Join(ErrNoBasis, err)
	}
	in := &Input{
		Threshold: &basis.Threshold, ThresholdFrom: basis.ThresholdFrom, tuned: basis.Tuned, MaxInline: basis.MaxInline,
		Policy: precedent.Policy{Focus: basis.Focus, Ignore: basis.Ignore, Floors: basis.Floors, Minor: basis.Minor},
		Recall: memory.Recall{Learned: calibration.Learned{Curve: by.Curve}},
	}
	d := Decided{
		Findings: make([]precedent.Finding, len(r.Findings)), Threshold: basis.Threshold,
		Unverified: map[string]string{},
	}
	fs := d.Findings
	for i := range fs {
		fs[i] = undecided(&r.Findings[i])
	}
	suppress(fs, in.Policy, past, nil)
	for i := range fs {
		if f := &fs[i]; f.Live() {
			f.Severity = r.Findings[i].Severity
			if why := readAgain(f, &r.Findings[i], r.RulesChecked, basis.Threshold < r.Basis.Threshold); why != "" {
				d.Unverified[f.Fingerprint] = why
			}
			score(fs[i:i+1], by.Odds, in.severeThreshold())
			in.refit(fs[i : i+1])
		}
	}
	weigh(fs, in.Policy, past, in.severeThreshold())
	for i := range fs {
		answerAgain(&fs[i], &r.Findings[i])
		citeMatches(&fs[i], against)
	}
	choose(fs, in, func(f *precedent.Finding) bool { return f.Basis.Commentable })
	for i := range fs { // the basis is that of another decision
		fs[i].Basis = nil
	}
	return d, nil
}

// hasNoBasis reports whether a finding that memory was asked about has no usable basis.
func hasNoBasis(f precedent.Finding) bool {
	b := f.Basis
	if b == nil {
		return f.Live()
	}
	return !slices.IsSorted([]int{0, b.Asked, b.Scored, b.Weighed, b.Selected, len(f.Trail)})
}

// undecided returns a finding as it was when memory was asked; one that was dropped before is
// returned as it is.
func undecided(was *precedent.Finding) precedent.Finding {
	f := *was
	b := was.Basis
	if b == nil {
		f.Trail = slices.Clip(f.Trail)
		return f
	}
	own := *b
	takePrecedents(&f)
	f.Basis, f.Trail = &own, slices.Clip(f.Trail[:b.Asked])
	f.Confidence, f.Balance, f.Weighed, f.Refit, f.Kept = b.Confidence, b.Balance, 0, 0, b.Kept
	f.Severity = b.Severity
	f.Dropped, f.DroppedBy, f.DroppedWhy, f.Placement = "", "", "", ""
	return f
}

// readAgain adds what verifier and guide said about a finding that memory does not drop. If it
// was dropped by memory then, or would be read by a verifier only now, readAgain returns why its
// confidence is not known.
func readAgain(f, was *precedent.Finding, rules []precedent.Rule, lowered bool) (unknown string) {
	said := was.Trail[was.Basis.Asked:was.Basis.Scored]
	if hidden := was.Dropped != "" && slices.ContainsFunc(said,
		func(d precedent.Decision) bool { return d.Step == "suppress" && d.Text == was.DroppedWhy }); !hidden {
		for _, d := range said {
			f.Decide(d)
			if lowered && d.Step == "verify" && strings.HasPrefix(d.Text, unpromising) {
				unknown = "no verifier read it, because even if confirmed it would have stayed below the threshold"
			}
		}
		if was.Dropped == precedent.Refuted {
			f.Dropped, f.DroppedBy, f.DroppedWhy, f.Placement = was.Dropped, was.DroppedBy, was.DroppedWhy, precedent.Hidden
		}
		return unknown
	}
	switch {
	case f.Basis.Kept:
		return ""
	case f.Analyzer:
		f.Note("verify", "not verified: it is from an analyzer")
		return ""
	}
	f.Verifier = precedent.Unchecked
	f.Note("verify", "not verified: it was hidden before a verifier read it")
	one := []precedent.Finding{*f}
	demoteOutsideClaim(&one[0])
	cite(one, rules, nil)
	*f = one[0]
	return "it was hidden before a verifier read it"
}

// answerAgain adds what the threads of the pull request said after the confidence was weighed.
func answerAgain(f, was *precedent.Finding) {
	if was.Basis == nil || !f.Live() {
		return
	}
	for _, d := range was.Trail[was.Basis.Weighed:was.Basis.Selected] {
		if d.Step == precedentStep && d.By != "" {
			continue // decided again by what the basis has
		}
		if was.Dropped != "" && d.Text == was.DroppedWhy {
			f.Drop(d.Step, was.Dropped, was.DroppedBy, "%s", was.DroppedWhy)
			continue
		}
		f.Trail = append(f.Trail, d)
	}
}
