package review

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/report"
)

// TestBudgetRunsOut: what the budget did not reach is named, hunk by hunk, and nothing else, and the review is none.
func TestBudgetRunsOut(t *testing.T) {
	base, head := pullRequest(3, 8_000, teamGuide())
	in, _ := changed(t, base, head)
	for _, tokens := range []int{20_000, 600_000} {
		t.Run(fmt.Sprint(tokens, " tokens"), func(t *testing.T) {
			budget := &engine.Budget{Tokens: tokens}
			findsNothing := func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Text: nothing} }
			server := served(t, &in, head, findsNothing, budget)
			r := run(t, in)
			// A request is estimated before it is sent, from its length; those under
			// way together may take more than that, by less than a part of the change each.
			if spent, _ := budget.Spent(); spent > tokens+defaultConcurrency*shardTokens {
				t.Errorf("%d tokens were spent", spent)
			}
			over := 0
			for _, f := range r.Finders {
				if f.Status == precedent.StatusOverBudget {
					over++
				}
			}
			want := unread(&in, newLedger(server))
			var got []precedent.TruncatedHunk
			for _, h := range r.Coverage.Truncated {
				if !strings.Contains(h.Reason, string(precedent.StatusOverBudget)) {
					t.Errorf("%s, hunk %d: %s", h.Path, h.Hunk, h.Reason)
				}
				got = append(got, precedent.TruncatedHunk{Path: h.Path, Hunk: h.Hunk})
			}
			slices.SortFunc(got, byPlace)
			needs.Equal(t, want, got)
			needs.Equal(t, r.Coverage.Hunks, r.Coverage.HunksRead+len(want))
			if over == 0 || r.Verdict != precedent.Partial && r.Verdict != precedent.Failed ||
				r.ExitStatus(precedent.High) != precedent.ExitIncomplete {
				t.Errorf("verdict %s, exit status %d, %d finders over budget", r.Verdict, r.ExitStatus(precedent.High), over)
			}
			t.Logf("verdict %s, %d finders over budget, %d of %d hunks read", r.Verdict, over, r.Coverage.HunksRead,
				r.Coverage.Hunks)
		})
	}
}

// atOnce is an engine that is at once done with anything.
type atOnce struct{}

func (atOnce) Info() engine.Info { return engine.Info{Name: "at once"} }
func (atOnce) Run(_ context.Context, t engine.Task) (engine.Answer, error) {
	if t.FirstByte != nil {
		t.FirstByte()
	}
	return engine.Answer{Status: precedent.StatusOK, JSON: []byte(`{"findings":[]}`)}, nil
}

// BenchmarkLarge is everything but the engine's time: 20,000 lines, eight
// finders, from the text of the diff to the JSON of the review.
func BenchmarkLarge(b *testing.B) {
	base, head := pullRequest(2, 20_000, teamGuide())
	in, patch := changed(b, base, head)
	in.Engine = atOnce{}
	b.ReportAllocs()
	for b.Loop() {
		in.Change = parse(b, patch)
		in.Change.Classify(diff.Trees{Base: func(path string) ([]byte, error) { return in.Read(precedent.Left, path) }})
		needs.NoError(b, report.JSON(io.Discard, run(b, in)))
	}
}
