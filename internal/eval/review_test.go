package eval

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/match"
)

const patch = `diff --git a/a.py b/a.py
new file mode 100644
--- /dev/null
+++ b/a.py
@@ -0,0 +1,4 @@
+def first(x):
+    return x[0]
+
+print(first([]))
diff --git a/b.py b/b.py
--- a/b.py
+++ b/b.py
@@ -1,2 +1,2 @@
-old = 1
+new = 1
 other = 2
`

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

// dataSet writes a data set of one case and reads it.
func dataSet(t *testing.T, meta string) []Case {
	t.Helper()
	cases, err := Read(write(t, map[string]string{"one/meta.json": meta, "one/diff.patch": patch}))
	needs.NoError(t, err)
	return cases
}

// answers is an engine that answers each role with what a function says.
type answers func(t engine.Task) any

func (answers) Info() engine.Info { return engine.Info{Name: "answers", Who: "a test"} }

func (f answers) Run(_ context.Context, t engine.Task) (engine.Answer, error) {
	if t.FirstByte != nil {
		t.FirstByte()
	}
	raw, err := json.Marshal(f(t))
	return engine.Answer{Status: precedent.StatusOK, JSON: raw, Usage: precedent.Usage{Requests: 1}, CostUSD: 0.5}, err
}

// TestJudge: all pairs of a file are asked about, the nearest first, and only what the mark bears out counts.
func TestJudge(t *testing.T) {
	c := &dataSet(t, `{"gold": [
		{"path": "a.py", "from_line": 2, "to_line": 2, "note": "An empty list has no first element, key AKIAQYLPMN5HFIQR7XY`+`A."},
		{"path": "a.py", "from_line": 4, "to_line": 4, "note": "Why print?"},
		{"path": "b.py", "from_line": 1, "to_line": 1, "note": "Name it."}]}`)[0]
	cs := &Candidates{Case: "one", Findings: []Candidate{
		{Finding: precedent.Finding{Span: precedent.Span{Path: "a.py", Side: precedent.Right, Start: 2, End: 2}, Title: "It crashes"}},
		{Finding: precedent.Finding{Span: precedent.Span{Path: "a.py", Side: precedent.Right, Start: 4, End: 4}, Title: "weak", Dropped: precedent.BelowThreshold}},
		{Finding: precedent.Finding{Span: precedent.Span{Path: "a.py", Side: precedent.Right, Start: 4, End: 4}, Title: "gone", Dropped: precedent.Refuted}},
	}}
	var prompts []string
	const reply = `[{"pair": "p1", "same": true, "quote": "no  first\n element"}, {"pair": "p2", "same": true, "quote": "it prints"}, {"pair": "p9", "same": true, "quote": "x"}]`
	v := Reviewer{Engine: answers(func(task engine.Task) any {
		prompts = append(prompts, task.User())
		if task.Role != engine.Judge || task.Name != JudgeName || len(task.Schema) == 0 {
			t.Errorf("asked as %s %s", task.Role, task.Name)
		}
		return map[string]any{"pairs": jsonOf(reply)}
	})}
	j, err := v.Judge(t.Context(), c, cs, false)
	needs.NoError(t, err)
	want := &Judgement{
		Engine: "a test", Status: precedent.StatusOK, Asked: 2, Unproven: 1,
		Same:  []Same{{Finding: 0, List: goldList, Mark: 0, Quote: "no  first\n element"}},
		Spent: Spent{precedent.Usage{Requests: 1}, 0.5},
	}
	if diff := cmp.Diff(want, j); diff != "" {
		t.Errorf("judged (-want +got):\n%s", diff)
	}
	if p := strings.Join(prompts, ""); strings.Contains(p, "AKIAQ") || !strings.Contains(p, "return x[0]") || strings.Contains(p, "Name it") || strings.Contains(p, "weak") {
		t.Errorf("the judge read:\n%s", p)
	}
}

// at is a candidate in a.py.
func at(from, to int, c precedent.Category, title string) Candidate {
	return Candidate{Finding: precedent.Finding{
		Fingerprint: title, Title: title, Category: c, Severity: precedent.Low,
		Confidence: 90, Span: precedent.Span{Path: "a.py", Side: precedent.Right, Start: from, End: to},
	}}
}

// TestReplayKnowsWhatWasBefore: the dismissals of a pull request hide findings of later
// ones, never of earlier ones, and those of changes of unknown order hide nothing.
func TestReplayKnowsWhatWasBefore(t *testing.T) {
	const negative = `"negative": [{"path": "a.py", "from_line": 2, "to_line": 2, "category": "tests", "note": "Check the list.", "reason": "Never."}]`
	for _, test := range []struct {
		first, second string
		want          int // changes with dismissals
	}{
		{`"pr": "https://git.example.org/x/y/pull/7"`, `"pr": "https://git.example.org/x/y/pull/10"`, 1},
		{`"pr": "https://git.example.org/x/y/pull/7"`, `"pr": "https://git.example.org/x/z/pull/10"`, 0},
		{`"repo": "git.example.org/x/y"`, `"repo": "git.example.org/x/y"`, 0},
	} {
		a, b := dataSet(t, "{"+test.first+", "+negative+"}")[0], dataSet(t, "{"+test.second+", "+negative+"}")[0]
		b.Name = "two"
		lines := map[string]Candidates{}
		for _, c := range []Case{a, b} {
			lines[c.Name] = Candidates{Case: c.Name, Sum: c.Sum, Verdict: precedent.Findings, Findings: []Candidate{at(2, 2, precedent.Tests, "Check the list")}}
		}
		for _, cases := range [][]Case{{a, b}, {b, a}} {
			r, err := Compute(t.Context(), cases, File{Lines: lines}, Options{})
			if err != nil || r.OtherChanges.Cases != test.want || r.SameChange.Cases != 2 || !r.SameChange.InSample || r.OtherChanges.InSample {
				t.Errorf("%s and %s: %+v, %+v, %v", test.first, test.second, r.OtherChanges, r.SameChange, err)
			}
		}
	}
}

func jsonOf(s string) json.RawMessage { return json.RawMessage(s) }

// TestTablesHoldTheThresholds: the tables have a row for every similarity that decides.
func TestTablesHoldTheThresholds(t *testing.T) {
	for _, v := range []float64{match.SameWords, match.SamePlace, match.Overlap, match.Grey, match.Near, match.Sibling, match.AskClaim, match.LikeClaim, match.SameClaim} {
		if !slices.Contains(thresholds, v) {
			t.Errorf("no row for %.2f", v)
		}
	}
}
