package post

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// act sets a scene: a thread that was posted before, a push, and a review with so many remarks and one on no
// line of the diff, that answers in the thread and closes it.
func (s *stage) act(remarks int) {
	s.t.Helper()
	s.say(1, finding(1))
	s.World.Push(s.pull, sha("d"), patch(lines))
	r := s.answered(2, precedent.Addressed, "Fixed.", s.threads()[0])
	r.Findings, r.Verdict = append(findings(2, 1+remarks), finding(lines+1)), precedent.Findings
	s.plan(r, failOn)
}

// deliverUntil delivers as a program of its own, which is killed at a step, and returns at how many it arrived.
func (s *stage) deliverUntil(step int, random *rand.Rand) (steps int) {
	s.t.Helper()
	one := &schedule{clock: s.Clock, random: random, events: make(chan *runner)}
	r := &runner{schedule: one, resume: make(chan struct{}), dies: step}
	p, db := s.newPoster(s.file, r.sleep, r)
	defer db.Close()
	one.run([]*runner{r}, func(r *runner) { r.result, r.err = p.Deliver(s.t.Context(), s.repo, 1) })
	if r.err != nil || r.result.Left > 0 {
		s.t.Fatalf("%+v, %v", r.result, r.err)
	}
	return r.steps
}

// picture is what everybody sees on the pull request and what the memory holds,
// without what differs by nature.
func (s *stage) picture() []string {
	s.t.Helper()
	plain := forgetest.WithoutVolatile
	folded := s.World.FoldedUp(s.pull)
	closed := map[precedent.ForgeID]string{}
	for _, t := range s.World.Threads(s.pull) {
		closed[t.Comments[0]] = t.ClosedBy.Login
	}
	var out []string
	for _, c := range s.World.By(s.pull, s.poster.Me) {
		if folded[forge.CommentRef{Kind: c.Kind, ID: c.ID}] == "" {
			out = append(out, fmt.Sprintf("%s at %s, closed by %q: %s", c.Kind, c.Span, closed[c.ID], plain(string(c.Body))))
		}
	}
	s.World.Change(func() {
		for _, k := range s.World.Repo("acme", "shop").Checks {
			out = append(out, fmt.Sprintf("check %s on %s: %s, %s", k.Name, k.Commit, k.Conclusion, plain(k.Summary)))
		}
	})
	for _, t := range s.threads() {
		out = append(out, fmt.Sprintf("thread %s at %s of %s, inline %v, %s", t.Fingerprint, t.Span, t.Commit,
			t.Comment != "", t.State))
	}
	for state, n := range s.states() {
		out = append(out, fmt.Sprintf("%d %s", n, state))
	}
	slices.Sort(out)
	return out
}

// TestKilledWhileItPosts kills deliveries before and after their requests, while lists show everything at once or
// ten seconds late. In the end everybody sees what they would have seen.
func TestKilledWhileItPosts(t *testing.T) {
	random := needs.Random(t)
	for scene := range needs.Rounds(40, 4) {
		remarks := []int{4, 4, 4, 32}[scene%4]
		calm := newStage(t)
		calm.act(remarks)
		steps := calm.deliverUntil(0, random)
		calm.want(seen{Reviews: 2 + remarks/30, Threads: 1 + remarks, Summaries: 1, Replies: 1, Checks: 2})

		s := newStage(t)
		s.act(remarks)
		if scene%3 == 2 {
			s.Script.Plan(forgetest.Fault{Method: http.MethodGet, LagFor: 10 * time.Second, Times: 1 << 30})
		}
		for range 10 {
			if dies := 1 + random.IntN(steps); s.deliverUntil(dies, random) < dies {
				break
			}
		}
		s.deliverUntil(0, random)
		if d := cmp.Diff(calm.picture(), s.picture()); d != "" {
			t.Fatalf("scene %d differs (-calm +killed):\n%s", scene, d)
		}
	}
}
