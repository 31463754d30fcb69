package server

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/store"
)

// openPull is an open pull request.
func openPull(number, head int, labels ...string) forge.PullRequest {
	return forge.PullRequest{
		Number: number, State: forge.Open, Labels: labels, Updated: forgetest.Epoch,
		Head: forge.Branch{SHA: sha(head), Name: "feature"}, Base: forge.Branch{SHA: sha(0), Name: "main"},
	}
}

// TestCompare: what changed since the last poll, and the work that it makes.
func TestCompare(t *testing.T) {
	is := func(p forge.PullRequest) map[int]store.WatchedPull {
		return map[int]store.WatchedPull{p.Number: {
			Pull: p.Number, Head: p.Head.SHA, Shape: shapeOf(&p), Updated: p.Updated,
		}}
	}
	for _, test := range []struct {
		name   string
		change func(*forge.PullRequest)
		want   string
	}{
		{"nothing", func(*forge.PullRequest) {}, ""},
		{"the order of labels", func(p *forge.PullRequest) { p.Labels = []string{"b", "a"} }, ""},
		{"a push", func(p *forge.PullRequest) { p.Head.SHA = sha(2) }, "review 7 poll: push"},
		{"a label", func(p *forge.PullRequest) { p.Labels = []string{"a"} }, "review 7 poll: changed"},
		{"ready", func(p *forge.PullRequest) { p.Draft = true }, "review 7 poll: changed"},
		{
			"a request for a review", func(p *forge.PullRequest) { p.Requested = []forge.Person{{ID: "500"}} },
			"review 7 poll: changed",
		},
		{"unlocked", func(p *forge.PullRequest) { p.Locked = true }, "review 7 poll: changed"},
		{"another base", func(p *forge.PullRequest) { p.Base.Name = "next" }, "review 7 poll: changed"},
		{"a comment", func(p *forge.PullRequest) { p.Updated = p.Updated.Add(time.Second) }, "reply 7 poll: updated"},
		{
			"the forge's clock goes back", func(p *forge.PullRequest) { p.Updated = p.Updated.Add(-time.Hour) },
			"reply 7 poll: updated",
		},
		{"another one", nil, "review 8 poll: new"},
		{"closed", nil, "reply 7 poll: closed, outcomes 7 poll: closed, catch-up 0 poll: closed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := openPull(7, 1, "a", "b")
			open := map[string][]forge.PullRequest{"another one": {p, openPull(8, 5)}, "closed": nil}[test.name]
			if test.change != nil {
				test.change(&p)
				open = []forge.PullRequest{p}
			}
			n := compare(shop, is(openPull(7, 1, "a", "b")), open, forgetest.Epoch.Add(time.Hour), 0)
			var got []string
			for _, task := range n.tasks {
				got = append(got, fmt.Sprintf("%s %d %s", task.Kind, task.Pull, task.Reason))
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if (len(n.seen)+len(n.gone) > 0) != (test.want != "") {
				t.Errorf("seen %v, gone %v", n.seen, n.gone)
			}
		})
	}
}

// TestCompareSameSecond: a comment of the second in which a poll looked is found by the next one, and makes one job. The
// time of the forge may be that of a later answer.
func TestCompareSameSecond(t *testing.T) {
	p := openPull(7, 1)
	seen := map[int]store.WatchedPull{7: {Pull: 7, Head: p.Head.SHA, Shape: shapeOf(&p)}}
	for i, want := range []int{1, 1, 1, 0} {
		took := []time.Duration{0, time.Minute, 0, 0}[i]
		n := compare(shop, seen, []forge.PullRequest{p}, p.Updated.Add(time.Duration(i)*time.Minute), took)
		for _, is := range n.seen {
			seen[7] = is
		}
		if len(n.tasks) != want {
			t.Errorf("poll %d: %+v", i, n.tasks)
		}
	}
}

// pollStage is a server that polls a forge that a test changes.
type pollStage struct {
	*stage
	pulls []forge.PullRequest
	err   error
	asked int
	time  time.Time
}

func newPollStage(t *testing.T) *pollStage {
	t.Helper()
	p := &pollStage{time: forgetest.Epoch}
	p.stage = newStage(t, openSQLite(t), func(o *Options) { o.Now = func() time.Time { return p.time } })
	p.forge.open = func(context.Context, precedent.Repo) ([]forge.PullRequest, error) {
		p.asked++
		return p.pulls, p.err
	}
	return p
}

