package wire

import (
	"container/list"
	"net/http"
	"sync"
)

const (
	maxCache = 16 << 20     // bytes kept for conditional requests
	maxEntry = maxCache / 4 // bytes of one body
	overhead = 1 << 10      // approximate size of an entry without its body: address and headers
)

// cacheKey identifies a response. The token is not in it because a client has only one.
type cacheKey struct{ url, accept string }

// cache keeps the most recent responses. An entry is used only after the forge has
// confirmed that it is current.
type cache struct {
	max int

	mu    sync.Mutex
	size  int
	order *list.List // of *entry, most recently used first
	byKey map[cacheKey]*list.Element
}

type entry struct {
	key    cacheKey
	answer answer
}

func newCache(maxBytes int) *cache {
	return &cache{max: maxBytes, order: list.New(), byKey: map[cacheKey]*list.Element{}}
}

func (c *cache) get(k cacheKey) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[k]
	if !ok {
		return answer{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry).answer, true
}

// put stores a response that has an ETag and is small enough.
func (c *cache) put(k cacheKey, g answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[k]; ok {
		c.drop(e)
	}
	etag := g.header.Get("ETag")
	if etag == "" || len(g.body) > min(maxEntry, c.max-overhead) {
		return
	}
	g.header = http.Header{
		"Etag": {etag}, "Content-Type": g.header.Values("Content-Type"), "Link": g.header.Values("Link"),
	}
	c.byKey[k] = c.order.PushFront(&entry{k, g})
	for c.size += len(g.body) + overhead; c.size > c.max; {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	old := c.order.Remove(e).(*entry)
	delete(c.byKey, old.key)
	c.size -= len(old.answer.body) + overhead
}
