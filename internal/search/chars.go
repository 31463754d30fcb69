package search

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// The grams of a text: 3 to 5 characters, hashed to one of 2^18 buckets.
const (
	shortGram  = 3
	longGram   = 5
	gramBits   = 18
	maxGramDoc = 64 << 10 // bytes of a text; the rest is not compared
)

// chars is the list of one field of all documents by the characters of their text. A gram weighs
// (1 + ln count) * ln(1 + documents / documents that have it), and texts are compared by the
// cosine of the weights. Frequencies are counted at all times, so that the scores are those of
// a new index of the same documents.
type chars struct {
	lists   [][]posting
	counts  []uint32
	weights []float64 // of grams: the logarithm
	norms   []float64 // of documents: the length of their vector
	forward forward
	docs    int // that have grams
}

func (c *chars) add(n uint32, s string) {
	if c.lists == nil {
		c.lists, c.counts = make([][]posting, 1<<gramBits), make([]uint32, 1<<gramBits)
	}
	counts := grams(s)
	for g, count := range counts {
		c.lists[g] = append(c.lists[g], newPosting(n, count))
		c.counts[g]++
	}
	c.forward.add(counts)
	c.docs += min(len(counts), 1)
}

func (c *chars) remove(n uint32) {
	entries := c.forward.of(n)
	for _, e := range entries {
		c.counts[e.number()]--
	}
	c.docs -= min(len(entries), 1)
}

// weigh computes what depends on the frequencies of grams.
func (c *chars) weigh() {
	c.weights = make([]float64, len(c.counts))
	for g, n := range c.counts {
		c.weights[g] = math.Log(1 + float64(c.docs)/float64(max(n, 1)))
	}
	c.norms = make([]float64, c.forward.len())
	for n := range c.norms {
		sum := 0.0
		for _, e := range c.forward.of(uint32(n)) {
			w := c.weights[e.number()] * damped(e.count())
			sum += w * w
		}
		c.norms[n] = math.Sqrt(sum)
	}
}

// damped is what a count weighs.
func damped(count int) float64 { return 1 + math.Log(float64(count)) }

// gramWeight is a gram of a query.
type gramWeight struct {
	gram   uint32
	weight float64 // of a vector with length 1, times the gram's weight in documents
}

// query returns the grams of a text in order.
func (c *chars) query(s string) []gramWeight {
	if c.docs == 0 {
		return nil
	}
	counts := grams(s)
	out := make([]gramWeight, 0, len(counts))
	for g, count := range counts {
		out = append(out, gramWeight{g, c.weights[g] * damped(min(count, maxCount))})
	}
	slices.SortFunc(out, func(a, b gramWeight) int { return int(a.gram) - int(b.gram) })
	sum := 0.0
	for _, g := range out {
		sum += g.weight * g.weight
	}
	for i := range out {
		out[i].weight *= c.weights[out[i].gram] / math.Sqrt(sum)
	}
	return out
}

// search returns the best documents.
func (c *chars) search(s string, f *filter, depth int) []scored {
	scores := make([]float64, len(c.norms))
	for _, g := range c.query(s) {
		for _, p := range c.lists[g.gram] {
			scores[p.number()] += g.weight * damped(p.count())
		}
	}
	for n := range scores {
		if scores[n] > 0 {
			scores[n] /= c.norms[n]
		}
	}
	return best(scores, f, depth)
}

// cosine compares a query with a document.
func (c *chars) cosine(q []gramWeight, n uint32) float64 {
	sum := 0.0
	for _, e := range c.forward.of(n) {
		i, ok := slices.BinarySearchFunc(q, uint32(e.number()), func(g gramWeight, n uint32) int { return int(g.gram) - int(n) })
		if ok {
			sum += q[i].weight * damped(e.count())
		}
	}
	if sum == 0 {
		return 0
	}
	return min(sum/c.norms[n], 1)
}

// grams counts the grams of a text by bucket: in lower case, with one space for all white space
// and one at both ends.
func grams(s string) map[uint32]int {
	if len(s) > maxGramDoc {
		s = s[:maxGramDoc]
	}
	counts := map[uint32]int{}
	s = strings.Join(strings.Fields(strings.ToLower(s)), " ")
	if s == "" {
		return counts
	}
	s = " " + s + " "
	for i := range s {
		hash := uint32(2166136261)
		rest := s[i:]
		for n := 1; n <= longGram && rest != ""; n++ {
			r, size := utf8.DecodeRuneInString(rest)
			rest = rest[size:]
			hash = (hash ^ uint32(r)) * 16777619
			if n >= shortGram {
				counts[(hash^hash>>15)*2654435769>>(32-gramBits)]++
			}
		}
	}
	return counts
}
