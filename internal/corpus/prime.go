package corpus

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/search"
	"github.com/precedent-dev/precedent/internal/text"
)

// Limits of priming.
const (
	leastUsable  = 50   // usable chunks, below which there are too few to tell a norm
	maxNorms     = 8    // that finders are told
	normTokens   = 45   // that a prompt adds to the text of one
	maxAllTokens = 1200 // of all norms, by the estimate of prompts

	maxPrimed    = 150    // added lines that are compared; those between are left out
	maxSeenLines = 20_000 // added lines that they are chosen from
	windowHits   = 20     // chunks of each line that count
	primeHits    = 50     // chunks of the change that are merged to norms
)

// Prime finds what people said before about code like the added lines of a change and that says how things are done
// (Directive), as at most eight norms of at most 1,200 tokens together, the most relevant first. Only what authors with
// write permission said counts: what others want is not what the team asks for. Query.Pull and
// Query.Before limit the comments to earlier ones of other pull requests; its other fields are
// ignored. However large the change, at most 150 of its lines are compared.
func (x *Index) Prime(ctx context.Context, change *diff.Change, q Query) (Priming, error) {
	p := Priming{Searched: x.Len()}
	if p.Searched < leastUsable {
		return p, nil
	}
	windows := addedLines(change)
	queries := make([]search.Query, len(windows))
	for i := range windows {
		queries[i] = windows[i].code().query()
	}
	x.terms.Prepare(queries...)
	type comment struct{ kind, id string }
	best := map[comment]Hit{}
	for _, w := range windows {
		if ctx.Err() != nil {
			return p, ctx.Err()
		}
		r := x.ranker(&Query{Path: w.path, Pull: q.Pull, Before: q.Before, Limit: windowHits})
		r.firstOnly = true
		r.code(ctx, w.code())
		hits, err := r.hits()
		if err != nil {
			return p, err
		}
		for _, h := range hits {
			id := comment{h.Kind, string(h.ID)}
			if h.MayWrite && h.Score >= leastPriming && h.Score > best[id].Score {
				best[id] = h
			}
		}
	}
	p.Norms = fitting(norms(slices.SortedFunc(maps.Values(best), byScore)))
	return p, nil
}

// window is an added line of a change.
type window struct {
	path string
	hunk *diff.Hunk
	line int // in the hunk, from 0
}

func (w *window) code() *code { return codeAt(w.hunk, w.line) }

// addedLines returns the added lines of a change to compare, each text once. Of too many, it returns
// some from everywhere.
func addedLines(change *diff.Change) []window {
	var all []window
	seen := map[string]bool{}
	for i := range change.Files {
		f := &change.Files[i]
		if f.Skip != "" {
			continue
		}
		for j := range f.Hunks {
			h := &f.Hunks[j]
			for k := range h.Lines {
				l := &h.Lines[k]
				line := l.Text[:min(len(l.Text), maxCodeLine)]
				if l.Op != diff.Add || seen[line] || !text.Proves(line) || len(all) == maxSeenLines {
					continue
				}
				seen[line] = true
				all = append(all, window{f.Path, h, k})
			}
		}
	}
	if len(all) <= maxPrimed {
		return all
	}
	some := make([]window, maxPrimed)
	for i := range some {
		some[i] = all[i*len(all)/maxPrimed]
	}
	return some
}

// scoredNorm is a norm with its score.
type scoredNorm struct {
	Norm
	vector text.Vector // of the first source
	score  float64
}

// norms merges the first comments that have a directive and say the same, the best first. That several say it counts,
// unless they did in one pull request.
func norms(hits []Hit) []Norm {
	var all []*scoredNorm
	merged := 0
	for i := range hits {
		h := &hits[i]
		directive := Directive(string(h.Words))
		if directive == "" {
			continue
		}
		if merged++; merged > primeHits {
			break
		}
		v := text.NewVector(string(h.Words))
		at := slices.IndexFunc(all, func(n *scoredNorm) bool { return text.Cosine(n.vector, v) >= sameNorm })
		if at < 0 {
			all = append(all, &scoredNorm{
				Norm{precedent.Untrusted(directive), []precedent.CorpusChunk{h.CorpusChunk}},
				v,
				h.Score,
			})
			continue
		}
		n := all[at]
		if !slices.ContainsFunc(n.Sources, func(c precedent.CorpusChunk) bool { return c.Pull == h.Pull }) {
			n.score += againWeight * h.Score
		}
		n.Sources = append(n.Sources, h.CorpusChunk)
	}
	slices.SortStableFunc(all, func(a, b *scoredNorm) int { return cmp.Compare(b.score, a.score) })
	out := make([]Norm, len(all))
	for i, n := range all {
		out[i] = n.Norm
	}
	return out
}

const (
	sameNorm     = 0.5 // similarity from which two comments are one norm
	againWeight  = 0.3 // of a further comment's score for its norm
	leastPriming = 1.0 // score of a comment that is worth telling
)

// fitting returns the first norms that finders are told.
func fitting(all []Norm) []Norm {
	var out []Norm
	tokens := 0
	for _, n := range all {
		cost := prompt.Tokens(string(n.Text)) + normTokens
		if len(out) == maxNorms || tokens+cost > maxAllTokens {
			break
		}
		tokens += cost
		out = append(out, n)
	}
	return out
}
