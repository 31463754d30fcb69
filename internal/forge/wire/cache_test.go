package wire

import (
	"errors"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

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

func TestPermissions(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	p := NewRecent[PersonIn, forge.Permission](func() time.Time { return now })
	asked := 0
	of := func(id int64, answer forge.Permission, trouble error) forge.Permission {
		got, err := p.Of(PersonIn{Person: forge.Person{ID: precedent.NumberID(id)}},
			func() (forge.Permission, error) { asked++; return answer, trouble })
		if trouble == nil && err != nil {
			t.Error(err)
		}
		return got
	}
	of(1, forge.None, errors.New("broken"))
	of(1, forge.Write, nil)
	now = now.Add(permissionAge - 1)
	if got := of(1, forge.None, nil); got != forge.Write || asked != 2 {
		t.Errorf("%q, asked %d times", got, asked)
	}
	now = now.Add(1)
	if got := of(1, forge.Read, nil); got != forge.Read || asked != 3 {
		t.Errorf("after a minute: %q, asked %d times", got, asked)
	}
	for i := range int64(2 * maxPermissions) {
		of(i, forge.Read, nil)
	}
	if n := len(p.kept.known); n > maxPermissions {
		t.Errorf("%d answers are kept", n)
	}
}
