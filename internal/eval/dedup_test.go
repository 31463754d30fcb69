package eval

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent/internal/golden"
	"github.com/precedent-dev/precedent/internal/match"
)

// TestDedupGolden holds what is decided about every pair of a small data set, so
// that a change of a threshold or of the tokens shows.
func TestDedupGolden(t *testing.T) {
	pairs, err := ReadPairs(filepath.Join("testdata", "dedup"))
	needs.NoError(t, err)
	var b strings.Builder
	for i := range pairs.List {
		p := &pairs.List[i]
		fmt.Fprintf(&b, "same %-5v similarity %.4f  %-8s %s | %s\n", p.Same, match.Similarity(&p.A, &p.B), p.alike(), p.A.Title, p.B.Title)
	}
	golden.Compare(t, "testdata/dedup/pairs.golden", b.String())
	golden.Compare(t, "testdata/dedup/score.golden", indented(t, ScoreDedup(pairs, nil, 1)))
}

// write puts files into a new folder.
func write(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		needs.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		needs.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// TestTablesHoldTheThresholds: the tables have a row for every similarity that decides.
func TestTablesHoldTheThresholds(t *testing.T) {
	for _, v := range []float64{match.SameWords, match.SamePlace, match.Overlap, match.Grey, match.Near, match.Sibling, match.AskClaim, match.LikeClaim, match.SameClaim} {
		if !slices.Contains(thresholds, v) {
			t.Errorf("no row for %.2f", v)
		}
	}
}
