package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Limits of a snapshot of the work tree.
const (
	workFileBytes  = 8 << 20   // of one file
	workTotalBytes = 128 << 20 // of all changed files
	untrackedFiles = 5000      // untracked files
	indexBytes     = 1 << 30   // of the index, or of one part of a split index
)

const opSnapshot = "take a snapshot"

func (r *Repo) staged(ctx context.Context) (Range, error) {
	if r.place.top == "" {
		return Range{}, bareError()
	}
	head, err := r.head(ctx)
	if err != nil {
		return Range{}, err
	}
	x, err := r.copyIndex()
	if err != nil {
		return Range{}, err
	}
	defer os.RemoveAll(x.dir)
	changes, err := r.changes(ctx, r.stagedCall(x, head))
	if err != nil {
		return Range{}, err
	}
	for _, c := range changes {
		if c.conflict {
			return Range{}, hinted(opSnapshot, "some files have unresolved conflicts",
				"resolve and stage them (git add), or review the work tree as it is (--worktree)")
		}
	}
	rg := head.snapshot(Staged, "staged changes")
	rg.Head, err = r.build(ctx, head, func(w *builder) error {
		w.staged(changes)
		return nil
	})
	return rg, err
}

func (r *Repo) worktree(ctx context.Context) (Range, error) {
	if r.place.top == "" {
		return Range{}, bareError()
	}
	if elsewhere := r.configuredWorkTree(); elsewhere != "" {
		return Range{}, hinted(opRange,
			"core.worktree names "+printable(elsewhere)+", which is not the folder with .git",
			"review what is staged (--staged) or commits instead")
	}
	head, err := r.head(ctx)
	if err != nil {
		return Range{}, err
	}
	return r.snapshot(ctx, head)
}

func bareError() *Error {
	return hinted(opRange, "the repository is bare: it has no work tree", "review a range of commits: A..B")
}

// configuredWorkTree returns the work tree that the configuration names, if it is not the one that was found.
func (r *Repo) configuredWorkTree() string {
	dir := r.config.repository("core.worktree")
	if dir == "" || r.place.linked {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.place.gitDir, dir)
	}
	if sameFile(dir, r.place.top) {
		return ""
	}
	return dir
}

// head is the start of a snapshot: HEAD, or the empty tree before the first commit.
type head struct{ commit, tree string }

func (r *Repo) head(ctx context.Context) (head, error) {
	found, err := r.peel(ctx, opRange, "HEAD^{commit}", "HEAD^{tree}")
	if err != nil {
		return head{}, err
	}
	if found[0].id == "" {
		return head{tree: r.hash.emptyTree()}, nil
	}
	return head{found[0].id, found[1].id}, nil
}

// snapshot returns a range that starts at h. Its end is still missing.
func (h head) snapshot(k Kind, name string) Range {
	rg := Range{Kind: k, Base: h.commit, BaseCommit: h.commit, HeadCommit: h.commit, BaseName: "HEAD", HeadName: name}
	if h.commit == "" {
		rg.Base, rg.BaseName = h.tree, emptyTreeName
	}
	return rg
}

// index is a copy of the user's index, in a folder of the shadow.
type index struct{ dir, file string }

// copyIndex copies the user's index, so that git never writes to it.
func (r *Repo) copyIndex() (index, error) {
	const op = "copy index"
	dir, err := os.MkdirTemp(r.shadow, "index-")
	if err != nil {
		return index{}, &Error{Op: op, Msg: err.Error(), Err: err}
	}
	x := index{dir: dir, file: filepath.Join(dir, "index")}
	from := r.options.Index
	switch {
	case from == "":
		from = filepath.Join(r.place.gitDir, "index")
	case !filepath.IsAbs(from):
		from = filepath.Join(r.place.top, from)
	}
	err = copyRegular(from, x.file, indexBytes)
	if errors.Is(err, fs.ErrNotExist) && r.options.Index == "" {
		err = nil // nothing has been staged yet
	}
	// A split index keeps most of its entries in files with this name.
	parts, _ := filepath.Glob(filepath.Join(globQuote(filepath.Dir(from)), "sharedindex.*"))
	for _, part := range parts {
		if err == nil {
			err = copyRegular(part, filepath.Join(r.shadow, filepath.Base(part)), indexBytes)
		}
	}
	if err != nil {
		os.RemoveAll(dir)
		return index{}, &Error{Op: op, Msg: printable(err.Error()), Err: err}
	}
	return x, nil
}

