package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/fix"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// fix shows what the suggestions of a review would change in the work tree, asks for
// each, and applies those that were agreed to. It changes neither the index nor other lines.
func (a *app) fix(repo *workspace.Repository, prepared *run.Prepared, r *precedent.Review, agreed bool) error {
	top := repo.Git.Top()
	if top == "" {
		return hinted(errors.New("apply fixes: the repository has no work tree"),
			"run precedent in a checkout of the repository")
	}
	plan := fix.New(r.Live(),
		func(path string) ([]byte, error) { return prepared.Input.Read(precedent.Right, path) },
		func(path string) ([]byte, error) { return repo.Git.WorkFile(path, run.MaxFile) })
	p := a.page()
	p.Line()
	for _, refused := range plan.Refused {
		p.Sayf("not fixed  ", "%s  %s: %s", refused.Finding.ID, refused.Finding.Span, refused.Why)
	}
	edits := plan.Edits()
	if len(edits) == 0 {
		p.Line(p.Ink(report.Plain, "No suggestion to apply."))
		return p.Err()
	}
	if !agreed {
		if _, _, typed := terminal(a.in); !typed {
			a.showPatch(p, plan.Patch())
			p.Say("", "Nothing was changed: without a terminal, --fix changes files only with --yes.")
			return p.Err()
		}
		plan = a.askEach(p, plan)
		if edits = plan.Edits(); len(edits) == 0 {
			p.Line("Nothing was changed.")
			return p.Err()
		}
	}
	patch := plan.Patch()
	if agreed {
		a.showPatch(p, patch)
	}
	kept, err := repo.KeepPatch(r.ID, patch)
	if err != nil {
		return err
	}
	// In a subfolder, git would skip the files outside of it; and the user's apply.whitespace could change the lines.
	undo := "git -C " + text.ShellWord(top) + " apply -R --whitespace=nowarn " + text.ShellWord(kept)
	if err := plan.Apply(top); err != nil {
		if len(plan.Edits()) == 0 {
			return err
		}
		if _, none := repo.KeepPatch(r.ID, plan.Patch()); none != nil {
			return errors.Join(err, none)
		}
		return hinted(err, "to undo the changes: %s", undo)
	}
	for _, e := range edits {
		if e.Moved {
			p.Sayf("moved      ", "%s  the lines are now at %s:%d", e.Finding.ID, e.Finding.Path, e.Start)
		}
		p.Sayf("fixed      ", "%s  %s:%d  %s", e.Finding.ID, e.Finding.Path, e.Start, e.Finding.Title)
	}
	p.Line(p.Ink(report.Plain, "undo: "+undo))
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

// askEach shows each edit as a diff, asks for it, and returns the plan of those that were
// agreed to. At the end of the input, and after q, the rest counts as no.
func (a *app) askEach(p *report.Page, plan fix.Plan) fix.Plan {
	in := bufio.NewReader(a.in)
	agreed := map[string]bool{}
	for i, e := range plan.Edits() {
		a.showPatch(p, plan.Only(func(o fix.Edit) bool { return o.Finding.ID == e.Finding.ID }).Patch())
		fmt.Fprintf(a.out, "%d of %d: %s\nApply this suggestion? [y/N/q] ", i+1, len(plan.Edits()),
			text.VisibleLine(e.Finding.Title))
		line, err := in.ReadString('\n')
		answer := strings.ToLower(strings.TrimSpace(line))
		agreed[e.Finding.ID] = answer == "y" || answer == "yes"
		if err != nil || answer == "q" {
			break
		}
	}
	return plan.Only(func(e fix.Edit) bool { return agreed[e.Finding.ID] })
}
