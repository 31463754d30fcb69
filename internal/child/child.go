// Package child runs a program to its end, with a given environment and limited
// output. If a run is cut short, everything that the program started ends with it.
package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

const (
	// Tag is a variable that a run adds to the program's environment. It identifies
	// the processes that the program started, even those that left its process group.
	Tag = "PRECEDENT_REQUEST"
	// MostStderr is the number of characters of standard error that are kept.
	MostStderr = 2000
	// patience is how long the pipes of a finished program may be held open by a
	// child that it left behind, before they are closed.
	patience = time.Second
)

var started atomic.Int64

// Program is a program with its input and limits.
type Program struct {
	Path string // absolute; PATH is not searched
	Args []string
	Dir  string   // its working directory
	Env  []string // its complete environment, except for Tag; nil means empty
	// Input is standard input; the program need not read all of it. Nil means empty.
	Input io.Reader
	// Most is how many bytes of standard output are kept. A program that writes more is killed.
	Most int
	// Watch, if not nil, gets each piece of standard output as it arrives, valid only
	// during the call. An error kills the program.
	Watch func(piece []byte) error
}

// Result is how a run ended.
type Result struct {
	Output []byte // standard output, up to Program.Most bytes
	Stderr string // the last MostStderr characters of standard error, in whole lines if there are several
	Full   bool   // the program was killed because it wrote too much
	// Err is nil if the program exited with status 0, else the context's error, the
	// error from Watch, an *exec.ExitError or a system error.
	Err error
}

// Run starts the program and waits for it. It kills the program if ctx ends, if it writes too much, or if
// Watch returns an error. Children left in its process group (on Windows: in its job) are killed with it. On
// Linux, so are those that left the group, unless the program exited by itself: then they are services that
// are meant to stay.
//
// The error means that the program could not be started.
func Run(ctx context.Context, p Program) (Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stdout := output{most: p.Most, watch: p.Watch, stop: stop}
	var stderr tail
	tag := fmt.Sprintf("%s=%d.%d", Tag, os.Getpid(), started.Add(1))

	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Dir = p.Dir
	cmd.Env = append(p.Env[:len(p.Env):len(p.Env)], tag)
	cmd.Stdin = p.Input // os/exec ignores the error if the program closes it early
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = patience
	family := adopt(cmd)
	cmd.Cancel = func() error {
		family.kill()
		return nil
	}
	if err := cmd.Start(); err != nil {
		return Result{}, err
	}
	family.join()
	err := cmd.Wait()
	family.kill() // children left behind
	if ctx.Err() != nil {
		killTagged(tag) // and those with another process group
		err = context.Cause(ctx)
	}
	family.leave()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // a child held the pipes, but the program succeeded
	}
	return Result{Output: stdout.buf.Bytes(), Stderr: stderr.last(), Full: stdout.full, Err: err}, nil
}
