package wire

import (
	"fmt"
	"net/http"
	"testing"
)

// TestCacheIsBounded: the answers that were used last are kept, within the bound.
func TestCacheIsBounded(t *testing.T) {
	c := newCache(5 * overhead)
	key := func(i int) cacheKey { return cacheKey{url: fmt.Sprint(i)} }
	for i := range 100 {
		c.put(key(i), answer{200, http.Header{"Etag": {"x"}}, make([]byte, i)})
		c.get(key(0)) // keeps being used
	}
	if _, ok := c.get(key(0)); !ok || len(c.byKey) != 4 || c.order.Len() != 4 || c.size > c.max {
		t.Errorf("%d entries of %d bytes", len(c.byKey), c.size)
	}
	c.put(key(200), answer{200, http.Header{"Etag": {"x"}}, make([]byte, 5*overhead)})
	c.put(key(201), answer{200, http.Header{}, nil})
	c.put(key(0), answer{200, http.Header{"Etag": {"y"}}, []byte("new")})
	if g, _ := c.get(key(0)); len(c.byKey) != 4 || string(g.body) != "new" {
		t.Errorf("%d entries, %q", len(c.byKey), g.body)
	}
	for len(c.byKey) > 0 {
		c.drop(c.order.Back())
	}
	if c.size != 0 {
		t.Errorf("%d bytes of nothing", c.size)
	}
}
