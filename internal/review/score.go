package review

import (
	"fmt"

	"github.com/precedent-dev/precedent"
)

// score sets the confidence of findings: the model's number, changed by what the
// earlier stages found for and against it. Analyzers have a fixed confidence.
func score(fs []precedent.Finding) {
	for i := range fs {
		f := &fs[i]
		if !f.Live() {
			continue
		}
		if f.Analyzer {
			f.Note("score", "%d: fixed, because it is from an analyzer", f.Confidence)
			continue
		}
		said := f.Confidence
		delta := trailDelta(f)
		f.Confidence = percent(said + delta)
		f.Note("score", "%d: the model's %d%s; prior, no history", f.Confidence, said, signed(delta))
	}
}

func percent(n int) int { return min(max(n, 0), 100) }

func signed(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %+d", n)
}
