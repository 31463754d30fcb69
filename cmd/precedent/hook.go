package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/report"
)

func newInstallHook(a *app) *cobra.Command {
	var uninstall, force bool
	cmd := &cobra.Command{
		Use:   "install-hook",
		Short: "Review what is pushed, before it is: a git hook",
		Long: `Install-hook makes git run a review of what a push would send, with the settings
that reviews have. Findings at or above fail_on stop the push. A review that is
incomplete, or cannot run, says so and stops nothing.

The hook goes where git looks for it: core.hooksPath, else the folder that all
work trees of the repository share. A hook that is there stays; with --force it
is kept as ` + hookOld + `, and ours starts it first.

To push without a review: git push --no-verify, or PRECEDENT_SKIP_HOOK=1, which
leaves the other hook its say.`,
		Example: `  precedent install-hook
  precedent install-hook --force
  precedent install-hook --uninstall`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if uninstall && force {
				return misuse(cmd, fmt.Errorf("--uninstall and --force exclude each other"))
			}
			if uninstall {
				return a.uninstallHook(cmd.Context())
			}
			return a.installHook(cmd.Context(), force)
		},
	}
	cmd.Flags().BoolVar(&uninstall, "uninstall", false, "remove our hook, and put the one back that it replaced")
	cmd.Flags().BoolVar(&force, "force", false, "keep a hook that is there as "+hookOld+", and start it from ours")
	return cmd
}

// hook looks at the pre-push hook of the repository.
func (a *app) hook(ctx context.Context) (heldHook, error) {
	repo, err := a.openRepo(ctx)
	if err != nil {
		return heldHook{}, err
	}
	defer repo.Close()
	return lookAtHook(repo)
}

func (a *app) installHook(ctx context.Context, force bool) error {
	h, err := a.hook(ctx)
	if err != nil {
		return err
	}
	program, err := a.program()
	if err != nil {
		return err
	}
	old := filepath.Join(h.Dir, hookOld)
	switch {
	case !h.there || h.ours:
	case !force:
		return hinted(fmt.Errorf("install hook: %s is there already, and not ours", h.path), "--force keeps it as %s and starts it from ours", hookOld)
	case h.old:
		return hinted(fmt.Errorf("install hook: %s is not ours, and %s is taken", h.path, old), "move one of them away")
	default:
		if err := os.Rename(h.path, old); err != nil {
			return fmt.Errorf("install hook: %w", err)
		}
		a.notice("the hook that was there is %s now, and ours starts it first", old)
	}
	if err := h.write(writtenHook(program)); err != nil {
		return err
	}
	if h.Source == "user" {
		a.notice("core.hooksPath stands in your own configuration: the hook serves all your repositories")
	}
	p := a.page()
	p.Para("wrote ", p.Ink(report.Cyan, h.path))
	p.Para("", p.Ink(report.Plain, "Each push is reviewed first. git push --no-verify and PRECEDENT_SKIP_HOOK=1 go without; precedent install-hook --uninstall removes it."))
	return p.Err()
}

func (a *app) uninstallHook(ctx context.Context) error {
	h, err := a.hook(ctx)
	if err != nil {
		return err
	}
	p := a.page()
	switch {
	case !h.there:
		p.Para("", p.Ink(report.Plain, "There is no hook at "+h.path+"."))
		return p.Err()
	case !h.ours:
		return hinted(fmt.Errorf("remove hook: %s is not ours", h.path), "remove it by hand, if you mean it")
	}
	if err := os.Remove(h.path); err != nil {
		return fmt.Errorf("remove hook: %w", err)
	}
	p.Para("removed ", p.Ink(report.Cyan, h.path))
	if h.old {
		if err := os.Rename(filepath.Join(h.Dir, hookOld), h.path); err != nil {
			return fmt.Errorf("remove hook: %w", err)
		}
		p.Para("", p.Ink(report.Plain, "The hook that it had replaced is there again."))
	}
	return p.Err()
}