// due returns the jobs that are wanted, sorted, and cancels them.
func (p *pollStage) due(t *testing.T) string {
	t.Helper()
	var all []string
	for _, j := range p.jobs(t) {
		if j.State != queue.Ready && j.State != queue.Waiting {
			continue
		}
		all = append(all, fmt.Sprintf("%s %d", j.Kind, j.Pull))
		needs.Value(p.queue.Cancel(t.Context(), j.ID))(t)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// TestPollAfterRestart: a poller that starts again neither repeats nor misses what happened: what
// was seen is in the database, and noted only after the work was.
func TestPollAfterRestart(t *testing.T) {
	p := newPollStage(t)
	p.pulls = []forge.PullRequest{openPull(7, 1), openPull(8, 2)}
	p.poller.Round(t.Context())
	if got := p.due(t); got != "review 7, review 8" {
		t.Fatal(got)
	}
	p.poller.Round(t.Context())
	needs.Equal(t, "", p.due(t))
	p.pulls = []forge.PullRequest{openPull(8, 3)}
	p.poller.Round(t.Context())
	needs.Equal(t, "catch-up 0, outcomes 7, reply 7, review 8", p.due(t))
	// What could not be noted is wanted again.
	execute := func(statement string) {
		t.Helper()
		needs.NoError(t, p.db.Transact(t.Context(), "test", func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), statement)
			return err
		}))
	}
	execute("CREATE TRIGGER full BEFORE UPDATE ON watched_pulls BEGIN SELECT RAISE(FAIL, 'full'); END")
	p.pulls = []forge.PullRequest{openPull(8, 4)}
	p.poller.Round(t.Context())
	needs.Equal(t, "review 8", p.due(t))
	execute("DROP TRIGGER full")
	p.poller.Round(t.Context())
	if jobs := p.jobs(t); !slices.ContainsFunc(jobs, func(j queue.Job) bool {
		return j.Kind == queue.Review && j.Pull == 8 && j.Head == sha(4)
	}) {
		t.Errorf("missed: %+v", jobs)
	}
}

// TestFault9PageFails: of a list that breaks off, which the conformance suite shows to be an error, nothing is noted, no
// pull request counts as closed, and the next poll finds all (fault row 9).
func TestFault9PageFails(t *testing.T) {
	p := newPollStage(t)
	p.pulls = []forge.PullRequest{openPull(7, 1), openPull(8, 2)}
	p.poller.Round(t.Context())
	p.due(t)
	p.pulls, p.err = nil, &forge.Error{Kind: forge.KindServer, Status: http.StatusInternalServerError}
	p.poller.Round(t.Context())
	needs.Equal(t, "", p.due(t))
	p.pulls, p.err = []forge.PullRequest{openPull(8, 3)}, nil
	p.poller.Round(t.Context())
	needs.Equal(t, "catch-up 0, outcomes 7, reply 7, review 8", p.due(t))
}

// TestFault10ClockJumps: whatever our clock says, nothing is missed and nothing is done twice (fault row 10).
func TestFault10ClockJumps(t *testing.T) {
	p := newPollStage(t)
	jumps := []time.Duration{0, -2 * time.Hour, 2 * time.Hour, 2 * time.Hour, -4 * time.Hour}
	for i, jump := range jumps {
		p.time = p.time.Add(jump)
		p.pulls = []forge.PullRequest{openPull(7, i+1)}
		p.pulls[0].Updated = forgetest.Epoch.Add(time.Duration(i) * time.Minute)
		p.poller.Round(t.Context())
		if got := p.due(t); got != "review 7" {
			t.Errorf("after %s: %q", jump, got)
		}
		p.time = p.time.Add(-jump / 2)
		p.poller.Round(t.Context())
		if got := p.due(t); got != "" {
			t.Errorf("again after %s: %q", jump, got)
		}
	}
	// A rate limit that was told before a jump does not keep the poller for hours.
	p.err = &forge.Error{Kind: forge.KindRate, Retry: p.time.Add(time.Minute)}
	p.time = p.time.Add(-2 * time.Hour)
	if wait := p.poller.Round(t.Context()); wait > maxRateWait {
		t.Errorf("it waits %s", wait)
	}
}

