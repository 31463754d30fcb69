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

	"github.com/precedent-dev/precedent/internal/background"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/sandbox"
	"github.com/precedent-dev/precedent/internal/temp"
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
		now: time.Now, start: background.Start,
	}
	a.trustPath()
	end := a.makeTemp()
	status := a.run(ctx, os.Args[1:])
	end()
	os.Exit(status)
}

// makeTemp makes one folder for all temporary files of this process, and returns what
// removes it. If that fails, the first command that needs a temporary folder reports it.
func (a *app) makeTemp() (end func()) {
	f, err := temp.Open(os.TempDir())
	if err != nil {
		return func() {}
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		_ = os.Setenv(name, f.Dir) // the names are valid
	}
	return func() {
		if err := f.Close(); err != nil {
			a.notice("remove temporary folder: %v", err)
		}
	}
}
