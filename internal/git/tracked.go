package git

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
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
	shared := sync.OnceValue(func() bool { return r.hasOnly(ctx, start.tree, folder, allowed) })
	for _, c := range []call{
		{op: op, args: []string{"ls-tree", "-z", "--full-tree", "--name-only", "--end-of-options", start.tree}},
		{op: op, view: real, args: []string{"ls-files", "-z", "--cached", "--full-name"}},
	} {
		found, last := "", ""
		err := r.stream(ctx, c, func(out io.Reader) error {
			for in := bufio.NewReader(out); found == ""; {
				path, err := readNUL(in)
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return err
				}
				for top := range strings.FieldsFuncSeq(path, isSlash) {
					if (top != last || top == folder) && sameName(top, folder) && !slices.Contains(allowed, path) &&
						(path != folder || !shared()) {
						found = path
					}
					last = top
					break
				}
			}
			return nil
		})
		if found != "" || err != nil {
			return printable(found), err
		}
	}
	return "", nil
}

// hasOnly tells whether a folder of a tree has some of these regular files and nothing else.
func (r *Repo) hasOnly(ctx context.Context, tree, folder string, files []string) bool {
	entries, err := r.list(ctx, tree, folder, len(files)+1, false)
	return err == nil && len(entries) > 0 && !slices.ContainsFunc(entries, func(e Entry) bool {
		return e.Mode != "100644" || !slices.Contains(files, e.Path)
	})
}
