package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent/internal/sandbox"
)

// Defaults of the limits.
const (
	defaultTime  = 5 * time.Minute
	defaultTotal = 20 * time.Minute
)

// Run runs the commands of a request one after the other, and stops at the first that does
// not pass. It runs no command outside of the sandbox, unless the request is for a person's own work
// tree and that person has allowed it.
func (r Runner) Run(ctx context.Context, q Request) Result {
	begun := time.Now()
	q = q.withDefaults()
	res := r.run(ctx, q)
	res.Took = time.Since(begun)
	if r.Log != nil {
		r.Log.InfoContext(ctx, "gate", "repo", q.Repo.String(), "base", q.Base, "trust", q.Trust, "status", res.Status,
			"reason", res.Why, "commands", len(res.Commands), "took", res.Took)
	}
	return res
}

func (q Request) withDefaults() Request {
	q.Trust = cmp.Or(q.Trust, Pull)
	q.Limits.Time = cmp.Or(q.Limits.Time, q.Policy.Timeout, defaultTime)
	q.Limits.Total = cmp.Or(q.Limits.Total, defaultTotal)
	return q
}

func skipped(format string, args ...any) Result {
	return Result{Status: Skipped, Why: fmt.Sprintf(format, args...)}
}

func (r Runner) run(ctx context.Context, q Request) Result {
	switch {
	case q.Policy.Broken != "":
		return skipped("the policy has an error: %s", q.Policy.Broken)
	case q.Policy.Off:
		return skipped("the policy turns the gate off")
	case len(q.Commands) == 0:
		return skipped("no commands: neither the policy nor a document of the base names any")
	}
	if _, err := os.Lstat(filepath.Join(q.Tree, ".git")); err == nil {
		return skipped("the tree has a .git")
	}
	s := &session{Runner: r, Request: q, begun: time.Now()}
	if q.BaseTree != nil {
		s.base = sync.OnceValues(func() (string, error) { return q.BaseTree(ctx) })
	}
	var box sandbox.Sandbox
	err := error(&sandbox.NoneError{})
	if r.Sandbox != nil {
		box, err = r.Sandbox(ctx)
	}
	switch {
	case err == nil:
		s.exec = box.Run
	case r.Local != nil && q.Trust == Own && ctx.Err() == nil: // with the person's own toolchains and dependencies
		s.exec = r.Local.run
		return s.runAll(ctx)
	case errors.As(err, new(*sandbox.NoneError)):
		return skipped("no sandbox")
	default:
		return skipped("no sandbox: %v", err)
	}
	s.tools, s.managers = findToolchains(r.Path), findManagers(r.Path)
	s.fetch(ctx)
	s.warm(ctx)
	return s.runAll(ctx)
}

type session struct {
	Runner
	Request
	exec     func(context.Context, sandbox.Job) (sandbox.Result, error) // runs a job in the sandbox
	begun    time.Time                                                  // of the first command
	tools    []toolchain
	managers []manager
	found    func() map[string][]string // see folders
	needed   []dependencies             // of the tree
	base     func() (string, error)     // exports the base commit, once; nil if it cannot
	seed     string                     // folder of the build cache to start from, "" for none
}

func (s *session) runAll(ctx context.Context) Result {
	s.begun = time.Now()
	res := Result{Status: Skipped, Dependencies: s.describeDependencies()}
	final := false
	for _, c := range s.Commands {
		one := CommandResult{Command: c, Status: Skipped, Why: notRun, Exit: -1}
		switch {
		case final:
		case time.Since(s.begun) >= s.Limits.Total:
			one.Status, one.Why = TimedOut, fmt.Sprintf("not run: the commands before it took %v", s.Limits.Total)
		default:
			one = s.runCommand(ctx, c)
			if s.Show != nil {
				s.Show(one)
			}
		}
		final = final || one.Status.isFinal()
		res.Commands = append(res.Commands, one)
	}
	res.sumUp()
	res.Blocks = res.Status == Failed || res.Status == Flaky && s.Policy.FailFlaky
	return res
}

// isFinal reports whether no further command can change the result.
func (s Status) isFinal() bool { return s == Failed || s == TimedOut || s == Resource }

// weights order the statuses: the heaviest of all commands is the result's.
var weights = map[Status]int{Skipped: 0, Passed: 1, Flaky: 2, Resource: 3, TimedOut: 4, Failed: 5}

