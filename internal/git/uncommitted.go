package git

import (
	"bytes"
	"context"
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
	from, err := r.head(ctx)
	if err != nil || rg.HeadCommit != from.commit {
		return 0, err
	}
	now, err := r.snapshot(ctx, from)
	if err != nil {
		return 0, err
	}
	held := from.tree
	if rg.Kind == Staged {
		held = rg.Head
	}
	if now.Head == held {
		return len(now.Skipped), nil
	}
	out, err := r.run(ctx, call{op: opSnapshot, args: []string{
		"diff-tree", "-r", "-z", "--name-only", "--no-renames", "--end-of-options", held, now.Head,
	}}, maxNames)
	return bytes.Count(out, []byte{0}) + len(now.Skipped), err
}

// maxNames limits the names of changed files, in bytes: 128 MiB of files, which a
// snapshot can have, in files of eight bytes.
const maxNames = 16 << 20
