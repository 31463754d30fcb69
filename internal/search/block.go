package search

// blockDocs is how many documents a block has: what a posting of 16 bits can tell apart.
const blockDocs = 1 << 14

// block has the lists of grams for consecutive documents.
type block struct {
	first   uint32
	docs    int
	offsets []uint32 // of the lists by gram, and the end of the last one
	// postings are numbers within the block with two bits for the count less 1.
	postings []uint16
}

// newBlock makes the block of the documents from first to before end.
func newBlock(f *forward, first, end uint32) *block {
	b := &block{first: first, docs: int(end - first), offsets: make([]uint32, gramNumbers+1)}
	ends := make([]int, b.docs) // of the terms of each document in all
	var all, terms []posting
	for n := first; n < end; n++ {
		terms = f.decode(n, terms)
		all = append(all, terms...)
		ends[n-first] = len(all)
	}
	for _, t := range all {
		b.offsets[t.number()]++
	}
	total := uint32(0)
	for g, n := range b.offsets {
		b.offsets[g] = total
		total += n
	}
	b.postings = make([]uint16, total)
	// Filling moves each offset to the end of its list, which is where the next one begins.
	start := 0
	for n, end := range ends {
		for _, t := range all[start:end] {
			b.postings[b.offsets[t.number()]] = uint16(uint32(n)<<2 | (t.count() - 1))
			b.offsets[t.number()]++
		}
		start = end
	}
	copy(b.offsets[1:], b.offsets)
	b.offsets[0] = 0
	return b
}

// accumulate adds what grams contribute to the scores of the block's documents.
func (b *block) accumulate(grams []gramWeight, scores *[blockDocs]float32) {
	for _, g := range grams {
		var weights [maxGramCount]float32
		for i := range weights {
			weights[i] = float32(g.weight * damping[i+1])
		}
		for _, p := range b.postings[b.offsets[g.gram]:b.offsets[g.gram+1]] {
			scores[p>>2] += weights[p&3]
		}
	}
}
