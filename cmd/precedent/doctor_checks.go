package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workflow"
)

func checkClone(ctx context.Context, d *diagnosis, repo *git.Repo) {
	where := repo.Top()
	if where == "" {
		where = "bare"
	}
	id, err := repo.Identity(ctx)
	_, none := repo.Resolve(ctx, git.Spec{Whole: "HEAD"})
	switch {
	case err != nil:
		d.wrong("repository", missing, err)
	case none != nil:
		d.say("repository", fine, "precedent review --staged and --worktree work", "%s, %s; it has no commit yet", where, id)
	case repo.Shallow():
		d.say("repository", warned, "git fetch --unshallow: a review needs the commit that the change starts from", "%s, %s; the clone is shallow", where, id)
	case id.IsLocal():
		d.say("repository", fine, "with a remote, clones of it share the ids of findings", "%s; it has no remote and is known by its first commit", where)
	default:
		d.say("repository", fine, "", "%s, %s", where, id)
	}
}

// checkMemory opens the memory only if it is there: nothing is made.
func (a *app) checkMemory(ctx context.Context, d *diagnosis, op *settings.Settings) {
	const name = "memory"
	w, err := a.openRepository(ctx, op)
	if err != nil {
		d.wrong(name, warned, err)
		return
	}
	defer w.Close()
	if _, err := os.Lstat(w.File.Value); errors.Is(err, fs.ErrNotExist) {
		d.say(name, fine, "", "none yet; the first review makes %s", w.File.Value)
		return
	}
	db, err := a.workflow().OpenMemory(ctx, w)
	if err != nil {
		d.wrong(name, warned, err) // a review goes on without, and says so
		return
	}
	defer db.Close()
	schema, err := db.Check(ctx)
	if err != nil {
		d.wrong(name, warned, err)
		return
	}
	size, err := db.Size(ctx)
	if err != nil {
		d.wrong(name, warned, err)
		return
	}
	d.say(name, fine, "", "%s, %d KiB, schema %d, undamaged", w.File.Value, (size+1023)/1024, schema)
}

// checkPolicy returns the policy as far as it holds.
func checkPolicy(ctx context.Context, d *diagnosis, repo *git.Repo) precedent.Policy {
	const name = "policy"
	p, err := workflow.CurrentPolicy(ctx, repo)
	switch {
	case err != nil:
		d.wrong(name, missing, err)
	case workflow.HasErrors(p.Errors):
		d.say(name, warned, hintOf(errors.Join(p.Errors...)), "%v", errors.Join(p.Errors...))
	case p.Source == "":
		d.say(name, fine, "precedent init writes one", "none: the defaults hold")
	default:
		says := p.Source
		if off := turnedOff(p.Policy); len(off) > 0 {
			says += "; it turns off or hides: " + strings.Join(off, ", ")
		}
		d.say(name, fine, "", "%s", says)
	}
	return p.Policy
}

// turnedOff is what a policy takes away from a review.
func turnedOff(p precedent.Policy) []string {
	var off []string
	for name, on := range p.Finders {
		if !on {
			off = append(off, name)
		}
	}
	slices.Sort(off)
	if len(p.Ignore) > 0 {
		off = append(off, "what is in "+strings.Join(p.Ignore, ", "))
	}
	for _, f := range p.Floors {
		off = append(off, fmt.Sprintf("what is below %s in %s", f.Severity, f.Paths))
	}
	return off
}

// checkGuide reads what the repository says of itself at the last commit.
func checkGuide(ctx context.Context, d *diagnosis, repo *git.Repo) {
	const name = "guide"
	rg, err := repo.Resolve(ctx, git.Spec{Whole: "HEAD"})
	if err != nil {
		d.say(name, fine, "", "none: there is no commit yet")
		return
	}
	blobs, err := repo.Blobs(ctx)
	if err != nil {
		d.wrong(name, warned, err)
		return
	}
	defer blobs.Close()
	g, failures := guide.Load(workflow.FilesAt(blobs, rg.Head), guide.Files)
	var names []string
	for _, doc := range g.Docs {
		names = append(names, doc.Path)
	}
	switch {
	case len(failures) > 0:
		d.say(name, warned, "", "%s", failures[0].Error)
	case len(names) == 0:
		d.say(name, fine, "write what reviewers should know into "+guide.Files[0]+" or AGENTS.md", "none")
	default:
		d.say(name, fine, "", "%s; %s", strings.Join(names, ", "), counted(len(g.Rules), "rule"))
	}
}

func checkHook(d *diagnosis, repo *git.Repo) {
	const name = "hook"
	h, err := lookAtHook(repo)
	switch {
	case err != nil:
		d.wrong(name, warned, err)
	case h.ours:
		d.say(name, fine, "", "%s", h.path)
	case h.there:
		d.say(name, fine, "precedent install-hook --force starts it from ours", "%s is not ours: pushes are not reviewed", h.path)
	default:
		d.say(name, fine, "precedent install-hook", "not installed: pushes are not reviewed")
	}
}
