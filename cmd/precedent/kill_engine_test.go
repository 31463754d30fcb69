package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/needs"
)

// killAsking kills reviews that ask a model with SIGKILL, each at
// another moment of its life, and goes on with nothing but the next --resume.
// The database is whole at each of them, no answer that was kept is ever asked
// for again, and a review that comes to its end says what it would have said had
// nothing happened.
func killAsking(t *testing.T, seed uint64) {
	home := t.TempDir()
	repo := syntheticRepository(t, home, 6, 200)
	s := serveAnswers(t, synthetic)
	k := &killer{t: t, s: s, home: home, repo: repo}
	k.want = lasting(t, k.end("calm.db"))
	calm := len(s.sent())
	if said := fmt.Sprint(k.want["findings"]); !strings.Contains(said, "dropped:duplicate") || !strings.Contains(said, "verifier:confirmed") {
		t.Fatalf("neither judge nor verifier had a say: %s", said)
	}
	began := time.Now()
	k.end("warm.db")
	life := time.Since(began)

	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("an unkilled review sends %d requests and takes %v", calm, life)
	kills := needs.Rounds(48, 16)
	began = time.Now()
	k.asked = len(s.sent())
	for i := range kills {
		k.kill(i, random, life)
		if i%16 == 15 {
			k.check(k.end(k.db()))
		}
	}
	sent, again := len(s.sent())-2*calm, len(s.sent())-2*calm-k.ends*calm
	t.Logf("%d of %d reviews were killed, at %d of which answers had been kept; %d came to their end. They sent %d requests, "+
		"%d of them again because the answer was not kept yet; %d answers were kept over a kill and none was asked for twice; %v",
		k.killed, kills, k.midway, k.ends, sent, again, k.saved, time.Since(began).Round(time.Second))
	if k.killed < kills/2 || k.midway < kills/4 || 100*k.saved < calm*kills {
		t.Error("too few reviews were killed between their first answer and their end")
	}
}

// syntheticLine is a line that syntheticRepository adds, behind one that stays.
var syntheticLine = regexp.MustCompile(`\+(func after(\d+)_(\d+)\(.*)`)

// synthetic answers about syntheticRepository: two finders find the same, a
// judge sees it, a verifier agrees.
func synthetic(q question) string {
	line := syntheticLine.FindStringSubmatch(q.text)
	switch {
	case len(q.claims) > 0:
		return q.confirm()
	case len(q.pairs) > 0:
		return q.same("The loop never ends")
	case q.finder != "bugs" && q.finder != "performance" || line == nil:
		return nothing
	}
	file, _ := strconv.Atoi(line[2])
	step, _ := strconv.Atoi(line[3])
	finding := map[string]any{
		"path": fmt.Sprintf("pkg%02d/file%03d.ts", file%10, file), "side": "RIGHT", "start": 2*step + 2, "end": 2*step + 2, "quote": line[1],
		"category": "bugs", "severity": "high", "confidence": 80,
		"title": "The loop never ends", "body": "Nobody else gives the lock back while this one waits for it.",
	}
	if q.finder == "performance" {
		finding["quote"] = fmt.Sprintf("func step%d_%d(in []byte) error { return process(in, %d, \"kept\") }\n%s", file, step, step, line[1])
		finding["start"] = 2*step + 1
		finding["category"] = "performance"
		finding["title"], finding["body"] = "The loop never ends and keeps the processor busy", "It waits for the lock without a pause."
	}
	answer, err := json.Marshal(map[string]any{"findings": []any{finding}})
	if err != nil {
		return err.Error()
	}
	return string(answer)
}

// killer kills reviews of one repository. A database serves until a review with
// it has come to its end: from then on memory would change the prompts.
type killer struct {
	t          *testing.T
	s          *modelServer
	home, repo string
	want       map[string]any  // of a review that nobody killed
	kept       map[string]bool // the models of the answers that the last kill left behind
	asked      int             // how many requests were looked at

	killed, midway, ends, saved int
}

func (k *killer) db() string { return fmt.Sprintf("%d.db", k.ends) }

func (k *killer) review(db string) *exec.Cmd {
	return modelReview(k.s, k.home, k.repo, "--resume", "--memory-db", filepath.Join(k.home, db))
}

// end lets a review come to its end and returns what it says.
func (k *killer) end(db string) []byte {
	k.t.Helper()
	cmd := k.review(db)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 1 {
		k.t.Fatalf("review: %v\n%s%s", err, out, stderr.String())
	}
	return out
}

// kill starts a review and kills it: one in four at a moment of its life, the
// others when a request has come, while those before it are answered.
func (k *killer) kill(i int, random *rand.Rand, life time.Duration) {
	k.t.Helper()
	moment, timed := time.Duration(random.Int64N(int64(life))), i%4 == 0
	reached := k.await(1 + random.IntN(10))
	var deadline <-chan time.Time
	if timed {
		reached, deadline = nil, time.After(moment)
	}
	cmd := k.review(k.db())
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-reached:
	case <-deadline:
	case <-done:
		k.check(out.Bytes())
		return
	}
	_ = cmd.Process.Kill()
	<-done
	if cmd.ProcessState.ExitCode() >= 0 { // it was faster
		k.check(out.Bytes())
		return
	}
	k.killed++
	integrity(k.t, filepath.Join(k.home, k.db()))
	k.account()
	kept := keptAnswers(k.t, filepath.Join(k.home, k.db()))
	if len(kept) > 0 {
		k.midway++
	}
	k.saved += max(len(kept)-len(k.kept), 0)
	k.kept = kept
	if reviewStored(k.t, filepath.Join(k.home, k.db())) { // killed between its last write and its end
		k.kept = nil
		k.ends++
	}
}

// await returns a channel that is closed when so many requests have come.
func (k *killer) await(requests int) <-chan struct{} {
	reached, last := make(chan struct{}), len(k.s.sent())+requests
	k.s.set(func(n int) bool {
		if n == last {
			close(reached)
		}
		return true
	})
	return reached
}

// account fails for each new request to which an answer had been kept.
func (k *killer) account() {
	k.t.Helper()
	sent := k.s.sent()
	for _, body := range sent[k.asked:] {
		if k.kept[modelOf(body)] {
			k.t.Errorf("asked again although the answer was kept:\n%.2000s", body)
		}
	}
	k.asked = len(sent)
}

// check holds a review that came to its end against the calm one.
func (k *killer) check(out []byte) {
	k.t.Helper()
	k.account()
	if d := cmp.Diff(k.want, lasting(k.t, out)); d != "" {
		k.t.Fatalf("after %d kills the review differs (-calm +killed):\n%s", k.killed, d)
	}
	if left := countAnswers(k.t, filepath.Join(k.home, k.db())); left != 0 {
		k.t.Errorf("%d answers are left after the review is complete", left)
	}
	k.kept = nil
	k.ends++
}

// reviewStored reports whether the database has a review, which the next one would build upon.
func reviewStored(t *testing.T, path string) bool {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n := 0
	err = db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM reviews").Scan(&n)
	if err != nil && !strings.Contains(err.Error(), "no such table") { // killed before it was made
		t.Fatal(err)
	}
	return n > 0
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
