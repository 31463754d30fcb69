package wire

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// TestPollsAreBounded: lists that are asked for in turn stay, those that do not fit are not kept, and
// those that nobody asks for make room.
func TestPollsAreBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	p := NewPolls(func() time.Time { return now })
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
	p := NewPolls(func() time.Time { return now })
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
