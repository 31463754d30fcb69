package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/store"
)

// divider finds the division in each file that it is shown, for a dollar.
type divider struct {
	mu      sync.Mutex
	asked   int
	prompts string
	onAsk   func()
}

func (d *divider) Info() engine.Info {
	return engine.Info{
		Name: "divider", Line: "divider, on this machine", Who: "divider",
		Cost: func(precedent.Usage) float64 { return 1 },
	}
}

func (d *divider) Run(_ context.Context, t engine.Task) (engine.Answer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	d.prompts += t.User()
	if d.onAsk != nil {
		d.onAsk()
	}
	found := func() (all []map[string]any) {
		for n := 7; n <= 9; n++ {
			if path := fmt.Sprintf("src/p%d.js", n); strings.Contains(t.User(), path) {
				all = append(all, map[string]any{
					"path": path, "quote": pastLine(n), "severity": "medium", "confidence": 88, "category": "bugs",
					"title": "The count may be zero", "body": "Without items this divides by zero, and the caller shows NaN.",
				})
			}
		}
		return all
	}
	a, err := play(t, "divider", found, func(string) bool { return true }, func(string) (string, string) { return "still_there", "" })
	a.CostUSD = 0.01
	return a, err
}

func pastLine(n int) string { return fmt.Sprintf("  return sum%d / items.length", n) }

// pastStage has three merged pull requests. #7 was reviewed before the merge. On #8 a reviewer
// commented on the line of the finding, and on #9 its author, a program and, further away, a
// reviewer; the merge of #9 changes the line.
type pastStage struct {
	*prStage
	reader *divider
	memory string
}

func newPastStage(t *testing.T) *pastStage {
	t.Helper()
	s := &pastStage{prStage: newPRStage(t), reader: &divider{}}
	s.memory = filepath.Join(s.home, "memory.db")
	s.app.fixedEngine = s.reader
	s.app.now = s.door.stage.Clock.Now
	work, world := filepath.Join(s.home, "work"), s.door.stage.World
	base := s.id("main")
	write := func(n int, text string) {
		t.Helper()
		name := filepath.Join(work, "src", fmt.Sprintf("p%d.js", n))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s.git(work, "add", "-A")
	}
	code := func(n int) string {
		return "// Sums.\n" + strings.Repeat("// More about sums.\n", 20) + fmt.Sprintf("function average%d(items) {\n  let sum%d = 0\n", n, n) + pastLine(n) + "\n}\n"
	}
	for n := 7; n <= 9; n++ {
		branch := fmt.Sprintf("p%d", n)
		s.git(work, "checkout", "-q", "-B", branch, base)
		write(n, code(n))
		s.git(work, "commit", "-q", "-m", "Average "+branch)
		s.git(work, "push", "-q", "-f", s.origin, fmt.Sprintf("%s:refs/pull/%d/head", branch, n))
		head := s.git(work, "rev-parse", branch)
		if n == 7 {
			world.Push(s.pull, head, s.git(work, "diff", base, branch)+"\n")
			if status, said := s.post("--memory-db", s.memory); status != precedent.ExitClean || len(s.shown(forge.OnLine)) != 1 {
				t.Fatalf("the review before the merge: status %d\n%s", status, said)
			}
		}
		s.git(work, "checkout", "-q", "main")
		s.git(work, "merge", "-q", "--no-ff", "-m", "Merge "+branch, branch)
		if n == 9 {
			write(n, strings.Replace(code(n), pastLine(n), "  return items.length ? sum9 / items.length : 0", 1))
			s.git(work, "commit", "-q", "--amend", "-m", "Merge "+branch)
		}
		s.git(work, "push", "-q", s.origin, "main")
		world.Change(func() {
			p := s.pull
			if n > 7 {
				another := forgetest.Pull{PullRequest: s.pull.PullRequest}
				p = &another
				p.Number, p.Ref, p.Head.SHA = n, fmt.Sprintf("refs/pull/%d/head", n), head
				world.Repo("octo", "app").Pulls[n] = p
			}
			p.State, p.MergedAt, p.MergeCommit = forge.Merged, s.app.now().Add(time.Duration(n-10)*time.Hour), s.id("main")
			p.Updated = p.MergedAt
		})
	}
	at := func(n, line int) precedent.Span {
		return precedent.Span{Path: fmt.Sprintf("src/p%d.js", n), Side: precedent.Right, Start: line, End: line}
	}
	pulls := world.Repo("octo", "app").Pulls
	world.Remark(pulls[8], maintainer, at(8, 22), "UNSEEN: what if there is nothing?")
	world.Remark(pulls[9], author, at(9, 24), "I am not sure about this.")
	world.Remark(pulls[9], otherBot, at(9, 24), "Division.")
	world.Remark(pulls[9], maintainer, at(9, 2), "Fewer comments.")
	return s
}

