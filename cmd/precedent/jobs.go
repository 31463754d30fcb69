package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newJobs(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "List, retry and cancel the jobs of a server",
		Long: `Jobs are what precedent serve does: reviews, answers, fixes and the rest. There is one
for each kind and pull request. One that failed eight times, or that cannot succeed, is
a dead letter: it waits for a new push, another event, or precedent jobs retry.

The commands read the database of the server, which may run: server.db in the data
folder ($XDG_DATA_HOME/precedent or ~/.local/share/precedent), or the PostgreSQL database
of DATABASE_URL.`,
		Example: `  precedent jobs list
  precedent jobs list --state dead
  precedent jobs retry --dead`,
	}
	cmd.AddCommand(newJobsList(a), newJobsRetry(a), newJobsCancel(a))
	return cmd
}

// maxJobs limits how many jobs one command lists or retries.
const maxJobs = 1000

func newJobsList(a *app) *cobra.Command {
	var states []string
	var kind, repo string
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List jobs, those that changed last first",
		Long: `List prints the jobs with their states, and what caused them or why they failed. The
states are ready (runs when a worker is free), waiting (for a retry), running, done, dead
and cancelled. Jobs that are done or cancelled are kept for a week, dead letters for 30
days. With --json it prints their heads and times, too.`,
		Example: "  precedent jobs list --state ready,running\n  precedent jobs list --repo github.com/owner/name --json",
		RunE: a.withJobs(func(cmd *cobra.Command, _ []string, jobs *queue.Queue) error {
			f := queue.Filter{Kind: queue.Kind(kind), Limit: limit}
			if limit < 1 || limit > maxJobs {
				return misuse(cmd, fmt.Errorf("--limit is %d, want 1 to %d", limit, maxJobs))
			}
			if kind != "" && !slices.Contains(queue.Kinds, f.Kind) {
				return misuse(cmd, fmt.Errorf("no kind of jobs: %q, want one of %s", kind, joined(queue.Kinds)))
			}
			for _, s := range states {
				if !slices.Contains(queue.States, queue.State(s)) {
					return misuse(cmd, fmt.Errorf("no state of jobs: %q, want one of %s", s, joined(queue.States)))
				}
				f.States = append(f.States, queue.State(s))
			}
			if repo != "" {
				var err error
				if f.Repo, err = precedent.ParseRepo(repo); err != nil {
					return misuse(cmd, err)
				}
			}
			all, err := jobs.List(cmd.Context(), f)
			if err != nil {
				return err
			}
			return a.printJobs(all)
		}),
	}
	cmd.Flags().StringSliceVar(&states, "state", nil, "only jobs in these states: "+joined(queue.States))
	cmd.Flags().StringVar(&kind, "kind", "", "only jobs of this kind: "+joined(queue.Kinds))
	cmd.Flags().StringVar(&repo, "repo", "", "only jobs of this repository: host/owner/name")
	cmd.Flags().IntVar(&limit, "limit", 100, "the number of jobs, at most 1000")
	return a.data(cmd)
}

func newJobsRetry(a *app) *cobra.Command {
	var dead bool
	cmd := &cobra.Command{
		Use:   "retry [ID...]",
		Short: "Run jobs now, with all attempts",
		Long: `Retry makes jobs ready: dead letters, cancelled and done ones, and those that wait. One
that runs is run once more.`,
		Example: "  precedent jobs retry 5234835561360261\n  precedent jobs retry --dead",
		Args:    between(0, maxJobs),
		RunE: a.withJobs(func(cmd *cobra.Command, args []string, jobs *queue.Queue) error {
			if dead != (len(args) == 0) {
				return misuse(cmd, errors.New("give ids or --dead"))
			}
			if dead {
				all, err := jobs.List(cmd.Context(), queue.Filter{
					States: []queue.State{queue.Dead},
					Limit:  maxJobs,
				})
				if err != nil {
					return err
				}
				for _, j := range all {
					args = append(args, strconv.FormatInt(j.ID, 10))
				}
			}
			return a.changeJobs(cmd.Context(), args, jobs.Retry)
		}),
	}
	cmd.Flags().BoolVar(&dead, "dead", false, "all dead letters")
	return a.data(cmd)
}

func newJobsCancel(a *app) *cobra.Command {
	return a.data(&cobra.Command{
		Use:   "cancel ID...",
		Short: "Cancel jobs that wait or run",
		Long: `Cancel ends jobs. A running one is told to stop within a second. A cancelled job runs
again when it is wanted again: after a push, a label or another event.`,
		Example: "  precedent jobs cancel 5234835561360261",
		Args:    between(1, maxJobs),
		RunE: a.withJobs(func(cmd *cobra.Command, args []string, jobs *queue.Queue) error {
			return a.changeJobs(cmd.Context(), args, jobs.Cancel)
		}),
	})
}

// withJobs opens the jobs of the server for a command.
func (a *app) withJobs(do func(cmd *cobra.Command, args []string, jobs *queue.Queue) error) func(*cobra.Command,
	[]string) error {
	return func(cmd *cobra.Command, args []string) error {
		return a.withInstallation(cmd.Context(), (*workspace.Env).OldInstallation,
			func(ctx context.Context, r *workspace.Env, db *workspace.Database) error {
				jobs, err := r.OpenJobs(ctx, db)
				if err != nil {
					return err
				}
				return errors.Join(do(cmd, args, jobs), jobs.Stop(ctx))
			})
	}
}

// changeJobs changes jobs up to the first that fails, and prints them as they are then.
func (a *app) changeJobs(ctx context.Context, ids []string,
	do func(context.Context, int64) (queue.Job, error),
) error {
	var changed []queue.Job
	var failed error
	for _, id := range ids {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			failed = hinted(fmt.Errorf("not the id of a job: %q", id), "precedent jobs list shows them")
			break
		}
		job, err := do(ctx, n)
		if errors.Is(err, queue.ErrUnknown) {
			err = hinted(fmt.Errorf("there is no job %d", n), "precedent jobs list shows them")
		}
		if failed = err; err != nil {
			break
		}
		changed = append(changed, job)
	}
	if !a.json && failed != nil && len(changed) == 0 {
		return failed
	}
	return errors.Join(failed, a.printJobs(changed))
}

func joined[T ~string](all []T) string {
	var b []string
	for _, s := range all {
		b = append(b, string(s))
	}
	return strings.Join(b, ", ")
}

func (a *app) printJobs(all []queue.Job) error {
	return a.show(all, func(p *report.Page) {
		if len(all) == 0 {
			p.Line(p.Ink(report.Plain, "no jobs"))
			return
		}
		rows := [][]string{{"id", "job", "state", "since", "attempts", "why"}}
		for _, j := range all {
			rows = append(rows, []string{
				strconv.FormatInt(j.ID, 10), p.Ink(report.Plain, j.Name()), string(j.State), a.age(j.Since),
				strconv.Itoa(j.Attempts), p.Ink(report.Plain, cmp.Or(j.Problem, j.Reason)),
			})
		}
		p.Table(rows)
	})
}

// age is how long ago something was, for people: "3m20s".
func (a *app) age(at time.Time) string {
	d := max(0, a.now().Sub(at)).Round(time.Second)
	if d >= 48*time.Hour {
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return d.String()
}
