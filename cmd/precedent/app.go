package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/background"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/engine/command"
	"github.com/precedent-dev/precedent/internal/progress"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/sandbox"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// exitInterrupted is what shells expect of a program that SIGINT ended.
const exitInterrupted = 130

// maxColumns keeps prose readable on a very wide terminal.
const maxColumns = 120

// app is what the commands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	env      map[string]string
	allPath  string // PATH with the folders that trustPath removed; empty before it ran
	dir      string // the working folder; empty for the process's own
	now      func() time.Time
	sleep    func(ctx context.Context, d time.Duration) error // between requests to a forge; nil for the real time
	quiet    bool                                             // no progress and no notices; errors are always printed
	reads    bool                                             // the memory may be one that cannot be written
	json     bool                                             // results are printed as JSON: --json
	pushes   bool                                             // the forge is used to push commits and to read what CI says, too

	box   func(context.Context) (sandbox.Sandbox, error) // where gates run; nil for the best sandbox of this machine
	start func(background.Program) error                 // starts a process that outlives this one; nil for never

	shown *progress.Progress // of the review that runs; nil for none

	fixedEngine engine.Engine // takes precedence over the settings; for the demo
}

// environment turns what os.Environ returns into a map.
func environment(pairs []string) map[string]string {
	env := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		if k, v, ok := strings.Cut(pair, "="); ok && k != "" {
			env[k] = v
		}
	}
	return env
}

func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil && !errors.Is(err, exitStatus(precedent.ExitClean)) { // which says that it ended as it should
		fmt.Fprintln(a.err, "precedent: interrupted")
		if hint := hintOf(err); hint != "" {
			a.hint(hint)
		}
		return exitInterrupted
	}
	var s exitStatus
	switch {
	case err == nil:
		return precedent.ExitClean
	case errors.As(err, &s):
		return int(s)
	}
	a.printError(err)
	if e, ok := errors.AsType[*workspace.Error](err); ok && e.Status != 0 {
		return e.Status
	}
	return precedent.ExitUsage
}

func (a *app) root() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "precedent",
		Short: "The code reviewer that remembers",
		Long: `Precedent reviews changes with static analyzers and language models. It keeps what
it found and how people answered, and uses that in the next review.

Exit status: 0 clean, 1 findings at or above --fail-on, 2 usage or configuration
error, 3 incomplete review, 130 interrupted.`,
		Example: `  precedent review                 # the branch and the working tree, else the last commit
  precedent review main...HEAD
  precedent dismiss k7m2q0v5xa     # not a problem here: never show it again
  precedent demo                   # watch a review that remembers, in a temporary folder`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				fmt.Fprintln(cmd.OutOrStdout(), describedBuild())
				return nil
			}
			return cmd.Help()
		},
	}
	// Not cobra's flag, whose output is set by a template, which would keep all methods of all types.
	root.Flags().BoolVar(&version, "version", false, "version for precedent")
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "turn off progress and notices on standard error")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCommand())
	cobra.EnableCommandSorting = false
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Review:", []*cobra.Command{newReview(a), newExplain(a), newReviews(a), newGate(a), newHotspots(a), newDemo(a)}},
		{"Teach:", []*cobra.Command{newDismiss(a), newLearn(a), newInsights(a), newMemory(a), newCorpus(a)}},
		{"Pull requests:", []*cobra.Command{newPR(a), newFix(a), newReply(a), newOutcomes(a)}},
		{"Server:", []*cobra.Command{newServe(a), newJobs(a), newDashboard(a), newMCP(a)}},
		{"Set up and maintain:", []*cobra.Command{
			newInit(a), newInstallHook(a), newDoctor(a), newConfig(a), newStats(a), newReplay(a), newCompletion(a),
			newVersion(a), newUpgrade(a),
		}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.title
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommandGroupID("Set up and maintain:")
	root.AddCommand(newFP(a), newHookPrePush(a)) // hidden
	fillIn(root)
	return root
}

// fillIn sets what a command and those below it leave open: they take no arguments, and print their help.
func fillIn(cmd *cobra.Command) {
	if cmd.Args == nil {
		cmd.Args = exactly(0)
	}
	if cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range cmd.Commands() {
		fillIn(sub)
	}
}

