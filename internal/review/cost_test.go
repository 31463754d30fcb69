package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// TestCost: what the input of eight finders costs, in billed tokens for each
// token of the diff that git prints, while all of the change is read. Reading it
// eight times without a cache would cost 8 and more.
func TestCost(t *testing.T) {
	needs.WithoutRace(t, "does with a large change what others do with a small one")
	for _, test := range []struct {
		lines int
		most  float64
		guide files
	}{
		{300, 6, nil},
		{300, 6, teamGuide()},
		{3_000, 3, nil},
		{3_000, 3, teamGuide()},
		{20_000, 2.3, nil},
		{20_000, 2.3, teamGuide()},
	} {
		t.Run(fmt.Sprintf("%d lines, %d guides", test.lines, len(test.guide)), func(t *testing.T) {
			base, head := pullRequest(uint64(test.lines), test.lines, test.guide)
			in, patch := changed(t, base, head)
			server := served(t, &in, head, findsNothing, nil)
			r := run(t, in)
			if r.Coverage.HunksRead != r.Coverage.Hunks {
				t.Errorf("%d of %d hunks were read", r.Coverage.HunksRead, r.Coverage.Hunks)
			}
			total := server.Totals()
			cost := total.Billed() / float64(prompt.Tokens(patch))
			t.Log(breakdown(server, patch))
			if cost > test.most {
				t.Errorf("a token of diff costs %.2f, at most %.1f are allowed\n%s", cost, test.most, breakdown(server, patch))
			}
		})
	}
}

// breakdown says what the parts of the prompts cost, billed, for each token of
// the diff.
func breakdown(s *llmtest.Server, patch string) string {
	tokens := float64(s.Tokens(patch))
	part := map[string]float64{}
	shards := map[string]bool{}
	shown := 0
	for _, e := range s.Exchanges() {
		r := e.Request
		common, prefix, own := s.Tokens(r.User[0].Text), s.Tokens(r.User[1].Text), s.Tokens(r.User[2].Text)
		frame := e.Usage.InputTokens - common - prefix - own
		for _, p := range []struct {
			name  string
			end   int // where it ends in the prompt
			count int
		}{{"system and tools", frame, frame}, {"common", frame + common, common}, {"shard", frame + common + prefix, prefix}} {
			switch {
			case p.end <= e.Usage.CachedTokens:
				part[p.name+" read"] += 0.1 * float64(p.count)
			case p.end <= e.Usage.CachedTokens+e.Usage.CacheWriteTokens:
				part[p.name+" written"] += 1.25 * float64(p.count)
			default:
				part[p.name+" plain"] += float64(p.count)
			}
		}
		part["own end"] += float64(own)
		if !shards[r.User[1].Text] {
			shards[r.User[1].Text] = true
			shown += prefix
		}
	}
	total := s.Totals()
	var b strings.Builder
	fmt.Fprintf(&b, "%.3f a token of %.0f; %d shards show %.3f of it; %.1f %% read from the cache;", total.Billed()/tokens, tokens, len(shards), float64(shown)/tokens, 100*total.ReadShare())
	for _, name := range []string{"system and tools", "common", "shard", "own end"} {
		for _, how := range []string{" written", " read", " plain", ""} {
			if n := part[name+how]; n > 0 {
				fmt.Fprintf(&b, " %s%s %.3f", name, how, n/tokens)
			}
		}
	}
	return b.String()
}
