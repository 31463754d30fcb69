package post

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// childVar, set, turns the test binary into a process that delivers. Its value is
// the forge's address, the memory, and the time.
const childVar = "PRECEDENT_POST_TEST_CHILD"

func TestMain(m *testing.M) {
	words := strings.SplitN(os.Getenv(childVar), " ", 3)
	if words[0] == "" {
		os.Exit(m.Run())
	}
	if err := childDeliver(context.Background(), words[0], words[1], words[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// childDeliver delivers what is planned. It waits by asking the parent to let the forge's time pass.
func childDeliver(ctx context.Context, url, file, watch string) error {
	now, sleep, err := forgetest.NewWatch(watch)
	if err != nil {
		return err
	}
	p, db, err := newPoster(ctx, url, file, now, sleep, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	d, err := p.Deliver(ctx, precedent.Repo{Host: p.Forge.Host(), Owner: "acme", Name: "shop"}, 1)
	if err == nil && d.Left > 0 {
		err = fmt.Errorf("%d posts are left: %+v", d.Left, d)
	}
	return err
}

// prey is a stage whose deliveries are other processes.
type prey struct {
	*stage
	trap *forgetest.Trap
}

// newPrey makes a scene whose lists lag behind by so much.
func newPrey(t *testing.T, lag time.Duration) *prey {
	t.Helper()
	s := newStage(t)
	return &prey{s, s.Trap(t, lag)}
}

// run delivers in a process, and tells whether that was killed.
func (p *prey) run(limit time.Duration) bool {
	p.t.Helper()
	cmd := exec.Command(needs.Self(p.t))
	cmd.Env = append(os.Environ(), strings.Join([]string{childVar + "=" + p.url, p.file, p.trap.Watch()}, " "))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := p.trap.Run(cmd, limit)
	if cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	killed := err != nil && cmd.ProcessState.ExitCode() == -1
	if err != nil && !killed {
		p.t.Fatalf("%v: %s", err, stderr.String())
	}
	return killed
}

// act sets a scene: a thread that was posted before, a push, and a review with so many remarks and one on no
// line of the diff, that answers in the thread and closes it.
func (p *prey) act(remarks int) {
	p.t.Helper()
	p.say(1, finding(1))
	p.World.Push(p.pull, sha("d"), patch(lines))
	r := p.answered(2, precedent.Addressed, "Fixed.", p.threads()[0])
	r.Findings, r.Verdict = append(findings(2, 1+remarks), finding(lines+1)), precedent.Findings
	p.plan(r, failOn)
}

// picture is what everybody sees on the pull request and what the memory holds,
// without what differs by nature.
func (p *prey) picture() []string {
	p.t.Helper()
	plain := forgetest.WithoutVolatile
	folded := p.World.FoldedUp(p.pull)
	closed := map[precedent.ForgeID]string{}
	for _, t := range p.World.Threads(p.pull) {
		closed[t.Comments[0]] = t.ClosedBy.Login
	}
	var out []string
	for _, c := range p.World.By(p.pull, p.poster.Me) {
		if folded[forge.CommentRef{Kind: c.Kind, ID: c.ID}] == "" {
			out = append(out, fmt.Sprintf("%s at %s, closed by %q: %s", c.Kind, c.Span, closed[c.ID], plain(string(c.Body))))
		}
	}
	p.World.Change(func() {
		for _, k := range p.World.Repo("acme", "shop").Checks {
			out = append(out, fmt.Sprintf("check %s on %s: %s, %s", k.Name, k.Commit, k.Conclusion, plain(k.Summary)))
		}
	})
	for _, t := range p.threads() {
		out = append(out, fmt.Sprintf("thread %s at %s of %s, inline %v, %s", t.Fingerprint, t.Span, t.Commit,
			t.Comment != "", t.State))
	}
	for state, n := range p.states() {
		out = append(out, fmt.Sprintf("%d %s", n, state))
	}
	slices.Sort(out)
	return out
}

// TestKilledWhileItPosts kills deliveries with SIGKILL, before and after a request
// was carried out and at any other moment, while lists show everything at once or
// ten seconds late. In the end everybody sees what they would have seen.
func TestKilledWhileItPosts(t *testing.T) {
	type calm struct {
		remarks, requests int
		picture           []string
	}
	var calms []calm
	for _, c := range []struct {
		remarks int
		want    seen
	}{
		{4, seen{Reviews: 2, Threads: 5, Summaries: 1, Replies: 1, Checks: 2}},
		{32, seen{Reviews: 3, Threads: 33, Summaries: 1, Replies: 1, Checks: 2}},
	} {
		p := newPrey(t, 0)
		p.act(c.remarks)
		before := len(p.Script.Requests())
		if p.run(0) {
			t.Fatal("nobody killed it")
		}
		p.want(c.want)
		calms = append(calms, calm{c.remarks, len(p.Script.Requests()) - before, p.picture()})
	}

	random := needs.Random(t)
	kills, killed := needs.Rounds(120, 12), 0
	for scene := 0; killed < kills; scene++ {
		lag := time.Duration(0)
		if scene%3 == 2 {
			lag = 10 * time.Second
		}
		want := calms[0]
		if scene%4 == 3 {
			want = calms[1]
		}
		p := newPrey(t, lag)
		p.act(want.remarks)
		for range 20 {
			how, limit := random.IntN(3), time.Duration(0)
			if p.trap.Set(1+random.IntN(want.requests), how == 0); how == 2 {
				p.trap.Set(0, false)
				limit = time.Duration(1+random.IntN(200)) * time.Millisecond
			}
			if !p.run(limit) {
				break
			}
			killed++
		}
		p.trap.Set(0, false)
		if p.run(0) {
			t.Fatalf("scene %d: nobody killed it", scene)
		}
		if d := cmp.Diff(want.picture, p.picture()); d != "" {
			t.Fatalf("scene %d differs after %d kills in all (-calm +killed):\n%s", scene, killed, d)
		}
	}
}
