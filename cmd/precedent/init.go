package main

import (
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/report"
)

// policyTemplate is a policy with all settings commented out.
//
//go:embed policy.yaml
var policyTemplate []byte

func newInit(a *app) *cobra.Command {
	var force bool
	var ci, agent string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented policy file, workflows that review pull requests, or the set-up of a coding agent",
		Long: `Init writes ` + guide.PolicyFile + ` at the top of the work tree. All settings in it are
commented out, so it changes nothing yet. After you commit it, it applies to
everyone's reviews; until then it applies only to yours.

With --ci it writes workflows instead that review every pull request and post the
review: for GitHub to .github/workflows, for Gitea and Forgejo to
.gitea/workflows. Pull requests from forks get no secrets and no write access, and
every action is pinned to a commit. For GitLab it writes a job to .gitlab/ci that
prints the review of each merge request.

With --agent it gives a coding agent the memory of this repository, as an MCP server,
and a skill that reviews its changes: for Claude Code in .mcp.json and .claude, for
Codex in .codex and .agents, for Cursor in .cursor.`,
		Example: "  precedent init && $EDITOR " + guide.PolicyFile +
			"\n  precedent init --ci github\n  precedent init --agent claude",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ci != "" && agent != "" {
				return misuse(cmd, errors.New("--ci and --agent cannot be used together"))
			}
			repo, err := a.openRepo(cmd.Context())
			if err != nil {
				return err
			}
			defer repo.Close()
			if repo.Top() == "" {
				return hinted(errors.New("write files: a bare repository has no work tree"), "run it in a clone")
			}
			switch {
			case ci != "":
				return a.writeWorkflows(repo.Top(), ci, force)
			case agent != "":
				return a.writeAgent(repo.Top(), agent, force)
			}
			policy := []initFile{{guide.PolicyFile, policyTemplate}}
			if err := a.writeFiles(repo.Top(), policy, force, "precedent init --force"); err != nil {
				return err
			}
			return a.printAdvice("Uncomment what you want to set. precedent config shows the effective settings.")
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite existing files")
	cmd.Flags().StringVar(&ci, "ci", "", "write the workflows for `FORGE`: github, gitea or gitlab")
	cmd.Flags().StringVar(&agent, "agent", "", "write the set-up of the coding agent `NAME`: claude, codex or cursor")
	return cmd
}

// writeFiles writes files below top, and prints their names. Without force it writes nothing if one of them exists; again
// is the command that overwrites them. Links are replaced, never followed, and no link in a path leads out of top.
func (a *app) writeFiles(top string, files []initFile, force bool, again string) error {
	if !force {
		for _, f := range files {
			if err := checkAbsent(top, f.name, again); err != nil {
				return err
			}
		}
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return fmt.Errorf("write files: %w", err)
	}
	defer root.Close()
	p := a.page()
	for _, f := range files {
		err := root.MkdirAll(path.Dir(f.name), 0o755)
		if err == nil {
			err = replace(root, f.name, f.data, force)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
		p.Para("wrote ", p.Ink(report.Cyan, filepath.Join(top, filepath.FromSlash(f.name))))
	}
	return p.Err()
}

func (a *app) printAdvice(sentences ...string) error {
	p := a.page()
	for _, s := range sentences {
		p.Say("", s)
	}
	return p.Err()
}

// checkAbsent fails if a file exists; again is the command that overwrites it.
func checkAbsent(top, name, again string) error {
	_, err := os.Lstat(filepath.Join(top, filepath.FromSlash(name)))
	switch {
	case err == nil:
		return hinted(fmt.Errorf("write %s: the file exists", name), "to overwrite it: %s", again)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fmt.Errorf("write %s: %w", name, err)
}

// replace writes the file, with force to a temporary name first, so that an existing
// file is replaced in one step. Without force an existing file is an error.
func replace(root *os.Root, name string, data []byte, force bool) error {
	to := name
	if force {
		to = name + "." + rand.Text()
	}
	f, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil && force {
		err = root.Rename(to, name)
	}
	if err != nil {
		_ = root.Remove(to)
	}
	return err
}
