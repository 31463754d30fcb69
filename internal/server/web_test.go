package server

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestHealth: the process is healthy whatever fails; it is ready if its database answers and its
// token is valid. Details are for this machine, and for those who have the token.
func TestHealth(t *testing.T) {
	s := newStage(t, openSQLite(t), func(o *Options) {
		o.Token, o.Sandbox = "a token for looking", func() string { return "bubblewrap" }
	})
	if w := s.get(t, "/healthz", nil); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// Who asks and goes away does not make it look as if it could not work, and many make one look at the forge.
	asked := 0
	s.forge.me = func(ctx context.Context) (forge.Person, error) {
		asked++
		return forge.Person{ID: "500", Login: "precedent-bot"}, ctx.Err()
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	s.asked = 1 // another one has asked, and has no answer yet: nobody knows whether the token is valid
	for range 20 {
		if w := s.get(t, "/readyz", func(r *http.Request) { *r = *r.WithContext(gone) }); w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	needs.Equal(t, 1, asked)
	var is readiness
	w := s.get(t, "/readyz", nil)
	if err := json.Unmarshal(w.Body.Bytes(), &is); err != nil || w.Code != 200 || !is.Ready ||
		is.Sandbox != "bubblewrap" || is.Account != "precedent-bot" || is.Repos != 1 {
		t.Errorf("%v, %d %+v", err, w.Code, is)
	}
	from := func(address string, header ...string) func(*http.Request) {
		return func(r *http.Request) {
			r.RemoteAddr = address
			for i := 0; i < len(header); i += 2 {
				r.Header.Set(header[i], header[i+1])
			}
		}
	}
	for _, test := range []struct {
		name   string
		change func(*http.Request)
		looks  bool
	}{
		{"this machine", from("127.0.0.1:1"), true},
		{"another machine", from("203.0.113.9:1"), false},
		{"a proxy here", from("127.0.0.1:1", "X-Forwarded-For", "203.0.113.9"), false},
		{"a proxy that says less", from("127.0.0.1:1", "Via", "1.1 proxy"), false},
		{"a page in a browser here (T23)", func(r *http.Request) { r.Host = "rebound.example:8787" }, false},
		{"with the token", from("203.0.113.9:1", "Authorization", "Bearer a token for looking"), true},
		{"with a wrong token", from("127.0.0.1:1", "Authorization", "Bearer guessed"), false},
	} {
		if w := s.get(t, "/metrics", test.change); (w.Code == 200) != test.looks {
			t.Errorf("%s: metrics %d", test.name, w.Code)
		}
		w := s.get(t, "/readyz", test.change)
		if strings.Contains(w.Body.String(), "bubblewrap") != test.looks || w.Code != 200 {
			t.Errorf("%s: %d %s", test.name, w.Code, w.Body)
		}
	}
	s.forge.me = func(context.Context) (forge.Person, error) {
		return forge.Person{}, &forge.Error{Kind: forge.KindAuth, Msg: "the token ghp_xyz is wrong"}
	}
	s.mu.Lock()
	s.asked, s.readyAt = 0, 0
	s.mu.Unlock()
	needs.NoError(t, s.o.Reviewer.Shared.Transact(t.Context(), "fill the disk", func(tx *sql.Tx) error {
		_, err := tx.Exec("CREATE TRIGGER full BEFORE INSERT ON server_values BEGIN SELECT RAISE(FAIL, 'full'); END")
		return err
	}))
	if w := s.get(t, "/readyz", nil); w.Code != 503 || strings.Contains(w.Body.String(), "ghp_xyz") || s.ownID() != "500" ||
		!strings.Contains(w.Body.String(), `"database":"failed","forge":"failed"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.get(t, "/healthz", nil); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestMetrics: what is counted is shown, and no label has a value that a repository chose.
func TestMetrics(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	s.metrics.Review(&precedent.Review{
		Verdict: precedent.Findings, TookMS: 1500, CostUSD: 0.25, Usage: precedent.Usage{
			InputTokens: 100, CachedTokens: 80, OutputTokens: 7,
		},
		Finders: []precedent.FinderRun{{Name: "bugs", TookMS: 700}, {Name: "a linter of theirs", TookMS: 1}},
		Gate:    &precedent.GateResult{Status: "failed: exit status 1, said <b>"},
	})
	s.metrics.Review(&precedent.Review{Verdict: "what is that", Gate: &precedent.GateResult{Status: "odd"}})
	s.metrics.Poll(pollUnchanged)
	s.metrics.Job("review", "done")
	needs.NoError(t, s.queue.Want(t.Context(), queue.Task{Kind: queue.Review, Repo: shop, Pull: 7, Head: sha(1)}))
	s.forge.quota = forge.Quota{Limit: 5000, Left: 4999}
	text := s.get(t, "/metrics", nil).Body.String()
	for _, want := range []string{
		`precedent_reviews_total{verdict="findings"} 1`, `precedent_reviews_total{verdict="other"} 1`,
		`precedent_review_seconds_count 2`, `precedent_finder_seconds_count{finder="bugs"} 1`,
		`precedent_finder_seconds_count{finder="other"} 1`, `precedent_tokens_total{kind="cached"} 80`,
		`precedent_cost_dollars_total 0.25`, `precedent_gates_total{status="failed"} 1`,
		`precedent_gates_total{status="other"} 1`, `precedent_queue_jobs{kind="review",state="ready"} 1`,
		`precedent_queue_oldest_seconds{kind="review"}`, `precedent_dead_letters 0`, `precedent_forge_quota_left 4999`,
		`precedent_polls_total{result="unchanged"} 1`, `precedent_jobs_total{kind="review",result="done"} 1`,
		`precedent_build_info{version="test"} 1`, "go_goroutines",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, never := range []string{"linter", "acme", "shop", "what is that", "<b>"} {
		if strings.Contains(text, never) {
			t.Errorf("metrics have %q", never)
		}
	}
	if t.Failed() {
		t.Log(regexp.MustCompile(`(?m)^(#|go_|process_).*\n`).ReplaceAllString(text, ""))
	}
}

// TestLog: logs have the fields of a list and no others, no control characters, no secrets and no
// long texts (T24, T32).
func TestLog(t *testing.T) {
	const secret = "q7Xw3ZrT9vLk2MfYb8NcJd5HsGa1PeU4oB6i"
	for _, format := range LogFormats {
		var to buffer
		log := NewLog(&to, format, slog.LevelInfo, []string{secret})
		log.Info("a line\x1b[31m in red\nforged=\"yes\"", "repo", "acme/shop\x1b]0;title\x07\u202e", "body",
			"what somebody wrote", "took", 1500*time.Millisecond, "pull", 7)
		log.With("title", "hidden", "kind", "review").WithGroup("group").Warn("with "+secret[4:20], "error",
			errors.New("token "+secret))
		log.Info("a token of theirs: ghp_"+secret, "reason", strings.Repeat("long ", 1000))
		log.Debug("more")
		text := to.String()
		for _, never := range []string{
			"\x1b", "\x07", "\u202e", "what somebody wrote", "hidden", secret[:8], secret[8:16], "more",
		} {
			if strings.Contains(text, never) {
				t.Errorf("%s: log has %q:\n%s", format, never, text)
			}
		}
		if strings.Count(text, "\n") != 3 || len(text) > 5000 || !strings.Contains(text, "review") ||
			!strings.Contains(text, "1.5s") {
			t.Errorf("%s:\n%s", format, text)
		}
	}
}

// TestRepositories: what is served, where a repository is listed twice, and while a source fails.
func TestRepositories(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	failing, asked := "", 0
	s := newServed(Repositories{Listed: []precedent.Repo{shop}, Owners: []string{"a", "b"}},
		func(_ context.Context, owner string) ([]precedent.Repo, error) {
			asked++
			if owner == failing {
				return nil, &forge.Error{Kind: forge.KindServer}
			}
			return []precedent.Repo{{Host: shop.Host, Owner: owner, Name: "app"}, {Host: shop.Host, Owner: "ACME", Name: "Shop"}},
				nil
		}, func() time.Time { return now })
	names := func() string {
		var all []string
		for _, r := range s.All() {
			all = append(all, r.Owner+"/"+r.Name)
		}
		return strings.Join(all, " ")
	}
	failing = "b"
	if err := s.Refresh(t.Context()); err == nil || names() != "a/app acme/shop" {
		t.Errorf("%v %s", err, names())
	}
	if _, is, known := s.Find(precedent.Repo{Host: shop.Host, Owner: "b", Name: "app"}); is || known {
		t.Error("it is known what b has")
	}
	if r, is, known := s.Find(precedent.Repo{Host: shop.Host, Owner: "Acme", Name: "SHOP"}); !is || !known || r != shop {
		t.Errorf("found %v", r)
	}
	failing = ""
	if err := s.Refresh(t.Context()); err != nil || names() != "a/app acme/shop b/app" {
		t.Errorf("%v %s", err, names())
	}
	for what, again := range map[string]func(){
		"at once": nil, "set back": func() { now = now.Add(-2 * time.Hour) }, "set forward": func() { now = now.Add(4 * time.Hour) },
		"asked for": s.Reread,
	} {
		before := asked
		if again != nil {
			again()
		}
		if err := s.Refresh(t.Context()); err != nil || (asked == before) != (again == nil) {
			t.Errorf("%s: listed %d times more, %v", what, asked-before, err)
		}
	}
	if all := newServed(Repositories{}, nil, time.Now); !all.from.All {
		t.Error("nothing is served")
	}
}

// TestSweep: a pull request whose head had no round that ended well gets a job, but not if one is
// there, was cancelled, or failed for good (G2).
func TestSweep(t *testing.T) {
	p := newPollStage(t)
	p.pulls = []forge.PullRequest{openPull(7, 1), openPull(8, 2)}
	p.poller.Round(t.Context())
	sweep := func() []string {
		t.Helper()
		needs.NoError(t, p.sweep(t.Context()))
		var ready []string
		for _, j := range p.jobs(t) {
			if j.State == queue.Ready {
				ready = append(ready, j.Reason)
			}
		}
		slices.Sort(ready)
		return ready
	}
	needs.Equal(t, []string{"poll: new", "poll: new"}, sweep())
	p.due(t) // cancels them
	if got := sweep(); len(got) != 0 {
		t.Errorf("cancelled: %q", got)
	}
	rows, err := p.o.Reviewer.Shared.RepoFor(t.Context(), p.served.All()[0])
	needs.NoError(t, err)
	needs.NoError(t, rows.SaveWatched(t.Context(), []store.WatchedPull{
		{Pull: 9, Head: sha(9)},
		{Pull: 10, Head: sha(10)},
	}, nil))
	needs.NoError(t, rows.SetWatchedDone(t.Context(), 10, sha(10)))
	needs.Equal(t, []string{"sweep"}, sweep())
}

// TestJudge: what the queue does after each error of a job.
func TestJudge(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	stopped, cancel := context.WithCancelCause(t.Context())
	cancel(queue.ErrSuperseded)
	for _, test := range []struct {
		name string
		ctx  context.Context
		err  error
		want string
	}{
		{"nothing", t.Context(), nil, "done"},
		{"a pause", t.Context(), queue.LaterError{After: time.Minute, Why: "it waits"}, "later"},
		{"a newer head", stopped, errors.New("it was cancelled"), "stopped"},
		{"the fence", t.Context(), &forge.Error{Kind: forge.KindFenced, Err: queue.ErrLeaseLost}, "stopped"},
		{"the rate limit", t.Context(), &forge.Error{Kind: forge.KindRate, Retry: time.Now().Add(time.Minute)}, "later"},
		{"what the token cannot read", t.Context(), &forge.Error{Kind: forge.KindNotFound}, "dead"},
		{"anything else", t.Context(), errors.New("it failed"), "failed"},
	} {
		got, err := s.judge(test.ctx, "Acme", test.err)
		if got != test.want || (err == nil) != (test.err == nil) {
			t.Errorf("%s: %s, %v", test.name, got, err)
		}
	}
	if wait := s.breaker.Wait(""); wait < 50*time.Second || wait > time.Minute {
		t.Errorf("after the rate limit nothing is sent for %s", wait)
	}
}

// TestTakenOffTheList: what waits for a repository that the operator does not name any more is not done, under any name.
func TestTakenOffTheList(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	looked := 0
	s.forge.open = func(context.Context, precedent.Repo) ([]forge.PullRequest, error) { looked++; return nil, nil }
	do := func(name string, want int) {
		t.Helper()
		repo := precedent.Repo{Host: shop.Host, Owner: shop.Owner, Name: name}
		looked = 0
		err := s.do(t.Context(), &queue.Run{Task: queue.Task{Kind: queue.CheckCI, Repo: repo, Head: sha(1)}})
		if err != nil || looked != want {
			t.Errorf("%s: looked %d times, %v", name, looked, err)
		}
	}
	do("SHOP", 1)
	do("store", 0)
	rows, err := s.o.Reviewer.Shared.RepoFor(t.Context(), shop)
	needs.NoError(t, err)
	needs.NoError(t, rows.SaveWatched(t.Context(), []store.WatchedPull{{Pull: 7, Head: sha(1)}}, nil))
	renamed := precedent.Repo{Host: shop.Host, Owner: shop.Owner, Name: "store"}
	needs.NoError(t, s.o.Reviewer.Shared.Follow(t.Context(), precedent.NumberedRepo(shop.Host, "1"), renamed, shop))
	do("store", 1)
	do("other", 0)
}

// TestDeletedPullRequest: a pull request that was deleted leaves no dead letter, unless the whole repository
// cannot be read.
func TestDeletedPullRequest(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	gone := &forge.Error{Kind: forge.KindNotFound, Status: http.StatusNotFound}
	s.forge.pull = func(int) (forge.PullRequest, error) { return forge.PullRequest{}, gone }
	for _, listed := range []error{nil, gone} {
		s.forge.open = func(context.Context, precedent.Repo) ([]forge.PullRequest, error) { return nil, listed }
		err := s.do(t.Context(), &queue.Run{Task: queue.Task{Kind: queue.CheckCI, Repo: shop, Pull: 7}})
		if (err == nil) != (listed == nil) {
			t.Errorf("listed %v: %v", listed, err)
		}
	}
}
