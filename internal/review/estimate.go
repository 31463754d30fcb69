package review

import (
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
	Finders  []string // the specialists that are asked
	Parts    int      // shards of the change; each specialist gets all of them
	Threads  int      // threads that the engine is asked about
	Requests int
	// Usage assumes that the provider caches what requests share.
	Usage precedent.Usage
	// CostUSD is in US dollars; nil if the engine does not know its prices.
	CostUSD *float64
	// Unread counts the hunks beyond the limit of a review.
	Unread int
	// Idle are the specialists that are not asked, with the reason.
	Idle []precedent.FinderRun
}

// Plan estimates the review of an input.
func Plan(in Input) Estimate {
	in.fillDefaults()
	return newReader(&in).estimate()
}

// estimate adds up the requests about the change and about threads.
func (x *reader) estimate() Estimate {
	e := x.specialists.estimate(x.in)
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
// others read them from the cache.
func (w *specialists) estimate(in *Input) Estimate {
	var e Estimate
	var asked []prompt.Spec
	for _, spec := range prompt.Finders() {
		s := &specialist{spec: spec, specialists: w}
		if status, why := s.idle(in); why != "" {
			e.Idle = append(e.Idle, precedent.FinderRun{Name: spec.Name, Status: status, Error: why})
			continue
		}
		e.Finders = append(e.Finders, spec.Name)
		asked = append(asked, spec)
	}
	if len(asked) == 0 {
		return e
	}
	e.Parts = len(w.plan.shards)
	form := prompt.Tokens(string(prompt.Schema("finder")))
	var fixed, suffixes int
	for i := range e.Parts {
		first := w.sheet.Finder(asked[0], i)
		if i == 0 {
			fixed = form + prompt.Tokens(first.System+first.Common)
			e.Usage.CacheWriteTokens += fixed
			for _, spec := range asked {
				suffixes += prompt.Tokens(w.sheet.Finder(spec, 0).Suffix)
			}
		} else {
			e.Usage.CachedTokens += fixed
		}
		part := prompt.Tokens(first.Prefix)
		others := len(asked) - 1
		e.Usage.CacheWriteTokens += part
		e.Usage.CachedTokens += others * (fixed + part)
		e.Usage.InputTokens += len(asked)*(fixed+part) + suffixes
		e.Usage.OutputTokens += len(asked) * answerTokens
	}
	e.Requests = e.Parts * len(asked)
	e.Usage.Requests = e.Requests
	e.Unread = w.plan.countUnshown(in.Change)
	return e
}
