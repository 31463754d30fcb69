package git

import (
	"context"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
)

// History lists the last twenty commits that changed a file, newest first, starting
// at a revision (the full id of a commit): date, author, subject.
func (r *Repo) History(ctx context.Context, rev, path string) (precedent.Untrusted, error) {
	const op = "read history"
	if !r.hash.valid(rev) || !isPlain(path) {
		return "", &Error{Op: op, Msg: "not a commit id, or not a path in the tree"}
	}
	c := call{op: op, args: []string{
		"log", "--format=%as %an: %s", "--no-color", "--no-decorate", "--no-notes", "--no-mailmap",
		"--no-show-signature", "--max-count=20", "--end-of-options", rev, "--", path,
	}}
	text, err := r.start(ctx, c, logBytes)
	return messages(text), err
}

// historyBytes holds a million ids of 64 digits.
const historyBytes = 65 << 20

// FirstParents lists a commit and its ancestors along the first parents, newest first,
// at most n. In a shallow clone the list ends at the boundary.
func (r *Repo) FirstParents(ctx context.Context, revision string, n int) ([]string, error) {
	ids, err := r.commits(ctx, revision)
	if err != nil {
		return nil, err
	}
	out, err := r.run(ctx, call{op: "list history", args: []string{
		"rev-list", "--first-parent", "--max-count=" + strconv.Itoa(n), "--end-of-options", ids[0],
	}}, historyBytes)
	return strings.Fields(string(out)), err
}

const maxBranches = "1000"

// Branches returns the short names of branches, those of remotes, and tags, the newest first, at most 1,000.
func (r *Repo) Branches(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, call{op: "list branches", view: real, args: []string{
		"for-each-ref", "--count=" + maxBranches, "--sort=-creatordate", "--format=%(refname:short)", "refs/heads",
		"refs/remotes", "refs/tags",
	}}, configBytes)
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}
