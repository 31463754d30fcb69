package git

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// workTree reads files in a folder, and nothing outside it (T11): a checked-out branch of somebody
// else may have links, and files in place of which a FIFO blocks.
type workTree struct{ root *os.Root }

func openWorkTree(top string) (*workTree, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	return &workTree{root}, nil
}

func (w *workTree) close() { w.root.Close() }

// fileKind is what is at a path.
type fileKind int

const (
	missing fileKind = iota // nothing, a folder, or a path through a link
	regular                 // data is its content
	link                    // data is the target of the symbolic link
)

type workFile struct {
	kind       fileKind
	data       []byte
	executable bool
	// why is why the content was not read; empty if it was. It is also set for tooLarge files.
	why      string
	tooLarge bool
}

// lookAt returns information about a path, which uses slashes, without following a
// link in any component. It returns nil if there is nothing, or a folder.
func (w *workTree) lookAt(name string) (fs.FileInfo, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if fi, err := w.root.Lstat(filepath.FromSlash(dir)); err != nil || !fi.IsDir() {
			return nil, unlessMissing(err)
		}
	}
	fi, err := w.root.Lstat(filepath.FromSlash(name))
	if err != nil || fi.IsDir() {
		return nil, unlessMissing(err)
	}
	return fi, nil
}

// has reports whether there is anything except a folder at a path.
func (w *workTree) has(name string) (bool, error) {
	fi, err := w.lookAt(name)
	return fi != nil, err
}

// read reads what is at a path. It checks every component before it opens anything, so it follows no link. It
// opens without blocking, so a FIFO or device in the file's place cannot delay it. The opened file must be
// the checked one. A file with several hard links is refused, because another link may be outside.
func (w *workTree) read(name string, max int64) (workFile, error) {
	seen, err := w.lookAt(name)
	if seen == nil {
		return workFile{}, err
	}
	name = filepath.FromSlash(name)
	switch mode := seen.Mode(); {
	case mode&fs.ModeSymlink != 0:
		text, err := w.root.Readlink(name)
		if err != nil {
			return workFile{why: "changed while it was read"}, nil //nolint:nilerr // the reason is the result
		}
		return workFile{kind: link, data: []byte(text)}, nil
	case !mode.IsRegular():
		return workFile{why: "not a regular file"}, nil
	case links(seen) > 1:
		return workFile{why: "the file has more than one name (hard links)"}, nil
	case seen.Size() > max:
		return tooLarge(max), nil
	}
	return w.content(name, seen, max)
}

// content reads a file that was checked to be regular.
func (w *workTree) content(name string, seen fs.FileInfo, max int64) (workFile, error) {
	f, err := w.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return workFile{why: "permission denied"}, nil
	case err != nil:
		return workFile{}, unlessMissing(err)
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil || !opened.Mode().IsRegular() || !os.SameFile(seen, opened) {
		return workFile{why: "changed while it was read"}, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return workFile{why: "reading it failed: " + printable(err.Error())}, nil
	}
	if int64(len(data)) > max {
		return tooLarge(max), nil
	}
	return workFile{kind: regular, data: data, executable: opened.Mode()&0o100 != 0}, nil
}

func tooLarge(max int64) workFile {
	return workFile{tooLarge: true, why: "larger than " + sizeText(max)}
}

// unlessMissing returns err, or nil if err means that the file does not exist.
func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || isBadName(err) {
		return nil
	}
	return err
}

// isBadName reports errors about impossible names: below a file, or too long.
func isBadName(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EINVAL)
}
