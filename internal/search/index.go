package search

import (
	"sync"
	"time"
)

// Index is the documents of one repository, in memory. Its methods may be called concurrently.
type Index struct {
	updating sync.Mutex // held by Update, so that there is one at a time

	mu      sync.RWMutex // guards the fields below
	entries []entry      // of documents by their numbers, which count from 0 in the order of adding
	numbers map[string]uint32
	text    words
	lines   words
	path    words
	// textChars and lineChars are of the same texts as text and lines.
	textChars chars
	lineChars chars
	vectors   vectors
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
	x := &Index{numbers: map[string]uint32{}}
	x.Update(docs, nil)
	return x
}

// Len is the number of documents.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.numbers)
}

// Update removes documents by id and adds others. A document whose id the index has is replaced.
// Searches that run at the same time see the index before or after the update. A vector that
// [Index.CheckVector] refuses is left out.
func (x *Index) Update(add []Doc, remove []string) {
	x.updating.Lock()
	defer x.updating.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range remove {
		x.remove(id)
	}
	for i := range add {
		x.remove(add[i].ID)
		x.add(&add[i])
	}
	x.textChars.weigh()
	x.lineChars.weigh()
}

func (x *Index) remove(id string) {
	n, ok := x.numbers[id]
	if !ok {
		return
	}
	delete(x.numbers, id)
	x.entries[n].dead = true
	x.text.remove(n)
	x.lines.remove(n)
	x.path.remove(n)
	x.textChars.remove(n)
	x.lineChars.remove(n)
	x.vectors.remove(n)
}

func (x *Index) add(d *Doc) {
	n := uint32(len(x.entries))
	x.entries = append(x.entries, entry{id: d.ID, group: d.Group, at: d.At.UnixMicro()})
	x.numbers[d.ID] = n
	x.text.add(n, d.Text)
	x.lines.add(n, d.Lines)
	x.path.add(n, d.Path+"\n"+d.Symbol)
	x.textChars.add(n, d.Text)
	x.lineChars.add(n, d.Lines)
	x.vectors.add(n, d.Vector)
}

// filter is which documents a query is about.
type filter struct {
	entries []entry
	group   int
	before  int64
	timed   bool
}

func (x *Index) filter(q *Query) filter {
	return filter{entries: x.entries, group: q.NotGroup, before: q.Before.UnixMicro(), timed: q.Before != (time.Time{})}
}

// has reports whether a document may be found.
func (f *filter) has(n uint32) bool {
	e := &f.entries[n]
	return !e.dead && (f.group == 0 || e.group != f.group) && (!f.timed || e.at < f.before)
}
