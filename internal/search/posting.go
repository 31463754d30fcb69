package search

import "slices"

// posting is a document in the list of a term, or a term in the list of a document: the number of
// one, and how often the term is in the document.
type posting uint32

const (
	countBits = 6
	maxCount  = 1<<countBits - 1 // more often does not count
)

func newPosting(number uint32, count int) posting {
	return posting(number<<countBits | uint32(min(count, maxCount)))
}

func (p posting) number() uint32 { return uint32(p) >> countBits }
func (p posting) count() int     { return int(p & maxCount) }

// forward is the terms of each document, in order.
type forward struct{ docs [][]posting }

func (f *forward) add(counts map[uint32]int) {
	list := make([]posting, 0, len(counts))
	for term, count := range counts {
		list = append(list, newPosting(term, count))
	}
	slices.Sort(list)
	f.docs = append(f.docs, list)
}

func (f *forward) of(n uint32) []posting { return f.docs[n] }
func (f *forward) len() int              { return len(f.docs) }