// flagError adds what was meant to the error about a flag that does not exist.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return misuse(cmd, err)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := text.Closest(unknown.GetSpecifiedName(), names); near != "" {
		return hinted(err, "did you mean --%s?", near)
	}
	return misuse(cmd, err)
}

// helpCommand replaces cobra's help command by one with an example.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		Short:   "Help about a command",
		Example: "  precedent help review",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return misuse(cmd.Root(), fmt.Errorf("no command %q", strings.Join(args, " ")))
			}
			return target.Help()
		},
	}
}

func hinted(err error, hint string, args ...any) error { return workspace.Hinted(err, hint, args...) }

// misuse is an error in how a command was called.
func misuse(cmd *cobra.Command, err error) error {
	return hinted(err, "%s --help", cmd.CommandPath())
}

// exitStatus ends a command that has printed everything already.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func exactly(n int) cobra.PositionalArgs { return between(n, n) }

func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case cmd.HasSubCommands() && len(args) > 0:
			err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
			cmd.SuggestionsMinimumDistance = 2
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return hinted(err, "did you mean %s %s?", cmd.CommandPath(), near[0])
			}
			return misuse(cmd, err)
		case len(args) < least:
			return misuse(cmd, fmt.Errorf("%s: missing argument: %s", cmd.CommandPath(), cmd.Use))
		case len(args) > most:
			return misuse(cmd, fmt.Errorf("%s: unexpected argument %q", cmd.CommandPath(), args[most]))
		}
		return nil
	}
}

func (a *app) printError(err error) {
	a.say("precedent: " + text.Visible(err.Error()))
	if hint := hintOf(err); hint != "" {
		a.hint(hint)
	}
}

func (a *app) hint(s string) { a.say("hint: " + text.Visible(s)) }

// say prints a line on standard error, above the progress of a review.
func (a *app) say(line string) {
	line = secret.RedactText(line)
	write := func() { fmt.Fprintln(a.err, line) }
	if a.shown != nil {
		a.shown.Above(write)
		return
	}
	write()
}

func hintOf(err error) string {
	var c *command.Error
	if hint := workspace.HintOf(err); hint != "" || !errors.As(err, &c) {
		return hint
	}
	return c.Hint
}

// notice prints a message on standard error, unless --quiet is set.
func (a *app) notice(format string, args ...any) {
	if !a.quiet {
		a.say("precedent: " + text.Visible(fmt.Sprintf(format, args...)))
	}
}

// terminal returns the size of the terminal behind w, by default 80 columns and 24 rows, and whether there is one.
func terminal(w any) (columns, rows int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, 0, false
	}
	columns, rows, _ = term.GetSize(int(f.Fd())) // 0 if unknown
	return min(cmp.Or(columns, report.DefaultWidth), maxColumns), cmp.Or(rows, 24), true
}

// outputStyle returns the width of standard output, and whether to use colours:
// only on a terminal, and not if NO_COLOR is set (https://no-color.org).
func (a *app) outputStyle() (width int, color bool) {
	width, _, tty := terminal(a.out)
	return width, tty && a.env["NO_COLOR"] == "" && a.env["TERM"] != "dumb"
}

func (a *app) page() *report.Page {
	width, color := a.outputStyle()
	return report.NewPage(a.out, width, color)
}

// show prints a value as JSON, or for people on a page.
func (a *app) show(value any, print func(p *report.Page)) error {
	if a.json {
		return report.Value(a.out, value)
	}
	p := a.page()
	print(p)
	return p.Err()
}

// onRunner reports whether a runner of GitHub or Gitea runs this, which reads commands from the log.
func (a *app) onRunner() bool {
	return a.env["GITHUB_ACTIONS"] == "true" || a.env["GITEA_ACTIONS"] == "true"
}

// showProgress shows the progress of a review on standard error, unless --quiet is set.
func (a *app) showProgress() *progress.Progress {
	o := progress.Options{Now: a.now}
	if a.quiet {
		return progress.Start(o)
	}
	o.Out = a.err
	if _, _, ok := terminal(a.err); ok && a.env["TERM"] != "dumb" {
		o.Size = func() (int, int) {
			columns, rows, _ := terminal(a.err)
			return columns, rows
		}
		o.Color = a.env["NO_COLOR"] == ""
	}
	return progress.Start(o)
}

var plural = report.Plural
