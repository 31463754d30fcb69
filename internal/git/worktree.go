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

// workTree reads files below a folder and nothing else.
type workTree struct{ root *os.Root }

func openWorkTree(top string) (*workTree, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	return &workTree{root}, nil
}

func (w *workTree) close() { w.root.Close() }

// fileKind is what lies at a path.
type fileKind int

const (
	gone    fileKind = iota // nothing, a folder, or a path that leads through a link
	regular                 // data is its content
	link                    // data is the text of the symbolic link
)

// workFile is what was found at a path.
type workFile struct {
	kind       fileKind
	data       []byte
	executable bool
	// why says why the content was not read; empty if it was. A tooLarge file
	// has that as its reason.
	why      string
	tooLarge bool
}

// lookAt looks at a path, which uses slashes, without following a link in any
// of its components. It is nil if there is nothing, or a folder.
func (w *workTree) lookAt(name string) (fs.FileInfo, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if fi, err := w.root.Lstat(filepath.FromSlash(dir)); err != nil || !fi.IsDir() {
			return nil, notThere(err)
		}
	}
	fi, err := w.root.Lstat(filepath.FromSlash(name))
	if err != nil || fi.IsDir() {
		return nil, notThere(err)
	}
	return fi, nil
}

// has tells whether there is anything but a folder at a path.
func (w *workTree) has(name string) (bool, error) {
	fi, err := w.lookAt(name)
	return fi != nil, err
}

// read looks at a path and reads what is there. Every component is looked at
// before anything is opened, so no link is followed; opening does not wait, so
// a FIFO or device that is put in the file's place holds nobody up; and what
// was opened must be what was looked at. A file with other names is refused,
// because one of them may lie outside.
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
			return workFile{why: "changed while it was read"}, nil //nolint:nilerr // the reason is the answer
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

// content reads a file that was seen to be regular.
func (w *workTree) content(name string, seen fs.FileInfo, max int64) (workFile, error) {
	f, err := w.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return workFile{why: "permission denied"}, nil
	case err != nil:
		return workFile{}, notThere(err)
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

// notThere passes on errors but those that mean that there is nothing.
func notThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) || isBadName(err) {
		return nil
	}
	return err
}

// isBadName tells errors about a name that no file can have here: below a
// file, or too long.
func isBadName(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EINVAL)
}
