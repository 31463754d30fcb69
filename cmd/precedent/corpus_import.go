package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newCorpusImport(a *app) *cobra.Command {
	return a.data(&cobra.Command{
		Use:   "import FILE...",
		Short: "Load comments of people from files",
		Long: `Import reads comments in the form of GitHub's REST API, one JSON object a line, also
compressed with gzip; - is standard input. It takes comments on lines, reviews, comments
on pull requests, and pull requests, in any order. Comments of bots and of Precedent are
left out, and secrets are redacted.

A file can be imported again: what is there already is not stored twice, and a comment
that was edited since is updated. The author's association with the repository in the
file decides who counts as able to write. Comments without an address of their own get
that of the repository, which is --repo or the workspace's.

Exit status: 3 if a line could not be used. The others are imported.`,
		Example: `  gh api --paginate repos/team/app/pulls/comments --jq '.[]' > comments.jsonl
  precedent corpus import comments.jsonl`,
		Args: between(1, 1_000),
		RunE: a.withMemory(func(cmd *cobra.Command, args []string, w *workspace.Workspace) error {
			line := a.progressLine()
			started := a.now()
			var total corpus.Imported
			for _, file := range args {
				got, err := a.importFile(cmd.Context(), w, file, func(i corpus.Imported) {
					n := total.Lines + i.Lines
					line.show("%s: %d lines, %.0f a second", filepath.Base(file), n, perSecond(n, a.now().Sub(started)))
				})
				total.Add(got)
				if err != nil {
					line.end()
					if total.Lines > 0 {
						a.notice("stopped after %d lines; what was read until then is stored, and importing again goes on", total.Lines)
					}
					return fmt.Errorf("import %s: %w", file, err)
				}
			}
			line.end()
			return a.printImported(total)
		}),
	}, memorySettings...)
}

func perSecond(n int, took time.Duration) float64 {
	return float64(n) / max(took.Seconds(), 0.001)
}

func (a *app) importFile(ctx context.Context, w *workspace.Workspace, file string,
	progress func(corpus.Imported),
) (corpus.Imported, error) {
	from := a.in
	name := "standard input"
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return corpus.Imported{}, err
		}
		defer f.Close()
		from, name = f, file
	}
	return a.workflow().ImportCorpus(ctx, w, name, from, progress)
}

func (a *app) printImported(got corpus.Imported) error {
	err := a.show(got, func(p *report.Page) {
		for _, b := range got.Bad {
			p.Sayf("", "%s:%d is not imported: %s", b.File, b.Line, b.Why)
		}
		p.Sayf("", "%s: %d stored, %d updated, %d already there, %d of bots, %d of Precedent, %d empty", plural(got.Lines,
			"line"), got.Stored, got.Updated, got.Duplicate, got.Bot, got.Own, got.Empty)
		for _, other := range []struct {
			n    int
			what string
		}{
			{got.Pulls, "pull requests"},
			{got.OnIssues, "on issues"},
			{got.Foreign, "about another repository"},
			{got.Malformed, "malformed"},
			{got.Deleted, "of the stored comments are deleted"},
		} {
			if other.n > 0 {
				p.Sayf("", "%d %s", other.n, other.what)
			}
		}
	})
	if err == nil && got.Malformed+got.Foreign > 0 {
		if got.Foreign > 0 {
			a.notice("hint: --repo says which repository the comments are about")
		}
		err = exitStatus(precedent.ExitIncomplete)
	}
	return err
}

// progressLine is one line on standard error that is overwritten; it shows nothing if that is not a
// terminal.
type progressLine struct {
	out   io.Writer
	now   func() time.Time
	width int
	last  time.Time
}

func (a *app) progressLine() *progressLine {
	width, _, tty := terminal(a.err)
	l := &progressLine{now: a.now, width: width}
	if tty && !a.quiet && a.env["TERM"] != "dumb" {
		l.out = a.err
	}
	return l
}

// show replaces the line, at most ten times a second.
func (l *progressLine) show(format string, args ...any) {
	now := l.now()
	if l.out == nil || now.Sub(l.last) < 100*time.Millisecond {
		return
	}
	l.last = now
	p := report.NewPage(io.Discard, 0, false)
	text := []rune(p.Inkf(report.Plain, format, args...))
	fmt.Fprint(l.out, "\r\x1b[K"+string(text[:min(len(text), max(l.width-1, 0))]))
}

func (l *progressLine) end() {
	if l.out != nil && !l.last.IsZero() {
		fmt.Fprint(l.out, "\r\x1b[K")
	}
}
