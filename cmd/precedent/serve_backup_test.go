package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/queue"
)

// backupWay is a way of docs/operation.md to back up the database of a server while it works, and to restore it.
type backupWay struct {
	postgres bool
	save     func(s *serveStory, to string) error
	// restore puts a copy in the place of the database, which is lost.
	restore func(s *serveStory, from string) error
}

var backupWays = map[string]backupWay{
	"sqlite3": {save: func(s *serveStory, to string) error {
		sqlite3 := needs.Command(s.t, "PRECEDENT_TEST_SQLITE", "sqlite3")
		return s.tool(sqlite3, "-cmd", ".timeout 10000", serverFile(s.home), `.backup "`+to+`"`)
	}, restore: func(s *serveStory, from string) error {
		for _, end := range []string{"-wal", "-shm"} {
			if err := os.Remove(serverFile(s.home) + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return os.Rename(from, serverFile(s.home))
	}},
	"psql": {postgres: true, save: func(s *serveStory, to string) error {
		return s.tool("pg_dump", "--file", to, s.app.env[databaseVariable])
	}, restore: func(s *serveStory, from string) error {
		s.app.env[databaseVariable] = needs.PostgreSQL(s.t)
		return s.tool("psql", "--quiet", "--set", "ON_ERROR_STOP=1", "--file", from, s.app.env[databaseVariable])
	}},
	"export": {save: func(s *serveStory, to string) error {
		return s.tool("precedent", "memory", "export", "--all", "--out", to)
	}, restore: func(s *serveStory, from string) error {
		s.app.env[databaseVariable] = needs.PostgreSQL(s.t)
		return s.tool("precedent", "memory", "import", "--all", from)
	}},
}

// TestBackups: a copy of the database that was made while the server works, in any way that the documents name, can be
// restored. The server then goes on where the forge is, and posts nothing again.
func TestBackups(t *testing.T) {
	needs.Soak(t, "backs up a database while servers work")
	t.Parallel()
	for name, way := range backupWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServeStory(t, onGitHub, ungated+oneFinder)
			if way.postgres {
				s.app.env[databaseVariable] = needs.PostgreSQL(t)
			}
			s.once("review and fix", label.Changes, label.CIPending)
			s.passes()
			saved := s.backUpMeanwhile(way, func() { s.once("checks and second review", label.ReviewNeeded, label.HumanReview) })
			needs.NoError(t, way.restore(s, saved))
			if len(s.jobsOf(queue.Review)) == 0 {
				t.Error("the job for a review is not restored")
			}
			s.wait(time.Hour)
			s.once("restored")
			s.quiet("a person's turn")
			s.ended()
		})
	}
}

// backUpMeanwhile saves the database again and again while work runs, and returns one of the copies.
func (s *serveStory) backUpMeanwhile(way backupWay, work func()) string {
	s.t.Helper()
	folder, n := s.t.TempDir(), 0
	save := func() error {
		n++
		return way.save(s, filepath.Join(folder, fmt.Sprint(n)))
	}
	needs.NoError(s.t, save())
	ctx, end := context.WithCancel(s.t.Context())
	var failed error
	var saving sync.WaitGroup
	saving.Go(func() {
		for ctx.Err() == nil && failed == nil {
			failed = save()
		}
	})
	work()
	end()
	saving.Wait()
	needs.NoError(s.t, failed)
	chosen := needs.Random(s.t).IntN(n) + 1
	s.t.Logf("copy %d of %d is restored", chosen, n)
	return filepath.Join(folder, fmt.Sprint(chosen))
}

// tool runs a program as an operator would.
func (s *serveStory) tool(program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = s.home, append(s.environ(), "PATH="+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(program), err, out)
	}
	return nil
}
