package git

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
)

// ExportLimits limit an export. A zero field means its default.
type ExportLimits struct {
	Files     int   // default 100,000; more files are an error
	FileBytes int64 // default 8 MiB; larger files are skipped
	Bytes     int64 // default 1 GiB in total; files beyond it are skipped
	// Shared makes the files readable for other users, for a sandbox with a user of its own.
	Shared bool
	// Writable makes the files writable for this user: the export is to be edited.
	Writable bool
	// Leave, if not nil, returns why a file is skipped; empty if it is not.
	Leave func(path string) string
	// Links makes links of links if their targets are below dir, as far as their words tell.
	// Only a sandbox should read such a folder.
	Links bool
	// Rewrite, if not nil, returns the content to write for a file.
	Rewrite func(path string, content []byte) []byte
}

const opExport = "export tree"

// Export writes the files of a revision (the full id of a commit or a tree) to dir, which must exist and
// should be empty. Contents are written as stored, without filters or line ending conversion. Everything
// becomes a read-only regular file: links become files with the link's target unless limits say otherwise,
// submodules are skipped, and so is every path that would leave dir or enter a git folder on any system
// (T11). A writable export has no links, because an edited one would become a file. It returns the skipped files, with
// reasons.
func (r *Repo) Export(
	ctx context.Context, rev, dir string, limits ExportLimits,
) (left []precedent.SkippedFile, err error) {
	if limits.Files <= 0 {
		limits.Files = 100_000
	}
	if limits.FileBytes <= 0 {
		limits.FileBytes = 8 << 20
	}
	if limits.Bytes <= 0 {
		limits.Bytes = 1 << 30
	}
	entries, err := r.listWhole(ctx, rev, limits.Files)
	if err != nil {
		return nil, err
	}
	var chosen []Entry
	total := int64(0)
	for _, e := range entries {
		why := UnsafePath(e.Path)
		switch {
		case why != "":
		case e.Type != "blob":
			why = "a submodule"
		case e.size == unknownSize:
			why = ErrMissing.Error()
		case limits.Leave != nil && limits.Leave(e.Path) != "":
			why = limits.Leave(e.Path)
		case limits.Writable && e.Mode == linkMode:
			why = "a symbolic link"
		case e.size > limits.FileBytes:
			why = "larger than " + sizeText(limits.FileBytes)
		case total+e.size > limits.Bytes:
			why = "more than " + sizeText(limits.Bytes) + " in total"
		}
		if why != "" {
			left = append(left, skipped(e.Path, why))
			continue
		}
		total += e.size
		chosen = append(chosen, e)
	}
	if len(chosen) == 0 {
		return left, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &Error{Op: opExport, Msg: err.Error(), Err: err}
	}
	defer root.Close()
	x := exporter{
		root: root, made: map[string]bool{".": true}, rewrite: limits.Rewrite, skipped: left, mask: 0o077,
		links: limits.Links,
	}
	if limits.Shared {
		x.mask = 0
	}
	if limits.Writable {
		x.more = 0o200
	}
	for len(chosen) > 0 {
		n, size := 0, int64(0)
		for n < min(len(chosen), exportPart) && size < exportPartBytes {
			size += chosen[n].size
			n++
		}
		part := chosen[:n]
		err := r.objects().readAll(ctx, opExport, part, func(in *bufio.Reader) error { return x.write(in, part) })
		if err != nil {
			return x.skipped, err
		}
		chosen = chosen[n:]
	}
	err = x.makeLinks()
	return x.skipped, err
}

// What is read at once: between two parts, others can use the process for objects.
const (
	exportPart      = 1000 // files
	exportPartBytes = 8 << 20
)

type exporter struct {
	root    *os.Root
	made    map[string]bool // folders created so far
	rewrite func(path string, content []byte) []byte
	skipped []precedent.SkippedFile
	mask    fs.FileMode   // the permissions that nobody gets
	more    fs.FileMode   // permissions of files besides reading and executing
	links   bool          // make links
	pending []pendingLink // made after all files, so that no file is written through one
}

// write reads the blobs in the order of the entries: "id blob size", a newline, the content, a newline.
func (x *exporter) write(in *bufio.Reader, entries []Entry) error {
	for _, e := range entries {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		if want := e.ID + " blob " + strconv.FormatInt(e.size, 10) + "\n"; line != want {
			return &Error{
				Op:  opExport,
				Msg: "git wrote " + printable(strconv.Quote(line)) + " where " + printable(e.Path) + " was expected",
			}
		}
		content := make([]byte, e.size+1)
		if _, err := io.ReadFull(in, content); err != nil {
			return err
		}
		content = content[:e.size]
		if x.links && e.Mode == linkMode && x.keepLink(e, string(content)) {
			continue
		}
		why, err := x.file(e, content)
		if err != nil {
			return &Error{Op: opExport, Msg: printable(err.Error()), Err: err}
		}
		if why != "" {
			x.skipped = append(x.skipped, skipped(e.Path, why))
		}
	}
	return nil
}

// file writes one file, or returns why it cannot be written.
func (x *exporter) file(e Entry, content []byte) (string, error) {
	if err := x.folder(path.Dir(e.Path)); err != nil {
		return unwritable(err)
	}
	mode := fs.FileMode(0o444)
	if e.Mode == executableMode {
		mode = 0o555
	}
	// Never overwrite a file: names that differ in the tree may be equal on this system.
	f, err := x.root.OpenFile(filepath.FromSlash(e.Path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode&^x.mask|x.more)
	if err != nil {
		return unwritable(err)
	}
	if x.rewrite != nil {
		content = x.rewrite(e.Path, content)
	}
	_, err = f.Write(content)
	return "", errors.Join(err, f.Close())
}

type pendingLink struct{ name, target string }

const mostTarget = 4096

// keepLink keeps a link for later, and reports whether it may: its target must be below the folder.
func (x *exporter) keepLink(e Entry, text string) bool {
	local := filepath.FromSlash(path.Join(path.Dir(e.Path), text))
	if text == "" || len(text) > mostTarget || strings.ContainsAny(text, "\x00\\") || path.IsAbs(text) ||
		!filepath.IsLocal(local) {
		return false
	}
	x.pending = append(x.pending, pendingLink{e.Path, text})
	return true
}

func (x *exporter) makeLinks() error {
	for _, l := range x.pending {
		err := x.folder(path.Dir(l.name))
		if err == nil {
			err = x.root.Symlink(filepath.FromSlash(l.target), filepath.FromSlash(l.name))
		}
		if err != nil {
			why, err := unwritable(err)
			if err != nil {
				return &Error{Op: opExport, Msg: printable(err.Error()), Err: err}
			}
			x.skipped = append(x.skipped, skipped(l.name, why))
		}
	}
	return nil
}

func (x *exporter) folder(dir string) error {
	if x.made[dir] {
		return nil
	}
	if err := x.root.MkdirAll(filepath.FromSlash(dir), 0o755&^x.mask); err != nil {
		return err
	}
	x.made[dir] = true
	return nil
}

// unwritable distinguishes a name that is invalid on this system from errors such as a full disk.
func unwritable(err error) (string, error) {
	var p *fs.PathError
	if errors.Is(err, fs.ErrExist) || isBadName(err) {
		if errors.As(err, &p) {
			err = p.Err
		}
		return "this system cannot write it: " + err.Error(), nil
	}
	return "", err
}
