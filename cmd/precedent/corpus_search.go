package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newCorpusSearch(a *app) *cobra.Command {
	var q workspace.CorpusQuery
	cmd := &cobra.Command{
		Use:   "search [TEXT]",
		Short: "Find what people wrote about something",
		Long: `Search finds comments of people by their words, and with --file by the code and the
path that they are about, best first. It shows why each is where it is: its rank in each
list, how similar its words are, and what raised or lowered it.

Strong comments are similar enough for a finding with this text to cite them. Of
candidates a model decides. Weak ones are not cited: their words differ too much, their
author could not write to the repository, or they were declined or reverted.`,
		Example: `  precedent corpus search "wrap the error"
  precedent corpus search --file internal/store/open.go --line 42
  precedent corpus search "constant time" --limit 3 --json`,
		Args: between(0, 1),
		RunE: a.reading(a.withMemory(func(cmd *cobra.Command, args []string, w *workspace.Workspace) error {
			q.Text = strings.Join(args, " ")
			got, err := a.workflow().SearchCorpus(cmd.Context(), w, q)
			if err != nil {
				return err
			}
			return a.show(got, func(p *report.Page) { printCorpusFound(p, got) })
		})),
	}
	f := cmd.Flags()
	f.StringVar(&q.File, "file", "", "search for comments on this `file` or similar ones")
	f.IntVar(&q.Line, "line", 0, "with --file: search for comments on code like this `line` of the work tree")
	f.IntVar(&q.Limit, "limit", 10, "show at most this `number` of comments, up to 100")
	f.BoolVar(&q.All, "all", false, "also show what is not usable as a precedent")
	return a.data(cmd, memorySettings...)
}

func printCorpusFound(p *report.Page, got workspace.CorpusResult) {
	for _, failure := range got.Failures {
		p.Say(p.Ink(report.Yellow, "failed")+"  ", failure)
	}
	switch {
	case got.Searched == 0:
		p.Say("", "The corpus is empty: precedent corpus import and precedent corpus sync load it.")
		return
	case len(got.Found) == 0:
		p.Sayf("", "Nothing was found among %s.", plural(got.Searched, "comment"))
		return
	}
	for i, f := range got.Found {
		if i > 0 {
			p.Line()
		}
		where := "general review"
		if f.Path != "" {
			where = f.Path
			if f.Line > 0 {
				where += fmt.Sprintf(":%d", f.Line)
			}
		}
		day, _, _ := strings.Cut(f.At, "T")
		p.Para(p.Inkf(report.Bold, "%2d. ", i+1), p.Inkf(report.Plain, "%s · %s · PR %d · ", f.Author, day,
			f.Pull)+p.Ink(report.Cyan, where))
		p.Say("    ", "“"+f.Text+"”")
		if f.URL != "" {
			p.Para("    ", p.Ink(report.Faint, f.URL))
		}
		p.Para("    ", p.Ink(report.Faint, whyFound(f)))
	}
	p.Line()
	p.Para("", p.Inkf(report.Faint, "%s searched", plural(got.Searched, "comment")))
}

// whyFound says why a comment is where it is.
func whyFound(f workspace.CorpusFound) string {
	parts := f.Why()
	if f.Outcome != "" {
		parts = append(parts, f.Outcome)
	}
	if f.Unusable != "" {
		return strings.Join(append(parts, "not a precedent: "+f.Unusable), " · ")
	}
	weak := "weak: the words differ too much"
	switch {
	case !f.MayWrite:
		weak = "weak: its author could not write to the repository"
	case f.Outcome == string(precedent.CommentDeclined) || f.Outcome == string(precedent.CommentReverted):
		weak = "weak: it was " + f.Outcome
	}
	return strings.Join(append(parts, map[string]string{
		"strong": "strong: can be cited", "candidate": "candidate: cited if a model finds the same point", "weak": weak,
	}[f.Citable]), " · ")
}
