package review

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// TestBudgetRunsOut: what the budget did not reach is named, hunk by hunk, and nothing else, and the review is none.
func TestBudgetRunsOut(t *testing.T) {
	const parts, finders = 6, 2
	for _, tokens := range []int{20_000, 150_000} {
		t.Run(fmt.Sprint(tokens, " tokens"), func(t *testing.T) {
			in := input(t, files{}, manyFiles(parts))
			in.Policy.Finders = only("bugs", "security")
			budget := &engine.Budget{Tokens: tokens}
			var mu sync.Mutex
			answers := map[string]int{}
			in.Engine = budget.Within(scripted(func(_ context.Context, task engine.Task) engine.Reply {
				mu.Lock()
				defer mu.Unlock()
				for n := range parts {
					if path := fmt.Sprintf("p%d/values.go", n); strings.Contains(task.Prefix, "=== "+path) {
						answers[path]++
					}
				}
				reply := reply1()
				reply.Usage.InputTokens = prompt.Tokens(task.User())
				return reply
			}))
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
			var want, got []string
			for n := range parts {
				if path := fmt.Sprintf("p%d/values.go", n); answers[path] < finders {
					want = append(want, path)
				}
			}
			for _, h := range r.Coverage.Truncated {
				if !strings.Contains(h.Reason, string(precedent.StatusOverBudget)) {
					t.Errorf("%s, hunk %d: %s", h.Path, h.Hunk, h.Reason)
				}
				got = append(got, h.Path)
			}
			slices.Sort(got)
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
