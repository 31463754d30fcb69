package search

import (
	"math"
	"slices"
	"sync"
)

// chars is the list of one field of all documents by the characters of their text. A gram weighs
// (1 + ln count) * ln(1 + documents / documents that have it), and texts are compared by the
// cosine of the weights. Frequencies are those of the documents that are there, so scores are
// those of a new index of the same documents. A value does not change; an update makes another.
//
// Half of all postings are of a few hundred grams that weigh little, such as "the". A search
// therefore adds up the others, and computes the whole score of a document only if that can be
// high enough: the rest of a cosine is at most the product of the lengths of the rest of both
// vectors (Cauchy and Schwarz).
type chars struct {
	forward forward
	counts  []uint32 // of documents by gram
	docs    int      // that have grams
	norms   []float64
	inverse []float32 // 1 / norms
	// common is the share of the common grams in the length of each document's vector. Those are
	// the grams that more than limit documents have.
	common []float32
	limit  uint32
	// blocks have the first documents; the tail behind them is compared one by one.
	blocks []*block
}

const (
	// commonShare is the share of documents that have a common gram. Of .1, .2 and .3, it had the
	// best times.
	commonShare = .1
	maxTail     = 1024 // documents
)

// damping is what a count weighs.
var damping = func() (out [maxGramCount + 1]float64) {
	for n := 1; n <= maxGramCount; n++ {
		out[n] = 1 + math.Log(float64(n))
	}
	return out
}()

// updated returns a list with more documents and without others, which keep their numbers.
func (c *chars) updated(add []string, removed []uint32) *chars {
	const size = 2048
	parts := make([]forward, (len(add)+size-1)/size)
	next := &chars{counts: slices.Clone(c.counts), docs: c.docs, blocks: c.blocks}
	if next.counts == nil {
		next.counts = make([]uint32, gramNumbers)
	}
	var counting sync.Mutex
	parallel(len(parts), func(i int) {
		counter := gramCounters.Get().(*gramCounter)
		defer gramCounters.Put(counter)
		for _, s := range add[i*size : min((i+1)*size, len(add))] {
			terms := counter.count(s)
			parts[i].add(terms)
			counting.Lock()
			for _, t := range terms {
				next.counts[t.number()]++
			}
			next.docs += min(len(terms), 1)
			counting.Unlock()
		}
	})
	next.forward = c.forward.with(parts)
	var terms []posting
	for _, n := range removed {
		terms = c.forward.decode(n, terms)
		for _, t := range terms {
			next.counts[t.number()]--
		}
		next.docs -= min(len(terms), 1)
	}
	next.weigh()
	next.index()
	return next
}

// compacted returns a list of some of the documents, with new numbers.
func (c *chars) compacted(keep []uint32) *chars {
	next := &chars{counts: c.counts, docs: c.docs}
	var terms []posting
	for _, n := range keep {
		terms = c.forward.decode(n, terms)
		next.forward.add(terms)
	}
	next.weigh()
	next.index()
	return next
}

// weigh computes what depends on the frequencies of grams.
func (c *chars) weigh() {
	c.limit = uint32(commonShare * float64(c.docs))
	squares := make([]float64, c.docs+1) // of weights, by the number of documents that have the gram
	for n := range squares {
		squares[n] = weight(c.docs, uint32(n)) * weight(c.docs, uint32(n))
	}
	var factors [maxGramCount + 1]float64
	for n, d := range damping {
		factors[n] = d * d
	}
	n := c.forward.len()
	c.norms, c.inverse, c.common = make([]float64, n), make([]float32, n), make([]float32, n)
	const size = 1024
	parallel((len(c.norms)+size-1)/size, func(i int) {
		var terms []posting
		for n := i * size; n < min((i+1)*size, len(c.norms)); n++ {
			all, common := 0.0, 0.0
			terms = c.forward.decode(uint32(n), terms)
			for _, t := range terms {
				count := c.counts[t.number()]
				square := squares[count] * factors[t.count()]
				all += square
				if count > c.limit {
					common += square
				}
			}
			c.norms[n] = math.Sqrt(all)
			if all > 0 {
				c.inverse[n] = float32(1 / c.norms[n])
				c.common[n] = float32(math.Sqrt(common / all))
			}
		}
	})
}

// index makes the blocks that are missing.
func (c *chars) index() {
	indexed := 0
	for _, b := range c.blocks {
		indexed += b.docs
	}
	if c.forward.len()-indexed <= maxTail {
		return
	}
	c.blocks = slices.Clone(c.blocks[:indexed/blockDocs]) // all but one that is not full
	first := len(c.blocks)
	c.blocks = append(c.blocks, make([]*block, (c.forward.len()+blockDocs-1)/blockDocs-first)...)
	parallel(len(c.blocks)-first, func(i int) {
		start := uint32(first+i) * blockDocs
		c.blocks[first+i] = newBlock(&c.forward, start, min(start+blockDocs, uint32(c.forward.len())))
	})
}

