package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/search"
	"github.com/precedent-dev/precedent/internal/store"
)

// vectorSpace is what an index knows of an embedding model. The zero value is that of an index
// without one.
type vectorSpace struct {
	embedding *Embedding
	size      int                  // of the vectors; 0 if no chunk has one
	chunks    map[string][]float32 // by ChunkID, until the chunks are in the index

	mu      sync.Mutex
	queries map[string][]float32 // by text; nil for one that the model has no vector for
	failure string               // why the model is not asked any more
}

// mostQueries bounds the vectors of texts that are kept.
const mostQueries = 10_000

// readVectors reads the vectors of the corpus by its embedding model. If it cannot, the index goes
// on without.
func (c *Corpus) readVectors(ctx context.Context, v *vectorSpace) error {
	v.embedding = c.Embedding
	if c.Embedding == nil {
		return nil
	}
	if c.Embedding.Err != nil {
		v.failure = c.Embedding.Err.Error() + wordsAlone
		return nil //nolint:nilerr // the index goes on without vectors, and says so
	}
	size, err := c.Embedding.Dimensions, error(nil)
	if size == 0 {
		size, err = c.Rows.CorpusVectorSize(ctx, c.Embedding.Model)
	}
	v.chunks = map[string][]float32{}
	if err == nil && size > 0 {
		err = c.Rows.CorpusVectors(ctx, c.Embedding.Model, size, func(row store.CorpusVector) error {
			v.chunks[chunkID(row.Kind, row.ID, row.Chunk)] = row.Vector
			return nil
		})
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		v.failure, v.chunks = err.Error()+wordsAlone, nil
	case len(v.chunks) == 0:
		v.failure = fmt.Sprintf("no comment has a vector of %s%s; precedent corpus embed computes them", c.Embedding.Model, wordsAlone)
	default:
		v.size = size
	}
	return nil
}

// wordsAlone ends the sentence that says why vectors are not used.
const wordsAlone = ": comments were compared by their words alone"

// EmbedFindings gets the vectors of findings in one request, for Matches. It returns what Matches
// goes on without, in a sentence; empty for nothing. Without it, or if it fails, Matches compares
// the words alone.
func (x *Index) EmbedFindings(ctx context.Context, findings []*precedent.Finding) string {
	texts := make([]string, len(findings))
	for i, f := range findings {
		texts[i] = findingText(f)
	}
	return x.vectors.ask(ctx, texts)
}

// findingText is what is compared of a finding.
func findingText(f *precedent.Finding) string { return f.Title + "\n" + f.Body }

// ask gets the vectors of texts that are not known yet, and says in a sentence what cannot be
// had. After a failure the model is not asked again, so that a search waits for it once.
func (v *vectorSpace) ask(ctx context.Context, texts []string) string {
	if v.embedding == nil {
		return ""
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.failure != "" {
		return v.failure
	}
	var unknown []string
	for _, t := range texts {
		if _, known := v.queries[t]; !known {
			unknown = append(unknown, t)
		}
	}
	if len(unknown) > 0 {
		if err := v.get(ctx, unknown); err != nil {
			return v.failure
		}
	}
	for _, t := range texts {
		if v.queries[t] == nil {
			return fmt.Sprintf("%s has no vector for a text: it was compared by its words alone", v.embedding.Model)
		}
	}
	return ""
}

// get asks for the vectors of texts.
func (v *vectorSpace) get(ctx context.Context, texts []string) error {
	within := ctx
	if v.embedding.Within > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, v.embedding.Within)
		defer cancel()
	}
	got, err := v.embedding.vectors(within, texts)
	if errors.Is(err, errNoText) {
		err = nil
	}
	for i := range got {
		if n := len(got[i]); err == nil && n > 0 && n != v.size {
			err = fmt.Errorf("a vector has %d dimensions, and those of the comments have %d", n, v.size)
		}
	}
	if err != nil {
		why := err.Error()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			why = fmt.Sprintf("there was no answer within %v", v.embedding.Within)
		}
		v.failure = fmt.Sprintf("the embedding model %s at %s failed (%s)%s", v.embedding.Model, v.embedding.Host, why, wordsAlone)
		return err
	}
	if v.queries == nil || len(v.queries)+len(texts) > mostQueries {
		v.queries = map[string][]float32{}
	}
	for i, t := range texts {
		v.queries[t] = got[i]
	}
	return nil
}

// of returns the vector of a text that was asked for; nil if it has none.
func (v *vectorSpace) of(text string) []float32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.queries[text]
}

// vectorDepth is how many chunks are compared by vectors.
const vectorDepth = textDepth

// vector scores what the embedding model finds similar. What its cosines mean differs from model
// to model: some give 0.8 to any two texts. So a chunk's score is how far it is from the last of
// the list, which is about something else, to a text that is the same: from 0 to 1.
func (r *ranker) vector(v []float32) {
	if v == nil {
		return
	}
	lists := []search.List{search.TextVector}
	hits := r.find(search.Query{Vector: v, Lists: lists, Fused: lists, Depth: vectorDepth, Limit: vectorDepth})
	least, most := math.Inf(1), 0
	for _, h := range hits {
		least = min(least, vectorRank(h.Ranks).Score)
		most = max(most, vectorRank(h.Ranks).Rank)
	}
	if most < leastVectors || least >= 1 {
		least = 0
	}
	for _, h := range hits {
		r.add(h, max(0, vectorRank(h.Ranks).Score-least)/max(1-least, 1e-6))
	}
}

// leastVectors is from how many chunks on the last one is taken to be about something else.
const leastVectors = 20

// vectorRank is the place of a hit in the list by vectors; zero if it is not in it.
func vectorRank(ranks []search.Rank) search.Rank {
	for _, r := range ranks {
		if r.List == search.TextVector {
			return r
		}
	}
	return search.Rank{}
}

// mostByVector is how many comments a judge is asked about only because of their vectors.
const mostByVector = 2

// byVector tells that a hit is among the most similar by vectors. That makes it a candidate: no
// similarity of vectors is a proof whatever the model.
func (h *Hit) byVector() bool {
	rank := cmp.Or(vectorRank(h.Ranks).Rank, math.MaxInt)
	return rank <= mostByVector
}
