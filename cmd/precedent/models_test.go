package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
)

// modelServer is a server that is compatible with OpenAI's, answers every
// request with the same text, and keeps what it was sent.
type modelServer struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	// onRequest is called with the number of each request, from 1, before it is
	// answered; false leaves it unanswered.
	onRequest func(n int) bool
}

func serveModel(t *testing.T, answer string) *modelServer {
	t.Helper()
	s := &modelServer{onRequest: func(int) bool { return true }}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body))
		n, answered := len(s.bodies), s.onRequest
		s.mu.Unlock()
		if !answered(n) {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		content, err := json.Marshal(answer)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, "data: {\"model\":\"scripted-1\",\"choices\":[{\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\n", content)
		fmt.Fprint(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":50,\"prompt_tokens_details\":{\"cached_tokens\":400}}}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *modelServer) set(onRequest func(n int) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onRequest = onRequest
}

func (s *modelServer) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.bodies...)
}

// modelReview is a review that asks the server.
func modelReview(s *modelServer, home, repo string, args ...string) *exec.Cmd {
	cmd := precedentCmd(home, repo, append([]string{"review", "--json", "--quiet"}, args...)...)
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+s.URL+"/v1", "OPENAI_API_KEY=sk-canary-77", "PRECEDENT_MODEL=scripted")
	return cmd
}

func parseReview(t *testing.T, cmd *exec.Cmd, status int) precedent.Review {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if got := cmd.ProcessState.ExitCode(); got != status {
		t.Fatalf("ended with %d, want %d: %v\n%s%s", got, status, err, out, stderr.String())
	}
	if strings.Contains(string(out)+stderr.String(), "canary") {
		t.Errorf("the key shows:\n%s%s", out, stderr.String())
	}
	var r precedent.Review
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r
}

func bugsRun(t *testing.T, r precedent.Review) precedent.FinderRun {
	t.Helper()
	for _, f := range r.Finders {
		if f.Name == "bugs" {
			return f
		}
	}
	t.Fatal("no finder bugs")
	return precedent.FinderRun{}
}

func TestModelBehindAnAPI(t *testing.T) {
	home := t.TempDir()
	repo := defectiveRepository(t, home, "repo")
	s := serveModel(t, `Here it is: {"findings":[{"path":"hidden.js","side":"RIGHT","start":9,"end":9,"quote":"let role = 'user","severity":"high",
		"category":"bugs","confidence":90,"title":"The role is fixed","body":"Everybody becomes a user, whoever logs in."}]}`)
	r := parseReview(t, modelReview(s, home, repo), 1)
	run := bugsRun(t, r)
	if run.Engine != "api" || run.Model != "scripted-1" || run.Status != precedent.StatusOK || run.Requests != 1 ||
		run.InputTokens != 1000 || run.CachedTokens != 400 || run.OutputTokens != 50 {
		t.Errorf("run %+v", run)
	}
	if r.Scope != precedent.FullScope || r.Coverage.HunksRead != r.Coverage.Hunks {
		t.Errorf("scope %s, coverage %+v", r.Scope, r.Coverage)
	}
	found := false
	for _, f := range r.Findings {
		if f.Finder == "bugs" {
			found = true
			if !f.Live() || f.Path != "hidden.js" || f.Start != 1 {
				t.Errorf("finding %+v", f)
			}
		}
	}
	sent := strings.Join(s.sent(), "\n")
	if !found || strings.Contains(sent, "QYLPMN5HFIQR7XYA") || !strings.Contains(sent, "[REDACTED:") || !strings.Contains(sent, `"read_file"`) {
		t.Errorf("found %v; sent without redaction or tools:\n%.2000s", found, sent)
	}
}

func TestModelWithoutBudget(t *testing.T) {
	home := t.TempDir()
	repo := defectiveRepository(t, home, "repo")
	s := serveModel(t, `{"findings":[]}`)
	r := parseReview(t, modelReview(s, home, repo, "--max-tokens", "500"), 3)
	if run := bugsRun(t, r); run.Status != precedent.StatusOverBudget || r.Verdict != precedent.Failed || len(s.sent()) != 0 {
		t.Errorf("%s, verdict %s, %d requests", run.Status, r.Verdict, len(s.sent()))
	}
}

// TestFilesOfWhatIsNotCommitted: a model may look at a work tree as at a commit,
// and at the history that it stands on.
func TestFilesOfWhatIsNotCommitted(t *testing.T) {
	home := t.TempDir()
	repo := defectiveRepository(t, home, "repo")
	if err := os.WriteFile(filepath.Join(repo, "new.txt"), []byte("new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{dir: repo, env: map[string]string{"HOME": home, "PATH": os.Getenv("PATH")}, now: time.Now, out: io.Discard, err: io.Discard, quiet: true}
	w, err := a.enter(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	g, err := a.gather(t.Context(), w, git.Spec{Worktree: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.close()
	f := files(t.Context(), w.repo, g)
	list, err := f.List(t.Context())
	if err != nil || !slices.Contains(list, "new.txt") || !slices.Contains(list, "a.txt") {
		t.Errorf("files %v, %v", list, err)
	}
	if data, err := f.Read(t.Context(), "new.txt", 100); err != nil || string(data) != "new\n" {
		t.Errorf("new.txt: %q, %v", data, err)
	}
	if log, err := f.History(t.Context(), "a.txt"); err != nil || strings.Count(log, "dana") != 2 {
		t.Errorf("history of a.txt: %q, %v", log, err)
	}
}

// TestResumePaysNothingTwice kills a review in its middle and goes on: what was
// answered and kept is not asked again, and the result is that of a calm review.
func TestResumePaysNothingTwice(t *testing.T) {
	home := t.TempDir()
	repo := syntheticRepository(t, home, 40, 200)
	s := serveModel(t, `{"findings":[]}`)
	calm := parseReview(t, modelReview(s, home, repo, "--memory-db", filepath.Join(home, "calm.db")), 0)
	shards := len(s.sent())
	if shards < 4 {
		t.Fatalf("only %d requests: nothing to interrupt", shards)
	}

	db := filepath.Join(home, "killed.db")
	var killed *exec.Cmd
	half := make(chan struct{})
	s.set(func(n int) bool {
		if n == shards+shards/2 {
			close(half)
		}
		return n < shards+shards/2
	})
	killed = modelReview(s, home, repo, "--memory-db", db)
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	<-half
	_ = killed.Process.Kill()
	_ = killed.Wait()

	kept := countAnswers(t, db)
	if kept == 0 {
		t.Fatal("no answer was kept before the kill")
	}
	before := len(s.sent())
	s.set(func(int) bool { return true })
	resumed := parseReview(t, modelReview(s, home, repo, "--memory-db", db, "--resume"), 0)
	if again := len(s.sent()) - before; again != shards-kept {
		t.Errorf("%d requests after the kill, want %d: %d of %d answers were kept", again, shards-kept, kept, shards)
	}
	if a, b := bugsRun(t, calm), bugsRun(t, resumed); a.Usage != b.Usage || calm.Verdict != resumed.Verdict || calm.Coverage.HunksRead != resumed.Coverage.HunksRead {
		t.Errorf("calm %+v %s, resumed %+v %s", a.Usage, calm.Verdict, b.Usage, resumed.Verdict)
	}
	if left := countAnswers(t, db); left != 0 {
		t.Errorf("%d answers are left after the review is complete", left)
	}
}

func countAnswers(t *testing.T, path string) int {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM answers").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
