//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
)

// setupTime is the time limit for building a sandbox and copying a tree into it.
const setupTime = time.Minute

// The reasons to stop a sandbox.
var (
	errSetup     = errors.New("the sandbox was not ready in time")
	errTime      = errors.New("time limit exceeded")
	errMemory    = errors.New("memory limit exceeded")
	errProcesses = errors.New("process limit exceeded")
	errOutput    = errors.New("output limit exceeded")
)

// Run runs a job to its end. An error means that the sandbox could not be built, that the
// program could not be started, or that ctx ended; everything else is in the result.
// If Run returns without an error, no process of the job is left.
func (b Sandbox) Run(ctx context.Context, job Job) (Result, error) {
	if b.kind == "" {
		return Result{}, errors.New("no sandbox: this one is not from Probe")
	}
	j, err := job.checked()
	if err != nil {
		return Result{}, fmt.Errorf("sandbox: %w", err)
	}
	o, err := b.orderFor(j)
	if err != nil {
		return Result{}, fmt.Errorf("sandbox: %w", err)
	}
	r, err := b.run(ctx, o, j)
	if err != nil {
		return r, fmt.Errorf("sandbox (%s): %w", b.kind, err)
	}
	return r, nil
}

func (b Sandbox) run(ctx context.Context, o order, j Job) (Result, error) {
	l, err := b.prepare(ctx, o)
	if err != nil {
		return Result{}, err
	}
	if j.Input != nil {
		l.cmd.Stdin = bytes.NewReader(j.Input)
	}
	return l.run(ctx, o.Limits, j.Stdout)
}

// run starts the prepared sandbox and waits for its end. Out is Job.Stdout.
func (l *launch) run(ctx context.Context, limits Limits, out io.Writer) (Result, error) {
	defer l.close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	over := func() { stop(errOutput) }
	stdout := recorder{most: limits.Output, limit: limits.Written, over: over, out: out}
	stderr := recorder{most: limits.Output, limit: limits.Written, over: over}
	l.cmd.Stdout, l.cmd.Stderr = &stdout, &stderr
	if err := l.start(); err != nil {
		return Result{}, err
	}
	defer context.AfterFunc(ctx, l.kill)()

	said := make(chan string, 1)
	go func() { said <- l.readStatus(limits.Time, stop) }()
	watching, unwatch := context.WithCancel(ctx)
	defer unwatch()
	go watch(watching, l.pid, limits, stop)

	waited := l.cmd.Wait()
	gone := l.awaitEnd()
	unwatch()
	if l.group != nil && l.group.isOverMemory() {
		stop(errMemory)
	}
	r := Result{Stdout: stdout.output(), Stderr: stderr.output()}
	if gone != nil {
		return r, gone
	}
	return r.conclude(context.Cause(ctx), waited, <-said)
}

// readStatus returns the messages of the stages. It stops the sandbox if it is not ready
// in time, or if the command takes too long.
func (l *launch) readStatus(limit time.Duration, stop context.CancelCauseFunc) string {
	var started atomic.Bool
	timer := time.AfterFunc(setupTime, func() {
		if started.Load() {
			stop(errTime)
		} else {
			stop(errSetup)
		}
	})
	first := make([]byte, len(running))
	n, _ := io.ReadFull(l.status, first)
	if string(first[:n]) == running && timer.Stop() {
		started.Store(true)
		timer.Reset(limit)
	}
	const most = 4 << 10
	rest, _ := io.ReadAll(io.LimitReader(l.status, most)) // the pipe closes when the command starts
	return string(first[:n]) + string(rest)
}

// conclude determines the result: said is the stages' messages, waited is the error
// from waiting for the sandbox, and cause is why it was stopped, if it was.
func (r Result) conclude(cause, waited error, said string) (Result, error) {
	trouble, wasRunning := strings.CutPrefix(said, running)
	var exit *exec.ExitError
	switch {
	case !wasRunning && cause != nil:
		return r, cause
	case trouble != "":
		return r, errors.New(trouble)
	case !wasRunning:
		return r, fmt.Errorf("set up the sandbox: %w: %s", waited, strings.TrimSpace(r.Stderr.String()))
	case waited == nil: // even if the time ran out just then
		r.Status = OK
		return r, nil
	}
	r.Exit = -1
	switch {
	case errors.Is(cause, errTime):
		r.Status = TimedOut
	case errors.Is(cause, errMemory):
		r.Status = OverMemory
	case errors.Is(cause, errProcesses):
		r.Status = OverProcesses
	case errors.Is(cause, errOutput):
		r.Status = OverOutput
	case cause != nil:
		return r, cause
	case errors.As(waited, &exit) && exit.ExitCode() > 0:
		r.Status, r.Exit = Failed, exit.ExitCode()
	default:
		return r, fmt.Errorf("the sandbox was killed from outside: %w", waited)
	}
	return r, nil
}
