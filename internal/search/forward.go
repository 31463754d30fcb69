package search

import (
	"encoding/binary"
	"slices"
)

// posting is a term of a document: its number, and how often the document has it. In the list of
// a term, the number is that of a document.
type posting uint32

const (
	countBits = 6
	maxCount  = 1<<countBits - 1 // more often does not count
)

func newPosting(number uint32, count int) posting {
	return posting(number<<countBits | uint32(min(count, maxCount)))
}

func (p posting) number() uint32 { return uint32(p) >> countBits }
func (p posting) count() uint32  { return uint32(p) & maxCount }

// forward has the terms of each document. Documents can be appended to a copy while the original
// is read.
type forward struct {
	chunks [][]byte
	places []uint64 // of documents: the chunk, and the offset in it
}

// The sizes of the first chunks are firstChunk and its doubles, up to chunkSize.
const (
	firstChunk = 4 << 10
	chunkSize  = 1 << 20
)

func (f *forward) len() int { return len(f.places) }

// add appends a document. Its terms are in order.
func (f *forward) add(terms []posting) {
	last := len(f.chunks) - 1
	// A term takes at most five bytes and one for its count.
	if need := binary.MaxVarintLen32 + 6*len(terms); last < 0 || cap(f.chunks[last])-len(f.chunks[last]) < need {
		f.chunks = append(f.chunks, make([]byte, 0, max(min(firstChunk<<min(len(f.chunks), 16), chunkSize), need)))
		last++
	}
	chunk := f.chunks[last]
	f.places = append(f.places, uint64(last)<<32|uint64(len(chunk)))
	chunk = binary.AppendUvarint(chunk, uint64(len(terms)))
	previous := uint32(0)
	for _, t := range terms {
		gap := uint64(t.number()-previous) << 1
		previous = t.number()
		if t.count() == 1 {
			chunk = binary.AppendUvarint(chunk, gap)
		} else {
			chunk = append(binary.AppendUvarint(chunk, gap|1), byte(t.count()))
		}
	}
	f.chunks[last] = chunk
}

// with returns the documents of f followed by those of parts.
func (f *forward) with(parts []forward) forward {
	all := forward{chunks: slices.Clone(f.chunks), places: f.places}
	for _, p := range parts {
		first := uint64(len(all.chunks)) << 32
		for _, c := range p.chunks {
			if cap(c) > 2*len(c) {
				c = slices.Clone(c)
			}
			all.chunks = append(all.chunks, c)
		}
		for _, place := range p.places {
			all.places = append(all.places, first+place)
		}
	}
	return all
}

// decode returns the terms of a document in order, in the memory of another slice if there is
// enough.
func (f *forward) decode(n uint32, memory []posting) []posting {
	place := f.places[n]
	b := f.chunks[place>>32][uint32(place):]
	size, i := binary.Uvarint(b)
	terms := slices.Grow(memory[:0], int(size))[:size]
	number := uint32(0)
	for j := range terms {
		gap := uint32(b[i])
		i++
		if gap >= 0x80 {
			gap = gap&0x7f | uint32(b[i])<<7
			i++
			for shift := 14; b[i-1] >= 0x80; shift += 7 {
				gap = gap&(1<<shift-1) | uint32(b[i])<<shift
				i++
			}
		}
		number += gap >> 1
		count := uint32(1)
		if gap&1 == 1 {
			count = uint32(b[i])
			i++
		}
		terms[j] = posting(number<<countBits | count)
	}
	return terms
}
