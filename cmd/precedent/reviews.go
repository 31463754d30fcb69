package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newReviews(a *app) *cobra.Command {
	var n int
	cmd := &cobra.Command{
		Use:     "reviews",
		Short:   "List past reviews, the newest first",
		Example: "  precedent reviews -n 5",
		RunE: a.reading(a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			past, err := w.Memory.PastReviews(cmd.Context(), n)
			if err != nil {
				return err
			}
			return a.show(map[string]any{"reviews": past}, func(p *report.Page) {
				if len(past) == 0 {
					p.Say("", "no reviews yet: precedent review makes the first")
				}
				var rows [][]string
				for _, r := range past {
					what := r.Head + " ← " + r.Base
					if r.PullRequest != 0 {
						what = fmt.Sprintf("#%d %s", r.PullRequest, what)
					}
					cost := "no model"
					if r.Scope == precedent.FullScope {
						cost = fmt.Sprintf("$%.2f", r.CostUSD)
					}
					rows = append(rows, []string{
						p.Ink(report.Faint, r.At.UTC().Format(time.DateTime)), p.Ink(report.Cyan, what),
						p.Inkf(report.Plain, "%s, %s, %s", r.Verdict, plural(r.Findings, "finding"), cost), p.Ink(report.Faint, r.ID),
					})
				}
				p.Table(rows)
			})
		})),
	}
	numberFlag(cmd, &n, "reviews")
	return a.data(cmd, memorySettings...)
}
