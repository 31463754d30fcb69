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

// cache keeps responses. One is used only after the forge has confirmed that it is current.
type cache struct {
	max int

	mu    sync.Mutex
	size  int
	known map[cacheKey]answer
}

func newCache(maxBytes int) *cache { return &cache{max: maxBytes, known: map[cacheKey]answer{}} }

func (c *cache) get(k cacheKey) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.known[k]
	return g, ok
}

// put stores a response that has an ETag and is small enough. It makes room for it by dropping any others.
func (c *cache) put(k cacheKey, g answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(k)
	etag := g.header.Get("ETag")
	if etag == "" || len(g.body) > min(maxEntry, c.max-overhead) {
		return
	}
	c.size += len(g.body) + overhead
	for other := range c.known {
		if c.size <= c.max {
			break
		}
		c.drop(other)
	}
	g.header = http.Header{
		"Etag": {etag}, "Content-Type": g.header.Values("Content-Type"), "Link": g.header.Values("Link"),
	}
	c.known[k] = g
}

func (c *cache) drop(k cacheKey) {
	if old, ok := c.known[k]; ok {
		delete(c.known, k)
		c.size -= len(old.body) + overhead
	}
}
