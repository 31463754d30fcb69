package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/strict"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newMemoryExport(a *app) *cobra.Command {
	var out string
	var all bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the memory to a file that another database can import",
		Long: `Export writes what people said about findings, as sorted lines of JSON: learnings with
their history, dismissals, and the outcomes of findings, with insights, and where findings
were. It leaves out what reviews make again. Texts are redacted once more.

With --all it writes all rows of all repositories of a server, and its unfinished jobs, as
they are: to move it between SQLite and PostgreSQL. Stop the server before. The file is as
private as the database.`,
		Example: `  precedent memory export --out memory.jsonl
  precedent memory export --all --out server.jsonl
  DATABASE_URL=postgres://db.example.org/precedent precedent memory import --all server.jsonl`,
		RunE: a.reading(a.oneOrAll(&all, (*workspace.Env).OldInstallation,
			func(ctx context.Context, _ *workspace.Env, db *workspace.Database) error {
				return a.export(out, " of "+db.Path(), func(to io.Writer) (int, error) { return db.Dump(ctx, to) })
			},
			func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
				return a.export(out, "", func(to io.Writer) (int, error) {
					return a.workflow().ExportMemory(cmd.Context(), w, to)
				})
			})),
	}
	cmd.Flags().StringVar(&out, "out", "", "write to this `file` instead of standard output")
	addAll(cmd, &all)
	addSettings(cmd, memorySettings...)
	return cmd
}

// export writes rows to a file, or to standard output if it has no name. of says whose they are.
func (a *app) export(file, of string, write func(io.Writer) (int, error)) error {
	if file == "" {
		_, err := write(a.out)
		return err
	}
	n, err := writeOut(file, write)
	if err == nil {
		a.notice("wrote %s%s to %s", plural(n, "row"), of, file)
	}
	return err
}

// writeOut writes a file in one step: it is complete, or not there. A device or a pipe, such as /dev/stdout, is
// written to, and not replaced.
func writeOut(path string, write func(io.Writer) (int, error)) (int, error) {
	if linked, err := filepath.EvalSymlinks(path); err == nil { // the link stays, which /dev/stdout is, too
		path = linked
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		return write(f)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".precedent-*")
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", path, err)
	}
	n, err := write(f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return 0, errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return n, nil
}

func newMemoryImport(a *app) *cobra.Command {
	var skip, all bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Merge an exported memory into this one",
		Long: `Import merges a file that precedent memory export wrote; - is standard input. Of two
versions of a row the newer one stays, and what was forgotten or taken back stays so. If
one line is refused, nothing is imported, and the exit status is 2.

With --all it reads what export --all of the same version wrote, into the database of a
server without repositories, completely or not at all.`,
		Example: "  precedent memory import memory.jsonl",
		Args:    exactly(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if all && skip {
			return misuse(cmd, errors.New("--all and --skip-refused cannot be used together"))
		}
		from := a.in
		if args[0] != "-" {
			f, err := os.Open(args[0])
			if err != nil {
				return fmt.Errorf("import memory: %w", err)
			}
			defer f.Close()
			from = f
		}
		return a.oneOrAll(&all, (*workspace.Env).OpenInstallation,
			func(ctx context.Context, _ *workspace.Env, db *workspace.Database) error {
				return a.importAll(ctx, db, from)
			},
			func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
				got, err := a.workflow().ImportMemory(cmd.Context(), w, from, skip)
				if err != nil {
					return hinted(fmt.Errorf("import memory: %w", err), "%s", hintOf(err))
				}
				none := got.Refused > 0 && !skip
				err = a.show(got, func(p *report.Page) {
					for _, l := range got.Lines {
						p.Say("", l.Where+" is refused: "+l.Why)
					}
					if none {
						p.Sayf("", "Nothing was imported, because of %s. To import the others: --skip-refused", plural(got.Refused,
							"refused line"))
					} else {
						p.Sayf("", "%d added, %d changed, %d removed, %d already there, %d refused", got.Added, got.Changed,
							got.Removed, got.Same, got.Refused)
						sayOpposed(p, got.Opposed)
					}
				})
				if err == nil && none {
					err = exitStatus(precedent.ExitUsage)
				}
				return err
			})(cmd, args)
	}
	cmd.Flags().BoolVar(&skip, "skip-refused", false, "import the other lines if some are refused")
	addAll(cmd, &all)
	return a.data(cmd, memorySettings...)
}

