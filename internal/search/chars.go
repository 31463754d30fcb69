package search

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// chars is the list of one field of all documents by the characters of their text. A gram weighs
// (1 + ln count) * ln(1 + documents / documents that have it), and texts are compared by the
// cosine of the weights. Frequencies are those of the documents that are there, so scores are
// those of a new index of the same documents. A value does not change; an update makes another.
//
// Most postings are of a few hundred grams that weigh little, such as those of "the". A search
// adds up the others from their lists. What the common ones can add to a document's score is at
// most the product of the lengths of their parts of both vectors (Cauchy and Schwarz), and, more
// closely, what the document's signature says. The whole score is computed of those documents only
// that can then be among the best.
type chars struct {
	forward forward
	counts  []uint32 // of documents by gram
	docs    int      // that have grams
	norms   []float64
	inverse []float32 // 1 / norms
	// places are of the common grams in a signature, plus 1; 0 for other grams.
	places     []uint16
	common     []float32 // the share of the common grams in the length of each document's vector
	signatures []signature
	// blocks have the first documents; the tail behind them is compared one by one.
	blocks []*block
}

const (
	// commonShare is the share of documents that have a common gram, and commonGrams how many
	// common grams there are at most.
	commonShare = .1
	commonGrams = 512
	maxTail     = 1024 // documents
)

// signature says which common grams a document has: a bit for those that it has, and behind them a
// bit for those that it has more than once.
type signature [2 * commonGrams / 64]uint64

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
	c.placeCommon()
	squares := make([]float64, c.docs+1) // of weights, by the number of documents that have the gram
	for n := range squares {
		squares[n] = weight(c.docs, uint32(n)) * weight(c.docs, uint32(n))
	}
	var factors [maxGramCount + 1]float64
	for n, d := range damping {
		factors[n] = d * d
	}
	n := c.forward.len()
	c.norms, c.inverse, c.common, c.signatures = make([]float64, n), make([]float32, n), make([]float32, n), make([]signature, n)
	const size = 1024
	parallel((len(c.norms)+size-1)/size, func(i int) {
		var terms []posting
		for n := i * size; n < min((i+1)*size, len(c.norms)); n++ {
			all, common := 0.0, 0.0
			terms = c.forward.decode(uint32(n), terms)
			for _, t := range terms {
				square := squares[c.counts[t.number()]] * factors[t.count()]
				all += square
				if place := c.places[t.number()]; place > 0 {
					common += square
					c.signatures[n].set(place-1, t.count())
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

// placeCommon finds the common grams.
func (c *chars) placeCommon() {
	c.places = make([]uint16, gramNumbers)
	var grams []uint32
	for g, n := range c.counts {
		if n > uint32(commonShare*float64(c.docs)) {
			grams = append(grams, uint32(g))
		}
	}
	slices.SortFunc(grams, func(a, b uint32) int { return cmp.Compare(c.counts[b], c.counts[a]) })
	for i, g := range grams[:min(len(grams), commonGrams)] {
		c.places[g] = uint16(i) + 1
	}
}

func (s *signature) set(place uint16, count uint32) {
	s[place/64] |= 1 << (place % 64)
	if count > 1 {
		s[(commonGrams+place)/64] |= 1 << (place % 64)
	}
}

// index makes the blocks that are missing.
func (c *chars) index() {
	indexed := c.indexed()
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

// indexed is the number of documents in blocks.
func (c *chars) indexed() int {
	if len(c.blocks) == 0 {
		return 0
	}
	last := c.blocks[len(c.blocks)-1]
	return int(last.first) + last.docs
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
	// signature has a bit for each of the others, twice, and places their weights in a document
	// that has them once, and then what a document that has them more often adds at most.
	signature signature
	places    [2 * commonGrams]float32
	all       []gramWeight
	has       [gramNumbers / 64]uint64 // bits
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
	q.rare, q.all, q.common, q.signature = q.rare[:0], q.all[:0], 0, signature{}
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
		if place := c.places[g.gram]; place > 0 {
			q.common += share * share
			q.signature.set(place-1, 2)
			q.places[place-1] = float32(g.weight)
			q.places[commonGrams+place-1] = float32(g.weight * (damping[maxGramCount] - 1))
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

// most is what the common grams add at most to the score of a document whose vector has length 1.
func (q *gramQuery) most(s *signature) float32 {
	sum := float32(0)
	for i := range s {
		for has := s[i] & q.signature[i]; has != 0; has &= has - 1 {
			sum += q.places[i*64+bits.TrailingZeros64(has)]
		}
	}
	return sum
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
	tops := make([]top, len(c.blocks))
	parallel(len(c.blocks), func(i int) {
		b := c.blocks[i]
		s := (*[blockDocs]float32)(scores[i*blockDocs:])
		b.accumulate(q.rare, s)
		tops[i] = top{filter: f, depth: depth}
		least := float32(0)
		for j, inverse := range c.inverse[b.first:][:b.docs] {
			s[j] *= inverse
			if s[j] > least && f.has(b.first+uint32(j)) {
				tops[i].add(b.first+uint32(j), float64(s[j]))
				least = float32(tops[i].least())
			}
		}
	})
	// Compare the best by rare grams, and the tail, to know what score others need.
	first, found := top{filter: f, depth: depth}, top{filter: f, depth: depth}
	for i := range tops {
		for _, d := range tops[i].list {
			first.add(d.number, d.score)
		}
	}
	var terms []posting
	for _, d := range first.list {
		found.add(d.number, c.cosine(q, d.number, &terms))
		scores[d.number] = -1
	}
	for n := c.indexed(); n < c.forward.len(); n++ {
		if f.has(uint32(n)) {
			found.add(uint32(n), c.cosine(q, uint32(n), &terms))
		}
	}
	for _, d := range c.candidates(q, f, scores, found.least()) {
		if d.score*(1+slack) < found.least() {
			break
		}
		found.add(d.number, c.cosine(q, d.number, &terms))
	}
	return found.sorted()
}

// candidates returns the documents of blocks whose scores can reach the least one, those with the
// highest possible score first, given the scores by rare grams, or -1 for a document that does not
// count.
func (c *chars) candidates(q *gramQuery, f *filter, scores []float32, least float64) []scored {
	parts := make([][]scored, len(c.blocks))
	needed, common := float32(least*(1-slack)), float32(q.common)
	parallel(len(c.blocks), func(i int) {
		b := c.blocks[i]
		s := scores[i*blockDocs:][:b.docs]
		for j, share := range c.common[b.first:][:b.docs] {
			n := b.first + uint32(j)
			if s[j] < 0 || s[j]+common*share < needed {
				continue
			}
			if most := s[j] + q.most(&c.signatures[n])*c.inverse[n]; most >= needed && most > 0 && f.has(n) {
				parts[i] = append(parts[i], scored{n, float64(most)})
			}
		}
	})
	all := slices.Concat(parts...)
	slices.SortFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	return all
}
