//go:build unix

package main

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestKilledSync: processes that exchange the memories of two clones, in turn and at once, and
// are killed at any moment, lose nothing: afterwards both have the union, and what was forgotten stays so.
func TestKilledSync(t *testing.T) {
	needs.Soak(t, "kills processes 40 times")
	t.Parallel()
	random := rand.New(rand.NewPCG(needs.Seed(t), 5))
	home := t.TempDir()
	runGit(t, home, home, "init", "-q", "--bare", "-b", "main", "origin.git")
	team := precedent.Repo{Host: "example.org", Owner: "team", Name: "app"}
	clones := []string{filepath.Join(home, "a"), filepath.Join(home, "b")}
	for _, dir := range clones {
		runGit(t, home, home, "clone", "-q", "origin.git", dir)
	}
	at := func(dir string, args ...string) *exec.Cmd {
		return precedentCmd(home, dir, append(args, "--repo", team.String(), "--memory-db", dir+".db")...)
	}
	end := func(dir string, args ...string) string {
		t.Helper()
		out, _ := ends(t, 0, at(dir, args...))
		return out
	}
	began := time.Now()
	end(clones[0], "memory", "sync")
	life := time.Since(began)
	const rounds = 40
	killed, taught, forgotten := 0, map[string]string{}, map[string]bool{} // learnings by what they say, with their ids
	for n := range rounds {
		dir := clones[random.IntN(2)]
		rule := fmt.Sprintf("check number %d of %s", n, filepath.Base(dir))
		taught[rule] = learnedID.FindStringSubmatch(end(dir, "learn", "add", rule))[1]
		for old, id := range taught { // any one that this clone knows for sure
			if old != rule && strings.HasSuffix(old, filepath.Base(dir)) && !forgotten[old] && random.IntN(2) == 0 {
				end(dir, "learn", "forget", id)
				forgotten[old] = true
				break
			}
		}
		running := []*exec.Cmd{at(dir, "memory", "sync")}
		if random.IntN(3) == 0 {
			running = append(running, at(clones[random.IntN(2)], "memory", "sync"))
		}
		for _, cmd := range running {
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
		}
		// Killing at a random moment is the point, so this waits for a time.
		<-time.After(time.Duration(random.Int64N(int64(life) * 3 / 2)))
		for _, cmd := range running {
			_ = cmd.Process.Kill()
			if err := cmd.Wait(); err != nil && !cmd.ProcessState.Exited() {
				killed++
			} else if err != nil {
				t.Fatalf("a process failed by itself: %v", err)
			}
		}
		db := needs.Value(sql.Open("sqlite", dir+".db"))(t)
		var says string
		if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&says); err != nil || says != "ok" {
			t.Fatalf("integrity_check: %q, %v", says, err)
		}
		needs.NoError(t, db.Close())
	}
	t.Logf("%d of %d rounds had a kill; a process lives for %v", killed, rounds, life)
	if killed < rounds/5 {
		t.Error("too few processes were killed")
	}
	for _, dir := range []string{clones[0], clones[1], clones[0]} {
		end(dir, "memory", "sync")
	}
	if a, b := end(clones[0], "memory", "export"), end(clones[1], "memory", "export"); a != b {
		t.Errorf("the clones differ:\n%s\n%s", a, b)
	}
	known := end(clones[0], "learn", "list")
	for rule := range taught {
		if strings.Contains(known, rule) == forgotten[rule] {
			t.Errorf("%q, forgotten: %t, in\n%s", rule, forgotten[rule], known)
		}
	}
}

// learnedID finds the id that learn add says.
var learnedID = regexp.MustCompile(`learned (\S+)`)
