package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newMemory(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "Manage the memory of this repository",
		Example: `  precedent memory status
  precedent memory prune`,
	}
	cmd.AddCommand(newMemoryStatus(a), newMemoryExport(a), newMemoryImport(a), newMemorySync(a), newMemoryConsolidate(a),
		newMemoryStart(a), newMemoryStop(a), newMemoryDaemon(a), newMemoryAdopt(a), newMemoryPrune(a), newMemoryClear(a))
	return cmd
}

func newMemoryStatus(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show where the memory is and what is in it",
		Example: "  precedent memory status --json",
		RunE: a.reading(a.oneOrAll(&all, (*workspace.Env).OldInstallation, a.statusOfAll,
			func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
				s, err := w.Memory.Status(cmd.Context())
				if err != nil {
					return err
				}
				if s.Path != "" {
					s.Path = w.File.Value // not that of a copy
				}
				daemon, log, err := a.daemonOf(w)
				if err != nil {
					return err
				}
				return a.show(struct {
					memory.Status
					Daemon daemonState `json:"daemon"`
				}{s, daemon}, func(p *report.Page) {
					printStatus(p, s, w.File)
					if daemon.Running {
						p.Sayf("background  ", "process %d, since %s; it logs to %s", daemon.PID, daemon.Since.Format(time.RFC3339),
							log)
					}
				})
			})),
	}
	addAll(cmd, &all)
	return a.data(cmd, memorySettings...)
}

func printStatus(p *report.Page, s memory.Status, file settings.Value[string]) {
	where := fmt.Sprintf("%s (%s), %d KiB", s.Path, file.Source, (s.Bytes+1023)/1024)
	if s.Path == "" {
		where = "none yet: the first review creates " + file.Value
	}
	p.Say("file        ", where)
	for _, name := range s.Names {
		p.Say("repository  ", name.String())
	}
	period := ""
	if s.Reviews > 0 {
		period = fmt.Sprintf(", from %s to %s", s.Oldest.Format(time.DateOnly), s.Newest.Format(time.DateOnly))
	}
	p.Sayf("reviews     ", "%d%s", s.Reviews, period)
	p.Sayf("findings    ", "%d, seen %s", s.Findings, plural(s.Sightings, "time"))
	p.Sayf("dismissed   ", "%d", s.Dismissals)
	p.Sayf("taken back  ", "%d", s.Forgotten)
	p.Sayf("learnings   ", "%d", s.Learnings)
	consolidated := ""
	if !s.Consolidated.IsZero() {
		consolidated = ", last looked for on " + s.Consolidated.Format(time.DateOnly)
	}
	p.Sayf("insights    ", "%d%s", s.Insights, consolidated)
	p.Sayf("labels      ", "%d of pruned findings", s.Labels)
}

func newMemoryPrune(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete old findings",
		Long: fmt.Sprintf(`Prune deletes findings that no review saw for %d days, and all but the %d newest of
each file. It keeps findings that a dismissal, an open thread, a recent outcome, a
learning or an insight refers to, and a label of each deleted finding: its place,
category, confidence and outcome.`, int(memory.KeepFor.Hours()/24), memory.KeepPerFile),
		Example: "  precedent memory prune",
		RunE: a.oneOrAll(&all, (*workspace.Env).OldInstallation, a.pruneAll,
			func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
				gone, err := w.Memory.Prune(cmd.Context())
				if err != nil {
					return err
				}
				return a.printDeleted("pruned", gone)
			}),
	}
	addAll(cmd, &all)
	return a.data(cmd, memorySettings...)
}

func newMemoryClear(a *app) *cobra.Command {
	var yes, server bool
	one := a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
		if err := a.confirm(yes, fmt.Sprintf("Delete everything about %s?", w.IDs[0])); err != nil {
			return err
		}
		gone, err := w.Memory.Rows.Clear(cmd.Context())
		if err != nil {
			return err
		}
		return a.printDeleted("deleted", gone)
	})
	cmd := &cobra.Command{
		Use:   "clear",
		Short: "Delete everything about this repository",
		Long: `Clear deletes everything about this repository: reviews, findings, dismissals,
learnings, insights, labels, the audit log and what was spent. Other repositories in
the same database are not affected. You cannot undo this. What precedent memory sync
has shared stays on the remote, and the next exchange brings it back.

With --server it deletes what a server has of --repo. First take the repository off
the server's list, or the server reviews it again. Its name stays, and finished jobs
stay for up to 30 days.`,
		Example: `  precedent memory clear --yes
  precedent memory clear --server --repo github.com/team/app`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if server {
				return a.clearOfServer(cmd, yes)
			}
			return one(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&server, "server", false, "delete from the database of the server of this machine or of "+databaseVariable)
	return a.data(cmd, memorySettings...)
}

