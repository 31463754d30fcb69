package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// burstClock is what the parent of a bursting program says of the time: when its test began, in
// nanoseconds, and how wrong the clock of the process is, also in nanoseconds. In-process times have a
// monotonic reading, so that a clock that is set shows in what is stored: the clocks of an earlier
// process and of another replica.
const burstClock = "BURST_CLOCK"

// burstSpeed is how much faster than here time passes at the forge and for bursting programs, so
// that pauses are short, and expiry is seen.
const burstSpeed = 20

// burstNow is the time at the forge.
func burstNow(began time.Time) time.Time {
	return forgetest.Epoch.Add(burstSpeed * time.Since(began))
}

// bursting is the program with an engine of its own and a fast clock.
func bursting() {
	var start, wrong int64
	if _, err := fmt.Sscan(os.Getenv(burstClock), &start, &wrong); err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(9)
	}
	began := time.Unix(0, start)
	sleep := func(ctx context.Context, d time.Duration) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d / burstSpeed):
			return nil
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: environment(os.Environ()), sleep: sleep, fixedEngine: &parrot{path: burstFile, text: tillFile},
		now: func() time.Time { return burstNow(began).Add(time.Duration(wrong)) },
	}
	a.exit(ctx)
}

// burstFile is the file of each pull request, and burstText its text after a push, which has one flaw in the first half
// of the pushes, another in the second, and a third in all.
const burstFile = "src/till.js"

func burstText(push, pushes int) (text string, has []string) {
	fixed, other := flaws[2], flaws[1]
	if push >= pushes/2 {
		fixed, other = other, fixed
	}
	line := fixed.lines[0] + "\n"
	text = strings.Replace(tillFile, line, tillFixes.Replace(line), 1)
	return fmt.Sprintf("// Version %d\n", push) + text, []string{flaws[0].name, other.name}
}
