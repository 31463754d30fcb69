package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/fix"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newFix(a *app) *cobra.Command {
	o := reviewOptions{format: "text"}
	var dry, ungated bool
	cmd := &cobra.Command{
		Use:   "fix NUMBER|URL",
		Short: "Have the engine fix what is open on a pull request, and push it",
		Long: `Fix does one round: it merges the base into the head if the base has moved, has
the engine address the unresolved conversations, those of Precedent and of people
with write permission, in a private copy of the files, checks what it changed,
builds and tests it in the sandbox, pushes one commit to the branch of the pull
request, and replies to the conversations (docs/fix.md).

It never forces, and never pushes to the default branch, to a protected one or to a
fork: there the change is suggested in comments. Changes of pipelines, hooks, code
owners, policy, guides, links, modes, binaries and more than 20 files or 500 lines
are refused as a whole. The policy of the base can turn fixes off or lower the limits.

The token needs permission to write the contents of the repository. To fix what a
review of your own clone found, use precedent review --fix.

Exit status: 0 pushed, or with --dry-run there is something to push, 1 nothing was
fixed, 2 usage or configuration error, 3 the round has to be repeated.`,
		Example: `  precedent fix 7 --dry-run
  precedent fix https://github.com/owner/name/pull/7`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.flags = settingFlags(cmd)
			a.pushes = true
			conn, err := a.connectWith(o.flags)
			if err != nil {
				return err
			}
			return a.fixPull(cmd.Context(), conn, args[0], o, fix.Options{
				DryRun: dry, Ungated: ungated,
				Gate: a.gate(a.workflow(), nil),
			})
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the change as a patch; push and post nothing")
	cmd.Flags().BoolVar(&ungated, "ungated", false,
		"push also if the gate is skipped: without a sandbox, or without commands")
	addAllSettings(cmd, "trusted_branch", "memory_ref") // the base of the pull request is
	return cmd
}

func (a *app) fixPull(ctx context.Context, conn workspace.Connection, which string, o reviewOptions,
	how fix.Options,
) error {
	pr, job, end, err := a.openPull(ctx, conn, which, o)
	if err != nil {
		return err
	}
	defer end()
	publisher, err := pr.Publisher(ctx)
	if err != nil {
		return err
	}
	fixed, err := fix.Round(ctx, publisher, job, how)
	if err != nil {
		return err
	}
	p := a.page()
	if how.DryRun && len(fixed.Patch) > 0 {
		if _, _, read := terminal(a.out); read || a.onRunner() {
			a.showPatch(p, fixed.Patch)
		} else if _, err := a.out.Write(fixed.Patch); err != nil { // git apply needs every byte
			return err
		}
	}
	words := string(fixed.Status)
	if fixed.Commit != "" {
		words += " " + fixed.Commit[:min(len(fixed.Commit), 12)]
	}
	if n := len(fixed.Addressed); n > 0 {
		words += ", " + plural(n, "conversation") + " addressed"
	}
	if fixed.Why != "" {
		words += ": " + text.VisibleLine(fixed.Why)
	}
	a.notice("%s", words)
	if err := p.Err(); err != nil {
		return err
	}
	switch fixed.Status {
	case fix.Pushed, fix.Planned:
		return nil
	case fix.Superseded, fix.Malformed:
		return statusOf(precedent.ExitIncomplete)
	}
	return statusOf(precedent.ExitFindings)
}
