package post

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// schedule runs several deliveries at once, one step after the other: each request and each wait is a step,
// and a random number says how long it takes. The same numbers give the same order.
type schedule struct {
	clock  *forgetest.Clock
	random *rand.Rand
	events chan *runner // a runner that stopped running: it waits or has ended
}

// runner is a delivery of a schedule.
type runner struct {
	*schedule
	at             time.Time
	resume         chan struct{}
	started, ended bool
	steps          int
	dies           int // the step at which it is killed; 0 for none
	result         Delivery
	err            error
}

// wait lets time pass for this runner.
func (r *runner) wait(d time.Duration) {
	if !r.started {
		return
	}
	if r.steps++; r.steps == r.dies {
		runtime.Goexit()
	}
	r.at = r.clock.Now().Add(d)
	r.events <- r
	<-r.resume
}

func (r *runner) sleep(ctx context.Context, d time.Duration) error {
	r.wait(d)
	return ctx.Err()
}

// latency is usually short, and sometimes as long as nobody expects.
func (r *runner) latency() time.Duration {
	if r.random.IntN(20) == 0 {
		return time.Duration(r.random.IntN(8000)) * time.Millisecond
	}
	return time.Duration(10+r.random.IntN(600)) * time.Millisecond
}

// RoundTrip takes its time before and after the request reaches the forge.
func (r *runner) RoundTrip(req *http.Request) (*http.Response, error) {
	r.wait(r.latency())
	resp, err := http.DefaultTransport.RoundTrip(req)
	r.wait(r.latency())
	return resp, err
}

// run runs the deliveries to their ends.
func (s *schedule) run(runners []*runner, deliver func(*runner)) {
	alive := map[*runner]bool{}
	for _, r := range runners {
		alive[r] = true
		r.at = s.clock.Now().Add(time.Duration(s.random.IntN(4000)) * time.Millisecond)
		go func() {
			defer func() { r.ended = true; s.events <- r }()
			<-r.resume
			r.started = true
			deliver(r)
		}()
	}
	for len(alive) > 0 {
		var next *runner
		for _, r := range runners {
			if alive[r] && (next == nil || r.at.Before(next.at)) {
				next = r
			}
		}
		s.clock.Pass(max(0, next.at.Sub(s.clock.Now())))
		next.resume <- struct{}{}
		if r := <-s.events; r.ended {
			delete(alive, r)
		}
	}
}

// pair is two runs that review the same head at the same time.
type pair struct {
	*stage
	*schedule
	shared  bool // one memory
	posters []*Poster
	runs    []*runner
}

// newPair makes a pull request with three remarks that were posted before, and two reviews of
// its new head that both found five more and both answer two.
func newPair(t *testing.T, kind string, open, shared bool, random *rand.Rand) *pair {
	t.Helper()
	p := &pair{stage: newStageOn(t, kind), shared: shared}
	p.open = open
	p.schedule = &schedule{clock: p.Clock, random: random, events: make(chan *runner)}
	other := p.file
	if !shared {
		other = filepath.Join(t.TempDir(), "memory.db")
	}
	for i, file := range []string{p.file, other} {
		r := &runner{schedule: p.schedule, resume: make(chan struct{})}
		if random.IntN(2) == 0 {
			r.dies = 1 + random.IntN(120)
		}
		poster, db := p.newPoster(file, p.Clock.Sleep, nil)
		t.Cleanup(func() { db.Close() })
		p.poster, p.rows = poster, poster.Rows
		if i == 0 || !shared {
			p.say(1+i, findings(1, 3)...)
		}
		poster, again := p.newPoster(file, r.sleep, r)
		t.Cleanup(func() { again.Close() })
		p.posters, p.runs = append(p.posters, poster), append(p.runs, r)
	}
	p.World.Push(p.pull, sha("d"), patch(lines))
	p.Clock.Pass(time.Hour)
	return p
}

// plans saves what a run has to say about the new head.
func (p *pair) plans(i int) {
	p.t.Helper()
	p.poster, p.rows = p.posters[i], p.posters[i].Rows
	r := p.answered(10+i, precedent.Addressed, "Fixed.", p.threads()[:2]...)
	r.Findings, r.Verdict, r.CostUSD = findings(4, 8), precedent.Findings, float64(1+i)
	p.plan(r, failOn)
}

