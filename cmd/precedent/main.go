// Command precedent reviews changes and remembers the results.
//
// main.go and app.go hold what all commands share; other files without a
// subcommand's name serve several of them. Only this package reads the environment;
// it passes on what others need.
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
	sandbox.Main()                     // the sandbox starts this program twice inside itself
	if os.Getenv(lint.VetEnv) == "1" { // go vet runs this program as its tool
		lint.VetMain()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		env: environment(os.Environ()),
		now: time.Now,
	}
	os.Exit(a.run(ctx, os.Args[1:]))
}