// globQuote escapes a folder's name for use in a pattern.
func globQuote(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// copyRegular copies a file with its modification time: git compares the times of
// index entries with that of the index.
func copyRegular(from, to string, max int64) error {
	in, fi, err := openRegular(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if fi.Size() > max {
		return fmt.Errorf("%s: %w: %d bytes", from, ErrTooLarge, fi.Size())
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, max))
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Chtimes(to, fi.ModTime(), fi.ModTime())
}

// snapshot returns a range up to the state of the work tree.
func (r *Repo) snapshot(ctx context.Context, from head) (Range, error) {
	rg := from.snapshot(Worktree, "working tree")
	rg.Head = from.tree
	x, err := r.copyIndex()
	if err != nil {
		return Range{}, err
	}
	defer os.RemoveAll(x.dir)
	d, err := r.dirty(ctx, x, from)
	if err != nil {
		return Range{}, err
	}
	if d.clean() {
		return rg, nil
	}
	s := &snapshotter{repo: r, index: x}
	rg.Head, err = r.build(ctx, from, func(w *builder) error {
		w.staged(d.staged)
		return s.takeSnapshot(ctx, w, d.changed, d.untracked.paths)
	})
	if err != nil {
		return Range{}, err
	}
	rg.Skipped = s.skipped
	if d.untracked.more > 0 {
		rg.Skipped = append(rg.Skipped, skipped(".", fmt.Sprintf(
			"%d more untracked files: only %d are read; add folders with generated files to .gitignore",
			d.untracked.more, untrackedFiles,
		)))
	}
	return rg, nil
}

// dirtyState is what differs between HEAD, the index and the work tree.
type dirtyState struct {
	staged, changed []change
	untracked       newFiles
}

func (d dirtyState) clean() bool { return len(d.staged)+len(d.changed)+len(d.untracked.paths) == 0 }

// dirty asks git, with three processes in parallel, what is staged, which files may have changed and which
// are new. Git compares times and sizes and rarely reads a file.
func (r *Repo) dirty(ctx context.Context, x index, from head) (dirtyState, error) {
	var (
		d    dirtyState
		errs [3]error
		wait sync.WaitGroup
	)
	here := call{
		op: opSnapshot, set: r.fileSystem(), dir: r.place.top,
		env: []string{"GIT_INDEX_FILE=" + x.file, "GIT_WORK_TREE=" + r.place.top},
	}
	changed, others := here, here
	changed.args = []string{"diff-files", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=all"}
	others.args = []string{"ls-files", "-z", "--others", "--exclude-standard"}
	others.set = append(others.set, "core.excludesFile="+r.userExcludes())
	exclude := filepath.Join(x.dir, "exclude")
	err := copyRegular(filepath.Join(r.place.commonDir, "info", "exclude"), exclude, adminBytes)
	if err == nil {
		others.args = append(others.args, "--exclude-from="+exclude)
	} else if !errors.Is(err, fs.ErrNotExist) && !isBadName(err) {
		return dirtyState{}, &Error{Op: opSnapshot, Msg: printable(err.Error()), Err: err}
	}
	wait.Go(func() { d.staged, errs[0] = r.changes(ctx, r.stagedCall(x, from)) })
	wait.Go(func() { d.changed, errs[1] = r.changes(ctx, changed) })
	wait.Go(func() {
		errs[2] = r.stream(ctx, others, func(out io.Reader) (err error) {
			d.untracked, err = readNewFiles(bufio.NewReader(out))
			return err
		})
	})
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return dirtyState{}, err
		}
	}
	return d, nil
}

// stagedCall lists what is staged.
func (r *Repo) stagedCall(x index, from head) call {
	return call{op: opSnapshot, env: []string{"GIT_INDEX_FILE=" + x.file}, args: []string{
		"diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none",
		"--ita-invisible-in-index", "--end-of-options", from.tree,
	}}
}

func (r *Repo) changes(ctx context.Context, c call) (changes []change, err error) {
	err = r.stream(ctx, c, func(out io.Reader) error {
		var err error
		changes, err = readChanges(bufio.NewReader(out))
		return err
	})
	return changes, err
}

// fileSystem returns the repository's settings about its file system, which only affect comparisons.
func (r *Repo) fileSystem() []string {
	var set []string
	for _, key := range []string{"filemode", "symlinks", "ignorecase", "precomposeunicode", "trustctime"} {
		if value := r.config.repository("core." + key); value != "" {
			set = append(set, fmt.Sprintf("core.%s=%t", key, isTruthy(value)))
		}
	}
	if r.config.repository("core.checkstat") == "minimal" {
		set = append(set, "core.checkStat=minimal")
	}
	return set
}

func (r *Repo) userExcludes() string {
	name := r.config.find("core.excludesfile", "global")
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(r.options.Home, rest)
	}
	if name == "" && r.options.Home != "" {
		name = filepath.Join(r.configHome(), "git", "ignore")
	}
	if fi, err := os.Stat(name); err != nil || !fi.Mode().IsRegular() {
		return os.DevNull
	}
	return name
}
