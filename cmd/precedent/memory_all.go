package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// openInstallation opens the database of a server, and makes it if there is none: the one of
// DATABASE_URL, else server.db in the data folder. Commands for one repository do not read the
// variable: other programs use its name, too.
func (a *app) openInstallation(ctx context.Context) (*workspace.Database, error) {
	if err := a.readSecretFiles(); err != nil {
		return nil, err
	}
	r := a.workflow()
	return r.OpenInstallation(ctx, a.env[databaseVariable], r.DataDir)
}

// oldInstallation is openInstallation for a database that must exist.
func (a *app) oldInstallation(ctx context.Context) (*workspace.Database, error) {
	if err := a.readSecretFiles(); err != nil {
		return nil, err
	}
	r := a.workflow()
	return r.OldInstallation(ctx, a.env[databaseVariable], r.DataDir)
}

func addAll(cmd *cobra.Command, all *bool) {
	cmd.Flags().BoolVar(all, "all", false, "all repositories of the server of this machine or of "+databaseVariable)
}

// oneOrAll is withMemory, unless --all is given.
func (a *app) oneOrAll(all *bool, forAll func(context.Context) error,
	one func(*cobra.Command, []string, *workspace.Workspace) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if *all {
			return forAll(cmd.Context())
		}
		return a.withMemory(one)(cmd, args)
	}
}

func (a *app) statusOfAll(ctx context.Context) error {
	db, err := a.oldInstallation(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := a.workflow().StatusOfInstallation(ctx, db)
	if err != nil {
		return err
	}
	return a.show(s, func(p *report.Page) {
		p.Para("database    ", p.Inkf(report.Plain, "%s, %d KiB", s.Path, (s.Bytes+1023)/1024))
		for _, r := range s.Repositories {
			names := make([]string, len(r.Names))
			for i, n := range r.Names {
				names[i] = n.String()
			}
			p.Para("repository  ", p.Inkf(report.Plain, "%s: %s, %s, %s, %s", strings.Join(names, ", "),
				plural(r.Reviews, "review"),
				plural(r.Findings, "finding"), plural(r.Dismissals, "dismissal"), plural(r.Learnings, "learning")))
		}
	})
}

func (a *app) pruneAll(ctx context.Context) error {
	db, err := a.oldInstallation(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	gone, err := a.workflow().PruneInstallation(ctx, db)
	if err != nil {
		return err
	}
	return a.printDeleted("pruned", gone)
}

func (a *app) exportAll(ctx context.Context, out string) error {
	db, err := a.oldInstallation(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
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

func (a *app) importAll(ctx context.Context, from io.Reader) error {
	db, err := a.openInstallation(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	n, err := db.Restore(ctx, from)
	if err != nil {
		return err
	}
	return a.show(struct {
		Path string `json:"path"`
		Rows int    `json:"rows"`
	}{db.Path(), n}, func(p *report.Page) {
		p.Para("", p.Inkf(report.Plain, "%s imported into %s", plural(n, "row"), db.Path()))
	})
}
