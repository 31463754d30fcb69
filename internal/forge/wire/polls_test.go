package wire

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// TestPollsAreBounded: lists are kept within the bound, and one that replaces another counts once.
func TestPollsAreBounded(t *testing.T) {
	p := NewPolls(time.Now)
	repo := func(i int) precedent.Repo { return precedent.Repo{Host: "x", Owner: "o", Name: fmt.Sprint(i)} }
	big := []forge.PullRequest{{Title: precedent.Untrusted(strings.Repeat("x", maxPolls/2-2*pollOverhead))}}
	for i := range 5 {
		p.put(repo(i), "t", big)
		p.put(repo(i), "u", big)
	}
	if len(p.known) != 1 || p.size != maxPolls/2 {
		t.Errorf("%d lists of %d bytes", len(p.known), p.size)
	}
	p.put(repo(4), "", big)
	p.put(repo(5), "t", make([]forge.PullRequest, maxPolls/pollOverhead))
	if len(p.known) != 0 || p.size != 0 {
		t.Errorf("%d lists of %d bytes", len(p.known), p.size)
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
