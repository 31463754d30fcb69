package corpus

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/search"
)

// Index finds chunks of one repository's corpus. It is in memory, and safe for concurrent use.
type Index struct {
	mu     sync.RWMutex
	chunks map[string]*precedent.CorpusChunk
	// usable has the chunks that can be precedents, and others the rest, so that what is not
	// usable does not change how often a word is used.
	usable, others *search.Index
	lines          lineCounts // of the usable chunks
	newest         time.Time  // comment
	profiles       profiles
	vectors        vectorSpace
	revision       int64 // of the corpus that was read; only Open and Renew use it
}

// NewIndex returns an index of chunks. Those of deleted comments are left out.
func NewIndex(chunks []precedent.CorpusChunk) *Index {
	x := &Index{chunks: map[string]*precedent.CorpusChunk{}, usable: search.New(nil), others: search.New(nil)}
	x.Update(chunks, nil)
	return x
}

// ChunkID identifies a chunk in the index of its repository.
func ChunkID(c *precedent.CorpusChunk) string {
	return chunkID(c.Kind, c.ID, c.Chunk)
}

func chunkID(kind string, id precedent.ForgeID, chunk int) string {
	return fmt.Sprintf("%s/%s/%d", kind, id, chunk)
}

// Update replaces or adds chunks, and removes those with the given ids. A chunk of a comment that
// was deleted is removed, too. Searches that run meanwhile see the index before or after it.
func (x *Index) Update(changed []precedent.CorpusChunk, gone []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var usable, others []search.Doc
	var out []string
	for _, id := range gone {
		out = append(out, id)
		x.drop(id)
	}
	last := map[string]int{}
	for i := range changed {
		last[ChunkID(&changed[i])] = i
	}
	for i := range changed {
		c := &changed[i]
		id := ChunkID(c)
		if last[id] != i {
			continue
		}
		out = append(out, id)
		x.drop(id)
		if !c.DeletedAt.IsZero() {
			continue
		}
		x.chunks[id] = c
		if c.At.After(x.newest) {
			x.newest = c.At
		}
		if c.Unusable == "" {
			x.lines.add(c, 1)
			usable = append(usable, x.docOf(id, c))
		} else {
			others = append(others, x.docOf(id, c))
		}
	}
	x.usable.Update(usable, out)
	x.others.Update(others, out)
	x.profiles.forget()
}

func (x *Index) drop(id string) {
	if c := x.chunks[id]; c != nil {
		if c.Unusable == "" {
			x.lines.add(c, -1)
		}
		delete(x.chunks, id)
	}
}

// docOf is what is searched of a chunk.
func (x *Index) docOf(id string, c *precedent.CorpusChunk) search.Doc {
	return search.Doc{
		ID: id, Text: searchedText(c), Path: c.Path, Group: c.Pull, At: c.At,
		Lines: commentedLine(c), Vector: x.vectors.chunks[id],
	}
}

// commentedLine is the last line of the hunk of a comment on lines, without its mark; empty for
// other comments.
func commentedLine(c *precedent.CorpusChunk) string {
	hunk := strings.TrimRight(string(c.Hunk), "\n")
	line := hunk[strings.LastIndexByte(hunk, '\n')+1:]
	if line == "" || strings.HasPrefix(line, "@@") {
		return ""
	}
	return strings.TrimRight(line[1:], "\r")
}

// Empty tells that the index has no chunks, usable or not.
func (x *Index) Empty() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.chunks) == 0
}

// Len is the number of chunks that are usable as precedents.
func (x *Index) Len() int { return x.usable.Len() }

// may reports whether a query is about a chunk.
func (q *Query) may(c *precedent.CorpusChunk) bool {
	return (q.Pull == 0 || c.Pull != q.Pull) && (q.Before.IsZero() || c.At.Before(q.Before)) && (q.All || c.Unusable == "")
}
