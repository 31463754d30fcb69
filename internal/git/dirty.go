package git

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// longestPath is the length limit of a path: eight times the limit of Linux.
const longestPath = 32 << 10

// readNUL returns the next text that ends with NUL.
func readNUL(in *bufio.Reader) (string, error) {
	var text []byte
	for {
		part, err := in.ReadSlice(0)
		text = append(text, part...)
		switch {
		case len(text) > longestPath:
			return "", fmt.Errorf("git wrote a path of more than %d bytes", longestPath)
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

// newFiles are the untracked files that are not ignored.
type newFiles struct {
	paths []string
	more  int // number of files left out
}

// readNewFiles reads the output of ls-files --others -z. It counts all names and keeps the first ones.
func readNewFiles(in *bufio.Reader) (newFiles, error) {
	var found newFiles
	for {
		path, err := readNUL(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return newFiles{}, err
		}
		if len(found.paths) == untrackedFiles {
			found.more++
			continue
		}
		found.paths = append(found.paths, path)
	}
	return found, nil
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
