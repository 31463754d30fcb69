package eval

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent/internal/golden"
	"github.com/precedent-dev/precedent/internal/report"
)

// TestMeasurePrecedents on invented comments: bots and replies do not count, and the same seed
// gives the same figures.
func TestMeasurePrecedents(t *testing.T) {
	m, err := MeasurePrecedents(context.Background(), []string{"testdata/precedents"}, 1)
	needs.NoError(t, err)
	golden.Compare(t, "testdata/precedents/score.golden", indented(t, m))
	var b strings.Builder
	needs.NoError(t, m.Show(report.NewPage(&b, 160, false)))
	golden.Compare(t, "testdata/precedents/table.golden", b.String())
}

func indented(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	needs.NoError(t, err)
	return string(data) + "\n"
}
