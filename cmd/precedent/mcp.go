package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/mcp"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newMCP(a *app) *cobra.Command {
	var write bool
	var learnings string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the memory of this repository to agents",
		Long: `Mcp serves the memory of the repository around the working folder as tools of the
Model Context Protocol, on standard input and output. Agents can ask for learnings,
findings, dismissals, threads, what people said in reviews, and an overview. They get
no code, and change nothing.

--write lets them propose learnings, too. A proposal changes no review until a
person approves it: precedent learn approve.

A server, precedent serve, has the same tools over HTTP for its repositories.`,
		Example: `  claude mcp add reviews -- precedent mcp
  precedent mcp --write`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := mcp.Options{Version: thisBuild().Version, Log: slog.New(notices{a})}
			if learnings != "" {
				return a.serveLearnings(cmd.Context(), learnings, o)
			}
			flags := settingFlags(cmd)
			a.reads = !write
			w, err := a.openWorkspace(cmd.Context(), flags)
			if err != nil {
				return err // now, not in the first call
			}
			w.Close()
			env := a.workflow()
			o.Search = env.SearchCorpus
			if write {
				o.Propose = env.LearnFromAgent
			}
			return mcp.New(func(ctx context.Context) (*workspace.Workspace, error) {
				return a.openWorkspace(ctx, flags)
			}, o).ServeIO(cmd.Context(), a.in, a.out)
		},
	}
	cmd.Flags().BoolVar(&write, "write", false,
		"let agents propose learnings, which a person must approve, and take proposals back")
	cmd.Flags().StringVar(&learnings, "learnings", "", "serve only the learnings of a `file`")
	_ = cmd.Flags().MarkHidden("learnings") // for the engine claude
	addSettings(cmd, memorySettings...)
	return cmd
}

// serveLearnings serves the learnings that a review wrote into a file.
func (a *app) serveLearnings(ctx context.Context, file string, o mcp.Options) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read learnings: %w", err)
	}
	var all []precedent.Learning
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("read learnings of %s: %w", file, err)
	}
	return mcp.NewReview(all, o).ServeIO(ctx, a.in, a.out)
}
