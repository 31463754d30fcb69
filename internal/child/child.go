// Package child runs a program to its end, with an environment from scratch
// and bounded output, and sees to it that nothing that the program started
// outlives a run that was cut short.
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
	// Tag is the variable that a run adds to the program's environment: by it
	// the processes that the program started are known as its own, even those
	// that left its process group.
	Tag = "PRECEDENT_REQUEST"
	// MostStderr is how many characters of standard error are kept.
	MostStderr = 2000
	// patience is how long the pipes of a program that has ended may stay open,
	// held by a child that it left behind, before they are closed.
	patience = time.Second
)

var started atomic.Int64

// Program is a program and what it is given.
type Program struct {
	Path string // absolute: PATH is not searched
	Args []string
	Dir  string   // its working directory
	Env  []string // its whole environment but for Tag; none means an empty one
	// Input is its standard input; it need not read all of it. nil means an empty one.
	Input io.Reader
	// Most is how many bytes of standard output are kept; a program that writes
	// more is ended.
	Most int
	// Watch, if not nil, is given each piece of standard output as it comes, for
	// the time of the call; an error ends the program.
	Watch func(piece []byte) error
}

// Result is how a run ended.
type Result struct {
	Output []byte // standard output, up to Program.Most bytes
	Stderr string // the last MostStderr characters of standard error, in whole lines if there are several
	Full   bool   // the program was ended because it wrote too much
	// Err is nil if the program ended by itself with status 0, else the context's
	// error, what Watch returned, an *exec.ExitError or one of the system's.
	Err error
}

// Run starts the program and waits for its end, or brings that about when ctx
// ends, when too much is written, or when Watch says so. The children that are
// left in its process group (on Windows: in its job) end with it. Those that
// left the group end too, on Linux, unless the program came to an orderly end:
// then they are a service that is meant to stay.
//
// The error says that the program could not be started.
func Run(ctx context.Context, p Program) (Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stdout := output{most: p.Most, watch: p.Watch, stop: stop}
	var stderr tail
	tag := fmt.Sprintf("%s=%d.%d", Tag, os.Getpid(), started.Add(1))

	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Dir = p.Dir
	cmd.Env = append(p.Env[:len(p.Env):len(p.Env)], tag)
	cmd.Stdin = p.Input // that the program closes it early is no error: os/exec sees to it
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
	family.kill() // children that were left behind
	if ctx.Err() != nil {
		killTagged(tag) // and what has a group of its own
		err = context.Cause(ctx)
	}
	family.leave()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // a child held the pipes; the program itself ended well
	}
	return Result{Output: stdout.buf.Bytes(), Stderr: stderr.last(), Full: stdout.full, Err: err}, nil
}
