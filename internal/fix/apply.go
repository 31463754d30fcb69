package fix

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Apply makes the edits in the work tree whose topmost folder is dir. It checks first that every file is
// still as it was planned for, and writes nothing if one is not. A file is replaced in one step and keeps its
// permissions. No link is followed: neither out of the folder nor within it. After an error, the plan has only the
// files that were changed.
func (p *Plan) Apply(dir string) error {
	files := p.files
	p.files = nil
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("apply fixes: %w", err)
	}
	defer root.Close()
	for _, f := range files {
		if err := f.check(root); err != nil {
			return fmt.Errorf("apply fixes: %s: %w; nothing was changed", f.path, err)
		}
	}
	for i, f := range files {
		if err := f.replace(root); err != nil {
			return fmt.Errorf("apply fixes: %s: %w; %d of %d files were changed", f.path, err, i, len(files))
		}
		p.files = files[:i+1]
	}
	return nil
}

var (
	errChanged = errors.New("it changed since it was read")
	errNoFile  = errors.New("it is not a regular file, or a folder of its path is a link")
)

// check looks at every component of the path, and at the content.
func (f *file) check(root *os.Root) error {
	for dir := path.Dir(f.path); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(filepath.FromSlash(dir)); err != nil || !info.IsDir() {
			return errors.Join(errNoFile, err)
		}
	}
	name := filepath.FromSlash(f.path)
	seen, err := root.Lstat(name)
	if err != nil || !seen.Mode().IsRegular() {
		return errors.Join(errNoFile, err)
	}
	if seen.Size() != int64(len(f.data)) {
		return errChanged
	}
	in, err := root.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	opened, err := in.Stat()
	if err != nil || !os.SameFile(seen, opened) {
		return errors.Join(errChanged, err)
	}
	data, err := io.ReadAll(io.LimitReader(in, seen.Size()+1))
	if err != nil {
		return err
	}
	if !bytes.Equal(data, f.data) {
		return errChanged
	}
	return nil
}

// replace writes a temporary file and renames it over the old one.
func (f *file) replace(root *os.Root) (err error) {
	if err := f.check(root); err != nil {
		return err
	}
	name := filepath.FromSlash(f.path)
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(name), ".precedent-"+rand.Text()+".tmp")
	out, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if gone := root.Remove(temp); !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
	}()
	_, err = out.Write(f.content())
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	if err = root.Chmod(temp, info.Mode().Perm()); err != nil {
		return err
	}
	return root.Rename(temp, name)
}
