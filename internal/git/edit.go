package git

import (
	"context"
	"fmt"
)

// Edit is a change of one regular file of a tree.
type Edit struct {
	Path    string
	Content []byte
	Mode    string // 100644 or 100755
	Delete  bool   // Content and Mode do not matter
}

const opEdit = "edit tree"

// EditTree returns the tree of a revision (the full id of a commit or a tree) with the edits, and
// nothing else changed: it compares both trees. Nothing is checked out. New objects are in the
// shadow, which is temporary, until they are pushed.
func (r *Repo) EditTree(ctx context.Context, rev string, edits []Edit) (string, error) {
	if !r.hash.valid(rev) {
		return "", &Error{Op: opEdit, Msg: "not a commit or tree id: " + printable(rev)}
	}
	for _, e := range edits {
		switch why := UnsafePath(e.Path); {
		case why != "":
			return "", &Error{Op: opEdit, Msg: printable(e.Path) + ": " + why}
		case !e.Delete && e.Mode != plainMode && e.Mode != executableMode:
			return "", &Error{Op: opEdit, Msg: printable(e.Path) + ": not the mode of a file: " + printable(e.Mode)}
		}
	}
	from, err := r.treeOf(ctx, opEdit, rev)
	if err != nil {
		return "", err
	}
	to, err := r.build(ctx, head{}, func(w *builder) error {
		if from != r.hash.emptyTree() {
			fmt.Fprintf(w.to, "M 040000 %s \"\"\n", from)
		}
		for _, e := range edits {
			if e.Delete {
				w.remove(e.Path)
			}
		}
		for _, e := range edits {
			if e.Delete {
				continue
			}
			if err := w.add(e.Path, e.Mode, e.Content); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return to, r.onlyEdited(ctx, from, to, edits)
}

// treeOf returns the tree of a commit, or the tree itself, by its full id.
func (r *Repo) treeOf(ctx context.Context, op, rev string) (string, error) {
	o, err := r.objects().find(ctx, op, rev+"^{tree}")
	if err == nil && o.id == "" {
		err = &Error{Op: op, Msg: "the clone lacks the tree of " + rev, Err: ErrNotFound}
	}
	return o.id, err
}

// The modes of regular files.
const (
	plainMode      = "100644"
	executableMode = "100755"
)

// onlyEdited returns an error if two trees differ in anything but the edits.
func (r *Repo) onlyEdited(ctx context.Context, from, to string, edits []Edit) error {
	changes, err := r.changes(ctx, call{op: opEdit, args: []string{
		"diff-tree", "-r", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none",
		"--end-of-options", from, to,
	}})
	if err != nil {
		return err
	}
	asked := map[string]Edit{}
	for _, e := range edits {
		asked[e.Path] = e
	}
	for _, c := range changes {
		e, ok := asked[c.path]
		if !ok || e.Delete != (c.newMode == "") ||
			!e.Delete && (c.newMode != e.Mode || c.newID != r.blobID(e.Content)) {
			return &Error{Op: opEdit, Msg: printable(c.path) + " would change in another way than it should"}
		}
	}
	return nil
}

// ModeOf returns the mode of a file; executable tells whether anybody may run it.
func ModeOf(executable bool) string {
	if executable {
		return executableMode
	}
	return plainMode
}
