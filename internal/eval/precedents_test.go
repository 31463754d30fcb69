package eval

import (
	"context"
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

// TestReadReviews: labels join comments to clusters, and only earlier comments of other pull
// requests are precedents.
func TestReadReviews(t *testing.T) {
	line := func(id, pr, at string) string {
		return `{"id": ` + id + `, "pr": ` + pr + `, "body": "Wrap the error before it is returned", "diff_hunk": "@@ -1 +1 @@\n+x", "created_at": "` + at + `"}` + "\n"
	}
	dir := write(t, map[string]string{
		"a.jsonl": line("3", "2", "2025-03-01T00:00:00Z") + line("1", "1", "2025-01-01T00:00:00Z") +
			line("2", "2", "2025-02-01T00:00:00Z") + line("4", "3", "2025-04-01T00:00:00Z"),
		"pairs.json": `[{"q": 3, "d": 2, "y": 1}, {"q": 2, "d": 1, "y": 1}, {"q": 4, "d": 1, "y": 0}]`,
	})
	files, labels, err := readReviews([]string{dir})
	if err != nil || len(files) != 1 || len(labels) != 3 {
		t.Fatalf("%d files, %d labels: %v", len(files), len(labels), err)
	}
	f := files[0]
	for i, want := range []int{0, 1, 1, 0} { // of comment 3, 1 but not 2, which is of its own pull request
		if got := f.precedents(&f.all[i].CorpusChunk, false); got != want {
			t.Errorf("comment %s has %d precedents, want %d", f.all[i].ID, got, want)
		}
	}
	if _, err := MeasurePrecedents(context.Background(), []string{t.TempDir()}, 1); err == nil {
		t.Error("a folder without comments was measured")
	}
}
