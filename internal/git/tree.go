package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
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

// Tree lists the files of a revision (the full id of a commit or a tree; an empty one
// has none) below prefix, which is a folder's path or empty for all files. It returns
// none if prefix has no files.
func (r *Repo) Tree(ctx context.Context, rev, prefix string) ([]Entry, error) {
	return r.list(ctx, rev, prefix, treeEntries, false)
}

// list is Tree with a limit on the number of files, and optionally with their sizes.
func (r *Repo) list(ctx context.Context, rev, prefix string, most int, sizes bool) ([]Entry, error) {
	prefix = strings.TrimSuffix(prefix, "/")
	switch {
	case rev == "" || prefix != "" && !isPlain(prefix):
		return nil, nil
	case !r.hash.valid(rev):
		return nil, &Error{Op: opTree, Msg: "not a commit or tree id: " + printable(strconv.Quote(rev))}
	}
	args := []string{"ls-tree", "-r", "-z", "--full-tree"}
	if sizes {
		args = append(args, "-l")
	}
	args = append(args, "--end-of-options", rev)
	if prefix != "" {
		args = append(args, "--", prefix+"/")
	}
	var entries []Entry
	err := r.stream(ctx, call{op: opTree, args: args}, func(out io.Reader) error {
		in := bufio.NewReader(out)
		for {
			line, err := readNUL(in)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil && len(entries) == most {
				err = fmt.Errorf("more than %d files", most)
			}
			if err == nil {
				var e Entry
				// With a prefix below a submodule, git lists the submodule itself.
				if e, err = parseEntry(line); prefix == "" || strings.HasPrefix(e.Path, prefix+"/") {
					entries = append(entries, e)
				}
			}
			if err != nil {
				return &Error{Op: opTree, Msg: err.Error(), Err: err}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// argumentBytes bounds the paths in the arguments of one process. Windows allows 32,767
// characters for all arguments, which escapes can double.
const argumentBytes = 16_000

// Lookup returns what is at the paths of a revision, by path: files, folders (of the type
// tree), links and submodules. Paths at which there is nothing are missing, as are those
// that are longer than argumentBytes: no file system has them.
func (r *Repo) Lookup(ctx context.Context, rev string, paths ...string) (map[string]Entry, error) {
	found := map[string]Entry{}
	if rev == "" {
		return found, nil
	}
	for batch := range batches(paths) {
		out, err := r.run(ctx, call{op: opTree, args: append([]string{"ls-tree", "-t", "-z", "--full-tree", "--end-of-options", rev, "--"}, batch...)}, configBytes)
		if err != nil {
			return nil, err
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if e, err := parseEntry(line); err == nil && slices.Contains(batch, e.Path) { // folders above are listed, too
				found[e.Path] = e
			}
		}
	}
	return found, nil
}

// batches yields the paths in groups that fit into the arguments of one process.
func batches(paths []string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		var batch []string
		size := 0
		for _, p := range paths {
			if len(p) > argumentBytes {
				continue
			}
			if size += len(p) + 1; size > argumentBytes && len(batch) > 0 {
				if !yield(batch) {
					return
				}
				batch, size = nil, len(p)+1
			}
			batch = append(batch, p)
		}
		if len(batch) > 0 {
			yield(batch)
		}
	}
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
