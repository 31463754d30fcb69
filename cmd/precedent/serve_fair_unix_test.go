//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/needs"
)

// fairness watches when webhooks are accepted and when reviews begin.
type fairness struct {
	mu       sync.Mutex
	accepted map[string]time.Time // of the newest event of each pull request, by repository and number
	waits    []time.Duration      // of the small repository
	floods   int                  // reviews of the other one that began
	before   map[string]int       // floods when the event was accepted
	passed   int                  // the most reviews of the other one that began while one of the small repository waited
}

// jobStarted is what the log says when a review begins.
var jobStarted = regexp.MustCompile(`msg="job started" kind=review repo=\S+/octo/(\w+) pull=(\d+)`)

// flooding and small are repositories.
const flooding, small = "shop0", "shop1"

func (f *fairness) accept(e *burstEvent) {
	var body struct {
		Action     string
		Number     int
		Repository struct{ Name string }
	}
	if json.Unmarshal(e.body, &body) != nil || body.Action != "opened" && body.Action != "synchronize" || body.Repository.Name != small {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key := body.Repository.Name + "/" + strconv.Itoa(body.Number)
	f.accepted[key], f.before[key] = time.Now(), f.floods
}

func (f *fairness) hear(line string) {
	m := jobStarted.FindStringSubmatch(line)
	if m == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if m[1] == flooding {
		f.floods++
		return
	}
	key := m[1] + "/" + m[2]
	if at, ok := f.accepted[key]; ok {
		f.waits = append(f.waits, time.Since(at))
		f.passed = max(f.passed, f.floods-f.before[key])
		delete(f.accepted, key)
	}
}

// p95 returns that of the waits so far, and forgets them.
func (f *fairness) p95() (p95 time.Duration, n, passed int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.Sort(f.waits)
	if n = len(f.waits); n > 0 {
		p95 = f.waits[min(n-1, n*95/100)]
	}
	passed, f.waits, f.passed = f.passed, nil, 0
	return p95, n, passed
}

// TestServeFairness: "jobs of no repository starved (p95 wait of a small repository beside a flooding
// one ≤ 2 × its wait alone)". The waits are logged; what it asserts does not depend on the machine: no event
// of the small repository waits until the other one has had a review of each pull request, as it would in the
// order of arrival. A few begin before it: other jobs of the small repository may be due first.
func TestServeFairness(t *testing.T) {
	needs.Soak(t, "keeps a server busy with many repositories")
	size := burstSize{repos: 2, pulls: 2 * needs.Rounds(20, 10), pushes: 2}
	test := func(t *testing.T, url string, replicas int) {
		b := newBurst(t, size, url)
		f := &fairness{accepted: map[string]time.Time{}, before: map[string]int{}}
		b.lossless, b.accepted, b.said = true, f.accept, f.hear
		for i := range replicas {
			b.start(i)
		}
		needs.WaitUntil(t, "all listen", func() bool {
			return !slices.ContainsFunc(b.replicas, func(r *burstReplica) bool { return r.address() == "" })
		})
		one := func(p *burstPull) {
			b.push(p)
			head := p.heads[p.at-1]
			needs.WaitUntil(t, fmt.Sprintf("%s#%d is reviewed", p.repo.Name, p.Number), func() bool {
				return slices.ContainsFunc(b.ours(p), func(m marked) bool { return m.Marker.Kind == comment.Summary && m.Head == head && m.Run == "" })
			})
		}
		var few, many []*burstPull
		for _, p := range b.pulls {
			if p.repo.Name == small {
				few = append(few, p)
			} else {
				many = append(many, p)
			}
		}
		for _, p := range few {
			one(p)
		}
		alone, n, _ := f.p95()
		for _, p := range slices.Concat(many, many) {
			b.push(p)
		}
		for _, p := range few {
			one(p)
		}
		beside, m, passed := f.p95()
		_, q := b.open(url)
		b.quiet(q, 10*time.Minute)
		b.end()
		t.Logf("p95 of %d waits alone %s, of %d beside a repository with %d events %s; at most %d of its reviews began meanwhile", n, alone.Round(time.Millisecond), m, 2*len(many), beside.Round(time.Millisecond), passed)
		if n == 0 || m == 0 {
			t.Error("nothing was measured")
		}
		if passed >= len(many) {
			t.Errorf("%d reviews of the other repository, which has %d pull requests, began while one of the small repository waited", passed, len(many))
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, "", 1)
	})
	t.Run("postgresql", func(t *testing.T) {
		t.Parallel()
		test(t, needs.PostgreSQL(t), 2)
	})
}
