//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// copyTree fills Work. It runs inside the sandbox, so no link leads outside.
func (o order) copyTree() error {
	return filepath.WalkDir(tree, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := Work + strings.TrimPrefix(name, tree)
		if slices.Contains(o.Occupied, target) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		switch {
		case d.IsDir():
			if err := makeFolder(target); err != nil {
				return err
			}
		case d.Type()&fs.ModeSymlink != 0:
			text, err := os.Readlink(name)
			if err == nil {
				err = os.Symlink(text, target) //nolint:gosec // nothing else runs in the sandbox yet
			}
			if err != nil {
				return err
			}
		case d.Type().IsRegular():
			if err := copyFile(name, target); err != nil {
				return err
			}
		default:
			return nil
		}
		return o.giveToUser(target)
	})
}

func copyFile(name, target string) error {
	in, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Chtimes(target, info.ModTime(), info.ModTime()) // make compares them
	}
	return err
}

func (o order) giveToUser(name string) error {
	if o.User == 0 {
		return nil
	}
	return os.Lchown(name, o.User, o.User)
}
