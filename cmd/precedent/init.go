package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/report"
)

// policyTemplate is a policy that sets nothing and explains everything.
//
//go:embed policy.yaml
var policyTemplate []byte

func newInit(a *app) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented policy file for this repository",
		Long: `Init writes ` + guide.PolicyFile + ` at the top of the work tree. As written it changes
nothing: every setting is there as a comment. Commit it, and it holds for
everybody's reviews; until then it holds for yours.`,
		Example: "  precedent init && $EDITOR " + guide.PolicyFile,
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			repo, err := a.openRepo(cmd.Context())
			if err != nil {
				return err
			}
			defer repo.Close()
			if repo.Top() == "" {
				return hinted(errors.New("write policy: a bare repository has no work tree"), "run it in a clone")
			}
			path := filepath.Join(repo.Top(), guide.PolicyFile)
			if err := writeNew(path, policyTemplate, force); err != nil {
				return err
			}
			p := a.page()
			p.Para("wrote ", p.Ink(report.Cyan, path))
			p.Para("", p.Ink(report.Plain, "Uncomment what you want to set. precedent config shows what holds, and from where."))
			return p.Err()
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite a policy file that is there")
	return cmd
}

// writeNew writes a file that does not exist yet, or with force replaces what
// has its name. A link is replaced, never followed.
func writeNew(path string, data []byte, force bool) error {
	if !force {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a file of the repository, like all its others
		if errors.Is(err, fs.ErrExist) {
			return hinted(fmt.Errorf("write policy: %s exists already", path), "precedent init --force overwrites it")
		}
		if err != nil {
			return fmt.Errorf("write policy: %w", err)
		}
		_, err = f.Write(data)
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("write policy: %w", err)
		}
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), guide.PolicyFile+".*")
	if err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	return nil
}
