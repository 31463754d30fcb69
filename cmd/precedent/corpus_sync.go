package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/report"
)

const corpusSyncHelp = `Sync reads what people wrote on the pull requests of the repository: comments on
lines, reviews, and comments on pull requests as a whole. The first sync reads what was
edited in the last 18 months, or since --since. Later ones read what changed since the
one before.

Each page is stored with a checkpoint: a sync that was interrupted or failed goes on
where it stopped. It obeys the limits of the forge, waits longer between pages as they
are used up, and says when it waits.

A comment that was deleted is noticed when everything is listed again: with --full, or
by itself if that was last done more than a week ago. If very many are missing at once,
only --full deletes them.

GITHUB_TOKEN or GH_TOKEN, or GITEA_TOKEN, as for precedent pr. Nothing is posted.

Exit status: 2 if the forge or the memory failed, 130 if it was interrupted. What was
read until then is stored.`

// defaultSyncMonths is how far back the first sync reads.
const defaultSyncMonths = 18

func newCorpusSync(a *app) *cobra.Command {
	var since string
	var full bool
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Read the comments of people from the forge",
		Long:  corpusSyncHelp,
		Example: `  precedent corpus sync
  precedent corpus sync --since 36m --full
  precedent corpus sync --repo git.example.org/team/app --forge gitea:https://git.example.org`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, err := a.timeFlag(cmd, "since", since, -1)
			if err == nil && from.IsZero() {
				err = misuse(cmd, errors.New("--since is empty; is a variable not set?"))
			}
			if err != nil {
				return err
			}
			flags := settingFlags(cmd)
			conn, err := a.connectWith(flags)
			if err != nil {
				return err
			}
			w, err := a.openWorkspace(cmd.Context(), flags)
			if err != nil {
				return err
			}
			defer w.Close()
			line, started := a.progressLine(), a.now()
			show := func(p corpus.SyncProgress) {
				if p.Waiting.IsZero() {
					line.show("%s", syncStatus(p, a.now().Sub(started)))
					return
				}
				line.end()
				a.notice("%s: waiting until %s", p.Why, p.Waiting.UTC().Format("2006-01-02 15:04:05 UTC"))
			}
			got, err := a.workflow().SyncCorpus(cmd.Context(), conn, w,
				corpus.SyncOptions{Since: from, Full: full, Sleep: a.pause, Progress: show})
			line.end()
			if err != nil && len(got.Streams) == 0 {
				return err
			}
			return cmp.Or(a.show(got, func(p *report.Page) { printSynced(p, got) }), err)
		},
	}
	cmd.Flags().StringVar(&since, "since", fmt.Sprintf("%dm", defaultSyncMonths),
		"how far back the first sync reads: `TIME` is "+timeForms)
	cmd.Flags().BoolVar(&full, "full", false, "list everything again, and find what was deleted")
	return a.data(cmd, append([]string{"forge"}, memorySettings...)...)
}

// syncStatus is the progress in one line: count, rate, quota and, of this list, the time left.
func syncStatus(p corpus.SyncProgress, took time.Duration) string {
	parts := []string{fmt.Sprintf("%s: %d comments, %.0f a second", p.Stream, p.Comments, perSecond(p.Comments, took))}
	if p.Quota.Limit > 0 {
		parts = append(parts, fmt.Sprintf("quota %d of %d", p.Quota.Left, p.Quota.Limit))
	}
	read, whole := p.Through.Sub(p.Since), p.Until.Sub(p.Since)
	if !p.Done && !p.Through.IsZero() && read > 0 && whole > 0 {
		share := min(float64(read)/float64(whole), 1)
		left := time.Duration(float64(took) * (1 - share) / share)
		parts = append(parts, fmt.Sprintf("%.0f %%, about %s left", 100*share, max(left, time.Second).Round(time.Second)))
	}
	return strings.Join(parts, ", ")
}

func printSynced(p *report.Page, got corpus.SyncResult) {
	row := func(label, format string, args ...any) {
		p.Sayf(fmt.Sprintf("%-10s", label), format, args...)
	}
	for _, s := range got.Streams {
		parts := []string{
			fmt.Sprintf("%s read from %s", plural(s.Read, "comment"), plural(s.Pages, "page")),
			fmt.Sprintf("%d new", s.Stored), fmt.Sprintf("%d updated", s.Updated), fmt.Sprintf("%d unchanged", s.Duplicate),
		}
		for _, left := range []struct {
			count int
			name  string
		}{{s.Deleted, "deleted"}, {s.Bot, "by bots"}, {s.Own, "by precedent"}, {s.Empty, "empty"}} {
			if left.count > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", left.count, left.name))
			}
		}
		if !s.Whole {
			parts = append(parts, "not finished")
		}
		row(string(s.Stream), "%s", strings.Join(parts, ", "))
		for _, n := range s.Cut {
			row("", "pull request %d has more comments than are read", n)
		}
	}
	switch {
	case got.Full:
		row("deleted", "%s found to be deleted", plural(got.Deleted, "comment"))
	case got.Kept > 0:
		row("deleted", "%s no longer listed, which is suspiciously many: they were kept; --full deletes them",
			plural(got.Kept, "comment"))
	}
	if got.Stopped != "" {
		row("stopped", "%s; the next sync goes on from here", got.Stopped)
	}
}
