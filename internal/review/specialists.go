package review

import (
	"context"
	"fmt"
	"sync"

	"github.com/precedent-dev/precedent/internal/prompt"
)

// specialists is what the specialists of a review share. The requests about a shard differ only in their ends. The lead's
// request goes first: only when its answer starts has the provider cached what the others share, and sending all at once
// would cost more than not caching.
type specialists struct {
	plan  *plan
	brief *brief
	sheet *prompt.Sheet
	slots chan struct{}  // one for each concurrent request
	led   sync.WaitGroup // until all requests of the lead are being answered
	trial *trial
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
	w.led.Add(len(p.shards))
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
