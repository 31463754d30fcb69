package git

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
)

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
		if e.Mode != "100644" || !slices.Contains(files, folder+"/"+name) {
			return false
		}
	}
	return err == nil && len(entries) > 0
}