// replay runs the command with the flags.
func (s *pastStage) replay(more ...string) (int, pull.PastReplay) {
	s.t.Helper()
	return s.replayUntil(s.t.Context(), more...)
}

func (s *pastStage) replayUntil(ctx context.Context, more ...string) (int, pull.PastReplay) {
	s.t.Helper()
	s.out.Reset()
	s.err.Reset()
	host := strings.TrimPrefix(s.door.URL, "http://")
	status := s.app.run(ctx, append([]string{"replay", "--from", "forge", "--repo", host + "/octo/app", "--memory-db", s.memory}, more...))
	var r pull.PastReplay
	if s.out.Len() > 0 && s.out.Bytes()[0] == '{' {
		if err := json.Unmarshal(s.out.Bytes(), &r); err != nil {
			s.t.Fatal(err)
		}
	}
	return status, r
}

// remembered describes what the memory has of the repository.
func (s *pastStage) remembered() string {
	s.t.Helper()
	ctx := s.t.Context()
	db, err := store.Open(ctx, s.memory, store.Options{Now: s.app.now})
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.RepoFor(ctx, precedent.Repo{Host: strings.TrimPrefix(s.door.URL, "http://"), Owner: "octo", Name: "app"})
	if err != nil {
		s.t.Fatal(err)
	}
	said := ""
	for r, err := range rows.ReviewsSince(ctx, time.Time{}, 100) {
		if err != nil {
			s.t.Fatal(err)
		}
		said += fmt.Sprintf("review %s with %d findings\n", r.ID, len(r.Findings))
	}
	for n := 7; n <= 9; n++ {
		threads, err := rows.Threads(ctx, n)
		if err != nil {
			s.t.Fatal(err)
		}
		posts, err := rows.Posts(ctx, n)
		if err != nil {
			s.t.Fatal(err)
		}
		said += fmt.Sprintf("#%d: %+v %+v\n", n, threads, posts)
	}
	outcomes, err := rows.OutcomesSince(ctx, time.Time{})
	if err != nil {
		s.t.Fatal(err)
	}
	return said + fmt.Sprintf("%+v", outcomes)
}

