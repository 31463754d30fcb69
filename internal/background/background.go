// Package background starts a process that outlives this one, and knows whether it runs: it
// holds a lock on a file with its number as long as it lives, however it ends.
package background

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// MaxLog is the size, in bytes, above which a log is emptied.
const MaxLog = 256 << 10

// Program is a program to start.
type Program struct {
	Path string // absolute
	Args []string
	Dir  string   // its working folder
	Env  []string // its complete environment
	Log  string   // the file that its standard error is added to; its folder is created
}

// Start starts the program in a session of its own, without standard input and output, and does
// not wait for it.
func Start(p Program) error {
	if err := os.MkdirAll(filepath.Dir(p.Log), 0o700); err != nil {
		return fmt.Errorf("start in background: %w", err)
	}
	Trim(p.Log)
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start in background: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(p.Path, p.Args...) //nolint:noctx // the caller's own program, which outlives this process
	cmd.Dir, cmd.Env, cmd.Stderr = p.Dir, p.Env, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start in background: %w", err)
	}
	return cmd.Process.Release()
}

// Trim empties a log that is larger than MaxLog. A log that cannot be emptied only takes space.
func Trim(log string) {
	if info, err := os.Stat(log); err == nil && info.Size() > MaxLog {
		_ = os.Truncate(log, 0)
	}
}

// Record is what a running process says of itself.
type Record struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// ErrRunning means that another process holds the lock.
var ErrRunning = errors.New("it is running already")

// Sleep waits for a time, or until the context ends.
type Sleep func(context.Context, time.Duration) error

// pause is how long Hold and Stop wait before they look again.
const pause = 20 * time.Millisecond

// marked is the file whose lock says that the record of path is that of a running process. It is
// locked after the record has been written, so that nobody takes the record of an earlier process
// for that of the one that is starting.
func marked(path string) string { return path + ".running" }

// Hold locks the file for this process, writes the record to it, and returns what releases it. The system
// releases it, too, when the process ends. The error wraps ErrRunning if another process holds it.
func Hold(ctx context.Context, path string, r Record, sleep Sleep) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	f, err := lock(path)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	data, err := json.Marshal(r)
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(data, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), unlock(f))
	}
	const attempts = 50 // Running locks the mark for a moment, too
	for attempt := 1; ; attempt++ {
		mark, err := lock(marked(path))
		if err == nil {
			return func() { _ = errors.Join(unlock(mark), unlock(f)) }, nil // the system releases them at the end
		}
		if attempt < attempts && errors.Is(err, ErrRunning) {
			if err = sleep(ctx, pause); err == nil {
				continue
			}
		}
		return nil, errors.Join(fmt.Errorf("lock %s: %w", marked(path), err), unlock(f))
	}
}

// Running returns the record of the process that holds the file, and whether one does.
func Running(path string) (Record, bool, error) {
	f, err := lockExisting(marked(path))
	switch {
	case err == nil:
		return Record{}, false, unlock(f)
	case errors.Is(err, fs.ErrNotExist):
		return Record{}, false, nil
	case !errors.Is(err, ErrRunning):
		return Record{}, false, fmt.Errorf("look at %s: %w", marked(path), err)
	}
	const most = 4 << 10 // a record has some 60 bytes
	in, err := os.Open(path)
	if err != nil {
		return Record{}, true, fmt.Errorf("read %s: %w", path, err)
	}
	defer in.Close()
	var r Record
	if err := json.NewDecoder(io.LimitReader(in, most)).Decode(&r); err != nil {
		return Record{}, true, fmt.Errorf("read %s: %w", path, err)
	}
	return r, true, nil
}

// Stop ends the process that holds the file, and waits until it has, at most for the patience.
// It is false if none does. The process is the one that wrote the record and still holds the
// lock: its number is compared again after the system has given a handle to it.
func Stop(ctx context.Context, path string, patience time.Duration, sleep Sleep) (bool, error) {
	r, running, err := Running(path)
	if err != nil || !running {
		return false, err
	}
	if r.PID <= 1 || r.PID == os.Getpid() {
		return false, fmt.Errorf("stop process: %s has no process number", path)
	}
	process, err := os.FindProcess(r.PID)
	if err != nil {
		return false, fmt.Errorf("stop process %d: %w", r.PID, err)
	}
	defer func() { _ = process.Release() }()
	if again, running, err := Running(path); err != nil || !running || again != r {
		return false, err
	}
	if err := terminate(process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return false, fmt.Errorf("stop process %d: %w", r.PID, err)
	}
	for waited := time.Duration(0); waited < patience; waited += pause {
		if _, running, err := Running(path); err == nil && !running {
			return true, nil
		}
		if err := sleep(ctx, pause); err != nil {
			return false, err
		}
	}
	return false, fmt.Errorf("stop process %d: it has not ended after %s", r.PID, patience)
}
