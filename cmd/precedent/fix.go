package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/fix"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workflow"
)

// fix shows what the suggestions of a review would change in the work tree, asks,
// and applies them. It changes neither the index nor other lines.
func (a *app) fix(repo *workflow.Repository, prepared *workflow.Prepared, r *precedent.Review, agreed bool) error {
	top := repo.Git.Top()
	if top == "" {
		return hinted(errors.New("apply fixes: the repository has no work tree"), "run precedent in a checkout of the repository")
	}
	plan := fix.New(r.Live(),
		func(path string) ([]byte, error) { return prepared.Input.Read(precedent.Right, path) },
		func(path string) ([]byte, error) { return repo.Git.WorkFile(path, workflow.MaxFile) })
	p := a.page()
	p.Line()
	for _, refused := range plan.Refused {
		p.Para("not fixed  ", p.Inkf(report.Plain, "%s  %s: %s", refused.Finding.ID, refused.Finding.Span, refused.Why))
	}
	edits := plan.Edits()
	if len(edits) == 0 {
		p.Line(p.Ink(report.Plain, "No suggestion to apply."))
		return p.Err()
	}
	patch := plan.Patch()
	a.showPatch(p, patch)
	for _, e := range edits {
		if e.Moved {
			p.Para("moved      ", p.Inkf(report.Plain, "%s  the lines are now at %s:%d", e.Finding.ID, e.Finding.Path, e.Start))
		}
	}
	if err := p.Err(); err != nil {
		return err
	}
	if !agreed {
		fmt.Fprintf(a.out, "Apply %s to %s? [y/N] ", plural(len(edits), "suggestion"), plural(plan.Files(), "file"))
		agreed = readYes(a.in)
		if _, typed := terminal(a.in); !typed {
			p.Line() // no enter key ended the line
		}
		if !agreed {
			p.Line("Nothing was changed.")
			return p.Err()
		}
	}
	undo, err := repo.KeepPatch(r.ID, patch)
	if err != nil {
		return err
	}
	if err := plan.Apply(top); err != nil {
		return hinted(err, "to undo the changes: git apply -R %s", shellWord(undo))
	}
	for _, e := range edits {
		p.Para("fixed      ", p.Inkf(report.Plain, "%s  %s:%d  %s", e.Finding.ID, e.Finding.Path, e.Start, e.Finding.Title))
	}
	p.Line(p.Ink(report.Plain, "undo: git apply -R "+shellWord(undo)))
	return p.Err()
}

// showPatch prints a patch as git does.
func (a *app) showPatch(p *report.Page, patch []byte) {
	for l := range strings.Lines(string(patch)) {
		ink := report.Plain
		switch {
		case strings.HasPrefix(l, "+"):
			ink = report.Green
		case strings.HasPrefix(l, "-"):
			ink = report.Red
		case strings.HasPrefix(l, "@@"):
			ink = report.Faint
		}
		p.Line(p.Ink(ink, strings.TrimRight(l, "\r\n")))
	}
	p.Line()
}

// readYes reads one line and reports whether it means yes.
func readYes(in io.Reader) bool {
	line, _ := bufio.NewReader(in).ReadString('\n')
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes"
}
