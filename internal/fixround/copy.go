package fixround

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/secret"
)

// Copy is the private copy of a tree for one task: regular files only, credentials redacted, without
// files that configure git or agents. Close it.
type Copy struct {
	Dir string

	repo *git.Repo
	tree string
	had  map[string]file // everything of the tree, by path
	// folders are those of the tree, and names all its paths, by what [folded] makes of them.
	folders map[string]bool
	names   map[string]string
}

// file is an entry of the tree.
type file struct {
	git.Entry
	shown bool     // it is in the copy
	sum   [32]byte // of what was put there
}

// maxCopied bounds a file of the copy: no larger one is fixed.
const maxCopied = 1 << 20

// Open exports a tree or the tree of a commit to a new folder below temp, or the system's folder if
// that is empty.
func Open(ctx context.Context, repo *git.Repo, tree, temp string) (*Copy, error) {
	dir, err := os.MkdirTemp(temp, "precedent-fix-")
	if err != nil {
		return nil, fmt.Errorf("copy tree: %w", err)
	}
	c := &Copy{
		Dir: dir, repo: repo, tree: tree, had: map[string]file{}, folders: map[string]bool{}, names: map[string]string{},
	}
	if err := c.fill(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close removes the copy.
func (c *Copy) Close() error { return os.RemoveAll(c.Dir) }

func (c *Copy) fill(ctx context.Context) error {
	entries, err := c.repo.Tree(ctx, c.tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		c.had[e.Path] = file{Entry: e}
		c.names[folded(e.Path)] = e.Path
		for dir := path.Dir(e.Path); dir != "." && !c.folders[dir]; dir = path.Dir(dir) {
			c.folders[dir] = true
			c.names[folded(dir)] = dir
		}
	}
	left, err := c.repo.Export(ctx, c.tree, c.Dir, git.ExportLimits{
		FileBytes: maxCopied, Writable: true, Leave: engine.Leave,
		Rewrite: func(p string, content []byte) []byte {
			shown := secret.RedactFile(p, content)
			f := c.had[p]
			f.shown, f.sum = true, sha256.Sum256(shown)
			c.had[p] = f
			return shown
		},
	})
	if err != nil {
		return err
	}
	for _, s := range left { // also what this system could not write
		f := c.had[s.Path]
		f.shown = false
		c.had[s.Path] = f
	}
	return nil
}

// state is what the engine left in the copy.
type state struct {
	files  map[string]found
	failed refusal
}

// found is a regular file in the copy.
type found struct {
	executable bool
	content    []byte // nil if it is as it was
}

// maxAdded bounds the files that may have been added to a copy before reading it is given up.
const maxAdded = 1_000

// read reads the copy: everything in it, by paths below its root, without following a link.
func (c *Copy) read(ctx context.Context) (state, error) {
	s := state{files: map[string]found{}}
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return s, fmt.Errorf("read copy: %w", err)
	}
	defer func() { _ = root.Close() }()
	seen := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if seen++; seen > len(c.had)+len(c.folders)+maxAdded {
			s.failed.add("more than %d files were added", maxAdded)
			return fs.SkipAll
		}
		switch {
		case name == ".":
		case d.IsDir():
			if strings.EqualFold(d.Name(), ".git") {
				s.failed.add("%s: a repository", shown(name))
				return fs.SkipDir
			}
		case d.Type()&fs.ModeSymlink != 0:
			s.failed.add("%s: a symbolic link", shown(name))
		case !d.Type().IsRegular():
			s.failed.add("%s: not a regular file", shown(name))
		default:
			return c.readFile(root, name, d, &s)
		}
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("read copy: %w", err)
	}
	return s, nil
}

// readFile reads one file, and keeps its content if it changed.
func (c *Copy) readFile(root *os.Root, name string, d fs.DirEntry, s *state) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	f := found{executable: info.Mode().Perm()&0o111 != 0}
	if info.Size() > maxCopied {
		s.failed.add("%s: larger than %d KiB", shown(name), maxCopied>>10)
		return nil
	}
	data, err := root.ReadFile(name)
	if err != nil {
		return err
	}
	if len(data) > maxCopied {
		s.failed.add("%s: larger than %d KiB", shown(name), maxCopied>>10)
		return nil
	}
	if had, ok := c.had[name]; !ok || !had.shown || sha256.Sum256(data) != had.sum {
		f.content = append([]byte{}, data...)
	}
	s.files[name] = f
	return nil
}
