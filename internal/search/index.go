package search

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/precedent-dev/precedent/internal/text"
)

// The parameters of BM25, as Robertson and Zaragoza recommend them ("The Probabilistic Relevance
// Framework", 2009).
const (
	saturation = 1.2  // k1
	lengthBias = 0.75 // b
)

// Index has the documents of one repository. It is made with Add; then its other methods may be
// called concurrently.
type Index struct {
	docs   []entry
	counts []uint32 // of usable documents whose text has a term, by its hash
	// with and tokens are of usable documents: those that have the field, and its tokens in all.
	with, tokens [fields]int
	usable       int
	short        int

	mu    sync.Mutex
	lists map[uint32]*list // by slot, of the terms that were searched for
}

// entry is a document in an index.
type entry struct {
	number  int64
	filter  Filter
	lengths [fields]uint32 // in tokens
	terms   []byte
}

// list has the documents that have a term, and how often they do.
type list struct {
	postings []posting
	usable   int // documents
}

type posting struct{ doc, count uint32 }

// Add adds a document that was packed, with a number above those in the index. It keeps the bytes.
func (x *Index) Add(number int64, packed []byte) error {
	filter, terms, err := unpack(packed)
	if err != nil {
		return err
	}
	if x.counts == nil {
		x.counts = make([]uint32, 1<<hashBits)
	}
	e := entry{number: number, filter: filter, terms: terms}
	for t := range each(terms) {
		if t.field() >= fields {
			return errPacked
		}
		e.lengths[t.field()] += t.count()
		if filter.Usable && t.field() == Text {
			x.counts[t.hash()]++
		}
	}
	if filter.Short {
		x.short++
	}
	if filter.Usable {
		x.usable++
		for f, n := range e.lengths {
			x.tokens[f] += int(n)
			x.with[f] += int(min(n, 1))
		}
	}
	x.docs = append(x.docs, e)
	return nil
}

// each yields the terms of a document.
func each(terms []byte) func(func(term) bool) {
	return func(yield func(term) bool) {
		for ; len(terms) >= termSize; terms = terms[termSize:] {
			if !yield(term(binary.LittleEndian.Uint32(terms))) {
				return
			}
		}
	}
}

// Len returns how many documents are usable, how many are only too short for that, and how many are neither.
func (x *Index) Len() (usable, short, others int) {
	return x.usable, x.short, len(x.docs) - x.usable - x.short
}

// Filter returns what a query may ask of a document.
func (x *Index) Filter(number int64) (Filter, bool) {
	at, ok := slices.BinarySearchFunc(x.docs, number, func(e entry, n int64) int { return cmp.Compare(e.number, n) })
	if !ok {
		return Filter{}, false
	}
	return x.docs[at].filter, true
}

// Newest is when the last document was written; zero for an empty index.
func (x *Index) Newest() time.Time {
	var newest time.Time
	for i := range x.docs {
		if at := x.docs[i].filter.At; at.After(newest) {
			newest = at
		}
	}
	return newest
}

// Frequency returns how many usable documents have a token in their text, and how many have a text
// with tokens.
func (x *Index) Frequency(token string) (with, all int) {
	if x.counts == nil {
		return 0, 0
	}
	return int(x.counts[termOf(Text, token).hash()]), x.with[Text]
}

// Query is what to search for.
type Query struct {
	Fields [fields]string
	// May says whether a document may be found.
	May func(*Filter) bool
	// Depth is how many documents are returned for each field.
	Depth int
}

// Hit is a document that was found.
type Hit struct {
	Number int64
	Ranks  [fields]Rank
}

// Rank is the place of a document by a field, from 1; 0 if it is not among the best.
type Rank struct {
	Place int
	Score float64 // BM25
}

// Prepare gets ready for queries. Searching for one after the other without it takes longer, because
// each passes over all documents for the words that are new.
func (x *Index) Prepare(queries ...Query) {
	wanted := map[uint32]bool{}
	for i := range queries {
		for f, s := range queries[i].Fields {
			for _, t := range termsOf(Field(f), s) {
				wanted[t.slot()] = true
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.find(wanted)
}

// find makes the lists that are missing. The lock is held.
func (x *Index) find(wanted map[uint32]bool) {
	if x.lists == nil {
		x.lists = map[uint32]*list{}
	}
	missing := false
	seen := make([]uint64, slots/64)
	for slot := range wanted {
		if x.lists[slot] == nil {
			x.lists[slot] = &list{}
			seen[slot/64] |= 1 << (slot % 64)
			missing = true
		}
	}
	if !missing {
		return
	}
	for n := range x.docs {
		d := &x.docs[n]
		for t := range each(d.terms) {
			slot := t.slot()
			if seen[slot/64]>>(slot%64)&1 == 0 {
				continue
			}
			l := x.lists[slot]
			l.postings = append(l.postings, posting{uint32(n), t.count()})
			if d.filter.Usable {
				l.usable++
			}
		}
	}
}

// termsOf returns the terms of a text, each once and in order, so that sums are the same every time.
func termsOf(field Field, s string) []term {
	var terms []term
	for token := range text.Tokens(s) {
		terms = append(terms, termOf(field, token))
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// Search returns the best documents of each field, in the order of their numbers. A word counts once
// however often the query has it: counting lowered the mean reciprocal rank of review comments by
// the changed lines from .42 to .38.
func (x *Index) Search(q Query) []Hit {
	x.Prepare(q)
	places := map[int64]*Hit{}
	for f, s := range q.Fields {
		for i, b := range x.best(Field(f), s, &q) {
			number := x.docs[b.doc].number
			if places[number] == nil {
				places[number] = &Hit{Number: number}
			}
			places[number].Ranks[f] = Rank{i + 1, b.score}
		}
	}
	hits := make([]Hit, 0, len(places))
	for _, h := range places {
		hits = append(hits, *h)
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Number, b.Number) })
	return hits
}

// scored is the place of a document in the index and its score.
type scored struct {
	doc   int
	score float64
}

// best returns the best documents of a field, the best first.
func (x *Index) best(field Field, s string, q *Query) []scored {
	terms := termsOf(field, s)
	if len(terms) == 0 {
		return nil
	}
	scores := make([]float64, len(x.docs))
	all := float64(x.with[field])
	bias := saturation * lengthBias * all / float64(max(x.tokens[field], 1))
	x.mu.Lock()
	for _, t := range terms {
		l := x.lists[t.slot()]
		have := float64(l.usable)
		weight := (saturation + 1) * math.Log(1+max(0, all-have+0.5)/(have+0.5))
		for _, p := range l.postings {
			n := float64(p.count)
			length := float64(x.docs[p.doc].lengths[field])
			scores[p.doc] += weight * n / (n + saturation*(1-lengthBias) + bias*length)
		}
	}
	x.mu.Unlock()
	return x.top(scores, q)
}

// top returns the documents with the highest scores above 0, the best first; of equal ones the one
// that was added first.
func (x *Index) top(scores []float64, q *Query) []scored {
	var best []scored
	least := 0.0
	cut := func() {
		slices.SortFunc(best, func(a, b scored) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc))
		})
		if len(best) >= q.Depth {
			best = best[:q.Depth]
			least = best[q.Depth-1].score
		}
	}
	for i, s := range scores {
		if s <= least || !q.May(&x.docs[i].filter) {
			continue
		}
		if best = append(best, scored{i, s}); len(best) >= 4*q.Depth {
			cut()
		}
	}
	cut()
	return best
}
