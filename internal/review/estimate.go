package review

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// The usual size of answers, in tokens.
const (
	answerTokens = 1_500 // of a finder
	wordTokens   = 80    // about one thread
)

// Estimate is what the specialists and the answers to threads will use, computed
// without an engine. Verification, judging and reading in the repository come on top:
// they depend on the findings. Threads whose finding is found again need no request.
type Estimate struct {
	Finders  []string `json:"finders"` // the specialists that are asked
	Parts    int      `json:"parts"`   // shards of the change; each specialist gets all of them
	Threads  int      `json:"-"`       // threads that the engine is asked about
	Requests int      `json:"requests"`
	Kept     int      `json:"stored_answers"` // answers of the specialists that are stored, and not asked for again
	// Usage assumes that the provider caches what requests share.
	Usage precedent.Usage `json:"usage"`
	// CostUSD is in US dollars; nil if the engine does not know its prices.
	CostUSD *float64 `json:"cost_usd"`
	// Unread counts the hunks beyond the limit of a review.
	Unread int `json:"unread_hunks"`
	// Idle are the specialists that are not asked, with the reason.
	Idle []precedent.FinderRun `json:"-"`
}

// Plan estimates the review of an input.
func Plan(ctx context.Context, in Input) Estimate {
	in.fillDefaults()
	return newReader(&in).estimate(ctx)
}

// estimate adds up the requests about the change and about threads.
func (x *reader) estimate(ctx context.Context) Estimate {
	e := x.specialists.estimate(ctx, x.in)
	if x.in.Engine == nil {
		return e
	}
	x.addThreads(&e)
	if cost := x.in.Engine.Info().Cost; cost != nil && e.Requests > 0 {
		usd := cost(e.Usage)
		e.CostUSD = &usd
	}
	return e
}

// addThreads adds the requests about threads that are known to be asked about.
func (x *reader) addThreads(e *Estimate) {
	var open []*openThread
	for _, q := range x.inquiries(nil, nil) {
		if !q.decideWithoutReading(x.in) {
			open = append(open, q.openThread)
		}
	}
	e.Threads = len(open)
	form := prompt.Tokens(string(prompt.Schema(string(engine.Threads))))
	for _, batch := range x.batches(open) {
		p := x.sheet.Threads(batch)
		e.Requests++
		e.Usage.Requests++
		e.Usage.InputTokens += form + prompt.Tokens(p.System+p.Common+p.Suffix)
		e.Usage.OutputTokens += wordTokens * len(batch)
	}
}

// estimate adds up the specialists' requests: the first request writes what all share
// to the cache, the first request about each further shard writes that shard, and all
// others read them from the cache. Answers that are stored need no request.
func (w *specialists) estimate(ctx context.Context, in *Input) Estimate {
	var e Estimate
	status, why := w.idle(in)
	for _, spec := range in.asked {
		if why != "" {
			e.Idle = append(e.Idle, precedent.FinderRun{Name: spec.Name, Status: status, Error: why})
			continue
		}
		e.Finders = append(e.Finders, spec.Name)
	}
	if len(e.Finders) == 0 {
		return e
	}
	e.Parts = len(w.plan.shards)
	fixed, own := 0, map[string]int{} // tokens that do not depend on the shard: of all finders, and of each by name
	for _, spec := range in.asked {
		p := w.sheet.Finder(spec, 0)
		fixed, own[spec.Name] = prompt.Tokens(p.System+p.Common), prompt.Tokens(p.Suffix)
	}
	fixed += prompt.Tokens(string(prompt.Schema("finder")))
	for i := range e.Parts {
		left := w.unanswered(ctx, in, in.asked, i)
		e.Kept += len(in.asked) - len(left)
		if len(left) == 0 {
			continue
		}
		part := prompt.Tokens(w.sheet.Finder(left[0], i).Prefix)
		if e.Requests == 0 {
			e.Usage.CacheWriteTokens += fixed
		} else {
			e.Usage.CachedTokens += fixed
		}
		others := len(left) - 1
		e.Usage.CacheWriteTokens += part
		e.Usage.CachedTokens += others * (fixed + part)
		e.Usage.InputTokens += len(left) * (fixed + part)
		for _, spec := range left {
			e.Usage.InputTokens += own[spec.Name]
		}
		e.Usage.OutputTokens += len(left) * answerTokens
		e.Requests += len(left)
	}
	e.Usage.Requests = e.Requests
	e.Unread = w.plan.countUnshown(in.Change)
	return e
}

// unanswered returns the specialists whose answer about a shard is not stored.
func (w *specialists) unanswered(ctx context.Context, in *Input, asked []prompt.Spec, shard int) []prompt.Spec {
	if in.Kept == nil {
		return asked
	}
	var left []prompt.Spec
	for n, spec := range asked {
		t := engine.Task{Role: engine.Finder, Name: spec.Name}
		if !in.Kept(ctx, in.withPrompt(t, w.prompt(in, spec, n == 0, shard))) {
			left = append(left, spec)
		}
	}
	return left
}
