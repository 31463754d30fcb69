package wire

import (
	"fmt"
	"net/http"
	"testing"
)

// TestCacheIsBounded: answers are kept within the bound, and one that replaces another counts once.
func TestCacheIsBounded(t *testing.T) {
	c := &cache{known: map[cacheKey]answer{}}
	put := func(i, size int, etag string) {
		c.put(cacheKey{url: fmt.Sprint(i)}, answer{200, http.Header{"Etag": {etag}}, make([]byte, size)})
	}
	for i := range 10 {
		put(i, maxEntry-overhead, "x")
		put(i, maxEntry-overhead, "y")
	}
	if len(c.known) != 2 || c.size != 2*maxEntry {
		t.Errorf("%d entries of %d bytes", len(c.known), c.size)
	}
	put(9, maxEntry+1, "x")
	put(8, 1, "")
	if len(c.known) != 0 || c.size != 0 {
		t.Errorf("%d entries of %d bytes", len(c.known), c.size)
	}
}
