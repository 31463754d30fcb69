package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/hook"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newInstallHook(a *app) *cobra.Command {
	var uninstall, force bool
	cmd := &cobra.Command{
		Use:   "install-hook",
		Short: "Install a git hook that reviews every push",
		Long: `Install-hook installs a pre-push hook that reviews what a push would send, with your
usual settings. Findings at or above fail_on stop the push. If a review is
incomplete or cannot run, the hook says so and the push continues.

The hook is installed where git looks for it: core.hooksPath, else the folder that
all work trees of the repository share. An existing hook is not replaced. With
--force it is kept as ` + hook.Old + `, and the new hook runs it first.

To push without a review, use git push --no-verify, or PRECEDENT_SKIP_HOOK=1,
which still runs the other hook.`,
		Example: `  precedent install-hook
  precedent install-hook --force
  precedent install-hook --uninstall`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if uninstall && force {
				return misuse(cmd, fmt.Errorf("--uninstall and --force cannot be used together"))
			}
			if uninstall {
				return a.uninstallHook(cmd.Context())
			}
			return a.installHook(cmd.Context(), force)
		},
	}
	cmd.Flags().BoolVar(&uninstall, "uninstall", false, "remove the hook, and restore the one that it replaced")
	cmd.Flags().BoolVar(&force, "force", false, "keep an existing hook as "+hook.Old+", and run it from the new one")
	return cmd
}

func (a *app) inspectHook(ctx context.Context) (hook.State, error) {
	repo, err := a.openRepo(ctx)
	if err != nil {
		return hook.State{}, err
	}
	defer repo.Close()
	return hook.Inspect(repo)
}

func (a *app) installHook(ctx context.Context, force bool) error {
	h, err := a.inspectHook(ctx)
	if err != nil {
		return err
	}
	program, err := a.installedProgram()
	if err != nil {
		return err
	}
	old := filepath.Join(h.Dir, hook.Old)
	switch {
	case h.Husky:
		return hinted(errors.New("install hook: the hooks of this repository are husky's"), "add this line to %s: %s", h.Path, hook.Line)
	case !h.Exists || h.Ours:
	case !force:
		return hinted(fmt.Errorf("install hook: %s exists and was not installed by precedent", h.Path),
			"use --force to keep it as %s and run it from the new hook", hook.Old)
	case h.HasOld:
		return hinted(fmt.Errorf("install hook: %s was not installed by precedent, and %s exists", h.Path, old),
			"move one of them away")
	default:
		if err := os.Rename(h.Path, old); err != nil {
			return fmt.Errorf("install hook: %w", err)
		}
		a.notice("the existing hook is now %s, and the new hook runs it first", old)
	}
	if err := h.Install(program); err != nil {
		return err
	}
	if h.Source == "user" {
		a.notice("core.hooksPath is set in your own configuration: the hook applies to all your repositories")
	}
	p := a.page()
	p.Para("wrote ", p.Ink(report.Cyan, h.Path))
	p.Say("", "Each push is reviewed first. To skip that, use git push --no-verify or PRECEDENT_SKIP_HOOK=1. "+
		"To remove the hook: precedent install-hook --uninstall")
	return p.Err()
}

func (a *app) uninstallHook(ctx context.Context) error {
	h, err := a.inspectHook(ctx)
	if err != nil {
		return err
	}
	p := a.page()
	switch {
	case !h.Exists:
		p.Say("", "No hook is installed at "+h.Path+".")
		return p.Err()
	case !h.Ours || h.Husky:
		return hinted(fmt.Errorf("remove hook: %s was not installed by precedent", h.Path), "remove it by hand")
	}
	if err := os.Remove(h.Path); err != nil {
		return fmt.Errorf("remove hook: %w", err)
	}
	p.Para("removed ", p.Ink(report.Cyan, h.Path))
	if h.HasOld {
		if err := os.Rename(filepath.Join(h.Dir, hook.Old), h.Path); err != nil {
			return fmt.Errorf("remove hook: %w", err)
		}
		p.Say("", "The previous hook was restored.")
	}
	return p.Err()
}

// installedProgram returns the path under which hooks run this program: the one in
// PATH if it leads here, because the path of the executable may contain a version.
func (a *app) installedProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	mine, err := os.Stat(self)
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	path := child.Find("precedent", a.env["PATH"])
	if info, err := os.Stat(path); err == nil && os.SameFile(info, mine) {
		return path, nil
	}
	return self, nil
}

// maxPushed limits the refs of one push that are reviewed: a mirror has thousands.
const maxPushed = 20

// newHookPrePush is the command that the hook runs.
func newHookPrePush(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "hook-pre-push REMOTE URL",
		Short:   "Review what a push would send, as the hook of install-hook does",
		Example: "  precedent hook-pre-push origin https://example.com/app.git < refs.txt",
		Hidden:  true,
		Args:    between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			pushed, err := hook.ReadPushed(a.in)
			if err != nil {
				a.notice("%v; nothing was reviewed", err)
				return nil
			}
			return a.reviewPush(cmd.Context(), args[0], pushed)
		},
	}
}

// reviewPush reviews every ref of a push. Only findings stop the push: errors are
// printed.
func (a *app) reviewPush(ctx context.Context, remote string, all []hook.Pushed) error {
	here := *a
	here.out = a.err // standard output of git push may be read by a program
	repo, err := a.openRepo(ctx)
	if err != nil {
		a.printError(err)
		a.notice("nothing was reviewed; the push continues")
		return nil
	}
	defer repo.Close()
	blocked := false
	seen := map[[2]string]bool{}
	for i, ref := range all {
		if i == maxPushed {
			a.notice("%d more refs were not reviewed", len(all)-maxPushed)
			break
		}
		spec, err := ref.Range(ctx, repo, remote)
		same := [2]string{spec.Range, spec.Whole}
		if err == nil && (same == [2]string{} || seen[same]) {
			continue
		}
		seen[same] = true
		if err == nil {
			a.notice("reviewing %s before it is pushed to %s", ref.LocalRef, remote)
			err = here.review(ctx, reviewOptions{spec: spec, format: "text", flags: map[string]string{}})
		}
		var status exitStatus
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return err
		case errors.As(err, &status) && int(status) == precedent.ExitFindings:
			blocked = true
		case errors.As(err, &status):
			a.notice("the review of %s is incomplete; the push continues", ref.LocalRef)
		default:
			a.printError(err)
			a.notice("%s was not reviewed; the push continues", ref.LocalRef)
		}
	}
	if !blocked {
		return nil
	}
	return &workspace.Error{
		Err:    errors.New("the review found problems, so the push is stopped"),
		Hint:   "fix them, or run precedent dismiss ID; git push --no-verify skips the review",
		Status: precedent.ExitFindings,
	}
}
