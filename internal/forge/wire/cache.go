package wire

import (
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

// cache keeps responses, and forgets all when it is full. An entry is used only after the forge has
// confirmed that it is current.
type cache struct {
	mu    sync.Mutex
	size  int
	known map[cacheKey]answer
}

func (c *cache) get(k cacheKey) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.known[k]
	return g, ok
}

// put stores a response that has an ETag and is small enough.
func (c *cache) put(k cacheKey, g answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.known[k]; ok {
		c.size -= len(old.body) + overhead
		delete(c.known, k)
	}
	etag := g.header.Get("ETag")
	if etag == "" || len(g.body) > maxEntry {
		return
	}
	g.header = http.Header{
		"Etag": {etag}, "Content-Type": g.header.Values("Content-Type"), "Link": g.header.Values("Link"),
	}
	size := len(g.body) + overhead
	if c.size += size; c.size > maxCache {
		clear(c.known)
		c.size = size
	}
	c.known[k] = g
}
