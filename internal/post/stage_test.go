package post

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/forge/gitea"
	"github.com/precedent-dev/precedent/internal/forge/github"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/store"
)

// stage is a pull request on a GitHub that behaves as the test says, a memory in
// a file, and a poster that acts as a workflow's run, which has checks.
type stage struct {
	*forgetest.Stage
	t      *testing.T
	server *forgetest.GitHub
	pull   *forgetest.Pull
	repo   precedent.Repo
	rows   *store.Repo
	poster *Poster
	file   string // the memory
	url    string // of the server
	kind   string // of the forge: one of kinds, or GitHub
	open   bool   // comments are not signed
}

// key signs the markers of most tests.
const key = "4c1f9a7e03d852b6" + "e8b7206d5f91ac34" // opens nothing

const lines = 80 // of the file that the pull request adds

// patch adds till.go.
func patch(lines int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/till.go b/till.go\nnew file mode 100644\n--- /dev/null\n+++ b/till.go\n@@ -0,0 +1,%d "+
		"@@\n", lines)
	for i := range lines {
		fmt.Fprintf(&b, "+count %d\n", i+1)
	}
	return b.String()
}

func sha(c string) string { return strings.Repeat(c, 40) }

func newStage(t *testing.T) *stage {
	t.Helper()
	return newStageOn(t, "")
}

// kinds are the forges of newStageOn.
var kinds = map[string]forgetest.GiteaKind{
	"gitea 1.27": forgetest.Gitea127, "gitea 1.26": forgetest.Gitea126,
	"gitea 1.25": forgetest.Gitea125,
}

// newStageOn is a stage on a kind of Gitea; on GitHub if kind is empty.
func newStageOn(t *testing.T, kind string) *stage {
	t.Helper()
	s := &stage{Stage: forgetest.NewStage(t), t: t, kind: kind, file: filepath.Join(t.TempDir(), "memory.db")}
	home := precedent.Repo{Owner: "acme", Name: "shop"}
	s.pull = &forgetest.Pull{
		PullRequest: forge.PullRequest{
			Number: 1, Title: "Add a till", Author: forgetest.Ann, State: forge.Open, Updated: forgetest.Epoch,
			Base: forge.Branch{Repo: home, Name: "main", SHA: sha("b")},
			Head: forge.Branch{Repo: home, Name: "till", SHA: sha("c")},
		},
		Files: 1, Diff: patch(lines),
	}
	s.World.Add(&forgetest.Repo{
		ID: 700, Owner: "acme", Name: "shop", Pulls: map[int]*forgetest.Pull{1: s.pull},
		Members: []forgetest.Member{
			{Person: forgetest.Ann, Permission: forge.Admin},
			{Person: forgetest.Bo, Permission: forge.Write},
		},
	})
	if kind == "" {
		s.server = s.GitHub(t)
		s.server.Actions()
		s.url = s.server.URL
	} else {
		g := s.Gitea(t)
		g.Kind = kinds[kind]
		s.url = g.URL
	}
	s.again()
	s.repo = precedent.Repo{Host: s.poster.Forge.Host(), Owner: "acme", Name: "shop"}
	return s
}

// newPoster is a program that starts: with a client of its own, on the memory in the file.
func (s *stage) newPoster(file string, sleep func(context.Context, time.Duration) error, through http.RoundTripper,
) (*Poster, *store.DB) {
	s.t.Helper()
	ctx, now, token := s.t.Context(), s.Clock.Now, needs.Value(wire.NewToken(forgetest.Secret))(s.t)
	half := func(n time.Duration) time.Duration { return n / 2 }
	network := wire.Network{Now: now, Sleep: sleep, Rand: half, Transport: through}
	var client forge.Forge
	if s.kind == "" {
		client = needs.Value(github.New(github.Options{BaseURL: s.url, Token: token, Network: network}))(s.t)
	} else {
		client = needs.Value(gitea.New(gitea.Options{BaseURL: s.url, Token: token, Network: network}))(s.t)
	}
	var signer comment.Key
	if !s.open {
		signer = needs.Value(comment.NewKey(key))(s.t)
	}
	db := needs.Value(store.Open(ctx, file, store.Options{Now: now}))(s.t)
	rows := needs.Value(db.RepoFor(ctx, precedent.Repo{Host: client.Host(), Owner: "acme", Name: "shop"}))(s.t)
	return &Poster{
		Forge: client, Rows: rows, Me: needs.Value(client.Me(ctx))(s.t), Now: now, Sleep: sleep, Rand: half,
		Writer: comment.Writer{Key: signer, Version: "test", Links: []string{client.Host()}},
		Style:  report.Style{Version: "test", Links: []string{client.Host()}},
		NewID:  func() string { return uuid.Must(uuid.NewV7()).String() },
	}, db
}

// planned is a stage with the plan of a review that has so many findings.
func planned(t *testing.T, n int) *stage {
	t.Helper()
	s := newStage(t)
	s.plan(s.review(1, findings(1, n)...), failOn)
	return s
}

var failOn = Options{FailOn: precedent.High}

// spot is a line of till.go.
func spot(line int) precedent.Span {
	return precedent.Span{Path: "till.go", Side: precedent.Right, Start: line, End: line}
}

