package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
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

const opRoot = "find the root commit"

// RootCommit returns the id of the first commit in HEAD's history, along first parents. In
// a repository of 600,000 commits, reading all of them takes seconds, so the answer is kept
// in the cache folder, and only the commits since are read.
func (r *Repo) RootCommit(ctx context.Context) (string, error) {
	from, err := r.head(ctx)
	if err != nil {
		return "", err
	}
	if from.commit == "" {
		return "", noCommitsError(opRoot)
	}
	known := r.knownRoot()
	if known.head == from.commit {
		return known.root, nil
	}
	root := ""
	if known.head != "" {
		// Nothing is left if the histories meet, also if another branch is checked out.
		root, err = r.rootOf(ctx, "--exclude-first-parent-only", from.commit, "^"+known.head)
		if err == nil && root == "" {
			root = known.root
		}
	}
	if root == "" { // nothing is known, or a commit that is gone
		if root, err = r.rootOf(ctx, from.commit); err != nil {
			return "", err
		}
	}
	switch {
	case r.shallow[root]:
		return "", hinted(opRoot, "the clone is shallow: it lacks the first commit", r.deepen("--unshallow"))
	case !r.hash.valid(root):
		return "", &Error{Op: opRoot, Msg: "git did not name a commit"}
	}
	r.keepRoot(rooted{from.commit, root})
	return root, nil
}

// rootOf returns the commit without parents along the first parents of revisions; empty if there is none.
func (r *Repo) rootOf(ctx context.Context, revisions ...string) (string, error) {
	return r.line(ctx, opRoot, append([]string{"rev-list", "--first-parent", "--max-parents=0"}, revisions...)...)
}

type rooted struct{ head, root string }

func (r *Repo) rootFile() string {
	sum := sha256.Sum256([]byte(r.place.commonDir))
	return filepath.Join(r.options.Cache, "roots", hex.EncodeToString(sum[:16]))
}

// knownRoot returns what was kept; the zero value if that is nothing.
func (r *Repo) knownRoot() rooted {
	if r.options.Cache == "" {
		return rooted{}
	}
	data, err := readRegular(r.rootFile(), 1<<10)
	head, root, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	if err != nil || !r.hash.valid(head) || !r.hash.valid(root) {
		return rooted{}
	}
	return rooted{head, root}
}

// keepRoot keeps the answer for the next run. Without it, that takes longer.
func (r *Repo) keepRoot(known rooted) {
	name := r.rootFile()
	if r.options.Cache != "" && os.MkdirAll(filepath.Dir(name), 0o700) == nil {
		_ = replaceFile(name, known.head+" "+known.root+"\n")
	}
}

// replaceFile writes a file in one step: other processes may be reading it.
func replaceFile(name, text string) error {
	f, err := os.CreateTemp(filepath.Dir(name), "new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // unless it has got the other name
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
