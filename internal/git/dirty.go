package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// longestPath is the length limit of a path: eight times the limit of Linux.
const longestPath = 32 << 10

// readNUL returns the next text that ends with NUL.
func readNUL(in *bufio.Reader) (string, error) { return readUntil(in, 0, longestPath) }

// readUntil returns the text up to the next byte of a kind, at most some bytes.
func readUntil(in *bufio.Reader, end byte, most int) (string, error) {
	var text []byte
	for {
		part, err := in.ReadSlice(end)
		text = append(text, part...)
		switch {
		case len(text) > most:
			return "", fmt.Errorf("%w: a line of more than %d bytes", errOutput, most)
		case err == nil:
			return string(text[:len(text)-1]), nil
		case errors.Is(err, io.EOF) && len(text) > 0:
			return "", io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// change is a file that differs between HEAD and the index, or may differ between the
// index and the work tree.
type change struct {
	path     string
	mode, id string // before; empty if absent, "our" side for a file with conflicts
	// newMode is empty if the file was deleted; newID is set for the index only.
	newMode, newID string
	conflict       bool
}

// changedFiles limits the number of tracked files that look changed.
const changedFiles = 200_000

// readChanges reads a raw diff: ":oldmode newmode oldid newid status", then the path,
// each ended by NUL. A file with conflicts has a second record, for our side.
func readChanges(in *bufio.Reader) ([]change, error) {
	at := map[string]int{}
	var changes []change
	for {
		head, err := readNUL(in)
		if errors.Is(err, io.EOF) {
			return changes, nil
		}
		if err != nil {
			return nil, err
		}
		path, err := readNUL(in)
		if err != nil {
			return nil, err
		}
		f := strings.Fields(strings.TrimPrefix(head, ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git wrote %q where a changed file was expected", printable(head))
		}
		i, ok := at[path]
		if !ok {
			if len(changes) >= changedFiles {
				return nil, fmt.Errorf("more than %d files look changed", changedFiles)
			}
			i = len(changes)
			at[path] = i
			changes = append(changes, change{path: path})
		}
		c := &changes[i]
		if f[4] == "U" {
			c.conflict = true
			continue
		}
		c.mode, c.newMode, c.id, c.newID = unlessZero(f[0]), unlessZero(f[1]), unlessZero(f[2]), unlessZero(f[3])
	}
}

// unlessZero turns the zeros that git writes for "none" into an empty text.
func unlessZero(field string) string {
	if strings.Trim(field, "0") == "" {
		return ""
	}
	return field
}

// dirtyState is what differs between HEAD, the index and the work tree.
type dirtyState struct {
	staged, changed []change
	untracked       []string // files that are not ignored
	more            int      // untracked files that are left out
}

func (d dirtyState) clean() bool { return len(d.staged)+len(d.changed)+len(d.untracked) == 0 }

// readStatus reads the output of status --porcelain=v2 -z --no-renames. A record ends with NUL, and starts with
// "1 XY sub mH mI mW hH hI path", with the modes and ids in HEAD, the index and the work tree, for a file with
// conflicts "u XY sub m1 m2 m3 mW h1 h2 h3 path", and for a new one "? path".
func readStatus(in *bufio.Reader) (dirtyState, error) {
	var d dirtyState
	for {
		line, err := readNUL(in)
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err != nil {
			return d, err
		}
		path, untracked := strings.CutPrefix(line, "? ")
		switch {
		case untracked && len(d.untracked) < untrackedFiles:
			d.untracked = append(d.untracked, path)
		case untracked:
			d.more++
		case len(d.staged)+len(d.changed) >= changedFiles:
			return d, fmt.Errorf("more than %d files look changed", changedFiles)
		case !d.add(line):
			return d, fmt.Errorf("git wrote %q where a changed file was expected", printable(line))
		}
	}
}

// add adds a file that is not new. It leaves out what is not committed in a submodule.
func (d *dirtyState) add(line string) bool {
	if f := strings.SplitN(line, " ", 11); f[0] == "u" && len(f) == 11 {
		d.changed = append(d.changed, change{
			path: f[10], mode: unlessZero(f[4]), id: unlessZero(f[8]), newMode: unlessZero(f[6]), conflict: true,
		})
		return true
	}
	f := strings.SplitN(line, " ", 9)
	if f[0] != "1" || len(f) != 9 || len(f[1]) != 2 {
		return false
	}
	for i := 3; i < 8; i++ {
		f[i] = unlessZero(f[i])
	}
	if f[1][0] != '.' {
		d.staged = append(d.staged, change{path: f[8], mode: f[3], id: f[6], newMode: f[4], newID: f[7]})
	}
	if f[1][1] != '.' && (f[4] != submoduleMode || f[5] != "" && f[5] != submoduleMode) {
		d.changed = append(d.changed, change{path: f[8], mode: f[4], id: f[7], newMode: f[5]})
	}
	return true
}

// attributes are the attributes in .gitattributes that decide a file's form in the
// repository. Values are "set", "unset", "unspecified" or text.
type attributes struct{ text, crlf, eol, filter, ident, encoding string }

// attributeNames is the order in which the attributes are requested.
var attributeNames = []string{"text", "crlf", "eol", "filter", "ident", "working-tree-encoding"}

// readAttributes reads the output of check-attr -z: path, attribute, value, each ended by NUL.
func readAttributes(out []byte) map[string]attributes {
	all := map[string]attributes{}
	for record := range slices.Chunk(bytes.Split(out, []byte{0}), 3) {
		if len(record) < 3 {
			break
		}
		path, value := string(record[0]), string(record[2])
		a := all[path]
		for i, field := range []*string{&a.text, &a.crlf, &a.eol, &a.filter, &a.ident, &a.encoding} {
			if attributeNames[i] == string(record[1]) {
				*field = value
			}
		}
		all[path] = a
	}
	return all
}

// Work names the line of work that a range belongs to: reviews of the same one can be
// compared. It is the branch for everything up to the state of the work tree, whether
// committed or not; left is what Uncommitted returned.
func (r *Repo) Work(ctx context.Context, rg Range, left int) (string, error) {
	from, err := r.head(ctx)
	if err != nil {
		return "", err
	}
	work := "range " + rg.BaseName + ".." + rg.HeadName
	switch {
	case rg.HeadCommit != from.commit:
	case left == 0:
		work = "branch " + r.branch(ctx)
	case rg.Kind == Staged:
		work = "staged " + r.branch(ctx)
	default:
		work = "commits " + r.branch(ctx)
	}
	if len(rg.Paths) > 0 {
		work += "\x00" + strings.Join(rg.Paths, "\x00")
	}
	return work, nil
}

// Uncommitted counts the files with changes in the work tree that a range up to HEAD
// leaves out: all uncommitted ones, or those that are not staged completely for a range
// of staged changes. It is 0 for other ranges, and without a work tree.
func (r *Repo) Uncommitted(ctx context.Context, rg Range) (int, error) {
	if !r.hasWorkTree() || rg.Kind == Worktree || rg.Kind == Branch {
		return 0, nil
	}
	if rg.Uncommitted != nil {
		return *rg.Uncommitted, nil
	}
	from, err := r.head(ctx)
	if err != nil || rg.HeadCommit != from.commit {
		return 0, err
	}
	x, err := r.copyIndex(from)
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(x.dir)
	d, err := r.dirty(ctx, x, nil)
	if err != nil {
		return 0, err
	}
	if rg.Kind == Staged {
		d.staged = nil
	}
	paths := map[string]bool{}
	for _, c := range slices.Concat(d.staged, d.changed) {
		paths[c.path] = true
	}
	for _, path := range d.untracked { // also one that only the index has lost
		paths[path] = true
	}
	return len(paths) + d.more, nil
}
