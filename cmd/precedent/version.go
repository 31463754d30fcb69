package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// build describes this program.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Date     string `json:"date"` // of the commit, as YYYY-MM-DD; empty if that is unknown
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Schema   int64  `json:"memory_schema"` // of the memory: a program refuses one with a larger number
}

func newVersion(a *app) *cobra.Command {
	return a.data(&cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: "  precedent version --json",
		RunE: func(*cobra.Command, []string) error {
			b := describedBuild()
			return a.show(b, func(p *report.Page) { p.Line(p.Ink(report.Plain, b.String())) })
		},
	})
}

// String describes the program in one line.
func (b build) String() string {
	line := "precedent " + b.Version
	if b.Commit != "" {
		line += " (" + b.Commit + ", " + b.Date + ")"
	}
	return fmt.Sprintf("%s %s %s, memory schema %d", line, b.Go, b.Platform, b.Schema)
}

// describedBuild is thisBuild with what only people who ask for it need.
func describedBuild() build {
	b := thisBuild()
	b.Schema, _ = workspace.NewestSchema() // tests read the embedded names
	return b
}

func thisBuild() build {
	b := build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value[:min(len(s.Value), 12)]
		case "vcs.time":
			b.Date, _, _ = strings.Cut(s.Value, "T")
		}
	}
	return b
}
