package review

import (
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent/internal/engine/api"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestCache: of what eight finders send, four fifths and more are read from the provider's cache, because the first
// request about a part of the change is alone until its answer begins.
func TestCache(t *testing.T) {
	in := input(t, files{}, manyFiles(3))
	in.Concurrency, in.Deep, in.Policy.Finders = 16, true, nil
	const asked = 8 // all but the one of guidelines
	var mu sync.Mutex
	arrived := map[string]int{}
	server := llmtest.Anthropic(t, func(r llmtest.Request) llmtest.Reply {
		prefix := prefixOf(r)
		count := func(more int) int {
			mu.Lock()
			defer mu.Unlock()
			arrived[prefix] += more
			return arrived[prefix]
		}
		// A request that does not wait for the first answer has time to arrive.
		if count(1) == 1 {
			for i := 0; i < 50_000 && count(0) == 1; i++ {
				runtime.Gosched()
			}
		}
		return llmtest.Reply{Text: nothing}
	})
	in.Engine = client(t, server, api.Files{})
	r := run(t, in)
	total := server.Totals()
	if total.ReadShare() < 0.8 || r.Usage.CachedTokens != total.Cached || r.Usage.InputTokens != total.Input {
		t.Errorf("%.1f %% of the input was read from the cache; the review says %+v, the server %+v", 100*total.ReadShare(),
			r.Usage, total)
	}
	t.Logf("%.1f %% of the input was read from the cache", 100*total.ReadShare())
	needs.Equal(t, 1, total.BeforeFirstByte)
	needs.Equal(t, asked, len(askers(server)))
	byPart := map[string][]llmtest.Exchange{}
	for _, e := range server.Exchanges() {
		byPart[prefixOf(e.Request)] = append(byPart[prefixOf(e.Request)], e)
	}
	for prefix, all := range byPart {
		first := slices.MinFunc(all, func(a, b llmtest.Exchange) int { return a.Answered - b.Answered })
		early := 0
		for _, e := range all {
			if e.Arrived < first.Answered {
				early++
			}
		}
		if early != 1 || len(all) != asked {
			t.Errorf("%d of %d requests arrived before the first answer about %.40q", early, len(all), prefix)
		}
	}
}
