package eval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent/internal/golden"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/memory"
)

func indented(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	needs.NoError(t, err)
	return string(data) + "\n"
}

// TestSuppressGolden holds what becomes of every finding of a small data set, so
// that a change of a threshold, a scope or the tokens shows.
func TestSuppressGolden(t *testing.T) {
	m, err := ReadMemories(filepath.Join("testdata", "suppress"), 1)
	needs.NoError(t, err)
	var b strings.Builder
	for i := range m.cases {
		c := &m.cases[i]
		for k, f := range memory.Suppress(c.findings, c.dismissals, c.now, c.threshold, nil) {
			nearest := 0.0
			for _, j := range c.dismissals {
				nearest = max(nearest, match.NewClaim(f.Title).Similarity(match.NewClaim(j.Claim)))
			}
			fmt.Fprintf(&b, "%-14s covered %-5v similarity %.4f  %-9s by %-13s %s, confidence %d\n",
				f.ID, c.covered[k], nearest, cmp.Or(string(f.Dropped), "kept"), cmp.Or(f.DroppedBy, "nobody"), f.Placement, f.Confidence)
		}
	}
	golden.Compare(t, "testdata/suppress/findings.golden", b.String())
	golden.Compare(t, "testdata/suppress/score.golden", indented(t, ScoreSuppress(m, nil, 2, 1)))
}
