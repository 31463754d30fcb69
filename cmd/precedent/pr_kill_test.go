package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// What the parent tells a parroted program by its environment.
const (
	parrotClock = "PARROT_CLOCK" // where the parent lets the forge's time pass, and what time it is
	parrotText  = "PARROT_TEXT"  // a copy of src/till.js at the head
)

// parroted is the program with a parrot for an engine, which waits by asking its
// parent to let the forge's time pass.
func parroted() {
	text, err := os.ReadFile(os.Getenv(parrotText))
	now, sleep, clockErr := forgetest.NewWatch(os.Getenv(parrotClock))
	if err != nil || clockErr != nil {
		fmt.Fprintln(os.Stderr, err, clockErr)
		syscall.Exit(9)
	}
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: environment(os.Environ()),
		fixedEngine: &parrot{path: "src/till.js", text: string(text)}, now: now, sleep: sleep,
	}
	a.exit(context.Background())
}

// exit runs the program, and ends the process.
func (a *app) exit(ctx context.Context) {
	end := a.makeTemp()
	status := a.run(ctx, os.Args[1:])
	end()
	syscall.Exit(status) // os.Exit takes a second in a binary with the race detector
}

// quarry is a pull request whose reviews are other processes.
type quarry struct {
	*shopPull
	trap   *forgetest.Trap
	author forge.Person // who posts
}

// newQuarry makes the forge for a kind of token.
func newQuarry(t *testing.T, token string) *quarry {
	t.Helper()
	q := &quarry{shopPull: newShopPull(t)}
	switch token {
	case "actions":
		q.door.api.Actions()
		q.app.env[markerKeyVariable] = "a key for tests, which opens nothing"
	case "app":
		q.asApp()
	}
	q.author, q.trap = q.door.stage.World.Me, q.door.stage.Trap(t, 0)
	return q
}

// command is a command about the pull request, as a process.
func (q *quarry) command(name string, args ...string) *exec.Cmd {
	q.t.Helper()
	text := filepath.Join(q.home, "till.js")
	writeFile(q.t, text, q.parrot.text, 0o600)
	cmd := exec.Command("parroted", append([]string{name, q.door.URL + "/octo/app/pull/7"}, args...)...)
	cmd.Dir = q.app.dir
	cmd.Env = []string{parrotText + "=" + text, parrotClock + "=" + q.trap.Watch()}
	for k, v := range q.app.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	return cmd
}

// run reviews and posts in a process, which is killed after the limit if there is
// one, and tells whether it was killed.
func (q *quarry) run(limit time.Duration) bool {
	q.t.Helper()
	cmd := q.command("pr", "--post", "--fail-on", "medium")
	var said bytes.Buffer
	cmd.Stderr = &said
	err := q.trap.Run(cmd, limit)
	if cmd.ProcessState == nil {
		q.t.Fatal(err)
	}
	status := cmd.ProcessState.ExitCode()
	if status > precedent.ExitFindings {
		q.t.Fatalf("status %d\n%s", status, said.String())
	}
	return status < 0
}

// findingID is the form of a finding's id.
var findingID = regexp.MustCompile(`\b[0-9a-hjkmnp-tv-z]{10}\b`)

// unnatural is a text without what differs from one run to the next.
func unnatural(s string) string {
	return findingID.ReplaceAllString(forgetest.WithoutVolatile(s), "FINDING")
}

// picture is what everybody sees on the pull request and what the memory holds,
// without what differs by nature.
func (q *quarry) picture() []string {
	q.t.Helper()
	world := q.door.stage.World
	closed := map[precedent.ForgeID]string{}
	for _, t := range world.Threads(q.pull) {
		closed[t.Comments[0]] = fmt.Sprintf(", closed %v by %q", t.Closed, t.ClosedBy.Login)
	}
	var out []string
	for _, c := range world.By(q.pull, q.author) {
		out = append(out, fmt.Sprintf("%s at %s%s: %s", c.Kind, c.Span, closed[c.ID], unnatural(string(c.Body))))
	}
	if n := world.Unsent(q.pull); n > 0 {
		out = append(out, fmt.Sprintf("%d reviews that were not sent", n))
	}
	world.Change(func() {
		for _, k := range world.Repo("octo", "app").Checks {
			out = append(out, fmt.Sprintf("check %s on %s: %s, %s", k.Name, k.Commit, k.Conclusion, k.Title))
		}
	})
	out = append(out, q.remembered()...)
	slices.Sort(out)
	return out
}

