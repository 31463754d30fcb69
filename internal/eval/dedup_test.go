package eval

import (
	"bytes"
	"compress/gzip"
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

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	needs.NoError(t, w.Close())
	return b.String()
}

// commentFolder has five comments on four pull requests of two repositories.
func commentFolder(t *testing.T) string {
	t.Helper()
	return write(t, map[string]string{
		"app.jsonl.gz": zipped(t, `{"id": 1, "pr": 7, "path": "a.c", "line": null, "original_line": 4, "side": "RIGHT", "diff_hunk": "@@ -1 +1 @@\n-old\n+\tnew();", "body": "> why?\nThe file is never closed when parsing fails. Close it."}
{"id": 2, "pr": 8, "path": "b.c", "line": 5, "start_line": 3, "body": "The file is never closed when reading fails"}
{"id": 3, "pr": 8, "path": "b.c", "line": 5, "body": "Loop bound is off by one for an empty list"}
{"id": 4, "pr": 9, "path": "b.c", "line": 9, "body": "Name this constant before anybody copies it"}
`),
		"lib.jsonl":       `{"id": 5, "pr": 7, "path": "l.c", "line": 1, "in_reply_to_id": 4, "body": "An answer that claims nothing new at all"}`,
		"same-pairs.json": `[{"q": 2, "d": 1, "y": 1}, {"q": 3, "d": 1, "y": 0}, {"q": 3, "d": 2, "y": 0}, {"q": 99, "d": 1, "y": 1}]`,
	})
}

func TestReadPairsOfComments(t *testing.T) {
	pairs, err := ReadPairs(commentFolder(t))
	needs.NoError(t, err)
	if pairs.Form != commentsForm || len(pairs.List) != 3 || pairs.Unknown != 1 {
		t.Fatalf("read %+v", pairs)
	}
	p := pairs.List[0]
	if p.Change != "app#8" || !p.Same || !p.Apart || p.A.String() != "a.c:4" || p.A.Quote != "\tnew();" || p.B.String() != "b.c:3-5" {
		t.Errorf("the first pair is %+v", p)
	}
	if p.alike() != match.SurelySame {
		t.Errorf("%s: texts that agree say the same wherever they are", p.alike())
	}
	if p := pairs.List[2]; p.Apart || p.Same || p.alike() != match.PerhapsSame && p.alike() != match.NotSame {
		t.Errorf("comments of one pull request are compared by their places: %+v, %s", p, p.alike())
	}
}

func TestReadPairsOfChanges(t *testing.T) {
	pairs, err := ReadPairs(write(t, map[string]string{"one/diff.patch": patch, "one/meta.json": `{"gold": [
		{"path": "a.py", "from_line": 1, "to_line": 2, "category": "style", "note": "Name the argument."},
		{"path": "a.py", "from_line": 2, "to_line": 2, "category": "bugs", "note": "An empty list has no first element."},
		{"path": "b.py", "from_line": 1, "to_line": 1, "note": "Why new?"},
		{"path": "b.py", "side": "left", "from_line": 1, "to_line": 1, "note": "Why old?"}]}`}))
	if err != nil || len(pairs.List) != 1 {
		t.Fatalf("%v, %+v: want the pair of a.py", err, pairs)
	}
	if p := pairs.List[0]; p.Same || !p.overlaps() || p.Change != "one" || p.B.Quote != "    return x[0]" {
		t.Errorf("the pair is %+v", p)
	}
	if r := ScoreDedup(pairs, nil, 1); r.AUC != nil || r.Alone.Recall.Value != nil || *r.Alone.False.Value != 0 || r.Alone.Overlapping != 1 {
		t.Errorf("scored %+v", r)
	}
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
