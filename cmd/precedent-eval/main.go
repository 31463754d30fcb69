// Command precedent-eval measures the quality of reviews on folders of data, and on merged pull requests.
// docs/eval.md explains the formats and the numbers.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/eval"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/sandbox"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func main() {
	sandbox.Main() // linters run in this program's sandbox
	if os.Getenv(lint.VetEnv) == "1" {
		lint.VetMain()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := &program{out: os.Stdout, err: os.Stderr, env: map[string]string{}}
	for _, pair := range os.Environ() {
		if name, value, ok := strings.Cut(pair, "="); ok && name != "" {
			p.env[name] = value
		}
	}
	status := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(status)
}

// program is what the commands share.
type program struct {
	out, err io.Writer
	env      map[string]string
}

// errIncomplete ends a measurement that was printed but did not measure everything.
var errIncomplete = errors.New("not everything was measured")

// run executes the command line and returns the exit status.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return precedent.ExitClean
	case errors.Is(err, errIncomplete):
		return precedent.ExitIncomplete
	}
	p.notice("%v", err)
	if e := (*eval.HintError)(nil); errors.As(err, &e) {
		fmt.Fprintln(p.err, "hint: "+text.Visible(e.Hint))
	}
	return precedent.ExitUsage
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "precedent-eval",
		Short: "Measure the quality of reviews on folders of data",
		Long: `Precedent-eval measures reviews on folders of data and on merged pull requests.
docs/eval.md explains the formats and the numbers. Flags of the engine are also read
from the environment and the configuration file, as by precedent.

Exit status: 0 measured, 2 usage or configuration error, 3 not everything was
measured.`,
		Example:       "  precedent-eval anchor ./changes\n  precedent-eval review ./changes --out candidates.jsonl",
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.AddCommand(newAnchor(p), newReview(p), newDedup(p), newCluster(p), newSuppress(p), newThreshold(p), newNoise(p),
		newPrecedents(p), newReplay(p))
	return root
}

// notice prints a message on standard error.
func (p *program) notice(format string, args ...any) {
	fmt.Fprintln(p.err, "precedent-eval: "+text.Visible(fmt.Sprintf(format, args...)))
}

// engineSettings are the keys of the settings of an engine.
var engineSettings = []string{"engine", "model", "context", "concurrency", "max_cost", "max_tokens", "timeout"}

// addSettings adds the flags of settings to a command.
func addSettings(cmd *cobra.Command, keys ...string) {
	for _, d := range settings.All {
		if d.Flag != "" && slices.Contains(keys, d.Key) {
			cmd.Flags().String(d.Flag, "", d.Usage)
		}
	}
}

// given returns the flags of settings that were set on the command line.
func given(cmd *cobra.Command) map[string]string {
	flags := map[string]string{}
	for _, d := range settings.All {
		if f := cmd.Flag(d.Flag); f != nil && f.Changed {
			flags[d.Flag] = f.Value.String()
		}
	}
	return flags
}

// settings reads the settings, with the given flags.
func (p *program) settings(flags map[string]string) (*settings.Settings, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return settings.Read(settings.Sources{Flags: flags, Env: p.env, File: filepath.Join(p.folder("XDG_CONFIG_HOME", ".config"), "config.yaml"), Dir: dir})
}

// folder returns precedent's folder below one of the XDG base directories.
func (p *program) folder(variable, below string) string {
	dir := p.env[variable]
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.env["HOME"], below)
	}
	return filepath.Join(dir, "precedent")
}

// reviewer reviews ranges of repositories as precedent does.
func (p *program) reviewer() *workspace.Env {
	self, _ := os.Executable() // without it, the checks of Go are skipped, and that is printed
	modules := p.env["GOMODCACHE"]
	if dirs := filepath.SplitList(p.env["GOPATH"]); modules == "" && len(dirs) > 0 {
		modules = filepath.Join(dirs[0], "pkg", "mod")
	}
	return &workspace.Env{
		Now: time.Now, NewID: newID, Log: slog.New(slog.DiscardHandler),
		Git: p.gitOptions(), Sandbox: lint.Sandbox(p.env["PATH"], p.env["PATH"]),
		Go:      lint.GoEnv{Path: p.env["PATH"], Home: p.env["HOME"], ModCache: modules, Tool: self},
		DataDir: p.folder("XDG_DATA_HOME", filepath.Join(".local", "share")), CacheDir: p.folder("XDG_CACHE_HOME", ".cache"),
	}
}

func (p *program) gitOptions() git.Options {
	return git.Options{Home: p.env["HOME"], ConfigHome: p.env["XDG_CONFIG_HOME"], Cache: p.folder("XDG_CACHE_HOME", ".cache")}
}

// page returns a page that writes to standard output, without breaking lines.
func (p *program) page() *report.Page { return report.NewPage(p.out, 0, false) }