// remembered is what the memory holds.
func (q *quarry) remembered() (out []string) {
	q.t.Helper()
	q.inMemory(func(rows *store.Repo) error {
		threads, err1 := rows.Threads(q.t.Context(), 7)
		posts, err2 := rows.Posts(q.t.Context(), 7)
		outcomes, err3 := rows.Outcomes(q.t.Context(), 7)
		for _, t := range threads {
			seen := fmt.Sprintf("seen in %s at %s", t.SeenPath, t.SeenAt)
			out = append(out, fmt.Sprintf("thread about %s at %s: %s, %s", t.Title, t.Span, t.State, seen))
		}
		for _, p := range posts {
			out = append(out, fmt.Sprintf("post %d about %s: %s, %s", p.Nth, p.Head, p.Kind, p.State))
		}
		for _, o := range outcomes {
			out = append(out, unnatural(fmt.Sprintf("outcome of %s: %s, %s", o.Title, o.Kind, o.Proof)))
		}
		return errors.Join(err1, err2, err3)
	})
	return out
}

// acts are the heads of the pull request, each with what people say before it.
var acts = []struct {
	text  string
	asked string // by a person in the thread about the refund
}{
	{text: strings.ReplaceAll(tillFile, "  bus.on('paid', () => render(till))\n", "")},
	{text: guardedTill, asked: "Is that still so?"},
	{text: "// Once more.\n" + strings.Replace(tillFile, "  ledger.total -= amount\n", "", 1), asked: "@precedent remember this: count money in cents"},
	{text: flawlessTill},
}

// act lets people speak, and pushes.
func (q *quarry) act(n int) {
	q.t.Helper()
	if acts[n].asked != "" {
		q.door.stage.World.Say(q.pull, maintainer, q.openers("refund")[0].ID, acts[n].asked)
	}
	q.door.stage.Clock.Pass(time.Hour)
	q.push(fmt.Sprintf("act %d", n), map[string]string{"src/till.js": acts[n].text})
}

// calm is what an undisturbed review of an act leaves, and how many requests it takes.
type calm struct {
	picture  []string
	requests int
	life     time.Duration
}

// TestKilledWhilePosting kills the whole command with SIGKILL at a random request, before
// or after the forge carried it out, or at a random time; over a first review and
// over those of later pushes, which answer, close, open again, and find more. In
// the end everybody sees what they would have seen, and so does the memory.
func TestKilledWhilePosting(t *testing.T) {
	t.Parallel()
	needs.Soak(t, "kills dozens of reviews")
	const rounds = 15
	seed, tokens := needs.Seed(t), []string{"person", "actions", "app"}
	for i, token := range tokens {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			calms := undisturbed(t, token)
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			killed := 0
			for killed < rounds/len(tokens) {
				killed += hunt(newQuarry(t, token), calms, random)
			}
			t.Logf("killed %d times", killed)
		})
	}
}

// hunt kills the reviews of all acts, and compares what they leave in the end.
func hunt(q *quarry, calms []calm, random *rand.Rand) (killed int) {
	q.t.Helper()
	for n, want := range calms {
		q.act(n)
		for again := true; again; again = random.IntN(3) == 0 {
			how, limit := random.IntN(5), time.Duration(0)
			if q.trap.Set(1+random.IntN(want.requests), how%2 == 0); how == 4 {
				q.trap.Set(0, false)
				limit = time.Millisecond + time.Duration(random.Int64N(int64(want.life)))
			}
			if q.run(limit) {
				killed++
			}
		}
		q.trap.Set(0, false)
		if q.run(0) {
			q.t.Fatal("nobody killed it")
		}
		if d := cmp.Diff(want.picture, q.picture()); d != "" {
			q.t.Fatalf("act %d differs after %d kills (-calm +killed):\n%s", n, killed, d)
		}
	}
	return killed
}

// undisturbed plays all acts without a kill.
func undisturbed(t *testing.T, token string) (calms []calm) {
	t.Helper()
	q := newQuarry(t, token)
	for n := range acts {
		q.act(n)
		before, began := len(q.door.stage.Script.Requests()), time.Now()
		if q.run(0) {
			t.Fatal("nobody killed it")
		}
		calms = append(calms, calm{q.picture(), len(q.door.stage.Script.Requests()) - before, time.Since(began)})
	}
	count := map[string]int{}
	for _, line := range calms[len(calms)-1].picture {
		kind, rest, _ := strings.Cut(line, " ")
		if strings.Contains(rest, ", closed true by ") {
			kind += " closed"
		}
		count[kind]++
	}
	// Three threads with the answers in them, all of them closed in the end.
	want := map[string]int{"inline closed": 3, "inline": 7, "issue": 1, "review": 2, "thread": 3, "outcome": 3, "post": 22}
	if token != "person" { // who may make none
		want["check"] = len(acts)
	}
	if d := cmp.Diff(want, count); d != "" {
		t.Fatalf("without a kill (-want +got):\n%s", d)
	}
	return calms
}
