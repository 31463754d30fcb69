package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// Local runs the commands for a person's own work tree without a sandbox: as that person, with
// access to the network and to all of the person's files. Only that person can allow it.
type Local struct {
	Env []string // the whole environment of the commands
}

const shell = "/bin/sh"

// mostLocal is how many bytes a command may print: they are held in memory.
const mostLocal = 16 << 20

// run runs a job in a private copy of its tree. Of the limits, those of time and output hold. What
// the command started ends with it.
func (l *Local) run(ctx context.Context, job sandbox.Job) (sandbox.Result, error) {
	dir, err := os.MkdirTemp("", "precedent-gate-")
	if err != nil {
		return sandbox.Result{}, err
	}
	defer removeKept(dir)
	tree := filepath.Join(dir, "tree")
	if err := os.CopyFS(tree, os.DirFS(job.Tree)); err != nil {
		return sandbox.Result{}, fmt.Errorf("copy the tree: %w", err)
	}
	timed, cancel := context.WithTimeout(ctx, job.Limits.Time)
	defer cancel()
	out, err := child.Run(timed, child.Program{Path: shell, Args: job.Argv[1:], Dir: tree, Env: l.Env, Most: mostLocal})
	if err != nil {
		return sandbox.Result{}, err
	}
	res := sandbox.Result{Status: sandbox.OK, Stdout: ends(out.Output, job.Limits.Output)}
	var exit *exec.ExitError
	switch {
	case out.Full:
		res.Status, res.Exit = sandbox.OverOutput, -1
	case errors.Is(out.Err, context.DeadlineExceeded):
		res.Status, res.Exit = sandbox.TimedOut, -1
	case errors.As(out.Err, &exit):
		res.Status, res.Exit = sandbox.Failed, exit.ExitCode()
	case out.Err != nil:
		return sandbox.Result{}, out.Err
	}
	return res, nil
}

// ends keeps the start and the end of an output, most bytes together.
func ends(data []byte, most int) sandbox.Output {
	if len(data) <= most {
		return sandbox.Output{Head: data}
	}
	head, tail := data[:most/2], data[len(data)-most/2:]
	return sandbox.Output{Head: head, Tail: tail, Omitted: int64(len(data) - len(head) - len(tail))}
}
