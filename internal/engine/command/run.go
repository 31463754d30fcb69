package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
)

const (
	// patience is how long the pipes of a program that has ended may stay open,
	// held by a child that it left behind, before they are closed.
	patience = time.Second
	// mostStderr is how many characters of standard error an answer shows.
	mostStderr = 2000
	// tagName is the variable by which the processes that a program started
	// are known as its own, even those that left its process group.
	tagName = "PRECEDENT_REQUEST"
)

var started atomic.Int64

// once starts the program for one request and reads what it writes.
func (e *Engine) once(ctx context.Context, t engine.Task) (engine.Reply, error) {
	left := engine.DefaultTimeout
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	input, err := json.Marshal(engine.NewRequest(t, left))
	if err != nil {
		return engine.Reply{}, fmt.Errorf("write task: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stdout := capped{over: stop}
	var stderr tail
	tag := fmt.Sprintf("%s=%d.%d", tagName, os.Getpid(), started.Add(1))

	cmd := exec.CommandContext(ctx, e.path, e.args...)
	cmd.Dir = filepath.Dir(e.path)
	cmd.Env = append(e.env[:len(e.env):len(e.env)], tag)
	cmd.Stdin = bytes.NewReader(input) // that the program closes it early is no error: os/exec sees to it
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = patience
	family := adopt(cmd)
	cmd.Cancel = func() error {
		family.kill()
		return nil
	}
	if err := cmd.Start(); err != nil {
		return e.failed("cannot be started: %v%s", err, startHint(err)), nil
	}
	family.join()
	err = cmd.Wait()
	family.kill() // children that were left behind
	if ctx.Err() != nil {
		killTagged(tag) // and what has a group of its own; after an orderly end that is a service meant to stay
	}
	family.leave()

	var exit *exec.ExitError
	switch {
	case stdout.full:
		return engine.Reply{
			Status:  precedent.StatusTruncated,
			Message: fmt.Sprintf("%s wrote more than %d MiB and was ended", filepath.Base(e.path), engine.MaxReply>>20),
		}, nil
	case ctx.Err() != nil:
		return engine.Reply{Status: precedent.StatusError, Message: "the program was ended"}, nil
	case errors.As(err, &exit):
		return e.failed("%s%s", exit.ProcessState, stderr.last(": ")), nil
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return e.failed("%v%s", err, stderr.last(": ")), nil
	}
	return engine.ReadResponse(stdout.buf.Bytes()), nil
}

func (e *Engine) failed(format string, args ...any) engine.Reply {
	return engine.Reply{
		Status:  precedent.StatusError,
		Message: filepath.Base(e.path) + ": " + fmt.Sprintf(format, args...),
	}
}

// startHint explains the error that a script without its first line gives.
func startHint(err error) string {
	if strings.Contains(err.Error(), "exec format error") {
		return " (a script begins with #! and its interpreter)"
	}
	return ""
}

// capped keeps what is written up to the cap; beyond it, it calls over.
type capped struct {
	buf  bytes.Buffer
	full bool
	over func()
}

func (c *capped) Write(p []byte) (int, error) {
	if c.buf.Len()+len(p) > engine.MaxReply {
		c.full = true
		c.over()
		return 0, errors.New("too much output")
	}
	return c.buf.Write(p)
}

// tail keeps the end of what is written.
type tail struct {
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	const most = mostStderr * utf8.UTFMax
	t.buf = append(t.buf, p[max(len(p)-most, 0):]...)
	if drop := len(t.buf) - most; drop > 0 {
		t.buf = append(t.buf[:0], t.buf[drop:]...)
	}
	return len(p), nil
}

// last returns the last lines, after the separator, or nothing. A line that is
// cut goes unless it is the only one. Control characters stay as they are:
// whoever prints the text escapes it.
func (t *tail) last(separator string) string {
	text := []rune(strings.TrimSpace(strings.ToValidUTF8(string(t.buf), "\uFFFD")))
	if len(text) == 0 {
		return ""
	}
	if len(text) <= mostStderr {
		return separator + string(text)
	}
	kept := string(text[len(text)-mostStderr:])
	if _, whole, ok := strings.Cut(kept, "\n"); ok && whole != "" {
		kept = whole
	}
	return separator + kept
}
