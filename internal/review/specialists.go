package review

import (
	"context"
	"fmt"

	"github.com/precedent-dev/precedent/internal/prompt"
)

// specialists is what the specialists of a review share. The requests about a shard
// differ only in their ends. The lead's request goes first, and the others follow when
// its answer starts, because only then has the provider cached what they share.
// Sending all at once would cost more than not caching.
type specialists struct {
	plan      *plan
	brief     *brief
	sheet     *prompt.Sheet
	slots     chan struct{}   // one for each concurrent request
	answering []chan struct{} // by shard
	trial     *trial
}

// newSpecialists prepares what specialists need, if there is an engine.
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

// How a small context window is divided.
const (
	answerShare = 4   // the answer gets one part of this many
	leastShard  = 400 // minimum size of a shard, in tokens
)

// diffTokens returns how many tokens of the diff one request can show. A window of 0
// means a large one.
func (b *brief) diffTokens(window int) int {
	if window == 0 {
		return shardTokens
	}
	return min(shardTokens, max(window-window/answerShare-b.overhead(), leastShard))
}

// export returns the folder with a tree, for an engine that needs one.
func (in *Input) export(ctx context.Context, tree func(context.Context) (string, error)) (string, error) {
	if !in.Engine.Info().WantsTree || tree == nil {
		return "", nil
	}
	dir, err := tree(ctx)
	if err != nil {
		return "", fmt.Errorf("export the code: %w", err)
	}
	return dir, nil
}

// enabled reports whether the policy enables a finder.
func (in *Input) enabled(finder string) bool {
	on, said := in.Policy.Finders[finder]
	return on || !said
}