// sumUp determines the status of a run from its commands.
func (r *Result) sumUp() {
	var why []string
	for _, c := range r.Commands {
		if weights[c.Status] > weights[r.Status] {
			r.Status = c.Status
		}
		if c.Why != "" && c.Why != notRun {
			why = append(why, c.Name+": "+c.Why)
		}
	}
	r.Why = strings.Join(why, "; ")
}

const notRun = "not run: another command did not pass"

func (s *session) runCommand(ctx context.Context, c Command) CommandResult {
	begun := time.Now()
	out := s.runOnce(ctx, c, s.Tree)
	if s.needsNoneOfThese(ctx, c, out) {
		out.Status, out.Why = Failed, fmt.Sprintf("exit status %d", out.Exit)
	}
	if out.Status == Failed {
		if again := s.runOnce(ctx, c, s.Tree); again.Status == Passed {
			out.Status, out.Why = Flaky, "failed, then passed: "+out.Why
		}
	}
	if out.Status == Failed && s.failsAtBase(ctx, c) {
		out.Status, out.Why = Skipped, out.Why+", but it fails on the base, too"
		if s.Lacks != "" {
			out.Why += "; " + s.Lacks
		}
	}
	out.Took = time.Since(begun)
	return out
}

// needsNoneOfThese reports whether a command that failed, and that was skipped because dependencies are
// missing, passes on the base commit without them. Then the change is what makes it fail, unless
// the change adds dependencies.
func (s *session) needsNoneOfThese(ctx context.Context, c Command, out CommandResult) bool {
	why, added := s.incomplete(c)
	if out.Status != Skipped || !strings.Contains(out.Why, lacking+why) || added || s.base == nil {
		return false
	}
	tree, err := s.base()
	return err == nil && s.runOnce(ctx, c, tree).Status == Passed
}

// failsAtBase reports whether a command fails on the base commit, too: then it does not work
// here, or needs what the sandbox has not, and says nothing of the change. A policy's commands are
// meant: they are compared only if files are lacking.
func (s *session) failsAtBase(ctx context.Context, c Command) bool {
	if c.Source == fromPolicy && s.Lacks == "" || s.base == nil {
		return false
	}
	tree, err := s.base()
	return err == nil && s.runOnce(ctx, c, tree).Status == Failed
}

func (s *session) runOnce(ctx context.Context, c Command, tree string) CommandResult {
	job := s.job(c.Line)
	job.Tree = tree
	res, err := s.exec(ctx, job)
	out := CommandResult{Command: c, Exit: res.Exit, Output: readable(res.Stdout)}
	switch {
	case ctx.Err() != nil:
		out.Status, out.Why, out.Exit = Skipped, "stopped", -1
	case err != nil && strings.Contains(err.Error(), "no space left on device"):
		out.Status, out.Why, out.Exit = Resource, "the tree does not fit into the sandbox", -1
	case err != nil:
		out.Status, out.Why, out.Exit = Skipped, err.Error(), -1
	default:
		out.Status, out.Why = s.judge(c, res, job.Limits)
	}
	return out
}

func (s *session) job(line string) sandbox.Job {
	limits := s.Limits.Sandbox
	limits.Time = max(time.Second, min(s.Limits.Time, s.Limits.Total-time.Since(s.begun)))
	limits.Output = cmp.Or(limits.Output, mostOutput)
	return sandbox.Job{
		Tree: s.Tree, Writable: true, Limits: limits,
		Argv: []string{"sh", "-c", "exec 2>&1\n" + s.prelude() + line}, Env: s.env(), Mounts: s.mounts(),
	}
}

// Failure is the command that did not pass, if there is one: the one that failed, else the first that
// was stopped or flaky.
func (r Result) Failure() (CommandResult, bool) {
	for _, final := range []bool{true, false} {
		for _, c := range r.Commands {
			if c.Status.isFinal() && final || c.Status == Flaky && !final {
				return c, true
			}
		}
	}
	return CommandResult{}, false
}

// Tail is the last 2,000 characters of what the command printed that did not pass, which is
// hostile text; empty if all passed.
func (r Result) Tail() string {
	const most = 2000
	c, _ := r.Failure()
	runes := []rune(c.Output)
	return string(runes[max(0, len(runes)-most):])
}