func newMemorySync(a *app) *cobra.Command {
	var remote string
	var readOnly bool
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Exchange the memory with a ref of the remote",
		Long: `Sync merges the memory with a ref of the remote and pushes the result, so that all clones
and CI share it. Anyone who can push there can change it. It does not touch the work tree, the
index or any branch. Nothing is lost if several do this at once.

In CI it writes only for pushes to the default branch and for pull requests that were
merged there, and otherwise reads only; --read-only=false writes anyway.`,
		Example: `  precedent memory sync
  precedent memory sync --ref refs/heads/precedent-memory   # where only branches are allowed`,
		RunE: a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			op, err := a.settings(settingFlags(cmd))
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("read-only") {
				if readOnly = !a.writesFromHere(); readOnly {
					a.notice("this job of CI only reads the shared memory; pushes to the default branch and merged pull requests write it")
				}
			}
			done, err := a.workflow().SyncMemory(cmd.Context(), w, workspace.SyncOptions{
				Remote: remote, Ref: op.MemoryRef.Value, ReadOnly: readOnly,
				Connect: func() (workspace.Connection, error) { return a.connect(op) },
			})
			if err != nil {
				return err
			}
			return a.show(done, func(p *report.Page) {
				for _, l := range done.Lines {
					p.Say("", l.Where+" is left out: "+l.Why)
				}
				p.Sayf("", "%s of %s: %s; %d added here, %d changed, %d removed", done.Ref, done.Remote, plural(done.Rows,
					"row"), done.Added, done.Changed, done.Removed)
				sayOpposed(p, done.Opposed)
				switch {
				case done.Pushed:
					p.Say("", "The remote has what this memory added.")
				case readOnly:
					p.Say("", "Nothing was pushed.")
				}
			})
		}),
	}
	cmd.Flags().StringVar(&remote, "remote", "", "the `name` of the remote; by default upstream, else origin")
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "push nothing")
	return a.data(cmd, append([]string{"memory_ref", "forge"}, memorySettings...)...)
}

// sayOpposed says how many learnings a merge did not make active.
func sayOpposed(p *report.Page, n int) {
	if n > 0 {
		p.Sayf("", "To approve or forget, because each contradicts an active one: %s (precedent learn list)", plural(n, "learning"))
	}
}

// writesFromHere reports whether this process writes the shared memory: outside of CI always, in
// CI for the default branch and for what was merged into it. A run for a pull request does not:
// its author chooses what it learns.
func (a *app) writesFromHere() bool {
	switch {
	case a.onRunner():
		return a.eventOfDefaultBranch()
	case a.env["GITLAB_CI"] == "true":
		return a.env["CI_DEFAULT_BRANCH"] != "" && a.env["CI_COMMIT_BRANCH"] == a.env["CI_DEFAULT_BRANCH"]
	}
	return a.env["CI"] == "" || a.env["CI"] == "false"
}

// eventOfDefaultBranch reads the event of a workflow.
func (a *app) eventOfDefaultBranch() bool {
	type target struct{ Ref string }
	var event struct {
		Repository struct {
			DefaultBranch string `json:"default_branch"`
		} `json:"repository"`
		PullRequest struct {
			Merged bool
			Base   target
			Stack  struct{ Base target } // into whose base its pull requests are merged
		} `json:"pull_request"`
	}
	data, err := a.readEvent()
	if err != nil || strict.Unmarshal(data, &event) != nil || event.Repository.DefaultBranch == "" {
		return false
	}
	branch := event.Repository.DefaultBranch
	switch a.env["GITHUB_EVENT_NAME"] {
	case "push", "schedule", "workflow_dispatch":
		return a.env["GITHUB_REF"] == "refs/heads/"+branch
	case "pull_request", "pull_request_target":
		p := event.PullRequest
		return p.Merged && cmp.Or(p.Stack.Base.Ref, p.Base.Ref) == branch
	}
	return false
}
