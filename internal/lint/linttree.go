package lint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/precedent-dev/precedent/internal/sandbox"
	"github.com/precedent-dev/precedent/internal/secret"
)

// maxTreeFile is the size of the largest file of a tree that is read, in bytes.
const maxTreeFile = 8 << 20

// lintTree makes the folder that linters see: the head, with the trusted configuration.
type lintTree struct {
	in      *Input
	globs   []string        // of configuration files
	sources []string        // globs of files that linters check
	configs map[string]bool // configuration files, and those that they extend
	scratch []string        // folders to remove
	head    string          // folder; empty until it is needed
	edited  []string        // configuration files that the change edits
	mods    []sandbox.Mount
	// differing are the files that are not the same in the head and the trusted commit.
	differing []string
}

// modules returns the modules that linters for Go can read: those in the trusted
// go.sum files.
func (t *lintTree) modules() ([]sandbox.Mount, error) {
	if t.mods != nil {
		return t.mods, nil
	}
	dir, err := t.newFolder()
	if err != nil {
		return nil, err
	}
	var sums []byte
	err = filepath.WalkDir(t.head, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() != "go.sum" && d.Name() != "go.work.sum" {
			return err
		}
		rel, err := filepath.Rel(t.head, name)
		if err != nil {
			return err
		}
		data, err := t.in.Trusted.Read(filepath.ToSlash(rel))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		sums = append(append(sums, data...), '\n')
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the trusted go.sum: %w", err)
	}
	cache := filepath.Join(dir, "mod")
	mounts, err := chooseModules(t.in.Go.moduleCache(), cache, sums)
	t.mods = append([]sandbox.Mount{{Source: cache, Target: goModCache}}, mounts...)
	return t.mods, err
}

// newFolder creates a temporary folder.
func (t *lintTree) newFolder() (string, error) {
	dir, err := os.MkdirTemp("", "precedent-lint-")
	if err != nil {
		return "", fmt.Errorf("make temporary folder: %w", err)
	}
	t.scratch = append(t.scratch, dir)
	return dir, nil
}

func (t *lintTree) close() {
	for _, dir := range t.scratch {
		_ = os.RemoveAll(dir) // at worst a temporary folder stays behind
	}
}

// forHead returns a folder with the head, in which configuration files are replaced
// with the trusted ones.
func (t *lintTree) forHead(ctx context.Context) (string, error) {
	if t.head != "" {
		return t.head, nil
	}
	dir, err := t.copyOf(ctx)
	if err != nil {
		return "", err
	}
	if t.differing, err = t.in.Trusted.Differing(ctx); err != nil {
		return "", fmt.Errorf("find the trusted configuration: %w", err)
	}
	if t.configs, err = t.findConfigs(dir); err != nil {
		return "", fmt.Errorf("find the configuration: %w", err)
	}
	for _, name := range t.differing {
		if !t.configs[name] {
			continue
		}
		if err := replace(dir, name, t.in.Trusted.Read); err != nil {
			return "", err
		}
	}
	for i := range t.in.Change.Files {
		if f := &t.in.Change.Files[i]; t.isReplaced(f.Path) || t.isReplaced(f.OldPath) {
			t.edited = append(t.edited, f.Path)
		}
	}
	t.head = dir
	return dir, nil
}

// isReplaced reports whether linters see the trusted version of a file.
func (t *lintTree) isReplaced(name string) bool {
	return t.configs[name] && slices.Contains(t.differing, name)
}

// replace replaces a file of a folder with what read returns for it, or removes it if there
// is nothing. Files that hold credentials are empty, as in all trees for
// programs.
func replace(dir, name string, read func(string) ([]byte, error)) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil
	}
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.RemoveAll(file); err != nil {
		return fmt.Errorf("restore %s: %w", name, err)
	}
	data, err := read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s to restore it: %w", name, err)
	}
	if secret.Private(name) {
		data = nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // the sandbox's user reads it
		return fmt.Errorf("restore %s: %w", name, err)
	}
	if err := os.WriteFile(file, data, 0o444); err != nil { //nolint:gosec // as above
		return fmt.Errorf("restore %s: %w", name, err)
	}
	return nil
}

// copyOf creates a folder with the head's files, readable for everyone. Where the
// file system allows it, they are hard links to the export. Files are never written
// in place: a file that differs replaces the link.
func (t *lintTree) copyOf(ctx context.Context) (string, error) {
	from, err := t.in.Tree(ctx)
	if err != nil {
		return "", fmt.Errorf("export the head: %w", err)
	}
	dir, err := t.newFolder()
	if err != nil {
		return "", err
	}
	err = filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		switch {
		case d.IsDir():
			if err := os.MkdirAll(to, 0o755); err != nil { //nolint:gosec // the sandbox's user reads it
				return err
			}
			return os.Chmod(to, 0o755) //nolint:gosec // as above; the temporary folder is private by default
		case !d.Type().IsRegular():
			return nil
		}
		return linkOrCopy(name, to)
	})
	if err != nil {
		return "", fmt.Errorf("copy the head: %w", err)
	}
	return dir, nil
}

func linkOrCopy(from, to string) error {
	if info, err := os.Stat(from); err == nil && info.Mode().Perm()&0o004 != 0 && os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444) //nolint:gosec // the sandbox's user reads it
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// readInTree reads a regular file of a tree of at most maxTreeFile, nil if it
// cannot.
func readInTree(dir, name string) []byte {
	file := filepath.Join(dir, filepath.FromSlash(name))
	info, err := os.Lstat(file)
	if dir == "" || err != nil || !filepath.IsLocal(filepath.FromSlash(name)) || !info.Mode().IsRegular() ||
		info.Size() > maxTreeFile {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return data
}

// hasConfig reports whether the root of a tree has a file that matches one of the
// globs.
func hasConfig(dir string, globs []string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return matches(globs, e.Name()) })
}