// finding is one on a line of till.go.
func finding(line int) precedent.Finding {
	text := fmt.Sprintf("count %d", line)
	place := precedent.Place("till.go", text, "", "")
	fp := precedent.Fingerprint(place, precedent.Bugs, 0)
	return precedent.Finding{
		ID: fp[:10], Fingerprint: fp, Place: place, Finder: "bugs", Category: precedent.Bugs, Severity: precedent.High,
		Confidence: 85, Span: spot(line), Quote: text,
		Title: fmt.Sprintf("Line %d counts wrong", line), Body: "It counts wrong.", Votes: 1, Placement: precedent.Inline,
	}
}

// inThread is one that belongs to a thread.
func inThread(line int, thread string) precedent.Finding {
	f := finding(line)
	f.Thread = thread
	return f
}

func findings(from, to int) []precedent.Finding {
	var fs []precedent.Finding
	for line := from; line <= to; line++ {
		fs = append(fs, finding(line))
	}
	return fs
}

// review is the n-th review of the pull request, at its head now.
func (s *stage) review(n int, fs ...precedent.Finding) *precedent.Review {
	number := s.pull.Number
	r := &precedent.Review{
		Schema: precedent.ResultSchema, ID: fmt.Sprintf("01980000-0000-7000-9000-%012d", n), Repo: s.repo,
		PullRequest: &number, Base: sha("b"), Head: s.pull.Head.SHA, Scope: precedent.FullScope,
		Verdict: precedent.Clean, Threshold: 75, Findings: fs, At: s.Clock.Now().Add(time.Duration(n) * time.Minute),
	}
	if len(r.Live()) > 0 {
		r.Verdict = precedent.Findings
	}
	return r
}

// plan saves a review with what it has to say.
func (s *stage) plan(r *precedent.Review, o Options) {
	s.t.Helper()
	threads := needs.Value(s.rows.Threads(s.t.Context(), s.pull.Number))(s.t)
	needs.NoError(s.t, s.rows.SaveReview(s.t.Context(), r, s.poster.Plan(r, threads, o)...))
}

// answered is a review that answers threads.
func (s *stage) answered(n int, state precedent.AnswerState, reply string, ts ...precedent.Thread) *precedent.Review {
	r := s.review(n)
	for _, th := range ts {
		r.Threads = append(r.Threads, precedent.ThreadAnswer{Thread: th.ID, State: state, Reply: reply, Span: th.Span})
	}
	return r
}

// writer writes and reads comments of the pull request.
func (s *stage) writer() comment.Writer {
	w := s.poster.Writer
	w.PullRequest = comment.PullRequest{Repo: s.repo, Number: s.pull.Number}
	return w
}

func (s *stage) deliver() Delivery {
	s.t.Helper()
	d, err := s.poster.Deliver(s.t.Context(), s.repo, s.pull.Number)
	if err != nil {
		s.t.Fatalf("deliver: %v (%+v)", err, d)
	}
	return d
}

// say plans and delivers a review.
func (s *stage) say(n int, fs ...precedent.Finding) Delivery {
	s.t.Helper()
	s.plan(s.review(n, fs...), failOn)
	return s.deliver()
}

// again is a program that starts anew on the same memory.
func (s *stage) again() {
	s.t.Helper()
	p, db := s.newPoster(s.file, s.Clock.Sleep, nil)
	s.t.Cleanup(func() { db.Close() })
	s.poster, s.rows = p, p.Rows
}

// seen is what everybody sees of what we said, counted.
type seen struct {
	Reviews   int // whose words are not folded up
	Threads   int
	Places    int // that have a thread
	Summaries int
	Replies   int
	Checks    int
}

func (s *stage) seen() seen {
	s.t.Helper()
	folded := s.World.FoldedUp(s.pull)
	writer := s.writer()
	var out seen
	places := map[string]bool{}
	for _, c := range s.World.By(s.pull, s.poster.Me) {
		if folded[forge.CommentRef{Kind: c.Kind, ID: c.ID}] != "" {
			continue
		}
		m, ok := writer.Read(string(c.Body))
		if !ok {
			s.t.Errorf("a comment of ours has no marker that holds: %s", c.Body)
		}
		switch m.Kind {
		case comment.Review:
			out.Reviews++
		case comment.Finding:
			out.Threads++
			places[m.Fingerprint] = true
		case comment.Summary:
			out.Summaries++
		case comment.Reply:
			out.Replies++
		}
	}
	out.Places = len(places)
	s.World.Change(func() { out.Checks = len(s.World.Repo("acme", "shop").Checks) })
	return out
}

// want fails the test if something is there twice or not at all.
func (s *stage) want(want seen) {
	s.t.Helper()
	want.Places = want.Threads
	if got := s.seen(); got != want {
		s.t.Errorf("on the pull request: %+v, want %+v", got, want)
	}
}

// states counts the posts by kind and state.
func (s *stage) states() map[string]int {
	s.t.Helper()
	n := map[string]int{}
	for _, p := range mustPosts(s.t, s.rows) {
		n[string(p.Kind)+" "+string(p.State)]++
	}
	return n
}

func (s *stage) threads() []precedent.Thread {
	s.t.Helper()
	threads := needs.Value(s.rows.Threads(s.t.Context(), s.pull.Number))(s.t)
	return threads
}

// summary is the words of the summary.
func (s *stage) summary() string {
	for _, c := range s.World.By(s.pull, s.poster.Me) {
		if c.Kind == forge.OnThread {
			return string(c.Body)
		}
	}
	return ""
}

// writes are the requests that would have changed something, from the first one.
func (s *stage) writes(from int) (all []forgetest.Request) {
	for _, r := range s.Script.Requests()[from:] {
		if r.Writes() {
			all = append(all, r)
		}
	}
	return all
}
