package review

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// ruling is a verifier's answer about one finding.
type ruling struct {
	Finding    string               `json:"finding"`
	Verdict    precedent.Check      `json:"verdict"`
	Confidence *int                 `json:"confidence"`
	Reason     string               `json:"reason"`
	Evidence   []precedent.Evidence `json:"evidence"`
}

// readVerdicts returns the rulings by finding id. If there are two about one
// finding, the first counts.
func readVerdicts(r reply) (map[string]ruling, error) {
	if !r.ok() {
		status, why := r.failure()
		return nil, &unanswered{status, why}
	}
	var answer struct {
		Verdicts []ruling `json:"verdicts"`
	}
	if err := json.Unmarshal(r.answer.JSON, &answer); err != nil {
		return nil, fmt.Errorf("read verdicts: %w", err)
	}
	byID := map[string]ruling{}
	for _, v := range answer.Verdicts {
		id := strings.TrimSpace(v.Finding)
		if _, twice := byID[id]; !twice {
			byID[id] = v
		}
	}
	return byID, nil
}

// uncertainDelta is what a finding in a protected category loses if the verifier is
// uncertain, in percent points.
const uncertainDelta = -15

// applyTo applies the ruling to the finding. A verdict needs quotes that are in the
// files: if it has only others, or if it confirms without any, it counts as uncertain. A
// finding in a protected category is refuted only with quotes; without them its
// confidence is not even lowered, so that a change cannot talk its verifier into hiding
// it.
func (v ruling) applyTo(f *precedent.Finding, p *Placer, src *sources) {
	offered := v.Evidence[:min(len(v.Evidence), maxEvidence)]
	holds := verifiedEvidence(offered, p, src)
	if f.Category.Protected() {
		holds = slices.DeleteFunc(holds, func(e precedent.Evidence) bool { return onlyComment(e.Quote) })
	}
	reason := text.Cut(oneLine(v.Reason), maxReason)
	if len(holds) > 0 {
		reason += fmt.Sprintf(" (%s:%d)", holds[0].Path, holds[0].Line)
	}
	f.Verifier = v.Verdict
	words := v.Verdict == precedent.Denied && len(holds) == 0 && f.Category.Protected()
	switch {
	case v.Confidence != nil && *v.Confidence < sureFrom && v.Verdict != precedent.Uncertain:
		f.Verifier = precedent.Uncertain
		reason = fmt.Sprintf("%s, but only %d %% sure: %s", v.Verdict, *v.Confidence, reason)
	case len(offered) > 0 && len(holds) == 0 && v.Verdict != precedent.Uncertain:
		f.Verifier = precedent.Uncertain
		reason = fmt.Sprintf("%s, but its evidence is not in the files or is only comments: %s", v.Verdict, reason)
	case v.Verdict == precedent.Confirmed && len(holds) == 0 && outsideClaim().MatchString(f.Title+"\n"+f.Body):
		f.Verifier = precedent.Uncertain
		reason = "confirmed without evidence, and it is about other software: " + reason
	case words:
		f.Verifier = precedent.Uncertain
		reason = "refuted without evidence: " + reason
	case v.Verdict == precedent.Confirmed && len(holds) == 0:
		f.Verifier = precedent.Uncertain
		reason = "confirmed, but without evidence: " + reason
	}
	d := precedent.Decision{Step: "verify", Text: string(f.Verifier) + ": " + reason}
	switch f.Verifier {
	case precedent.Denied:
		f.Drop("verify", precedent.Refuted, "", "refuted: %s", reason)
		return
	case precedent.Uncertain:
		if f.Category.Protected() && !words {
			d.Delta = uncertainDelta
		}
	}
	f.Trail = append(f.Trail, d)
}

// comment matches a line that is a comment in a common language. What a change says
// about itself proves nothing.
var comment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(//|#|--|/?\*|<!--|;|%|"""|\x27\x27\x27|rem\b|REM\b)`)
})

// onlyComment tells whether all lines of a quote are comments.
func onlyComment(quote string) bool {
	for l := range strings.Lines(quote) {
		if strings.TrimSpace(l) != "" && !comment().MatchString(l) {
			return false
		}
	}
	return true
}
