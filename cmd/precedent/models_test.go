package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// modelReview is a review that asks the server.
func modelReview(s *modelServer, home, repo string, args ...string) *exec.Cmd {
	cmd := precedentCmd(home, repo, append([]string{"review", "--deep", "--json", "--quiet"}, args...)...)
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+s.URL, "OPENAI_API_KEY=sk-canary-77", "PRECEDENT_MODEL=scripted")
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

func generalRun(t *testing.T, r precedent.Review) precedent.FinderRun {
	t.Helper()
	for _, f := range r.Finders {
		if f.Name == "general" {
			return f
		}
	}
	t.Fatal("no finder general")
	return precedent.FinderRun{}
}

// TestModelBehindAnAPI: all finders ask, one of them first and alone until its
// answer begins; then a verifier checks what they found.
func TestModelBehindAnAPI(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	repo := defectiveRepository(t, home, "repo")
	s := serveAnswers(t, func(q question) string {
		switch q.finder {
		case "the whole change":
			return `Here it is: {"findings":[{"path":"hidden.js","side":"RIGHT","start":9,"end":9,"quote":"let role = 'user","severity":"high",
				"category":"bugs","confidence":80,"title":"The role is fixed","body":"Everybody who logs in becomes a user."}]}`
		case "":
			return q.confirm()
		}
		return nothing
	})
	second := make(chan struct{})
	s.set(func(n int) bool {
		switch n {
		case 1:
			select {
			case <-second:
				t.Error("a second request came before the answer to the first one began")
			case <-time.After(200 * time.Millisecond): // they would come side by side, within a few
			}
		case 2:
			close(second)
		}
		return true
	})
	r := parseReview(t, modelReview(s, home, repo), 1)
	readers := len(prompt.Finders()) // one shard, and a guide: all of them
	one := precedent.Usage{Requests: 1, InputTokens: 1000, CachedTokens: 400, OutputTokens: 50}
	var all precedent.Usage
	for _, run := range r.Finders {
		if run.Engine == "analyzer" {
			continue
		}
		all.Add(run.Usage)
		want := precedent.StatusEmpty
		if run.Name == "general" {
			want = precedent.StatusOK
		}
		if run.Engine != "api" || !strings.HasPrefix(run.Model, "scripted-") || run.Status != want || run.Usage != one {
			t.Errorf("run %+v", run)
		}
	}
	all.Add(one) // the verifier's
	if r.Usage != all || all.Requests != readers+1 || len(s.sent()) != readers+1 {
		t.Errorf("usage %+v, want %+v of %d requests; %d came", r.Usage, all, readers+1, len(s.sent()))
	}
	if r.Scope != precedent.FullScope || r.Coverage.HunksRead != r.Coverage.Hunks || len(r.Failures) > 0 {
		t.Errorf("scope %s, coverage %+v, failures %v", r.Scope, r.Coverage, r.Failures)
	}
	found := false
	for _, f := range r.Findings {
		if f.Finder == "general" {
			found = true
			if !f.Live() || f.Path != "hidden.js" || f.Start != 1 || f.Verifier != precedent.Confirmed || f.Confidence != 86 {
				t.Errorf("finding %s, verifier %s, confidence %d: %v", f, f.Verifier, f.Confidence, f.Trail)
			}
		}
	}
	sent := strings.Join(s.sent(), "\n")
	if !found || strings.Contains(sent, "QYLPMN5HFIQR7XYA") || !strings.Contains(sent, "[REDACTED:") || !strings.Contains(sent, `"read_file"`) {
		t.Errorf("found %v; sent without redaction or tools:\n%.2000s", found, sent)
	}
}

// TestResumePaysNothingTwice kills a review in its middle and goes on: what was
// answered and kept is not asked again, and the result is that of a calm review.
func TestResumePaysNothingTwice(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	repo := syntheticRepository(t, home, 40, 200)
	s := serveModel(t, nothing)
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

	kept := keptAnswers(t, db)
	if len(kept) == 0 {
		t.Fatal("no answer was kept before the kill")
	}
	before := len(s.sent())
	s.set(func(int) bool { return true })
	resumed := parseReview(t, modelReview(s, home, repo, "--memory-db", db, "--resume"), 0)
	again := map[string]bool{} // without what the killed process asked and the server reads only now
	for _, body := range s.sent()[before:] {
		again[modelOf(body)] = true
		if kept[modelOf(body)] {
			t.Errorf("asked again although the answer was kept:\n%.2000s", body)
		}
	}
	if len(again) != shards-len(kept) {
		t.Errorf("%d requests after the kill, want %d: %d of %d answers were kept", len(again), shards-len(kept), len(kept), shards)
	}
	if a, b := generalRun(t, calm), generalRun(t, resumed); a.Usage != b.Usage || calm.Verdict != resumed.Verdict || calm.Coverage.HunksRead != resumed.Coverage.HunksRead {
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

// keptAnswers returns the models of the answers in a database, which tell the
// requests that they are to.
func keptAnswers(t *testing.T, path string) map[string]bool {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	kept := map[string]bool{}
	rows, err := db.QueryContext(t.Context(), "SELECT answer FROM answers")
	if err != nil {
		if strings.Contains(err.Error(), "no such table") { // killed before it was made
			return kept
		}
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var raw []byte
		var a engine.Answer
		if err := rows.Scan(&raw); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &a); err != nil || a.Model == "" {
			t.Fatalf("kept answer %s: %v", raw, err)
		}
		kept[a.Model] = true
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return kept
}
