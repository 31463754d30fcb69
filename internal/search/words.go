package search

import (
	"math"
	"slices"

	"github.com/precedent-dev/precedent/internal/text"
)

// The parameters of BM25, as Robertson and Zaragoza recommend them ("The Probabilistic Relevance
// Framework", 2009).
const (
	saturation = 1.2  // k1
	lengthBias = 0.75 // b
)

// words is the list of one field of all documents by their words. Frequencies are those of the
// documents that are there, so scores are those of a new index of the same documents. Unlike chars,
// it changes in place.
type words struct {
	terms   map[string]uint32
	lists   [][]posting // of documents by term, in the order of their numbers
	counts  []uint32    // of documents by term
	lengths []uint32    // of documents, in tokens
	forward forward
	docs    int // that have tokens
	tokens  int
}

// tokenized are texts as numbers of tokens.
type tokenized struct {
	names  []string // of the tokens by number
	tokens []uint32 // of all texts
	ends   []int    // of the texts in tokens
}

// tokenize splits texts. Most words are read more than once, and split once.
func tokenize(texts []string) *tokenized {
	t := &tokenized{ends: make([]int, 0, len(texts))}
	numbers := map[string]uint32{}
	known := map[string][]uint32{}
	for _, s := range texts {
		for word := range text.Words(s) {
			tokens, ok := known[word]
			if !ok {
				for _, name := range text.WordTokens(word) {
					n, ok := numbers[name]
					if !ok {
						n = uint32(len(t.names))
						numbers[name] = n
						t.names = append(t.names, name)
					}
					tokens = append(tokens, n)
				}
				known[word] = tokens
			}
			t.tokens = append(t.tokens, tokens...)
		}
		t.ends = append(t.ends, len(t.tokens))
	}
	return t
}

// update adds documents and removes others, which keep their numbers.
func (w *words) update(add *tokenized, removed []uint32) {
	var terms []posting
	for _, n := range removed {
		terms = w.forward.decode(n, terms)
		for _, t := range terms {
			w.counts[t.number()]--
		}
		w.tokens -= int(w.lengths[n])
		w.docs -= int(min(w.lengths[n], 1))
	}
	numbers := make([]uint32, len(add.names))
	for i, name := range add.names {
		numbers[i] = w.term(name)
	}
	start := 0
	var tokens []uint32
	for _, end := range add.ends {
		tokens = tokens[:0]
		for _, t := range add.tokens[start:end] {
			tokens = append(tokens, numbers[t])
		}
		start = end
		slices.Sort(tokens)
		terms = terms[:0]
		for i := 0; i < len(tokens); {
			first := i
			for i < len(tokens) && tokens[i] == tokens[first] {
				i++
			}
			terms = append(terms, newPosting(tokens[first], i-first))
		}
		w.add(terms, uint32(len(tokens)))
	}
}

func (w *words) term(name string) uint32 {
	if w.terms == nil {
		w.terms = map[string]uint32{}
	}
	term, ok := w.terms[name]
	if !ok {
		term = uint32(len(w.lists))
		w.terms[name] = term
		w.lists = append(w.lists, nil)
		w.counts = append(w.counts, 0)
	}
	return term
}

// add appends a document with its terms in order.
func (w *words) add(terms []posting, length uint32) {
	n := uint32(w.forward.len())
	for _, t := range terms {
		w.lists[t.number()] = append(w.lists[t.number()], newPosting(n, int(t.count())))
		w.counts[t.number()]++
	}
	w.forward.add(terms)
	w.lengths = append(w.lengths, length)
	w.tokens += int(length)
	w.docs += int(min(length, 1))
}

// compacted returns a list of some of the documents, with new numbers, and of their terms.
func (w *words) compacted(keep []uint32) *words {
	next := &words{}
	numbers := make([]uint32, len(w.lists)) // the new ones of terms
	for name, term := range w.terms {
		if w.counts[term] > 0 {
			numbers[term] = next.term(name)
		}
	}
	var terms []posting
	for _, n := range keep {
		terms = w.forward.decode(n, terms)
		for i, t := range terms {
			terms[i] = newPosting(numbers[t.number()], int(t.count()))
		}
		slices.Sort(terms)
		next.add(terms, w.lengths[n])
	}
	return next
}

// search returns the best documents. A word counts once however often the query has it: counting
// lowered the mean reciprocal rank of review comments by the changed lines from .42 to .38.
func (w *words) search(s string, f *filter, depth int) []scored {
	var tokens []string
	for t := range text.Tokens(s) {
		if _, ok := w.terms[t]; ok {
			tokens = append(tokens, t)
		}
	}
	slices.Sort(tokens) // so that sums are the same every time
	tokens = slices.Compact(tokens)
	if len(tokens) == 0 || w.docs == 0 {
		return nil
	}
	scores, done := scratch64(len(w.lengths))
	defer done()
	mean := float64(w.tokens) / float64(w.docs)
	bias := saturation * lengthBias / mean
	for _, t := range tokens {
		term := w.terms[t]
		count := float64(w.counts[term])
		weight := (saturation + 1) * math.Log(1+(float64(w.docs)-count+0.5)/(count+0.5))
		for _, p := range w.lists[term] {
			n := float64(p.count())
			scores[p.number()] += weight * n / (n + saturation*(1-lengthBias) + bias*float64(w.lengths[p.number()]))
		}
	}
	best := top{filter: f, depth: depth}
	for n, s := range scores {
		if s > 0 && s >= best.least() && f.has(uint32(n)) {
			best.add(uint32(n), s)
		}
	}
	return best.sorted()
}
