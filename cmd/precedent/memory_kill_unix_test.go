//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestKilledSync: processes that exchange the memories of two clones, in turn and at once, and
// are killed at any moment, lose nothing: afterwards both have the union, and what was taken
// back or forgotten stays so.
func TestKilledSync(t *testing.T) {
	needs.Soak(t, "kills processes a hundred times")
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
	memories := map[string]*clonedMemory{}
	for _, dir := range clones {
		memories[dir] = &clonedMemory{t: t, file: dir + ".db", team: team}
	}
	w := &want{live: map[string]bool{}, forgotten: map[string]bool{}, clock: time.Now().Add(-20 * time.Hour)}
	const rounds = 100
	killed := 0
	for range rounds {
		dir := clones[random.IntN(2)]
		memories[dir].change(random, w)
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
		integrity(t, dir+".db")
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
	for _, dir := range clones {
		memories[dir].check(w)
	}
}

// want is what both clones have at the end.
type want struct {
	live      map[string]bool // dismissals, false if they were taken back
	forgotten map[string]bool // learnings
	clock     time.Time
}

// clonedMemory is the memory of one clone.
type clonedMemory struct {
	t    *testing.T
	file string
	team precedent.Repo
}

func (m *clonedMemory) with(now time.Time, use func(*store.Repo)) {
	m.t.Helper()
	db, err := store.Open(m.t.Context(), m.file, store.Options{Now: func() time.Time { return now }})
	if err != nil {
		m.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.RepoFor(m.t.Context(), m.team)
	if err != nil {
		m.t.Fatal(err)
	}
	use(rows)
}

// change makes one change that a person could make, later than all before.
func (m *clonedMemory) change(random *rand.Rand, w *want) {
	t := m.t
	t.Helper()
	w.clock = w.clock.Add(time.Second)
	id := fmt.Sprintf("f%d", random.IntN(12))
	m.with(w.clock, func(rows *store.Repo) {
		switch random.IntN(4) {
		case 0, 1:
			_, added, err := rows.Reject(t.Context(), precedent.Dismissal{Fingerprint: id, Claim: "x", Severity: precedent.Low, Who: "dana", At: w.clock})
			if err != nil {
				t.Fatal(err)
			}
			w.live[id] = w.live[id] || added
		case 2:
			j, err := rows.Dismissal(t.Context(), id, w.clock)
			if err != nil {
				t.Fatal(err)
			}
			if j != nil {
				if ok, err := rows.Unreject(t.Context(), j.ID); !ok || err != nil {
					t.Fatal(ok, err)
				}
				w.live[id] = false
			}
		case 3:
			l := precedent.Learning{
				ID: "l" + id, Kind: precedent.LearnDo, State: precedent.LearningActive, Scope: precedent.RepositoryScope, Directive: "check l" + id,
				From: precedent.LearningSource{By: precedent.FromCommand, Who: "dana"}, CreatedAt: w.clock, UpdatedAt: w.clock, Version: 1,
			}
			_, added, err := rows.AddLearning(t.Context(), l, "dana")
			if err != nil {
				t.Fatal(err)
			}
			w.forgotten[l.ID] = w.forgotten[l.ID] || !added
			if added {
				return
			}
			if _, err := rows.ChangeLearning(t.Context(), l.ID, "dana", "forgotten", w.clock, func(l *precedent.Learning) error {
				l.State = precedent.LearningForgotten
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func (m *clonedMemory) check(w *want) {
	t := m.t
	t.Helper()
	m.with(w.clock, func(rows *store.Repo) {
		for id, live := range w.live {
			if j, err := rows.Dismissal(t.Context(), id, w.clock); err != nil || (j != nil) != live {
				t.Errorf("dismissal %s: %v, %v, want %t", id, j, err, live)
			}
		}
		for id, forgotten := range w.forgotten {
			found, err := rows.LearningsByID(t.Context(), id, 20)
			if err != nil || len(found) == 0 {
				t.Errorf("learning %s: %v, %v", id, found, err)
				continue
			}
			for _, l := range found {
				if l.ID == id && (l.State == precedent.LearningForgotten) != forgotten {
					t.Errorf("learning %s is %s, forgotten: %t", id, l.State, forgotten)
				}
			}
		}
	})
}
