// Command precedent reviews changes and remembers what came of it.
//
// main and app hold what all commands share; every other file without a
// subcommand's name serves several of them. This package alone reads the
// environment and hands on what others need of it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/sandbox"
	_ "github.com/precedent-dev/precedent/internal/start" // before all else
)

func main() {
	sandbox.Main()                     // a box starts this program twice inside of itself
	if os.Getenv(lint.VetEnv) == "1" { // go vet runs this program as its tool
		lint.VetMain()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once: whoever sends one means it.
	context.AfterFunc(ctx, stop)
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		env: environment(os.Environ()),
		now: time.Now,
	}
	os.Exit(a.run(ctx, os.Args[1:]))
}
