package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/report"
)

func newHotspots(a *app) *cobra.Command {
	var n int
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "hotspots",
		Short:   "List the files with the most findings",
		Example: "  precedent hotspots -n 5",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n < 1 {
				return misuse(cmd, fmt.Errorf("-n %d: want a number from 1", n))
			}
			w, err := a.remember(cmd.Context(), settingFlags(cmd))
			if err != nil {
				return err
			}
			defer w.close()
			hot, err := w.memory.Hotspots(cmd.Context(), n)
			if err != nil {
				return err
			}
			if asJSON {
				return report.Value(a.out, map[string]any{"hotspots": append([]precedent.Hotspot{}, hot...)})
			}
			p := a.page()
			printHotspots(p, hot)
			return p.Err()
		},
	}
	cmd.Flags().IntVarP(&n, "number", "n", 20, "list at most `N` files")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	addSettings(cmd, memorySettings...)
	return cmd
}

func printHotspots(p *report.Page, hot []precedent.Hotspot) {
	if len(hot) == 0 {
		p.Line("No file has two findings or more yet.")
		return
	}
	rows := [][]string{{
		p.Ink(report.Faint, "findings"), p.Ink(report.Faint, "declined"), p.Ink(report.Faint, "worst"),
		p.Ink(report.Faint, "last seen"), p.Ink(report.Faint, "file"),
	}}
	for _, h := range hot {
		var categories []string
		for _, c := range h.Categories {
			categories = append(categories, string(c))
		}
		rows = append(rows, []string{
			strconv.Itoa(h.Findings), strconv.Itoa(h.Dismissed), p.Ink(report.Plain, string(h.TopSeverity)),
			h.LastSeen.Format(time.DateOnly), p.Ink(report.Cyan, h.Path) + p.Ink(report.Faint, "  "+strings.Join(categories, ", ")),
		})
	}
	p.Table(rows)
}