// TestReplayFromTheForge: "reads past pull requests from the forge's history, with a cost estimate
// and a comparison to what people did". Nothing is posted, and nothing is remembered.
func TestReplayFromTheForge(t *testing.T) {
	t.Parallel()
	s := newPastStage(t)
	before, sent := s.remembered(), len(s.door.stage.Script.Requests())
	if !strings.Contains(before, "review ") {
		t.Fatalf("the review before the merge is not remembered: %s", before)
	}
	s.reader.asked, s.reader.prompts = 0, ""
	s.reader.onAsk = func() {
		if s.reader.asked == 1 && !strings.Contains(s.out.String(), "3 merged pull requests") {
			t.Errorf("the engine is asked before the estimate is printed:\n%s", s.out.String())
		}
	}
	if status, _ := s.replay(); status == precedent.ExitClean || !strings.Contains(s.err.String(), "--yes") || s.reader.asked != 0 {
		t.Errorf("without --yes and a terminal: status %d\n%s", status, s.err.String())
	}
	if status, _ := s.replay("--dry-run"); status != precedent.ExitClean || !strings.Contains(s.out.String(), "estimate") || s.reader.asked != 0 {
		t.Errorf("a dry run: status %d, %d requests\n%s", status, s.reader.asked, s.out.String())
	}
	status, _ := s.replay("--yes")
	if status != precedent.ExitClean || !strings.Contains(strings.Join(strings.Fields(s.out.String()), " "), "Agreement with comments is not precision") {
		t.Errorf("status %d\n%s%s", status, s.out.String(), s.err.String())
	}
	if strings.Contains(s.reader.prompts, "UNSEEN") {
		t.Error("the engine reads what it is compared with")
	}
	asked := s.reader.asked
	status, r := s.replay("--yes", "--json")
	if status != precedent.ExitClean || s.reader.asked-asked >= asked {
		t.Errorf("status %d, and %d requests after %d: the answers were not kept\n%s", status, s.reader.asked-asked, asked, s.err.String())
	}
	if want := (pull.PastCount{Shown: 3, Commented: 1, Changed: 1, Neither: 1, Then: 1, Again: 1}); r.Total != want || r.Reviewed != 3 {
		t.Errorf("%d reviewed, total %+v, want %+v\n%s", r.Reviewed, r.Total, want, s.out.String())
	}
	for i, want := range []struct {
		number           int
		comment, changed bool
		posted           bool
	}{{9, false, true, false}, {8, true, false, false}, {7, false, false, true}} {
		if i >= len(r.Pulls) || r.Pulls[i].Number != want.number || len(r.Pulls[i].Findings) != 1 {
			t.Fatalf("entry %d is not #%d with a finding:\n%s", i, want.number, s.out.String())
		}
		f := r.Pulls[i].Findings[0]
		if f.NearComment != want.comment || f.Changed == nil || *f.Changed != want.changed || f.Posted != want.posted {
			t.Errorf("#%d: %+v", want.number, f)
		}
	}
	for _, request := range s.door.stage.Script.Requests()[sent:] {
		if request.Method != http.MethodGet {
			t.Errorf("%s %s", request.Method, request.Path)
		}
	}
	if after := s.remembered(); after != before {
		t.Errorf("the memory was\n%s\nand is\n%s", before, after)
	}
}

// TestReplayFromTheForgeGoesOn: what an interrupted replay paid for is not asked for again.
func TestReplayFromTheForgeGoesOn(t *testing.T) {
	t.Parallel()
	s := newPastStage(t)
	s.reader.asked = 0
	_, whole := s.replay("--dry-run", "--json")
	ctx, cancel := context.WithCancel(t.Context())
	s.reader.onAsk = func() {
		if s.reader.asked == whole.Estimate.Requests/2 {
			cancel()
		}
	}
	if status, _ := s.replayUntil(ctx, "--yes"); status == precedent.ExitClean {
		t.Fatalf("it was not interrupted:\n%s", s.out.String())
	}
	if _, left := s.replay("--dry-run", "--json"); left.Estimate.Kept == 0 || left.Estimate.Kept+left.Estimate.Requests != whole.Estimate.Requests {
		t.Errorf("%d requests are left and %d answers are kept of %d", left.Estimate.Requests, left.Estimate.Kept, whole.Estimate.Requests)
	}
	if status, r := s.replay("--yes", "--json"); status != precedent.ExitClean || r.Reviewed != 3 {
		t.Errorf("status %d, %d reviewed\n%s", status, r.Reviewed, s.err.String())
	}
}

// TestReplayFromTheForgeIsBounded: what all reviews cost together is at most --max-cost.
func TestReplayFromTheForgeIsBounded(t *testing.T) {
	t.Parallel()
	s := newPastStage(t)
	status, r := s.replay("--yes", "--json", "--max-cost", "0.03")
	if status != precedent.ExitIncomplete || r.Reviewed == 3 || r.CostUSD > 0.05 || len(r.Pulls) != 3 || !strings.Contains(r.Pulls[2].Why, "limit") {
		t.Errorf("status %d, $%.2f, %d reviewed\n%s", status, r.CostUSD, r.Reviewed, s.out.String())
	}
	if status, r = s.replay("--yes", "--json", "--limit", "1", "--since", "1d"); status != precedent.ExitClean || len(r.Pulls) != 1 || r.Pulls[0].Number != 9 {
		t.Errorf("status %d: %s", status, s.out.String())
	}
	for _, wrong := range [][]string{{"--yes"}, {"--dry-run"}, {"--engine", "none"}, {"--from", "mars"}, {"--from", "forge", "--limit", "201"}} {
		if status := s.app.run(t.Context(), append([]string{"replay", "--memory-db", s.memory}, wrong...)); status != precedent.ExitUsage {
			t.Errorf("%v: status %d", wrong, status)
		}
	}
}
