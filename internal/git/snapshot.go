package git

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
	x, err := r.copyIndex(head)
	if err != nil {
		return Range{}, err
	}
	defer os.RemoveAll(x.dir)
	changes, err := r.changes(ctx, x.call(
		"diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none",
		"--ita-invisible-in-index", "--end-of-options", head.tree,
	))
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

func (r *Repo) worktree(ctx context.Context, paths []string) (Range, error) {
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
	return r.snapshot(ctx, head, paths)
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
	found, err := r.peel(ctx, "HEAD^{commit}", "HEAD^{tree}")
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

// index is a shadow with a copy of the user's index.
type index struct {
	repo *Repo
	dir  string
}

// copyIndex copies the user's index, so that git never writes to it. This shadow has a HEAD, and the ignored files and
// attributes of the repository. The first one lacks them, because they would change what a diff shows.
func (r *Repo) copyIndex(from head) (index, error) {
	const op = "copy index"
	dir, err := os.MkdirTemp(r.shadow, "index-")
	if err != nil {
		return index{}, &Error{Op: op, Msg: err.Error(), Err: err}
	}
	x := index{r, dir}
	user := r.options.Index
	switch {
	case user == "":
		user = filepath.Join(r.place.gitDir, "index")
	case !filepath.IsAbs(user):
		user = filepath.Join(r.place.top, user)
	}
	err = copyRegular(user, filepath.Join(dir, "index"), indexBytes)
	if errors.Is(err, fs.ErrNotExist) && r.options.Index == "" {
		err = nil // nothing has been staged yet
	}
	// A split index keeps most of its entries in files with this name.
	parts, _ := filepath.Glob(filepath.Join(globQuote(filepath.Dir(user)), "sharedindex.*"))
	for _, part := range parts {
		if err == nil {
			err = copyRegular(part, filepath.Join(dir, filepath.Base(part)), indexBytes)
		}
	}
	for _, name := range []string{"refs", "info"} {
		if err == nil {
			err = os.Mkdir(filepath.Join(dir, name), 0o700)
		}
	}
	for name, text := range map[string]string{"HEAD": cmp.Or(from.commit, noHead) + "\n", "config": r.shadowConfig()} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
		}
	}
	for _, name := range []string{"exclude", "attributes"} {
		if err == nil {
			err = x.copyInfo(name)
		}
	}
	if err != nil {
		os.RemoveAll(dir)
		return index{}, &Error{Op: op, Msg: printable(err.Error()), Err: err}
	}
	return x, nil
}

// copyInfo copies a file of the repository's info folder, if it is there.
func (x index) copyInfo(name string) error {
	part := filepath.Join("info", name)
	return unlessMissing(copyRegular(filepath.Join(x.repo.place.commonDir, part), filepath.Join(x.dir, part), adminBytes))
}

// call is a call that sees the index and the work tree.
func (x index) call(args ...string) call {
	top := x.repo.place.top
	return call{op: opSnapshot, dir: top, args: args, env: []string{
		"GIT_DIR=" + x.dir, "GIT_OBJECT_DIRECTORY=" + x.repo.shadowObjects(), "GIT_WORK_TREE=" + top,
	}}
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

// snapshot returns a range up to the state of the work tree at and below the paths; of all of it, if there are none.
func (r *Repo) snapshot(ctx context.Context, from head, paths []string) (Range, error) {
	rg := from.snapshot(Worktree, "working tree")
	rg.Head = from.tree
	x, err := r.copyIndex(from)
	if err != nil {
		return Range{}, err
	}
	defer os.RemoveAll(x.dir)
	d, err := r.dirty(ctx, x, paths)
	if err != nil {
		return Range{}, err
	}
	if d.clean() {
		return rg, nil
	}
	s := &snapshotter{repo: r, index: x}
	rg.Head, err = r.build(ctx, from, func(w *builder) error {
		w.staged(d.staged)
		return s.takeSnapshot(ctx, w, d.changed, d.untracked)
	})
	if err != nil {
		return Range{}, err
	}
	rg.Skipped = s.skipped
	if d.more > 0 {
		rg.Skipped = append(rg.Skipped, skipped(".", fmt.Sprintf(
			"%d more untracked files: only %d are read; add folders with generated files to .gitignore",
			d.more, untrackedFiles,
		)))
	}
	return rg, nil
}

// dirty asks git what is staged, which files may have changed and which are new. Git compares times and sizes, and
// reads a file if only its time has changed. Submodules are not looked into, whatever .gitmodules says of them:
// git would run another git there, which has the submodule's configuration.
func (r *Repo) dirty(ctx context.Context, x index, paths []string) (d dirtyState, err error) {
	c := x.call(append([]string{
		"status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty", "--",
	}, paths...)...)
	c.set = append(r.fileSystem(), "core.excludesFile="+r.userExcludes())
	err = r.stream(ctx, c, func(out io.Reader) (err error) {
		d, err = readStatus(bufio.NewReader(out))
		return err
	})
	return d, err
}

func (r *Repo) changes(ctx context.Context, c call) (changes []change, err error) {
	err = r.stream(ctx, c, func(out io.Reader) error {
		var err error
		changes, err = readChanges(bufio.NewReader(out))
		return err
	})
	return changes, err
}

// fileSystem returns the settings about the file system and line ends, which only affect comparisons.
func (r *Repo) fileSystem() []string {
	var set []string
	for _, key := range []string{"filemode", "symlinks", "ignorecase", "precomposeunicode", "trustctime"} {
		if value := r.config.repository("core." + key); value != "" {
			set = append(set, fmt.Sprintf("core.%s=%t", key, isTruthy(value)))
		}
	}
	if value := r.config.find("core.autocrlf"); value == "input" || isTruthy(value) {
		set = append(set, "core.autocrlf="+value)
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
