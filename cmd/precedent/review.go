package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// reviewOptions are the options of review and pr.
type reviewOptions struct {
	spec     git.Spec
	format   string   // one of report.Formats
	resume   bool     // continue from the answers of an unfinished review
	estimate bool     // print what would be sent, and send nothing
	fix      bool     // apply the suggestions to the work tree, after asking
	yes      bool     // do not ask
	post     bool     // post the review to the pull request
	again    bool     // read what an earlier review has read already
	paths    []string // review only these files and folders
	flags    map[string]string
}

func newReview(a *app) *cobra.Command {
	o := reviewOptions{format: "text"}
	cmd := &cobra.Command{
		Use:   "review [RANGE] [-- PATH...]",
		Short: "Review a local change",
		Long: `Review reads a change with the analyzers, and with a model if an engine is set up,
prints the findings, and stores them in the memory. Without a RANGE it reviews what
the branch adds to its upstream, without what others did to the default branch if it
was rebased onto that or has merged it, together with everything that is uncommitted:
staged, unstaged and untracked files, but not ignored ones. If the branch adds nothing,
it reviews what is uncommitted, else the last commit.

RANGE is A..B, A...B (from their merge base), or A, which is A...HEAD. To review
only some files and folders, name them after --.

The engine is a model behind an API, if ANTHROPIC_API_KEY, OPENAI_API_KEY or
OPENAI_BASE_URL is set, or a program that reads a task as JSON on standard input
and writes the answer to standard output (docs/engine.md). A program gets this
environment without the variables of precedent and git and without the tokens of
forges. Without an engine, only the analyzers read the change, and the output says
so.

Exit status: 0 clean, 1 findings at or above --fail-on, 2 usage or configuration
error, 3 not everything was read.`,
		Example: `  precedent review
  precedent review main...HEAD --fail-on medium
  precedent review --staged --json
  precedent review --committed -- internal cmd/main.go
  precedent review HEAD~3 --engine command:./my-model
  precedent review --engine anthropic --max-cost 0.50 --resume
  precedent review --estimate
  precedent review --fix`,
		ValidArgsFunction: a.completeRange,
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args, o.paths = args[:at], args[at:]
			}
			return between(0, 1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > len(o.paths) {
				o.spec.Range = args[0]
			}
			if slices.Contains(args, "") || cmd.Flags().Changed("commit") && o.spec.Commit == "" {
				return misuse(cmd, errors.New("the range, the commit or a path is empty; is a variable not set?"))
			}
			if err := a.chooseFormat(cmd, &o.format); err != nil {
				return err
			}
			if o.fix && o.format != "text" {
				return misuse(cmd, fmt.Errorf("--fix cannot be used with --format %s", o.format))
			}
			if o.yes && !o.fix {
				return misuse(cmd, errors.New("--yes requires --fix"))
			}
			o.flags = settingFlags(cmd)
			return a.review(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.spec.Staged, "staged", false, "review what is staged for the next commit")
	f.BoolVar(&o.spec.Worktree, "worktree", false, "review all uncommitted changes, including untracked files")
	f.BoolVar(&o.spec.Committed, "committed", false, "review what the branch adds, without uncommitted changes")
	f.StringVar(&o.spec.Commit, "commit", "", "review what the `COMMIT` changes in its first parent")
	addFormat(cmd, &o.format)
	f.BoolVar(&o.resume, "resume", false, "continue an unfinished review of this change with the answers that it paid for")
	f.BoolVar(&o.again, "again", false, "read everything again, even what the last review of this work has read")
	f.BoolVar(&o.estimate, "estimate", false, "print what would be sent, the tokens and the cost, and send nothing")
	f.BoolVar(&o.fix, "fix", false,
		"show each suggestion as a diff, ask for it on a terminal, and apply it to the work tree")
	f.BoolVar(&o.yes, "yes", false, "with --fix: apply all suggestions without asking")
	f.BoolVar(&a.json, "json", false, "print as JSON: --format json")
	// It fails only for a flag that does not exist or is registered already.
	_ = cmd.RegisterFlagCompletionFunc("commit", a.completeRange)
	addAllSettings(cmd, "forge", "memory_ref") // a review of a local change uses no forge
	return cmd
}

// review reviews a local change, prints the review, and with --fix applies the
// suggestions.
func (a *app) review(ctx context.Context, o reviewOptions) error {
	op, err := a.settings(o.flags)
	if err != nil {
		return err
	}
	repo, err := a.openRepository(ctx, op)
	if err != nil {
		return err
	}
	defer repo.Close()
	job, err := a.job(op, o)
	if err != nil {
		return err
	}
	p, err := run.PrepareLocal(ctx, a.workflow(), repo, o.spec, job)
	if err != nil {
		return err
	}
	defer p.Close()
	if o.estimate {
		return a.printEstimate(ctx, p, o.format == "json")
	}
	made, err := a.runReview(ctx, p, o.format)
	if err != nil {
		return err
	}
	if o.fix {
		if err := a.fix(repo, p, made.Review, o.yes); err != nil {
			return err
		}
	}
	if v := made.Review.Verdict; o.format == "text" && job.Engine.New == nil && len(made.Review.Findings) == 0 &&
		(v == precedent.Clean || v == precedent.NoFindings) {
		a.notice("nothing was found; precedent demo shows a change in which something is")
	}
	a.wakeAfter(ctx, p, made, job, o.flags)
	return statusOf(made.Status)
}

// wakeAfter is wake after a review, whose budget pays for it.
func (a *app) wakeAfter(ctx context.Context, p *run.Prepared, made run.Result, job run.Job, flags map[string]string) {
	c := workspace.Consolidation{
		Settings: job.Settings, Engine: job.Engine, USD: made.Review.CostUSD,
		Tokens: made.Review.Usage.Tokens(),
	}
	if n := made.Review.PullRequest; n != nil {
		c.Pull = *n
	}
	a.wake(ctx, p.Workspace(), c, flags)
}

// runReview runs a review, shows its progress, and prints it.
func (a *app) runReview(ctx context.Context, p *run.Prepared, format string) (run.Result, error) {
	a.shown = a.showProgress()
	made, err := p.Run(ctx, run.Watch{
		Planned: func(e review.Estimate) {
			a.notice("engine %s; %s", p.Engine, estimateSummary(e))
			if !withinBudget(e, p.Budget) {
				a.notice("this exceeds the budget, so the review will end over-budget; raise --max-cost or --max-tokens, or review a smaller change")
			}
		},
		Progress: a.shown.Handle,
	})
	a.shown.Stop()
	a.shown = nil
	if unfinished, ok := p.Unfinished(); ok && ctx.Err() != nil {
		return made, hinted(ctx.Err(), "%s", describeUnfinished(unfinished))
	} else if ok && err == nil && engineFailed(made.Review) {
		defer a.notice("%s", describeUnfinished(unfinished))
	}
	if err != nil {
		return made, err
	}
	return made, a.print(format, made.Review, made.Style)
}

// engineFailed tells whether a review is incomplete because requests to the engine
// failed, so that it can be resumed.
func engineFailed(r *precedent.Review) bool {
	return slices.ContainsFunc(r.Finders, func(f precedent.FinderRun) bool {
		return f.Engine != precedent.AnalyzerEngine && f.Status.Bad()
	})
}

// describeUnfinished says what a review used that was not completed, and how to
// continue it.
func describeUnfinished(u run.Unfinished) string {
	s := "about " + report.Tokens(u.Tokens)
	if u.USD > 0 {
		s += fmt.Sprintf(", $%.2f,", u.USD)
	}
	switch {
	case u.Tokens+u.Answers == 0:
		return "nothing was spent; to start again, run the same command"
	case u.Answers == 0:
		return s + " were spent, and no answer is stored; to start again, run the same command"
	}
	return s +
		fmt.Sprintf(" were spent, and %s stored; to continue without paying for them again, run the same command with --resume", pluralAre(u.Answers, "answer"))
}

func pluralAre(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return plural(n, noun) + " are"
}

// statusOf returns the error that ends a command with the exit status; nil for 0.
func statusOf(status int) error {
	if status == precedent.ExitClean {
		return nil
	}
	return exitStatus(status)
}
