package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/gate"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

func newGate(a *app) *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:   "gate [PATH...]",
		Short: "Build and test your work tree as a server does, before you push",
		Long: `Gate runs the build and test commands of the repository on a copy of the work tree,
with everything that is uncommitted: staged, unstaged and untracked files, but not
ignored ones. With a PATH, only the uncommitted changes at and below it count, as if
you committed these and nothing else.

The commands are those of the policy, else those of the documents, of the trusted
branch, as in a review (docs/gate.md). --list prints them and where they come from.

They run in the sandbox. Where there is none, nothing runs, unless the configuration
file of the user has run_local: true: then they run without one, with your
permissions. Do not set it if you check out branches of people whom you do not trust.

Exit status: 0 all commands passed, the flaky ones too unless the policy says
otherwise, 1 a command failed, 2 usage or configuration error, 3 not all commands
ran to their end, or there are none.`,
		Example: `  precedent gate
  precedent gate --list
  precedent gate internal/server cmd
  precedent gate --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runGate(cmd.Context(), settingFlags(cmd), args, list)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "print the commands and where they come from; run nothing")
	return a.data(cmd, "trusted_branch", "repo")
}

// gateReport is a gate of a work tree as JSON.
type gateReport struct {
	Base   string `json:"base"`   // the commit that names the commands; empty for none
	Policy string `json:"policy"` // where the policy is from; empty if there is none
	// Where is bubblewrap, namespaces, local (without a sandbox) or none.
	Where        string        `json:"where"`
	Status       gate.Status   `json:"status,omitempty"`
	Why          string        `json:"why,omitempty"`
	Dependencies string        `json:"dependencies,omitempty"`
	Seconds      float64       `json:"seconds,omitempty"`
	Commands     []gateCommand `json:"commands"`
}

// gateCommand is one command of it. The last five are empty if it is only listed.
type gateCommand struct {
	Name    string      `json:"name"`
	Line    string      `json:"line"`
	Source  string      `json:"source"`
	Status  gate.Status `json:"status,omitempty"`
	Why     string      `json:"why,omitempty"`
	Exit    *int        `json:"exit,omitempty"` // null if it did not run to its end
	Output  string      `json:"output,omitempty"`
	Seconds float64     `json:"seconds,omitempty"`
}

func (a *app) runGate(ctx context.Context, flags map[string]string, paths []string, list bool) error {
	op, err := a.settings(flags)
	if err != nil {
		return err
	}
	at, err := a.location(op)
	if err != nil {
		return err
	}
	at.Forget = true
	r := a.workflow()
	repo, err := r.OpenRepository(ctx, at)
	if err != nil {
		return err
	}
	defer repo.Close()
	g, err := run.PrepareGate(ctx, r, repo, op.TrustedBranch.Value, paths)
	if err != nil {
		return err
	}
	runner := a.gate(r, nil)
	box, none := a.probeSandbox(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	runner.Sandbox = func(context.Context) (sandbox.Sandbox, error) { return box, none }
	out := gateReport{Base: g.Base, Policy: g.Policy.Source, Where: string(box.Kind())}
	switch {
	case none != nil && op.RunLocal.Value:
		out.Where, runner.Local = "local", &gate.Local{Env: a.localEnvironment()}
	case none != nil:
		out.Where = "none"
	}
	if list {
		return a.listGate(g, out)
	}
	if runner.Local != nil && len(g.Commands) > 0 {
		a.notice("there is no sandbox: the commands run with your permissions, because of run_local (%s)", op.RunLocal.Source)
	}
	if none == nil && len(g.Commands) > 0 && !g.Policy.Gate.Off {
		a.notice("running %s; the first time, dependencies are fetched and compiled before", plural(len(g.Commands), "command"))
	}
	p := a.page()
	show := func(c gate.CommandResult) { printCommand(p, c) }
	if a.json {
		show = nil
	}
	result, err := g.Run(ctx, runner, show)
	if err != nil {
		return err
	}
	if a.json {
		err = report.Value(a.out, out.with(result))
	} else {
		printGate(p, result)
		err = p.Err()
	}
	if err != nil {
		return err
	}
	if out.Where == "none" && len(g.Commands) > 0 && !g.Policy.Gate.Off {
		a.hint(fmt.Sprintf("%v; or write run_local: true into %s, to run the commands of your own work tree without one",
			none, cmp.Or(op.File, "the configuration file")))
	}
	return statusOf(gateStatus(result))
}

func (a *app) listGate(g *run.WorkTreeGate, out gateReport) error {
	for _, c := range g.Commands {
		out.Commands = append(out.Commands, gateCommand{Name: c.Name, Line: c.Line, Source: c.Source})
	}
	if a.json {
		return report.Value(a.out, out)
	}
	p := a.page()
	var rows [][]string
	for _, c := range g.Commands {
		rows = append(rows, []string{p.Ink(report.Plain, c.Line), p.Ink(report.Faint, sourceOf(c))})
	}
	p.Table(rows)
	switch {
	case g.Policy.Gate.Off:
		a.notice("no commands: the policy turns the gate off")
	case len(g.Commands) == 0:
		a.notice("no commands: neither the policy nor a document of the trusted branch names any; see docs/gate.md")
	case out.Where == "none":
		a.notice("they would be skipped: there is no sandbox")
	}
	return p.Err()
}

// sourceOf is where a command comes from, with its name if that is another.
func sourceOf(c gate.Command) string {
	if c.Name != "" && c.Name != c.Line && !strings.HasPrefix(c.Line, strings.TrimSuffix(c.Name, "…")) {
		return c.Source + ", " + c.Name
	}
	return c.Source
}

// with adds a result.
func (g gateReport) with(r gate.Result) gateReport {
	g.Status, g.Why, g.Dependencies, g.Seconds = r.Status, r.Why, r.Dependencies, r.Took.Round(time.Millisecond).Seconds()
	for _, c := range r.Commands {
		one := gateCommand{
			Name: c.Name, Line: c.Line, Source: c.Source, Status: c.Status, Why: c.Why, Output: c.Output,
			Seconds: c.Took.Round(time.Millisecond).Seconds(),
		}
		if c.Exit >= 0 {
			one.Exit = &c.Exit
		}
		g.Commands = append(g.Commands, one)
	}
	return g
}

// gateInk are the colours of statuses.
var gateInk = map[gate.Status]report.Ink{
	gate.Passed: report.Green, gate.Failed: report.Red, gate.Flaky: report.Yellow,
	gate.TimedOut: report.Yellow, gate.Resource: report.Yellow, gate.Skipped: report.Yellow,
}

func printCommand(p *report.Page, c gate.CommandResult) {
	words := p.Ink(report.Plain, c.Line) +
		p.Inkf(report.Faint, " (%s, %s)", sourceOf(c.Command), c.Took.Round(100*time.Millisecond))
	if c.Why != "" {
		words += p.Ink(report.Plain, ": "+c.Why)
	}
	p.Para(p.Inkf(gateInk[c.Status], "%-8s", c.Status)+" ", words)
}

func printGate(p *report.Page, r gate.Result) {
	if tail := r.Tail(); tail != "" {
		p.Line()
		for line := range strings.Lines(tail) {
			p.Line("    ", p.Ink(report.Faint, strings.TrimRight(line, "\n")))
		}
		p.Line()
	}
	status, words, skipped := r.Status, "", 0
	for _, c := range r.Commands {
		if c.Status == gate.Skipped {
			skipped++
		}
	}
	switch {
	case len(r.Commands) == 0:
		words = ": " + r.Why
	case skipped > 0 && !r.Blocks:
		status, words = "incomplete", fmt.Sprintf(": %d of %s did not run", skipped, plural(len(r.Commands), "command"))
	}
	if r.Dependencies != "" {
		p.Para("", p.Ink(report.Faint, "dependencies: "+r.Dependencies))
	}
	p.Para("", p.Inkf(gateInk[r.Status], "gate %s", status)+p.Ink(report.Plain, words))
}

func gateStatus(r gate.Result) int {
	incomplete := func(c gate.CommandResult) bool { return c.Status != gate.Passed && c.Status != gate.Flaky }
	switch {
	case r.Blocks:
		return precedent.ExitFindings
	case len(r.Commands) == 0 || slices.ContainsFunc(r.Commands, incomplete):
		return precedent.ExitIncomplete
	}
	return precedent.ExitClean
}

// localVariables are what commands without a sandbox get of the person's environment: where programs,
// toolchains and their caches are, and how the person writes. Nothing that holds a credential.
var localVariables = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "SDKROOT", "DEVELOPER_DIR",
	"GOROOT", "GOPATH", "GOCACHE", "GOMODCACHE", "GOTOOLCHAIN", "GOFLAGS", "CGO_ENABLED", "CARGO_HOME", "RUSTUP_HOME",
	"RUSTUP_TOOLCHAIN",
	"JAVA_HOME", "GRADLE_USER_HOME", "MAVEN_HOME", "M2_HOME", "SDKMAN_DIR", "ANDROID_HOME", "NVM_DIR", "NVM_BIN",
	"VOLTA_HOME", "FNM_DIR", "PNPM_HOME", "BUN_INSTALL",
	"VIRTUAL_ENV", "PYENV_ROOT", "CONDA_PREFIX", "UV_CACHE_DIR", "RBENV_ROOT", "GEM_HOME", "GEM_PATH", "ASDF_DIR",
	"ASDF_DATA_DIR", "MISE_DATA_DIR", "DOTNET_ROOT",
}

func (a *app) localEnvironment() []string {
	env := []string{"CI=true", "TERM=dumb", "NO_COLOR=1", "PATH=" + a.linterPath()}
	for _, name := range localVariables {
		if v, ok := a.env[name]; ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
