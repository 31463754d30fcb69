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
