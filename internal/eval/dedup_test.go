package eval

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
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

// TestJudgePairs: only the pairs that a judge decides are asked about, without their secrets,
// and made-up proof does not count.
func TestJudgePairs(t *testing.T) {
	pairs, err := ReadPairs(filepath.Join("testdata", "dedup"))
	needs.NoError(t, err)
	key := "AKIA" + "QYLPMN5HFIQR7XYA"
	pairs.List[8].A.Body += " " + key
	reply := `[{"pair": "p1", "same": true, "quote": "nowhere said"}, {"pair": "p2", "same": false}, {"pair": "p3", "same": false},
		{"pair": "p4", "same": false}, {"pair": "p5", "same": false}, {"pair": "p6", "same": true, "quote": "four fields"}]`
	v := Reviewer{Engine: answers(func(task engine.Task) any {
		if text := task.User(); task.Role != engine.Judge || strings.Contains(text, key) || !strings.Contains(text, "short line") || strings.Contains(text, "Misspelled") {
			t.Errorf("%s was asked:\n%s", task.Role, text)
		}
		return map[string]any{"pairs": jsonOf(reply)}
	})}
	j, err := v.JudgePairs(t.Context(), pairs)
	needs.NoError(t, err)
	if j.Asked != 6 || j.Answered != 6 || j.Unproven != 1 || j.Status != precedent.StatusOK || j.Spent.CostUSD != 0.5 {
		t.Errorf("judged %+v", j)
	}
	r := ScoreDedup(pairs, j, 1)
	if r.Judge.Right != r.Alone.Right+1 || r.Judge.Merged != r.Alone.Merged+1 || *r.Ideal.Recall.Value != 1 {
		t.Errorf("alone %+v, judged %+v", r.Alone, r.Judge)
	}
	reply = `[{"pair": "p6", "same": true}]`
	if j, err = v.JudgePairs(t.Context(), pairs); err != nil || j.Status != precedent.StatusMalformed || j.Answered != 1 || !j.same[8] {
		t.Errorf("half an answer: %+v, %v", j, err)
	}
}

// TestTablesHoldTheThresholds: the tables have a row for every similarity that decides.
func TestTablesHoldTheThresholds(t *testing.T) {
	for _, v := range []float64{match.SameWords, match.SamePlace, match.Overlap, match.Grey, match.Near, match.Sibling, match.AskClaim, match.LikeClaim, match.SameClaim} {
		if !slices.Contains(thresholds, v) {
			t.Errorf("no row for %.2f", v)
		}
	}
}
