package search

import (
	"sync"
	"time"
)

// Index is the documents of one repository, in memory. Its methods may be called concurrently.
//
// An update leaves the index as if it had just been made of the documents that it has then. It
// takes as long as about a hundred searches, because the weights of all documents change, and
// searches wait only while its result is put in place. No goroutine outlives a call.
type Index struct {
	updating sync.Mutex        // held by Update, so that there is one at a time
	numbers  map[string]uint32 // of documents by id; guarded by updating

	mu        sync.RWMutex
	documents // Update alone writes them, and reads them without mu
}

// documents is what is searched.
type documents struct {
	entries []entry // of documents by their numbers, which count from 0 in the order of adding
	live    int
	// text, lines and path are the fields by words, and textChars and lineChars by characters.
	text, lines, path    *words
	textChars, lineChars *chars
	vectors              *vectors
}

// entry is what a filter needs to know of a document.
type entry struct {
	id    string
	group int
	at    int64 // microseconds
	dead  bool  // removed
}

// New makes an index of documents. Of those with the same id, the last one counts.
func New(docs []Doc) *Index {
	x := &Index{numbers: map[string]uint32{}, documents: documents{
		text: &words{}, lines: &words{}, path: &words{}, textChars: &chars{}, lineChars: &chars{}, vectors: &vectors{},
	}}
	x.Update(docs, nil)
	return x
}

// Len is the number of documents.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.live
}

// Update removes documents by id and adds others. A document whose id the index has is replaced.
// Searches that run at the same time see the index before or after the update. A vector that
// cannot be compared with the others is left out.
func (x *Index) Update(add []Doc, remove []string) {
	x.updating.Lock()
	defer x.updating.Unlock()
	add = lastOfEach(add)
	if removed := x.forget(add, remove); len(add)+len(removed) > 0 {
		x.replace(add, removed)
		x.compact()
	}
}

// replace adds documents and removes others by their numbers.
func (x *Index) replace(add []Doc, removed []uint32) {
	field := func(of func(*Doc) string) []string {
		out := make([]string, len(add))
		for i := range add {
			out[i] = of(&add[i])
		}
		return out
	}
	texts, lines := field(func(d *Doc) string { return d.Text }), field(func(d *Doc) string { return d.Lines })
	paths := field(func(d *Doc) string { return d.Path })
	var newWords [3]*tokenized
	var newChars [2]*chars
	steps := []func(){
		func() { newChars[0] = x.textChars.updated(texts, removed) },
		func() { newWords[0] = tokenize(texts) },
		func() { newChars[1] = x.lineChars.updated(lines, removed) },
		func() { newWords[1] = tokenize(lines) },
		func() { newWords[2] = tokenize(paths) },
	}
	parallel(len(steps), func(i int) { steps[i]() })

	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range removed {
		x.entries[n].dead = true
	}
	for i := range add {
		d := &add[i]
		x.numbers[d.ID] = uint32(len(x.entries))
		x.entries = append(x.entries, entry{id: d.ID, group: d.Group, at: d.At.UnixMicro()})
	}
	x.live = len(x.numbers)
	x.textChars, x.lineChars = newChars[0], newChars[1]
	fields := []*words{x.text, x.lines, x.path}
	parallel(len(fields), func(i int) { fields[i].update(newWords[i], removed) })
	x.vectors.update(add, removed)
}

// lastOfEach returns the last document of each id.
func lastOfEach(docs []Doc) []Doc {
	last := make(map[string]int, len(docs))
	for i := range docs {
		last[docs[i].ID] = i
	}
	if len(last) == len(docs) {
		return docs
	}
	var out []Doc
	for i := range docs {
		if last[docs[i].ID] == i {
			out = append(out, docs[i])
		}
	}
	return out
}

// forget removes the numbers of documents that are removed or replaced, and returns them.
func (x *Index) forget(add []Doc, remove []string) []uint32 {
	var removed []uint32
	gone := func(id string) {
		if n, ok := x.numbers[id]; ok {
			delete(x.numbers, id)
			removed = append(removed, n)
		}
	}
	for _, id := range remove {
		gone(id)
	}
	for i := range add {
		gone(add[i].ID)
	}
	return removed
}

// minDead is how many removed documents are kept at least.
const minDead = 1024

// compact drops removed documents when they are more than a quarter of all.
func (x *Index) compact() {
	dead := len(x.entries) - len(x.numbers)
	if dead <= max(minDead, len(x.entries)/4) {
		return
	}
	var keep []uint32
	next := documents{live: x.live}
	for n, e := range x.entries {
		if !e.dead {
			keep = append(keep, uint32(n))
			next.entries = append(next.entries, e)
		}
	}
	steps := []func(){
		func() { next.textChars = x.textChars.compacted(keep) },
		func() { next.lineChars = x.lineChars.compacted(keep) },
		func() { next.text = x.text.compacted(keep) },
		func() { next.lines = x.lines.compacted(keep) },
		func() { next.path = x.path.compacted(keep) },
		func() { next.vectors = x.vectors.compacted(keep) },
	}
	parallel(len(steps), func(i int) { steps[i]() })
	for n, e := range next.entries {
		x.numbers[e.id] = uint32(n)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.documents = next
}

// filter is which documents a query is about.
type filter struct {
	entries []entry
	group   int
	before  int64
	timed   bool
}

func newFilter(entries []entry, q *Query) filter {
	return filter{entries: entries, group: q.NotGroup, before: q.Before.UnixMicro(), timed: q.Before != (time.Time{})}
}

// has reports whether a document may be found.
func (f *filter) has(n uint32) bool {
	e := &f.entries[n]
	return !e.dead && (f.group == 0 || e.group != f.group) && (!f.timed || e.at < f.before)
}
