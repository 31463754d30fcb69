package fix

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Apply makes the edits in the work tree whose topmost folder is dir. It checks first that every file is
// still as it was planned for, and writes nothing if one is not. A file is replaced in one step and keeps its
// permissions. After an error, the plan has only the files that were changed.
func (p *Plan) Apply(dir string) error {
	files := p.files
	p.files = nil
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("apply fixes: %w", err)
	}
	defer root.Close()
	for _, f := range files {
		if err := p.check(f); err != nil {
			return fmt.Errorf("apply fixes: %s: %w; nothing was changed", f.path, err)
		}
	}
	for i, f := range files {
		err := p.check(f)
		if err == nil {
			err = f.replace(root)
		}
		if err != nil {
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

// check reads the file as it was read for the plan.
func (p *Plan) check(f *file) error {
	data, err := p.now(f.path)
	switch {
	case err != nil:
		return fmt.Errorf("%w (%w)", errNoFile, err)
	case !bytes.Equal(data, f.data):
		return errChanged
	}
	return nil
}

// replace writes a temporary file and renames it over the old one.
func (f *file) replace(root *os.Root) (err error) {
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
