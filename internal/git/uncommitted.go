package git

import (
	"context"
	"os"
	"slices"
	"strings"
)

// Work names the line of work that a range belongs to: reviews of the same one can be
// compared. It is the branch for everything up to the state of the work tree, whether
// committed or not; left is what Uncommitted returned.
func (r *Repo) Work(ctx context.Context, rg Range, left int) (string, error) {
	from, err := r.head(ctx)
	if err != nil {
		return "", err
	}
	work := "range " + rg.BaseName + ".." + rg.HeadName
	switch {
	case rg.HeadCommit != from.commit:
	case left == 0:
		work = "branch " + r.branch(ctx)
	case rg.Kind == Staged:
		work = "staged " + r.branch(ctx)
	default:
		work = "commits " + r.branch(ctx)
	}
	if len(rg.Paths) > 0 {
		work += "\x00" + strings.Join(rg.Paths, "\x00")
	}
	return work, nil
}

// Uncommitted counts the files with changes in the work tree that a range up to HEAD
// leaves out: all uncommitted ones, or those that are not staged completely for a range
// of staged changes. It is 0 for other ranges, and without a work tree.
func (r *Repo) Uncommitted(ctx context.Context, rg Range) (int, error) {
	if !r.hasWorkTree() || rg.Kind == Worktree || rg.Kind == Branch {
		return 0, nil
	}
	if rg.Uncommitted != nil {
		return *rg.Uncommitted, nil
	}
	from, err := r.head(ctx)
	if err != nil || rg.HeadCommit != from.commit {
		return 0, err
	}
	x, err := r.copyIndex(from)
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(x.dir)
	d, err := r.dirty(ctx, x, nil)
	if err != nil {
		return 0, err
	}
	if rg.Kind == Staged {
		d.staged = nil
	}
	paths := map[string]bool{}
	for _, c := range slices.Concat(d.staged, d.changed) {
		paths[c.path] = true
	}
	for _, path := range d.untracked { // also one that only the index has lost
		paths[path] = true
	}
	return len(paths) + d.more, nil
}
