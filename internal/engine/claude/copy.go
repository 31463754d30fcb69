package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/precedent-dev/precedent/internal/engine"
)

// copies are the trees that agents work in, one for each original tree.
type copies struct {
	mu  sync.Mutex
	dir map[string]string // by the original's path
}

// copyOf returns the copy of a tree; that of an empty path is an empty folder.
func (c *copies) copyOf(ctx context.Context, tree string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if dir, ok := c.dir[tree]; ok {
		return dir, nil
	}
	dir, err := os.MkdirTemp("", "precedent-tree-")
	if err != nil {
		return "", err
	}
	if tree != "" {
		if err := copyTree(ctx, tree, dir); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	if c.dir == nil {
		c.dir = map[string]string{}
	}
	c.dir[tree] = dir
	return dir, nil
}

func (c *copies) remove() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, dir := range c.dir {
		errs = append(errs, os.RemoveAll(dir))
	}
	c.dir = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove copy of the tree: %w", err)
	}
	return nil
}

// copyTree copies regular files and folders except the steering ones. It omits links,
// so that nothing leads out of the copy.
func copyTree(ctx context.Context, from, to string) error {
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }()
	return fs.WalkDir(source.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case name == ".":
			return nil
		case engine.Steering(path.Base(name)) && d.IsDir():
			return fs.SkipDir
		case engine.Steering(path.Base(name)):
			return nil
		case d.IsDir():
			return target.Mkdir(name, 0o700)
		case d.Type().IsRegular():
			return copyFile(source, target, name)
		}
		return nil
	})
}

func copyFile(source, target *os.Root, name string) error {
	in, err := source.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := target.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
