package git

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Entry is a file of a tree.
type Entry struct {
	Mode string // six octal digits: 100644, 100755, 120000 (a link) or 160000 (a submodule)
	Type string // blob, or commit for a submodule
	ID   string
	Path string // from the tree's top, with slashes
	size int64  // of a blob, if requested; unknownSize if the clone lacks it
}

const unknownSize = -1

// treeEntries limits the files of a tree: one million.
const treeEntries = 1_000_000

// Tree lists the files of a revision: the full id of a commit or a tree; an empty one has none.
func (r *Repo) Tree(ctx context.Context, rev string) ([]Entry, error) {
	return r.list(ctx, rev, treeEntries, false)
}

// list is Tree with a limit on the number of files, and optionally with their sizes.
func (r *Repo) list(ctx context.Context, rev string, most int, sizes bool) ([]Entry, error) {
	switch {
	case rev == "":
		return nil, nil
	case !r.hash.valid(rev):
		return nil, &Error{Op: opTree, Msg: "not a commit or tree id: " + printable(strconv.Quote(rev))}
	}
	args := []string{"ls-tree", "-r", "-z", "--full-tree"}
	if sizes {
		args = append(args, "-l")
	}
	var entries []Entry
	err := r.stream(ctx, call{op: opTree, args: append(args, "--end-of-options", rev)}, func(out io.Reader) error {
		in := bufio.NewReader(out)
		for {
			line, err := readNUL(in)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil && len(entries) == most {
				err = fmt.Errorf("more than %d files", most)
			}
			var e Entry
			if err == nil {
				e, err = parseEntry(line)
			}
			if err != nil {
				return &Error{Op: opTree, Msg: err.Error(), Err: err}
			}
			entries = append(entries, e)
		}
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// Named returns a function that restores the name of a file of a revision. JSON, in which reviews are stored and forges
// answer, has U+FFFD for each byte of a name that is not UTF-8.
func (r *Repo) Named(ctx context.Context, rev string) func(path string) string {
	var names map[string]string
	return func(path string) string {
		if !strings.ContainsRune(path, utf8.RuneError) {
			return path
		}
		if names == nil {
			names = map[string]string{}
			entries, _ := r.Tree(ctx, rev) // else the file counts as gone
			for _, e := range entries {
				if !utf8.ValidString(e.Path) {
					names[string([]rune(e.Path))] = e.Path
				}
			}
		}
		return cmp.Or(names[path], path)
	}
}

// treeBytes limits one folder of a tree that is read here: 64 MiB, a million files.
const treeBytes = 64 << 20

// Lookup returns what is at the paths of a revision, by path: files, folders (of the type
// tree), links and submodules. Paths at which there is nothing are missing.
func (r *Repo) Lookup(ctx context.Context, rev string, paths ...string) (map[string]Entry, error) {
	found := map[string]Entry{}
	if rev == "" || len(paths) == 0 {
		return found, nil
	}
	folders := map[string]map[string]Entry{}
	open := func(name, at string) (err error) {
		if folders[at] == nil {
			folders[at], err = r.folder(ctx, name)
		}
		return err
	}
	if err := open(rev+":", ""); err != nil {
		return nil, err
	}
	for _, p := range paths {
		if !isPlain(p) {
			continue
		}
		at := ""
		for parts := strings.Split(p, "/"); ; parts = parts[1:] {
			e, ok := folders[at][parts[0]]
			if at = path.Join(at, parts[0]); !ok || len(parts) > 1 && e.Type != "tree" {
				break
			}
			if len(parts) == 1 {
				e.Path = p
				found[p] = e
				break
			}
			if err := open(e.ID, at); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// folder returns one folder of a tree, by name. If a name is there twice, the first counts, as for git.
func (r *Repo) folder(ctx context.Context, name string) (map[string]Entry, error) {
	entries, err := r.entries(ctx, name)
	named := make(map[string]Entry, len(entries))
	for _, e := range slices.Backward(entries) {
		named[e.Path] = e
	}
	return named, err
}

// entries reads one folder of a tree. The paths are names in it.
func (r *Repo) entries(ctx context.Context, name string) ([]Entry, error) {
	if name == "" {
		return nil, nil
	}
	o, data, err := r.objects().read(ctx, opTree, name, "tree", treeBytes)
	if err == nil && o.id == "" {
		err = &Error{Op: opTree, Msg: "the clone lacks the tree " + printable(name), Err: ErrNotFound}
	}
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for size := r.hash.size / 2; len(data) > 0; {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, file, ok2 := strings.Cut(string(head), " ")
		if !ok || !ok2 || len(rest) < size {
			return nil, &Error{Op: opTree, Msg: "git wrote a broken tree"}
		}
		e := Entry{Mode: fmt.Sprintf("%06s", mode), Type: "blob", ID: hex.EncodeToString(rest[:size]), Path: file}
		switch e.Mode {
		case "040000":
			e.Type = "tree"
		case submoduleMode:
			e.Type = "commit"
		}
		entries = append(entries, e)
		data = rest[size:]
	}
	return entries, nil
}

const opTree = "list tree"

// parseEntry reads "mode type id[ size]\tpath".
func parseEntry(line string) (Entry, error) {
	head, path, ok := strings.Cut(line, "\t")
	f := strings.Fields(head)
	if !ok || len(f) < 3 {
		return Entry{}, fmt.Errorf("git wrote %q where a file was expected", printable(line))
	}
	e := Entry{Mode: f[0], Type: f[1], ID: f[2], Path: path}
	if len(f) > 3 && f[3] == "BAD" { // git's word for a missing blob
		e.size = unknownSize
	} else if len(f) > 3 && f[3] != "-" {
		var err error
		if e.size, err = strconv.ParseInt(f[3], 10, 64); err != nil {
			return Entry{}, fmt.Errorf("git wrote %q where a size was expected", printable(f[3]))
		}
	}
	return e, nil
}

// Tracked finds files that a repository brings to pass for the memory of its user (T15). It returns a path that
// the checked-out commit or the index has at or below a folder of the top, whose name is in lower case and
// starts with a dot; empty if there is none. Names count that any file system takes for the folder's. The
// allowed paths, which are below the folder, do not count.
func (r *Repo) Tracked(ctx context.Context, folder string, allowed ...string) (string, error) {
	const op = "find tracked files"
	start, err := r.head(ctx)
	if err != nil {
		return "", err
	}
	last, same := "", false // paths are sorted: most have the same top
	isBelow := func(path string) bool {
		for top := range strings.FieldsFuncSeq(path, isSlash) {
			if top != last {
				last, same = top, sameName(top, folder)
			}
			return same
		}
		return false
	}
	root, err := r.folder(ctx, start.tree)
	if err != nil {
		return "", err
	}
	for name, e := range root {
		if isBelow(name) && (name != folder || !r.hasOnly(ctx, e.ID, folder, allowed)) {
			return printable(name), nil
		}
	}
	found := ""
	err = r.stream(ctx, call{op: op, view: real, args: []string{"ls-files", "-z", "--cached", "--full-name"}},
		func(out io.Reader) error {
			for in := bufio.NewReader(out); found == ""; {
				path, err := readNUL(in)
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return err
				}
				if isBelow(path) && !slices.Contains(allowed, path) {
					found = path
				}
			}
			return nil
		})
	return printable(found), err
}

// hasOnly tells whether a folder of a tree, with its id, has some of these regular files and nothing else.
func (r *Repo) hasOnly(ctx context.Context, id, folder string, files []string) bool {
	entries, err := r.folder(ctx, id)
	for name, e := range entries {
		if e.Mode != plainMode || !slices.Contains(files, folder+"/"+name) {
			return false
		}
	}
	return err == nil && len(entries) > 0
}
