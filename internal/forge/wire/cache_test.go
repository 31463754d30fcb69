package wire

import "testing"

// TestCacheIsBounded: what was put last is kept, within the bound.
func TestCacheIsBounded(t *testing.T) {
	c := newBounded[int, string](100)
	for i := range 100 {
		c.put(i, "", i)
		if _, ok := c.get(i); !ok || c.size > c.max {
			t.Fatalf("%d of %d entries of %d", i, len(c.known), c.size)
		}
	}
	c.put(99, "new", 50)
	c.put(200, "", 101)
	if v, _ := c.get(99); len(c.known) != 1 || v != "new" || c.size != 50 {
		t.Errorf("%d entries, %q, %d", len(c.known), v, c.size)
	}
}
