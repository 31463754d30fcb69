package review

import (
	"context"
	"fmt"

	"github.com/precedent-dev/precedent/internal/prompt"
)

// specialists is what the specialists of a review share. The requests about a shard
// have all but their ends in common: the lead's goes first, and the others go
// when its answer begins, because only then can an engine have kept what they
// share. All at once costs more than keeping nothing.
type specialists struct {
	plan      *plan
	brief     *brief
	sheet     *prompt.Sheet
	slots     chan struct{}   // one for each request that may be under way
	answering []chan struct{} // by shard
	trial     *trial
}

// newSpecialists makes ready what specialists need, if there is an engine to ask.
func newSpecialists(in *Input, p *plan) *specialists {
	w := &specialists{plan: p, slots: make(chan struct{}, in.Concurrency), trial: &trial{}}
	if in.Engine == nil {
		return w
	}
	w.brief = newBrief(in)
	w.brief.input.Before = p.countReadBefore(in.Change)
	p.pack(in.Change, w.brief.diffTokens(in.Window))
	w.sheet = w.brief.sheet(p)
	for range p.shards {
		w.answering = append(w.answering, make(chan struct{}))
	}
	return w
}

// What a prompt has to leave free in a small context window.
const (
	answerShare = 4   // the answer gets this part of the window, and
	leastShard  = 400 // a shard so many tokens, however full the window is
)

// diffTokens is how many tokens of the diff one request can show. A window of 0 is a
// large one.
func (b *brief) diffTokens(window int) int {
	if window == 0 {
		return shardTokens
	}
	return min(shardTokens, max(window-window/answerShare-b.overhead(), leastShard))
}

// exportHead returns the folder with the head for an engine that wants one.
func (in *Input) exportHead(ctx context.Context) (string, error) {
	if !in.Engine.Info().WantsTree || in.Shown == nil {
		return "", nil
	}
	dir, err := in.Shown(ctx)
	if err != nil {
		return "", fmt.Errorf("export the head: %w", err)
	}
	return dir, nil
}

// enabled tells whether the policy leaves a finder on.
func (in *Input) enabled(finder string) bool {
	on, said := in.Policy.Finders[finder]
	return on || !said
}
