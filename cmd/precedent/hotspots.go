package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newHotspots(a *app) *cobra.Command {
	var n int
	cmd := &cobra.Command{
		Use:     "hotspots",
		Short:   "List the files with the most findings",
		Example: "  precedent hotspots -n 5",
		RunE: a.reading(a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			hot, err := w.Memory.Hotspots(cmd.Context(), n)
			if err != nil {
				return err
			}
			return a.show(map[string]any{"hotspots": hot}, func(p *report.Page) {
				report.Hotspots(p, hot)
			})
		})),
	}
	numberFlag(cmd, &n, "files")
	return a.data(cmd, memorySettings...)
}

// numberFlag adds the flag that limits a list.
func numberFlag(cmd *cobra.Command, n *int, things string) {
	cmd.Flags().IntVarP(n, "number", "n", 20, "list at most `N` "+things)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if *n < 1 {
			return misuse(cmd, fmt.Errorf("-n %d: want 1 or more", *n))
		}
		return nil
	}
}
