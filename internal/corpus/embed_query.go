package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/search"
	"github.com/precedent-dev/precedent/internal/store"
)

// vectorSpace is what an index knows of an embedding model. The zero value is that of an index
// without one.
type vectorSpace struct {
	embedding *Embedding
	size      int // of the vectors; 0 if no chunk has one
	rows      *store.Repo

	mu      sync.Mutex
	nearest map[string][]near // by text; nil for one that the model has no vector for
	failure string            // why the model is not asked any more
}

// near is a chunk with the cosine of its vector and that of a text.
type near struct {
	number int64
	cosine float64
}

// openVectors finds out whether the corpus has vectors of its embedding model. If it cannot be used,
// the index goes on without.
func (c *Corpus) openVectors(ctx context.Context, v *vectorSpace) error {
	v.embedding, v.rows, v.nearest = c.Embedding, c.Rows, map[string][]near{}
	if c.Embedding == nil {
		return nil
	}
	if c.Embedding.Err != nil {
		v.failure = c.Embedding.Err.Error() + wordsAlone
		return nil //nolint:nilerr // the index goes on without vectors, and says so
	}
	model := c.Embedding.Model
	counts, err := c.Rows.CorpusVectorSizes(ctx, model)
	if v.size = c.Embedding.Dimensions; v.size == 0 && len(counts) > 0 {
		v.size = counts[0].Dimensions
	}
	has := slices.ContainsFunc(counts, func(t store.VectorTally) bool { return t.Dimensions == v.size })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		v.failure = err.Error() + wordsAlone
	case !has:
		v.failure = fmt.Sprintf("no comment has a vector of %s%s; precedent corpus sync or import computes them", model, wordsAlone)
	}
	return nil
}

// wordsAlone ends the sentence that says why vectors are not used.
const wordsAlone = ": comments were compared by their words alone"

// EmbedFindings gets the vectors of findings in one request, for Matches with the query. It returns
// what Matches goes on without, in a sentence; empty for nothing. Without it, or if it fails, Matches
// compares the words alone.
func (x *Index) EmbedFindings(ctx context.Context, findings []*precedent.Finding, q Query) string {
	texts := make([]string, len(findings))
	for i, f := range findings {
		texts[i] = findingText(f)
	}
	q.All = false
	r := x.ranker(&q)
	r.firstOnly = true
	return r.ask(ctx, texts)
}

// findingText is what is compared of a finding.
func findingText(f *precedent.Finding) string { return f.Title + "\n" + f.Body }

// ask finds the chunks whose vectors are nearest to those of texts that are not known yet, and says in
// a sentence what cannot be had. After a failure the model is not asked again, so that a search waits
// for it once.
func (r *ranker) ask(ctx context.Context, texts []string) string {
	v := &r.x.vectors
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
		if _, known := v.nearest[t]; !known {
			unknown = append(unknown, t)
		}
	}
	if len(unknown) > 0 {
		may := func(number int64) bool {
			f, ok := r.x.terms.Filter(number)
			return ok && r.may(&f)
		}
		if err := v.get(ctx, unknown, may); err != nil {
			return v.failure
		}
	}
	for _, t := range texts {
		if v.nearest[t] == nil {
			return fmt.Sprintf("%s has no vector for a text: it was compared by its words alone", v.embedding.Model)
		}
	}
	return ""
}

// get asks for the vectors of texts, and reads those of all chunks to find the nearest.
func (v *vectorSpace) get(ctx context.Context, texts []string, may func(int64) bool) error {
	within := ctx
	if v.embedding.Within > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, v.embedding.Within)
		defer cancel()
	}
	got, err := v.embedding.vectors(within, texts)
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
		v.failure = fmt.Sprintf("the embedding model %s at %s failed (%s)%s", v.embedding.Model, v.embedding.Host, why,
			wordsAlone)
		return err
	}
	found, err := v.find(ctx, got, may)
	if err != nil {
		v.failure = err.Error() + wordsAlone
		return err
	}
	for i, t := range texts {
		v.nearest[t] = found[i]
	}
	return nil
}

// vectorDepth is how many chunks are compared by vectors.
const vectorDepth = 100

// find returns the chunks that are nearest to each vector, the nearest first; nil for no vector.
func (v *vectorSpace) find(ctx context.Context, vectors [][]float32, may func(int64) bool) ([][]near, error) {
	found := make([][]near, len(vectors))
	cut := func(all []near) []near {
		slices.SortFunc(all, func(a, b near) int {
			return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.number, b.number))
		})
		return all[:min(len(all), vectorDepth)]
	}
	err := v.rows.CorpusVectors(ctx, v.embedding.Model, v.size, func(row store.CorpusVector) error {
		if !may(row.Number) {
			return nil
		}
		for i, asked := range vectors {
			if asked == nil {
				continue
			}
			if c := dot(asked, row.Vector); c > 0 {
				found[i] = append(found[i], near{row.Number, c})
			}
			if len(found[i]) >= 10*vectorDepth {
				found[i] = cut(found[i])
			}
		}
		return nil
	})
	for i := range found {
		if vectors[i] != nil {
			found[i] = append([]near{}, cut(found[i])...)
		}
	}
	return found, err
}

// dot is the product of vectors with the same dimensions.
func dot(a, b []float32) float64 {
	sum := float32(0)
	for i := range a {
		sum += a[i] * b[i]
	}
	return float64(sum)
}

// of returns the chunks that are nearest to a text that was asked for.
func (v *vectorSpace) of(text string) []near {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.nearest[text]
}

// vector scores what the embedding model finds similar. What its cosines mean differs from model
// to model: some give 0.8 to any two texts. So a chunk's score is how far it is from the last of
// the list, which is about something else, to a text that is the same: from 0 to 1.
func (r *ranker) vector(ctx context.Context, text string) {
	all := r.x.vectors.of(text)
	if len(all) == 0 {
		return
	}
	least := 0.0
	if last := all[len(all)-1].cosine; len(all) >= leastVectors && last < 1 {
		least = last
	}
	hits := make([]search.Hit, len(all))
	for i, n := range all {
		hits[i].Number = n.number
	}
	profiles, err := r.x.profiles(ctx, hits)
	if err != nil {
		r.err = err
		return
	}
	for i, n := range all {
		if p := profiles[n.number]; p != nil {
			r.add(n.number, p.chunk, max(0, n.cosine-least)/max(1-least, 1e-6), 0, Rank{textVector, i + 1, n.cosine})
		}
	}
}

// textVector names the list of chunks by their vectors.
const textVector = "text-vector"

// leastVectors is from how many chunks on the last one is taken to be about something else.
const leastVectors = 20

// mostByVector is how many comments a judge is asked about only because of their vectors.
const mostByVector = 2

// byVector reports whether a hit is among the most similar by vectors. That makes it a candidate: no
// similarity of vectors is a proof whatever the model.
func (h *Hit) byVector() bool {
	return slices.ContainsFunc(h.Ranks, func(r Rank) bool { return r.List == textVector && r.Rank <= mostByVector })
}
