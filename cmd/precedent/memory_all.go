package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// openInstallation is (*workspace.Env).OpenInstallation or OldInstallation.
type openInstallation func(r *workspace.Env, ctx context.Context, url string) (*workspace.Database, error)

// withInstallation opens the database of a server for a command: the one of DATABASE_URL, else server.db in
// the data folder. Commands for one repository do not read the variable: other programs use its name, too.
func (a *app) withInstallation(ctx context.Context, open openInstallation,
	do func(context.Context, *workspace.Env, *workspace.Database) error,
) (err error) {
	if err := a.readSecretFiles(); err != nil {
		return err
	}
	r := a.workflow()
	db, err := open(r, ctx, a.env[databaseVariable])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return do(ctx, r, db)
}

func addAll(cmd *cobra.Command, all *bool) {
	cmd.Flags().BoolVar(all, "all", false, "all repositories of the server of this machine or of "+databaseVariable)
}

// oneOrAll is withMemory, unless --all is given.
func (a *app) oneOrAll(all *bool, open openInstallation,
	forAll func(context.Context, *workspace.Env, *workspace.Database) error,
	one func(*cobra.Command, []string, *workspace.Workspace) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if *all {
			return a.withInstallation(cmd.Context(), open, forAll)
		}
		return a.withMemory(one)(cmd, args)
	}
}

func (a *app) statusOfAll(ctx context.Context, r *workspace.Env, db *workspace.Database) error {
	s, err := r.StatusOfInstallation(ctx, db)
	if err != nil {
		return err
	}
	return a.show(s, func(p *report.Page) {
		p.Sayf("database    ", "%s, %d KiB", s.Path, (s.Bytes+1023)/1024)
		for _, r := range s.Repositories {
			names := make([]string, len(r.Names))
			for i, n := range r.Names {
				names[i] = n.String()
			}
			p.Sayf("repository  ", "%s: %s, %s, %s, %s", strings.Join(names, ", "), plural(r.Reviews, "review"),
				plural(r.Findings, "finding"), plural(r.Dismissals, "dismissal"), plural(r.Learnings, "learning"))
		}
	})
}

func (a *app) pruneAll(ctx context.Context, r *workspace.Env, db *workspace.Database) error {
	gone, err := r.PruneInstallation(ctx, db)
	if err != nil {
		return err
	}
	return a.printDeleted("pruned", gone)
}

func (a *app) exportAll(ctx context.Context, db *workspace.Database, out string) error {
	export := func(to io.Writer) (int, error) { return db.Dump(ctx, to) }
	if out == "" {
		_, err := export(a.out)
		return err
	}
	n, err := a.writeFile(out, export)
	if err != nil {
		return err
	}
	a.notice("wrote %s of %s to %s", plural(n, "row"), db.Path(), out)
	return nil
}

func (a *app) importAll(ctx context.Context, db *workspace.Database, from io.Reader) error {
	n, err := db.Restore(ctx, from)
	if err != nil {
		return err
	}
	return a.show(struct {
		Path string `json:"path"`
		Rows int    `json:"rows"`
	}{db.Path(), n}, func(p *report.Page) {
		p.Sayf("", "%s imported into %s", plural(n, "row"), db.Path())
	})
}
