package memory

import (
	"context"
	"slices"

	"github.com/precedent-dev/precedent/internal/calibration"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// maxLabels is the number of labels that calibration reads: earlier ones have almost no
// weight (0.98 to the power of 500).
const maxLabels = 500

// Labels returns what became of the repository's posted findings, as far as it tells whether
// the team accepted them, since the last reset, the newest ones, oldest first.
func (m *Memory) Labels(ctx context.Context) ([]calibration.Label, error) {
	labels, err := m.Rows.Labels(ctx, maxLabels)
	finders := prompt.Finders()
	for i := range labels {
		// A thread that was read back from a forge has no finder; its confidence stays as it is.
		labels[i].Analyzer = !slices.ContainsFunc(finders, func(s prompt.Spec) bool { return s.Name == labels[i].Finder })
	}
	return labels, err
}
