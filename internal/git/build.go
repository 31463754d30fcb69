package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/precedent-dev/precedent"
)

// builder makes a tree from another one and a list of changes, with one git process that writes all new
// objects of a snapshot to one file in the shadow. Remove a path before adding a path below it.
type builder struct{ to *bufio.Writer }

// build makes a tree from head's, with the changes that fill writes, and returns its id.
func (r *Repo) build(ctx context.Context, from head, fill func(*builder) error) (string, error) {
	in, out := io.Pipe()
	filled := make(chan error, 1)
	go func() {
		w := &builder{bufio.NewWriterSize(out, 64<<10)}
		fmt.Fprintf(w.to, "commit refs/heads/snapshot\ncommitter <> 0 +0000\ndata 0\n")
		if from.commit != "" {
			fmt.Fprintf(w.to, "from %s\n", from.commit)
		}
		err := fill(w)
		if err == nil {
			// The root's line is last: git writes it after reading everything.
			fmt.Fprintf(w.to, "ls \"\"\ndone\n")
			err = w.to.Flush()
		}
		out.CloseWithError(err)
		filled <- err
	}()
	said, err := r.run(ctx,
		call{op: opSnapshot, stdin: in, args: []string{"fast-import", "--quiet", "--done", "--force"}}, configBytes)
	in.Close() // unblocks a writer without a reader
	// An error from fill is the cause, unless git was stopped first.
	if fillErr := <-filled; fillErr != nil && !errors.Is(fillErr, io.ErrClosedPipe) &&
		(err == nil || exitCode(err) >= 0) {
		return "", asError(opSnapshot, fillErr)
	}
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(said))
	switch {
	case len(fields) == 3 && fields[1] == "tree" && r.hash.valid(fields[2]):
		return fields[2], nil
	case len(fields) > 0 && fields[0] == "missing": // the tree is empty
		return r.hash.emptyTree(), nil
	}
	return "", &Error{Op: opSnapshot, Msg: "git did not name a tree: " + printable(string(said))}
}

func (w *builder) staged(changes []change) {
	for _, c := range changes {
		if !c.conflict && c.newMode == "" {
			w.remove(c.path)
		}
	}
	for _, c := range changes {
		if !c.conflict && c.newMode != "" {
			w.put(c.newMode, c.newID, c.path)
		}
	}
}

// put adds a file whose content is an object already.
func (w *builder) put(mode, id, path string) {
	fmt.Fprintf(w.to, "M %s %s %s\n", mode, id, precedent.QuotePath(path))
}

// remove takes a path out of the tree. It does nothing if the path is not there.
func (w *builder) remove(path string) {
	fmt.Fprintf(w.to, "D %s\n", precedent.QuotePath(path))
}

func (w *builder) add(path, mode string, data []byte) error {
	fmt.Fprintf(w.to, "M %s inline %s\ndata %d\n", mode, precedent.QuotePath(path), len(data))
	if _, err := w.to.Write(data); err != nil {
		return err
	}
	return w.to.WriteByte('\n')
}

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
