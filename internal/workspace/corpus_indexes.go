package workspace

import (
	"context"
	"slices"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
)

// CorpusIndexes keeps the indexes of the corpora that were used last, for a process that searches
// again and again: it reads only what changed since. It is safe for concurrent use; the zero value
// is ready.
type CorpusIndexes struct {
	mu   sync.Mutex
	kept []*keptIndex // the last used first
}

// keptIndex is the index of a repository's corpus.
type keptIndex struct {
	repo   precedent.Repo
	chunks int // under the lock of CorpusIndexes
	mu     sync.Mutex
	index  *corpus.Index // nil until it was opened
}

// Bounds of what is kept. A chunk takes about 3.5 KB (docs/performance.md), so these are 70 MB. One
// corpus that is larger is kept alone.
const (
	mostIndexes       = 64
	mostIndexedChunks = 20_000
)

// Open returns the index of a corpus, up to date. One with an embedding model is opened anew: the
// model's budget and failures are those of one review.
func (k *CorpusIndexes) Open(ctx context.Context, repo precedent.Repo, c *corpus.Corpus) (*corpus.Index, error) {
	if k == nil || c.Embedding != nil {
		return c.Open(ctx)
	}
	one := k.use(repo)
	one.mu.Lock()
	defer one.mu.Unlock()
	open := c.Open
	if one.index != nil {
		open = func(ctx context.Context) (*corpus.Index, error) { return c.Renew(ctx, one.index) }
	}
	x, err := open(ctx)
	if err != nil {
		return nil, err
	}
	one.index = x
	k.trim(one, x.Len())
	return x, nil
}

// use returns the place of a repository's index, now the last used one.
func (k *CorpusIndexes) use(repo precedent.Repo) *keptIndex {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := &keptIndex{repo: repo}
	if at := slices.IndexFunc(k.kept, func(one *keptIndex) bool { return one.repo == repo }); at >= 0 {
		one = k.kept[at]
		k.kept = slices.Delete(k.kept, at, at+1)
	}
	k.kept = slices.Insert(k.kept, 0, one)
	return one
}

// trim notes the size of an index, and forgets those that were not used for the longest time if
// there are too many.
func (k *CorpusIndexes) trim(used *keptIndex, chunks int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	used.chunks = chunks
	sum := 0
	for i, one := range k.kept {
		sum += one.chunks
		if i > 0 && (i >= mostIndexes || sum > mostIndexedChunks) {
			k.kept = slices.Delete(k.kept, i, len(k.kept))
			return
		}
	}
}
