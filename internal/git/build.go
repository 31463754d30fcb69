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
			fmt.Fprintf(w.to, "M %s %s %s\n", c.newMode, c.newID, precedent.QuotePath(c.path))
		}
	}
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
