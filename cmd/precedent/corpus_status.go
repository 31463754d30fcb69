package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newCorpusStatus(a *app) *cobra.Command {
	return a.data(&cobra.Command{
		Use:   "status",
		Short: "Show what is in the corpus, and until when it was read",
		Long: `Status counts the comments of people, and how many conversations can be cited as
precedents. The others are by the author of the pull request, too short, praise, bare
questions, or reports of what was done. An outcome is known if the commented lines changed
before the merge (adopted), if the author or a member declined (declined), or if a later
pull request reverted the change (reverted).`,
		Example: "  precedent corpus status --json",
		RunE: a.reading(a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			s, err := a.workflow().CorpusOf(w).Status(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(s, func(p *report.Page) { printCorpusStatus(p, s) })
		})),
	}, memorySettings...)
}

func printCorpusStatus(p *report.Page, s corpus.Status) {
	for _, name := range s.Names {
		p.Say("repository    ", name.String())
	}
	total := 0
	var kinds, unusable, outcomes []string
	for _, t := range s.Comments {
		total += t.Count
		kinds = append(kinds, fmt.Sprintf("%d %s", t.Count, t.Name))
	}
	if total == 0 {
		p.Say("comments      ", "none yet: precedent corpus sync or import loads them")
		return
	}
	p.Sayf("comments      ", "%d (%s) of %d people, from %s to %s", total, strings.Join(kinds, ", "), s.People,
		s.Oldest.Format(time.DateOnly), s.Newest.Format(time.DateOnly))
	if s.Deleted > 0 {
		p.Sayf("deleted       ", "%d", s.Deleted)
	}
	p.Sayf("pull requests ", "%d, %d merged, %d reverted", s.Pulls, s.Merged, s.Reverted)
	p.Sayf("precedents    ", "%d of %d chunks of conversations", s.Usable, s.Chunks)
	for _, t := range s.Unusable {
		unusable = append(unusable, fmt.Sprintf("%d %s", t.Count, t.Name))
	}
	if len(unusable) > 0 {
		p.Say("not usable    ", strings.Join(unusable, ", "))
	}
	for _, t := range s.Outcomes {
		name := cmp.Or(t.Name, "unknown")
		outcomes = append(outcomes, fmt.Sprintf("%d %s", t.Count, name))
	}
	p.Say("outcomes      ", strings.Join(outcomes, ", "))
	for _, c := range s.Streams {
		until := "not read to its end yet"
		if !c.Watermark.IsZero() {
			until = "complete until " + c.Watermark.Format(time.RFC3339)
		}
		if c.Cursor != "" {
			until += fmt.Sprintf("; a pass stopped after %s", plural(c.Pages, "page"))
		}
		p.Sayf("stream        ", "%s: %s", c.Stream, until)
	}
	for _, v := range s.Vectors {
		p.Sayf("vectors       ", "%d of %s, %d dimensions", v.Count, v.Model, v.Dimensions)
	}
	p.Sayf("size          ", "%d KiB of text, %d KiB of vectors", (s.TextBytes+1023)/1024, (s.VectorBytes+1023)/1024)
}
