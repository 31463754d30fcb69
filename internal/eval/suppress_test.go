package eval

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
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

func TestReadMemoriesOfComments(t *testing.T) {
	m, err := ReadMemories(commentFolder(t), 1)
	needs.NoError(t, err)
	if m.Form != commentsForm || len(m.cases) != 3 || len(m.pools) != 1 {
		t.Fatalf("read %d cases and %d pools of %s", len(m.cases), len(m.pools), m.Form)
	}
	c := m.cases[0]
	if c.dismissals[0].Claim != "The file is never closed when parsing fails" || !c.covered[0] || c.change != "app#8" {
		t.Errorf("the first case is %+v", c)
	}
	if p := m.pools[0]; p.change != "app#9" || len(p.from) != 1 || p.others() != 0 {
		t.Errorf("what no pair names: %+v; a comment's own pull request has no memory for it", p)
	}
	if p := m.cases[0].from; len(p) != 1 {
		t.Errorf("drawn for the cases: %+v", p)
	}
	r := ScoreSuppress(m, nil, 1, 1)
	if r.Text.Right != 1 || r.Text.Wrong != 0 || r.Text.Drawn[0].Findings != 0 || r.Text.Serious != 0 || r.Text.Replayed != 6 {
		t.Errorf("scored %+v", r.Text)
	}
}

func TestReadMemoriesOfChanges(t *testing.T) {
	meta := func(pr int, marks string) string {
		return fmt.Sprintf(`{"pr": "https://git.example.org/shop/app/pull/%d", %s}`, pr, marks)
	}
	m, err := ReadMemories(write(t, map[string]string{
		"one/diff.patch": patch, "one/meta.json": meta(1, `"gold": [{"path": "a.py", "from_line": 2, "category": "bugs", "note": "An empty list has no first element."}]`),
		"two/diff.patch": patch, "two/meta.json": meta(2, `"gold": [{"path": "a.py", "from_line": 2, "category": "bugs", "note": "An empty list has no first element!"}],
			"negative": [{"path": "a.py", "from_line": 4, "category": "style", "note": "Why print?"}]`),
		"alone/diff.patch": patch, "alone/meta.json": `{"gold": [{"path": "a.py", "from_line": 2, "note": "Something else."}]}`,
	}), 1)
	needs.NoError(t, err)
	others := map[string]int{}
	for i := range m.pools {
		others[m.pools[i].change] = m.pools[i].others()
	}
	if diff := gocmp.Diff(map[string]int{"one": 2, "two": 1, "alone": 0}, others); diff != "" || len(m.cases) != 0 {
		t.Errorf("dismissals of other changes (-want +got):\n%s", diff)
	}
	r := ScoreSuppress(m, nil, 20, 1)
	if d := r.Text.Drawn[0]; d.Findings != 2 || d.Hidden < 20 || d.Hidden >= 40 {
		t.Errorf("one drawn dismissal: %+v; want the same words always hidden, and the other one drawn, too", d)
	}
}

// TestJudgeMemories: each question is asked once, and yes takes words of the person as proof.
func TestJudgeMemories(t *testing.T) {
	m, err := ReadMemories(filepath.Join("testdata", "suppress"), 1)
	needs.NoError(t, err)
	quote := "never flag this"
	var trouble error
	v := Reviewer{Engine: answers(func(task engine.Task) any {
		if task.Role != engine.Judge || task.Name != DismissedName {
			t.Errorf("asked as %s %s", task.Role, task.Name)
		}
		if trouble != nil {
			return trouble
		}
		var all []match.Answer
		for i := range strings.Count(task.User(), "The declined remark, on ") {
			all = append(all, match.Answer{Pair: match.PairID(i), Same: true, Quote: quote})
		}
		return map[string]any{"pairs": all}
	})}
	j, err := v.JudgeMemories(t.Context(), m, 3, 1)
	needs.NoError(t, err)
	if j.Asked != 22 || j.Answered != 22 || j.Unproven == 0 || j.Spent.Requests != 1 {
		t.Errorf("judged %+v", j)
	}
	r := ScoreSuppress(m, j, 3, 1)
	// It says yes where a reason has the quote, and no elsewhere, which silences
	// what text alone would have hidden.
	if r.Judge.Serious != 0 || r.Judge.Patterns == r.Text.Patterns || r.Ideal.Wrong != 0 || r.Ideal.Right <= r.Text.Right {
		t.Errorf("text %+v\njudge %+v\nideal %+v", r.Text, r.Judge, r.Ideal)
	}
	trouble = errors.New("no more")
	if j, err = v.JudgeMemories(t.Context(), m, 3, 1); err != nil || j.Status != precedent.StatusError || j.Answered != 0 || j.Error != "no more" {
		t.Errorf("a judge that fails: %+v, %v", j, err)
	}
	if r := ScoreSuppress(m, j, 3, 1); !gocmp.Equal(*r.Judge, r.Text) {
		t.Error("where nobody answers, text alone decides")
	}
}