// TestTwoRunsAtOnce: whatever the order of their requests is, however long each takes, and
// whichever of them is killed, each remark, each answer and the summary are there once, without
// a third run if one of them lived. Only if one is killed, and they have neither a key nor a
// memory in common, can each have a summary of its own.
func TestTwoRunsAtOnce(t *testing.T) {
	random := needs.Random(t)
	for _, kind := range []string{"", "gitea 1.27", "gitea 1.25"} {
		for _, shared := range []bool{false, true} {
			for _, open := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, shared %v, keyless %v", kind, shared, open), func(t *testing.T) {
					for range needs.Rounds(10, 2) {
						checkPair(t, newPair(t, kind, open, shared, random), random)
					}
				})
			}
		}
	}
}

func checkPair(t *testing.T, p *pair, random *rand.Rand) {
	t.Helper()
	for i := range p.runs {
		p.plans(i)
	}
	lag := time.Duration(random.IntN(6)) * time.Second
	p.Script.Plan(forgetest.Fault{Method: http.MethodGet, LagFor: lag, Times: 1 << 30})
	deliver := func(r *runner) {
		i := 0
		if r == p.runs[1] {
			i = 1
		}
		r.result, r.err = p.posters[i].Deliver(t.Context(), p.repo, 1)
	}
	p.run(p.runs, deliver)
	lived, died := false, false
	for i, r := range p.runs {
		killed := r.dies > 0 && r.steps >= r.dies
		lived, died = lived || !killed, died || killed
		if r.err != nil {
			t.Errorf("run %d: %v", i, r.err)
		}
	}
	p.Script.Forget()
	p.Clock.Pass(time.Minute)
	for i, r := range p.runs {
		killed := r.dies > 0 && r.steps >= r.dies
		// Without a key, nobody but the run that was killed knows what it posted.
		if !lived && i == 0 || killed && p.open && !p.shared {
			p.Clock.Pass(claimFor)
			*r = runner{schedule: p.schedule, resume: make(chan struct{})}
			p.run(p.runs[i:i+1], deliver)
		}
	}
	got := p.seen()
	want := seen{Reviews: got.Reviews, Threads: 8, Places: 8, Summaries: 1, Replies: 2, Checks: got.Checks}
	if kinds[p.kind] != forgetest.Gitea127 && p.kind != "" {
		want.Replies = 0 // they are in the comments
	}
	if p.open && !p.shared { // each has its own memory of who wrote what
		want.Threads, want.Replies = got.Threads, got.Replies
		switch {
		case died: // nobody else knows what the run that was killed posted
			want.Summaries = max(1, min(got.Summaries, 2))
		case p.kind == "" && got.Threads != 8:
			t.Errorf("%d threads", got.Threads)
		}
	}
	if got != want {
		t.Errorf("lag %v, lived %v: on the pull request: %+v, want %+v\n%+v\n%+v", lag, lived, got, want, p.runs[0].result,
			p.runs[1].result)
	}
	if !p.open && !p.shared && p.runs[0].steps != p.runs[0].dies && p.runs[1].steps != p.runs[1].dies {
		checkSpending(t, p)
	}
	for _, q := range mustPosts(t, p.posters[0].Rows) {
		if !q.State.Done() && (p.runs[0].dies == 0 || p.runs[0].steps < p.runs[0].dies) && !p.shared {
			t.Errorf("run 0 has left %s %s", q.Kind, q.State)
		}
	}
}

// checkSpending: of two runs that each cost something, the summary has the sum. A run whose claim
// was taken over meanwhile may be in it twice, never not at all.
func checkSpending(t *testing.T, p *pair) {
	t.Helper()
	p.poster = p.posters[0]
	w := p.writer()
	for _, c := range p.World.By(p.pull, forgetest.Bot) {
		if m, ok := w.Read(string(c.Body)); ok && m.Kind == comment.Summary && m.Spent.Microdollars < 3e6 {
			t.Errorf("the summary says %+v, and the runs cost 3e6: %+v\n%+v", m.Spent, p.runs[0].result, p.runs[1].result)
		}
	}
}

func mustPosts(t *testing.T, rows *store.Repo) []store.Post {
	t.Helper()
	posts := needs.Value(rows.Posts(t.Context(), 1))(t)
	return posts
}
