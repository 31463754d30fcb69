package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/engine"
)

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
	r, err := child.Run(ctx, child.Program{
		Path: e.path, Args: e.args, Dir: filepath.Dir(e.path), Env: e.env,
		Input: bytes.NewReader(input), Most: engine.MaxReply,
	})
	var exit *exec.ExitError
	switch {
	case err != nil:
		return e.failed("cannot be started: %v%s", err, startHint(err)), nil
	case r.Full:
		return engine.Reply{
			Status:  precedent.StatusTruncated,
			Message: fmt.Sprintf("%s wrote more than %d MiB and was ended", filepath.Base(e.path), engine.MaxReply>>20),
		}, nil
	case ctx.Err() != nil:
		return engine.Reply{Status: precedent.StatusError, Message: "the program was ended"}, nil
	case errors.As(r.Err, &exit):
		return e.failed("%s: %s", exit.ProcessState, r.Stderr), nil
	case r.Err != nil:
		return e.failed("%v: %s", r.Err, r.Stderr), nil
	}
	return engine.ReadResponse(r.Output), nil
}

func (e *Engine) failed(format string, args ...any) engine.Reply {
	return engine.Reply{
		Status:  precedent.StatusError,
		Message: strings.TrimSuffix(filepath.Base(e.path)+": "+fmt.Sprintf(format, args...), ": "),
	}
}

// startHint explains the error of a script without an interpreter line.
func startHint(err error) string {
	if errors.Is(err, syscall.ENOEXEC) {
		return " (a script begins with #! and its interpreter)"
	}
	return ""
}
