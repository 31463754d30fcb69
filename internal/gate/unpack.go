package gate

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
)

var errLarge = errors.New("more files than a cache may have")

// unpackTree writes an archive from a sandbox to a folder: regular files, folders, and links that do not
// lead out of it, since what made the archive was in the same sandbox as hostile packages (T28).
func unpackTree(in io.Reader, to string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	links := map[string]bool{}
	return eachEntry(in, errLarge, func(header *tar.Header, content io.Reader) error {
		name := path.Clean(header.Name)
		for dir := path.Dir(name); len(links) > 0 && dir != "." && dir != "/"; dir = path.Dir(dir) {
			if links[dir] { // what leads up from here leads elsewhere
				return fmt.Errorf("unpack %.60q: it is below a link", header.Name)
			}
		}
		if err := unpackOne(root, header, content); err != nil {
			return fmt.Errorf("unpack %.60q: %w", header.Name, err)
		}
		if header.Typeflag == tar.TypeSymlink {
			links[name] = true
		}
		return nil
	})
}

// eachEntry calls use for each entry of an archive, in order. More than mostFiles of them are the error
// tooMany.
func eachEntry(in io.Reader, tooMany error, use func(header *tar.Header, content io.Reader) error) error {
	archive := tar.NewReader(in)
	for n := 0; ; n++ {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n == mostFiles {
			return tooMany
		}
		if err := use(header, archive); err != nil {
			return err
		}
	}
}

func unpackOne(root *os.Root, header *tar.Header, content io.Reader) error {
	name := filepath.FromSlash(path.Clean(header.Name))
	if !filepath.IsLocal(name) {
		return errors.New("not a local path")
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeReg:
		if err := writeIn(root, name, content); err != nil {
			return err
		}
		if header.Mode&0o111 != 0 {
			return root.Chmod(name, 0o755)
		}
		return nil
	case tar.TypeSymlink:
		at := path.Join(path.Dir(filepath.ToSlash(name)), header.Linkname) //nolint:gosec // checked in the next line
		if path.IsAbs(header.Linkname) || !filepath.IsLocal(filepath.FromSlash(at)) {
			return errors.New("a link leads out of the folder")
		}
		// What is above a folder is not what its words say if that is a link: clean, it only goes up first.
		return root.Symlink(path.Clean(header.Linkname), name)
	case tar.TypeLink:
		to := filepath.FromSlash(path.Clean(header.Linkname))
		if isLink(root, to) { // elsewhere it would lead elsewhere
			return errors.New("a hard link of a link")
		}
		return root.Link(to, name)
	}
	return nil // devices and the like are left out
}

func isLink(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}
