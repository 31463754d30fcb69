package corpus

import (
	"context"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/search"
	"github.com/precedent-dev/precedent/internal/store"
)

// Index finds chunks of one repository's corpus. It has the words of all chunks in memory, and reads
// those that it compares with a query. It is safe for concurrent use.
type Index struct {
	terms *search.Index
	// read returns chunks by their numbers.
	read func(ctx context.Context, numbers []int64) (map[int64]*precedent.CorpusChunk, error)
	// regulars returns those of the logins whose authors review regularly; nil for nobody.
	regulars func(ctx context.Context, logins []string, pulls int) (map[store.CorpusAuthor]bool, error)
	vectors  vectorSpace

	mu      sync.Mutex
	kept    map[int64]*profile // of chunks that were compared lately
	asked   map[string]bool    // logins
	regular map[store.CorpusAuthor]bool
}

// Open reads the index of the corpus. What its embedding model finds similar is found, too; if there
// are no vectors or they cannot be read, searches say so and compare words alone.
func (c *Corpus) Open(ctx context.Context) (*Index, error) {
	if err := c.Refresh(ctx); err != nil {
		return nil, err
	}
	x := &Index{terms: &search.Index{}, read: c.Rows.CorpusNumbered, regulars: c.Rows.CorpusRegulars}
	if err := c.Rows.ReadCorpusIndex(ctx, x.terms.Add); err != nil {
		return nil, err
	}
	return x, c.openVectors(ctx, &x.vectors)
}

// NewIndex returns an index of chunks that are in memory. Those of deleted comments are left out.
func NewIndex(chunks []precedent.CorpusChunk) *Index {
	x := &Index{terms: &search.Index{}}
	x.read = func(_ context.Context, numbers []int64) (map[int64]*precedent.CorpusChunk, error) {
		found := make(map[int64]*precedent.CorpusChunk, len(numbers))
		for _, n := range numbers {
			found[n] = &chunks[n]
		}
		return found, nil
	}
	for i := range chunks {
		if !chunks[i].DeletedAt.IsZero() {
			continue
		}
		if err := x.terms.Add(int64(i), indexed(&chunks[i])); err != nil {
			panic(err) // it was packed just now
		}
	}
	return x
}

// indexed returns what is searched of a chunk.
func indexed(c *precedent.CorpusChunk) []byte {
	d := search.Doc{Filter: search.Filter{
		Group: c.Pull, At: c.At, Usable: c.Unusable == "",
		Short: c.Unusable == tooShort, First: c.Chunk == 0,
	}}
	d.Fields[search.Text], d.Fields[search.Lines], d.Fields[search.Path] = searchedText(c), commentedLine(c), c.Path
	return d.Pack()
}

// commentedLine is the last line of the hunk of a comment on lines, without its mark; empty for
// other comments.
func commentedLine(c *precedent.CorpusChunk) string {
	hunk := strings.TrimRight(string(c.Hunk), "\n")
	line := hunk[strings.LastIndexByte(hunk, '\n')+1:]
	if line == "" || strings.HasPrefix(line, "@@") {
		return ""
	}
	return strings.TrimRight(line[1:], "\r")
}

// Empty reports whether the index has no chunks, usable or not.
func (x *Index) Empty() bool {
	usable, short, others := x.terms.Len()
	return usable+short+others == 0
}

// Len is the number of chunks that are usable as precedents.
func (x *Index) Len() int {
	usable, _, _ := x.terms.Len()
	return usable
}

// mostProfiles bounds the profiles that are kept: each takes about 10 KB.
const mostProfiles = 4_000

// profiles returns what the chunks that a search found are compared by.
func (x *Index) profiles(ctx context.Context, hits []search.Hit) (map[int64]*profile, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := make(map[int64]*profile, len(hits))
	var missing []int64
	for _, h := range hits {
		if p := x.kept[h.Number]; p != nil {
			out[h.Number] = p
		} else {
			missing = append(missing, h.Number)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	chunks, err := x.read(ctx, missing)
	if err != nil {
		return nil, err
	}
	if len(x.kept)+len(chunks) > mostProfiles {
		x.kept = nil
	}
	if x.kept == nil {
		x.kept = map[int64]*profile{}
	}
	for n, c := range chunks {
		p := x.profileOf(c)
		x.kept[n], out[n] = p, p
	}
	return out, nil
}