// TestBackPressure: a forge that asks for a pause gets it, one that fails is asked less and less,
// and one repository that cannot be read does not keep others.
func TestBackPressure(t *testing.T) {
	p := newPollStage(t)
	elapsed := time.Duration(0)
	p.breaker.elapsed = func() time.Duration { return elapsed }
	p.breaker.random = func(n time.Duration) time.Duration { return n - 1 }
	p.err = &forge.Error{Kind: forge.KindRate, Retry: p.time.Add(17 * time.Minute)}
	needs.Equal(t, 17*time.Minute, p.poller.Round(t.Context()))
	for range 2 * breakAfter { // a failure during that wait does not shorten it
		p.breaker.Report(&forge.Error{Kind: forge.KindServer, Status: 502})
	}
	needs.Equal(t, 17*time.Minute, p.breaker.Wait(""))
	p.breaker.failures = 0
	elapsed += 17*time.Minute - 1
	asked := p.asked
	if wait := p.poller.Round(t.Context()); wait != 1 || p.asked != asked {
		t.Errorf("it waits %s, and asked", wait)
	}
	elapsed++
	p.err = &forge.Error{Kind: forge.KindServer, Status: 502}
	var waits []time.Duration
	for range 20 {
		p.poller.Round(t.Context())
		wait := p.breaker.Wait("")
		waits = append(waits, wait.Round(time.Second))
		elapsed += wait
	}
	if want := []time.Duration{
		0, 0, 0, 0, 15 * time.Second, 30 * time.Second, time.Minute,
	}; !slices.Equal(waits[:len(want)], want) || slices.Max(waits) != maxBreak {
		t.Errorf("waits %v", waits)
	}
	p.err = nil
	p.poller.Round(t.Context())
	if p.breaker.Wait("") != 0 || p.breaker.failures != 0 {
		t.Error("it does not recover")
	}
	for _, err := range []*forge.Error{{Kind: forge.KindNotFound}, {Kind: forge.KindAuth, Status: http.StatusForbidden}} {
		p.err, asked = err, p.asked
		clear(p.poller.repos)
		for range 64 {
			p.poller.Round(t.Context())
		}
		if n := p.asked - asked; n > 8 || p.breaker.Wait("") != 0 {
			t.Errorf("%v: a repository that cannot be read was asked for %d times", err, n)
		}
	}
	p.forge.quota = forge.Quota{Limit: 5000, Left: 100}
	if pause := p.poller.pause(); pause < 4*time.Minute {
		t.Errorf("with little quota left it polls after %s", pause)
	}
	// An App has a limit in each organization, so that only the repositories of one wait for it.
	p.breaker.Report(&forge.Error{Kind: forge.KindRate, Retry: p.time.Add(time.Hour), Owner: "acme"})
	asked = p.asked
	p.poller.Round(t.Context())
	if p.asked != asked || p.breaker.Wait("ACME") == 0 || p.breaker.Wait("other") != 0 {
		t.Errorf("asked %d times; the wrong owner waits", p.asked-asked)
	}
	for range breakAfter {
		p.breaker.Report(&forge.Error{Kind: forge.KindAuth, Status: http.StatusUnauthorized})
	}
	if p.breaker.Wait("other") == 0 {
		t.Error("an unknown token is sent again and again")
	}
}

// TestOnePolls: of two replicas one polls; the other one takes over, and misses nothing.
func TestOnePolls(t *testing.T) {
	p := newPollStage(t)
	other := newStage(t, p.db, func(o *Options) { o.Replica, o.Now = "other", func() time.Time { return p.time } })
	asked := 0
	other.forge.open = func(context.Context, precedent.Repo) ([]forge.PullRequest, error) { asked++; return p.pulls, nil }
	p.pulls = []forge.PullRequest{openPull(7, 1)}
	p.poller.Round(t.Context())
	other.poller.Round(t.Context())
	if p.asked != 1 || asked != 0 {
		t.Errorf("asked %d and %d times", p.asked, asked)
	}
	p.due(t)
	if err := p.db.Unclaim(t.Context(), pollClaim, "test"); err != nil { // it stops
		t.Fatal(err)
	}
	p.pulls = []forge.PullRequest{openPull(7, 2)}
	other.poller.Round(t.Context())
	p.poller.Round(t.Context())
	if p.asked != 1 || asked != 1 || p.due(t) != "review 7" {
		t.Errorf("asked %d and %d times", p.asked, asked)
	}
}

// TestPollSeesLabelSetBack: a person sets the label back to what the last poll had seen, after a round of
// this or another replica has changed it.
func TestPollSeesLabelSetBack(t *testing.T) {
	p := newPollStage(t)
	poll := func(step, want string) {
		t.Helper()
		p.poller.Round(t.Context())
		if got := p.due(t); got != want {
			t.Fatalf("%s: %q, want %q", step, got, want)
		}
	}
	p.pulls = []forge.PullRequest{openPull(7, 1, "bot-review-needed")}
	poll("new", "review 7")
	poll("unchanged", "")
	rows, err := p.o.Reviewer.Shared.RepoFor(t.Context(), p.served.All()[0])
	if err == nil {
		err = rows.ForgetWatchedShape(t.Context(), 7) // as a round does that changes the label
	}
	needs.NoError(t, err)
	poll("set back", "review 7")
	poll("seen", "")
}