func newMemoryAdopt(a *app) *cobra.Command {
	var undo bool
	cmd := &cobra.Command{
		Use:   "adopt [REPOSITORY]",
		Short: "Make what the memory of this folder has under another name this repository's",
		Long: `The memory in a folder belongs to the repository that was in it. It stays when a remote
is added, renamed or changed; it is not this repository's if another first commit
shows that, as after a history was rewritten. Adopt then joins the two: findings,
dismissals, learnings and all else. Without an argument it lists what there is.

--undo brings the memory back as it was, and keeps the present one in a file.`,
		Example: `  precedent memory adopt
  precedent memory adopt github.com/team/app
  precedent memory adopt --undo`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.withMemory(func(cmd *cobra.Command, args []string, w *workspace.Workspace) error {
			flow := a.workflow()
			if undo {
				until, err := flow.UndoAdopt(w)
				if err != nil {
					return err
				}
				a.notice("the memory is as it was; what it had until now is in %s", until)
				return nil
			}
			if len(args) == 0 {
				others, err := workspace.OtherMemories(cmd.Context(), w.Memory.DB, w.IDs[0])
				if err != nil {
					return err
				}
				return a.show(map[string]any{"others": others}, func(p *report.Page) {
					if len(others) == 0 {
						p.Line("All that this memory has is this repository's.")
					}
					for _, o := range others {
						p.Say(o.Name.String()+"  ", o.Has)
					}
				})
			}
			name, err := precedent.ParseRepo(args[0])
			if err != nil {
				return misuse(cmd, err)
			}
			if err := flow.Adopt(cmd.Context(), w, name); err != nil {
				return err
			}
			a.notice("what was %s's is %s's now; undo: precedent memory adopt --undo", name, w.IDs[0])
			return nil
		}),
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "bring the memory back as it was before")
	cmd.Flags().BoolVar(&a.json, "json", false, "print the list as JSON")
	addSettings(cmd, memorySettings...)
	return cmd
}

// withMemory returns a command function that opens the workspace, calls do, and
// closes the workspace.
func (a *app) withMemory(
	do func(cmd *cobra.Command, args []string, w *workspace.Workspace) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		w, err := a.openWorkspace(cmd.Context(), settingFlags(cmd))
		if err != nil {
			return err
		}
		defer w.Close()
		if err := do(cmd, args, w); err != nil {
			return err
		}
		if parent := cmd.Parent(); w.Memory.DB.Kept() && (parent == nil || parent.Name() != "memory") {
			if c, err := a.consolidation(settingFlags(cmd)); err == nil {
				a.wake(cmd.Context(), w, c, settingFlags(cmd))
			}
		}
		return nil
	}
}

// reading lets a command that only reads use a memory that cannot be written.
func (a *app) reading(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.reads = true
		return run(cmd, args)
	}
}

func (a *app) printDeleted(verb string, gone memory.Counts) error {
	return a.show(gone, func(p *report.Page) {
		p.Sayf("", "%s %s, %s and %s", verb, plural(gone.Findings, "finding"), plural(gone.Reviews, "review"),
			plural(gone.Dismissals, "dismissal"))
	})
}

// confirm asks whether to delete, unless the answer was given. Any other answer than yes is an error, and so is a
// question without a terminal.
func (a *app) confirm(yes bool, question string) error {
	if yes {
		return nil
	}
	if _, _, tty := terminal(a.in); !tty {
		return hinted(errors.New("cannot ask for confirmation: standard input is not a terminal"),
			"use --yes to skip the question")
	}
	p := report.NewPage(a.err, 0, false)
	fmt.Fprint(a.err, p.Ink(report.Plain, question)+" [y/N] ")
	line, _ := bufio.NewReader(a.in).ReadString('\n') // the end of the input means no
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	a.notice("nothing was deleted")
	return exitStatus(2)
}
