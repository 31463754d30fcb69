package background

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestMain lets the test binary be the process in the background: it holds a file until it is ended.
func TestMain(m *testing.M) {
	path := os.Getenv("BACKGROUND_TEST_FILE")
	if path == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	release, err := Hold(ctx, path, Record{PID: os.Getpid(), Since: time.Now().UTC()}, sleep)
	fmt.Fprintln(os.Stderr, "held:", err)
	if err == nil {
		<-ctx.Done()
		release()
	}
}

func sleep(_ context.Context, d time.Duration) error {
	<-time.After(d)
	return nil
}

// begin starts the process, and waits until it runs.
func begin(t *testing.T, path string) Record {
	t.Helper()
	err := Start(Program{
		Path: os.Args[0], Dir: t.TempDir(), Env: append(os.Environ(), "BACKGROUND_TEST_FILE="+path),
		Log: path + ".log",
	})
	needs.NoError(t, err)
	for range 3000 {
		if r, running, err := Running(path); err == nil && running {
			t.Cleanup(func() {
				if p, err := os.FindProcess(r.PID); err == nil {
					_ = p.Kill() // it may have ended
				}
			})
			return r
		}
		_ = sleep(t.Context(), 10*time.Millisecond)
	}
	log, _ := os.ReadFile(path + ".log")
	t.Fatalf("it does not run: %s", log)
	return Record{}
}

// TestOneRuns: a second process cannot hold the file, stopping ends the first, and neither
// stopping nor kill -9 leaves anything that keeps the next one from starting.
func TestOneRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "memory.json")
	if stopped, err := Stop(t.Context(), path, time.Minute, sleep); err != nil || stopped {
		t.Errorf("stopped before the start: %v, %v", stopped, err)
	}
	first := begin(t, path)
	if first.PID == os.Getpid() || first.Since.IsZero() {
		t.Errorf("%+v", first)
	}
	if _, err := Hold(t.Context(), path, Record{PID: 1}, sleep); !errors.Is(err, ErrRunning) {
		t.Errorf("held twice: %v", err)
	}
	if stopped, err := Stop(t.Context(), path, time.Minute, sleep); err != nil || !stopped {
		t.Errorf("%v, %v", stopped, err)
	}
	second := begin(t, path)
	p, err := os.FindProcess(second.PID)
	if err == nil {
		err = p.Kill()
	}
	needs.NoError(t, err)
	for running := true; running; _ = sleep(t.Context(), time.Millisecond) {
		if _, running, err = Running(path); err != nil {
			t.Fatal(err)
		}
	}
	if stopped, err := Stop(t.Context(), path, time.Minute, sleep); err != nil || stopped {
		t.Errorf("stopped a killed one: %v, %v", stopped, err)
	}
	if third := begin(t, path); third.PID == second.PID {
		t.Errorf("%+v", third)
	}
}

// TestStopIsCareful: a record that names another process, without its lock, stops nothing.
func TestStopIsCareful(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.json")
	stale := fmt.Sprintf(`{"pid": %d, "since": "2026-01-01T00:00:00Z"}`, os.Getppid())
	needs.NoError(t, os.WriteFile(path, []byte(stale), 0o600))
	if stopped, err := Stop(t.Context(), path, time.Minute, sleep); err != nil || stopped {
		t.Errorf("%v, %v", stopped, err)
	}
	release := needs.Value(Hold(t.Context(), path, Record{PID: os.Getpid()}, sleep))(t)
	defer release()
	if stopped, err := Stop(t.Context(), path, time.Minute, sleep); err == nil || stopped {
		t.Errorf("it stopped itself: %v, %v", stopped, err)
	}
}