// weight is that of a gram that some of the documents have.
func weight(docs int, some uint32) float64 {
	return math.Log(1 + float64(docs)/float64(max(some, 1)))
}

// gramWeight is a gram of a query with its weight in the query, whose vector has length 1, times
// its weight in documents.
type gramWeight struct {
	gram   uint32
	weight float64
}

// gramQuery are the grams of a query.
type gramQuery struct {
	rare   []gramWeight
	common float64 // the length of the vector of the others
	all    []gramWeight
	has    [gramNumbers / 64]uint64 // bits
	// weights are those of all by gram.
	weights [gramNumbers]float64
	counter gramCounter
}

var (
	gramQueries  = sync.Pool{New: func() any { return &gramQuery{} }}
	gramCounters = sync.Pool{New: func() any { return &gramCounter{} }}
)

// query returns the grams of a text, to be given back with done.
func (c *chars) query(s string) *gramQuery {
	q := gramQueries.Get().(*gramQuery)
	q.rare, q.all, q.common = q.rare[:0], q.all[:0], 0
	if c.docs == 0 {
		return q
	}
	sum := 0.0
	for _, t := range q.counter.count(s) {
		w := weight(c.docs, c.counts[t.number()]) * damping[t.count()]
		q.all = append(q.all, gramWeight{t.number(), w})
		sum += w * w
	}
	norm := math.Sqrt(sum)
	for i := range q.all {
		g := &q.all[i]
		share := g.weight / norm
		g.weight = share * weight(c.docs, c.counts[g.gram])
		q.has[g.gram/64] |= 1 << (g.gram % 64)
		q.weights[g.gram] = g.weight
		if c.counts[g.gram] > c.limit {
			q.common += share * share
		} else {
			q.rare = append(q.rare, *g)
		}
	}
	q.common = math.Sqrt(q.common)
	return q
}

func (q *gramQuery) done() {
	for _, g := range q.all {
		q.has[g.gram/64] = 0
	}
	gramQueries.Put(q)
}

// cosine compares a query with a document. The terms are space to work in.
func (c *chars) cosine(q *gramQuery, n uint32, terms *[]posting) float64 {
	*terms = c.forward.decode(n, *terms)
	sum := 0.0
	for _, t := range *terms {
		g := t.number()
		if q.has[g/64]>>(g%64)&1 != 0 {
			sum += q.weights[g] * damping[t.count()]
		}
	}
	if sum == 0 {
		return 0
	}
	return min(sum/c.norms[n], 1)
}

// slack is more than the error of the sums of a search in 32 bits, in proportion.
const slack = 1e-3

// search returns the best documents.
func (c *chars) search(q *gramQuery, f *filter, depth int) []scored {
	if len(q.all) == 0 {
		return nil
	}
	scores, done := scratch32(len(c.blocks) * blockDocs)
	defer done()
	tops := make([]top, len(c.blocks)+1)
	parallel(len(c.blocks), func(i int) {
		b, t := c.blocks[i], &tops[i]
		s := (*[blockDocs]float32)(scores[i*blockDocs:])
		b.accumulate(q.rare, s)
		*t = top{filter: f, depth: depth}
		least := float32(0)
		for j, inverse := range c.inverse[b.first:][:b.docs] {
			s[j] *= inverse
			if s[j] > least && f.has(b.first+uint32(j)) {
				t.add(b.first+uint32(j), float64(s[j]))
				least = float32(t.least())
			}
		}
	})
	return c.rank(q, f, depth, scores, tops)
}

// rank computes the scores of documents that can be among the best, given the scores of the
// blocks' documents by rare grams, and the best documents of each block by those.
func (c *chars) rank(q *gramQuery, f *filter, depth int, scores []float32, tops []top) []scored {
	first := top{filter: f, depth: depth}
	for i := range tops {
		for _, d := range tops[i].list {
			first.add(d.number, d.score)
		}
	}
	var terms []posting
	found := top{filter: f, depth: depth}
	for _, d := range first.list {
		found.add(d.number, c.cosine(q, d.number, &terms))
		scores[d.number] = -1
	}
	least := found.least()
	parallel(len(tops), func(i int) {
		var terms []posting
		t := &tops[i]
		*t = top{filter: f, depth: depth}
		start, end := i*blockDocs, min((i+1)*blockDocs, c.forward.len())
		n := start
		if i < len(c.blocks) {
			needed := float32(least * (1 - slack))
			for j, common := range c.common[start:][:c.blocks[i].docs] {
				if n := start + j; scores[n] >= 0 && scores[n]+float32(q.common)*common >= needed && f.has(uint32(n)) {
					t.add(uint32(n), c.cosine(q, uint32(n), &terms))
					needed = float32(max(least, t.least()) * (1 - slack))
				}
			}
			n += c.blocks[i].docs
		}
		for ; n < end; n++ {
			if f.has(uint32(n)) {
				t.add(uint32(n), c.cosine(q, uint32(n), &terms))
			}
		}
	})
	for i := range tops {
		for _, d := range tops[i].list {
			found.add(d.number, d.score)
		}
	}
	return found.sorted()
}
