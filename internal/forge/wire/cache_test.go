package wire

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
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
	if n := len(p.known); n > maxPermissions {
		t.Errorf("%d answers are kept", n)
	}
}

// TestPollsAreBounded: lists that are asked for in turn stay, those that do not fit are not kept, and
// those that nobody asks for make room.
func TestPollsAreBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	p := newPolls(func() time.Time { return now })
	repo := func(i int) precedent.Repo { return precedent.Repo{Host: "x", Owner: "o", Name: fmt.Sprint(i)} }
	big := []forge.PullRequest{{Title: precedent.Untrusted(strings.Repeat("x", 1<<20))}}
	kept := func() (n int) {
		for i := range 40 {
			if _, ok := p.get(repo(i), 100); ok {
				n++
			}
		}
		return n
	}
	for range 3 {
		for i := range 40 {
			if _, ok := p.get(repo(i), 100); !ok {
				p.put(repo(i), "t", big)
			}
		}
	}
	if n := kept(); n != 15 || p.size > maxPolls {
		t.Errorf("%d lists of %d bytes", n, p.size)
	}
	now = now.Add(pollIdle)
	p.put(repo(39), "t", big)
	if n := kept(); n != 1 || len(p.known) != 1 {
		t.Errorf("%d lists after an hour", n)
	}
	p.put(repo(39), "", big)
	if kept() != 0 || p.size != 0 {
		t.Errorf("%d bytes of nothing", p.size)
	}
}

// TestPollsGrowOld: a list of one page is known by its first page for ever, one of several for some minutes.
func TestPollsGrowOld(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	p := newPolls(func() time.Time { return now })
	repo := precedent.Repo{Host: "x", Owner: "o", Name: "n"}
	p.put(repo, "t", make([]forge.PullRequest, 100))
	for _, test := range []struct {
		after   time.Duration
		perPage int
		want    bool
	}{{0, 100, true}, {9 * time.Minute, 100, true}, {time.Minute, 100, false}, {0, 101, true}, {-time.Hour, 100, false}} {
		now = now.Add(test.after)
		if _, ok := p.get(repo, test.perPage); ok != test.want {
			t.Errorf("after %s more: %t", test.after, ok)
		}
	}
}
