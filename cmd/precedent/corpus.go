package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newCorpus(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "corpus",
		Short: "Manage what people wrote in reviews of this repository",
		Long: `The corpus is what people wrote on the pull requests of a repository. Reviews tell
finders what people asked for before, and findings cite it. If an embedding model is set
(docs/embeddings.md), sync and import compute the vectors that are missing.`,
		Example: `  precedent corpus sync
  precedent corpus import comments.jsonl.gz
  precedent corpus search "wrap the error"
  precedent corpus status`,
	}
	cmd.AddCommand(newCorpusSync(a), newCorpusImport(a), newCorpusSearch(a), newCorpusStatus(a), newCorpusClear(a))
	return cmd
}

func newCorpusClear(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "clear",
		Short: "Delete the corpus of this repository",
		Long: `Clear deletes the comments of people and what was computed from them. The rest of the
memory stays. Sync and import can load them again.`,
		Example: "  precedent corpus clear --yes",
		RunE: a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			if err := a.confirm(yes, fmt.Sprintf("Delete the corpus of %s?", w.IDs[0])); err != nil {
				return err
			}
			n, err := w.Memory.Rows.ClearCorpus(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(map[string]int{"comments": n}, func(p *report.Page) {
				p.Say("", "deleted "+plural(n, "comment"))
			})
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return a.data(cmd, memorySettings...)
}
