package review

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// TestCache: of what eight finders send, four fifths and more are read from the provider's cache, because the first
// request about a part of the change is alone until its answer begins.
func TestCache(t *testing.T) {
	base, head := pullRequest(3, 3_000, teamGuide())
	in, _ := changed(t, base, head)
	in.Concurrency = 16
	var mu sync.Mutex
	asked := map[string]int{}
	server := served(t, &in, head, func(r llmtest.Request) llmtest.Reply {
		prefix := prefixOf(r)
		count := func(more int) int {
			mu.Lock()
			defer mu.Unlock()
			asked[prefix] += more
			return asked[prefix]
		}
		// A request that does not wait for the first answer has time to arrive.
		if count(1) == 1 {
			for i := 0; i < 50_000 && count(0) == 1; i++ {
				runtime.Gosched()
			}
		}
		return llmtest.Reply{Text: nothing}
	}, nil)
	r := run(t, in)
	total := server.Totals()
	if total.ReadShare() < 0.8 || r.Usage.CachedTokens != total.Cached || r.Usage.InputTokens != total.Input {
		t.Errorf("%.1f %% of the input was read from the cache; the review says %+v, the server %+v", 100*total.ReadShare(),
			r.Usage, total)
	}
	t.Logf("%.1f %% of the input was read from the cache", 100*total.ReadShare())
	needs.Equal(t, 1, total.BeforeFirstByte)
	l := newLedger(server)
	needs.Equal(t, len(prompt.Finders()), len(l.asks()))
	byPart := map[string][]llmtest.Exchange{}
	for _, e := range l.all {
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
		if early != 1 || len(all) != len(prompt.Finders()) {
			t.Errorf("%d of %d requests arrived before the first answer about %.40q", early, len(all), prefix)
		}
	}
}

// shuffled is an engine whose tasks go on one at a time, in random order: each stops before it is asked and before its
// answer is given, until all that are under way have stopped and it is drawn.
type shuffled struct {
	engine.Engine

	mu      sync.Mutex
	rand    *rand.Rand
	running int
	stopped []chan struct{}
	ended   []string
}

func (s *shuffled) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	s.step(func() { s.running++ })
	s.stop()
	a, err := s.Engine.Run(ctx, t)
	s.stop()
	s.step(func() {
		s.running--
		s.ended = append(s.ended, t.Name)
	})
	return a, err
}

func (s *shuffled) stop() {
	c := make(chan struct{})
	s.step(func() { s.stopped = append(s.stopped, c) })
	<-c
}

// step changes what is under way, and draws if everything has stopped.
func (s *shuffled) step(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	if n := len(s.stopped); n > 0 && n == s.running {
		i := s.rand.IntN(n)
		close(s.stopped[i])
		s.stopped = slices.Delete(s.stopped, i, i+1)
	}
}
