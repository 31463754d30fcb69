package review

import (
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// TestBudgetRunsOut: what the budget did not reach is named, hunk by hunk, and nothing else, and the review is none.
func TestBudgetRunsOut(t *testing.T) {
	const parts, finders = 6, 2
	for tokens, want := range map[int]precedent.Verdict{1_000: precedent.Failed, 150_000: precedent.Partial} {
		in := input(t, files{}, manyFiles(parts))
		in.Policy.Finders = only("bugs", "security")
		var mu sync.Mutex
		answers := map[string]int{}
		in.Engine = (&engine.Budget{Tokens: tokens}).Within(scripted(func(task engine.Task) engine.Reply {
			mu.Lock()
			defer mu.Unlock()
			answers[task.Prefix]++
			reply := reply1()
			reply.Usage.InputTokens = prompt.Tokens(task.User())
			return reply
		}))
		r := run(t, in)
		read := 0
		for _, n := range answers {
			if n == finders {
				read++
			}
		}
		for _, h := range r.Coverage.Truncated {
			if !strings.Contains(h.Reason, string(precedent.StatusOverBudget)) {
				t.Errorf("%s, hunk %d: %s", h.Path, h.Hunk, h.Reason)
			}
		}
		if r.Coverage.HunksRead != read || len(r.Coverage.Truncated) != parts-read || r.Verdict != want ||
			r.ExitStatus(precedent.High) != precedent.ExitIncomplete {
			t.Errorf("%d tokens: verdict %s, exit status %d, %d hunks read, want %d", tokens, r.Verdict,
				r.ExitStatus(precedent.High), r.Coverage.HunksRead, read)
		}
	}
}
