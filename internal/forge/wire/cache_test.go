package wire

import (
	"fmt"
	"net/http"
	"testing"
)

// TestCacheIsBounded: what was put last is kept, within the bound.
func TestCacheIsBounded(t *testing.T) {
	c := newCache(5 * overhead)
	key := func(i int) cacheKey { return cacheKey{url: fmt.Sprint(i)} }
	tagged := http.Header{"Etag": {"x"}}
	for i := range 100 {
		c.put(key(i), answer{200, tagged, make([]byte, i)})
		if _, ok := c.get(key(i)); !ok || c.size > c.max {
			t.Fatalf("%d of %d entries of %d bytes", i, len(c.known), c.size)
		}
	}
	c.put(key(200), answer{200, tagged, make([]byte, 5*overhead)})
	c.put(key(201), answer{200, http.Header{}, nil})
	c.put(key(99), answer{200, tagged, []byte("new")})
	if g, _ := c.get(key(99)); len(c.known) != 4 || string(g.body) != "new" {
		t.Errorf("%d entries, %q", len(c.known), g.body)
	}
	for k := range c.known {
		c.put(k, answer{})
	}
	if c.size != 0 {
		t.Errorf("%d bytes of nothing", c.size)
	}
}
