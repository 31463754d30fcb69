package review

import (
	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// About what answers take, in tokens.
const (
	answerTokens = 1_500 // of a finder
	wordTokens   = 80    // about one thread
)

// Estimate is what the finders of a review take, and the answers to threads, worked
// out without asking an engine. What is verified, judged or looked up in the
// repository comes on top: it depends on what they find. Threads of which a finder
// finds the same again are not asked about.
type Estimate struct {
	Finders  []string // those that are asked
	Parts    int      // shards of the change, of which each finder gets every one
	Threads  int      // of the pull request, that are asked about
	Requests int
	// Usage counts tokens as a provider does that caches what requests share.
	Usage precedent.Usage
	// CostUSD is in US dollars; nil if the engine does not know its prices.
	CostUSD *float64
	// Unread are hunks beyond what a review may spend.
	Unread int
	// Idle are the prompted finders that are not asked, with the reason.
	Idle []precedent.FinderRun
}

// Plan estimates the review of an input.
func Plan(in Input) Estimate {
	in.fillDefaults()
	return newReader(&in).estimate()
}

// estimate adds up what finders and threads take.
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

// estimate adds up the requests of the wave: the first one about the change
// writes all that is shared to the cache, the first one about each further part
// that part; everything else that is shared is read from it.
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
