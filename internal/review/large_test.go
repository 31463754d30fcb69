package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
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
