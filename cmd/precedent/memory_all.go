package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
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

// clearOfServer deletes what a server has of the repository of --repo.
func (a *app) clearOfServer(cmd *cobra.Command, yes bool) error {
	repo, err := precedent.ParseRepo(cmd.Flag("repo").Value.String())
	if err != nil {
		return misuse(cmd, fmt.Errorf("--server needs --repo: %w", err))
	}
	return a.withInstallation(cmd.Context(), (*workspace.Env).OldInstallation,
		func(ctx context.Context, _ *workspace.Env, db *workspace.Database) error {
			all, err := db.Repos(ctx)
			if err != nil {
				return err
			}
			for _, rows := range all {
				names, err := rows.Names(ctx)
				if err != nil {
					return err
				}
				if !slices.ContainsFunc(names, func(n precedent.Repo) bool { return workspace.SameRepo(n, repo) }) {
					continue
				}
				if err := a.confirm(yes, fmt.Sprintf("Delete everything about %s in %s?", repo, db.Path())); err != nil {
					return err
				}
				gone, err := rows.Clear(ctx)
				if err != nil {
					return err
				}
				return a.printDeleted("deleted", gone)
			}
			return hinted(fmt.Errorf("%s has nothing about %s", db.Path(), repo),
				"precedent memory status --all lists its repositories")
		})
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
