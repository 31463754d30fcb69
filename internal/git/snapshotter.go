package git

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
)

// snapshotter collects the contents of a snapshot of the work tree, and what it leaves out.
type snapshotter struct {
	repo    *Repo
	index   index
	skipped []precedent.SkippedFile
	total   int64
}

// takeSnapshot reads the new files and those that may have changed, and passes them to w.
func (s *snapshotter) takeSnapshot(ctx context.Context, w *builder, changed []change, untracked []string) error {
	attrs, err := s.attributes(ctx, changed, untracked)
	if err != nil {
		return err
	}
	tree, err := openWorkTree(s.repo.place.top)
	if err != nil {
		return err
	}
	defer tree.close()
	// A folder may have replaced a file: remove deleted files first.
	for _, c := range changed {
		if there, err := tree.has(c.path); err != nil {
			return err
		} else if !there {
			w.remove(c.path)
		}
	}
	for _, path := range untracked {
		changed = append(changed, change{path: path})
	}
	for _, c := range changed {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, why, err := s.lookAt(tree, c.path, attrs[c.path])
		switch {
		case err != nil:
			return err
		case why != "":
			s.skipped = append(s.skipped, skipped(c.path, why))
		case f.kind != missing:
			if err := s.store(ctx, w, c, f, attrs[c.path]); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookAt reads a file, or returns why it is not in the snapshot.
func (s *snapshotter) lookAt(tree *workTree, path string, a attributes) (f workFile, why string, err error) {
	if !isPlain(path) { // git ends a folder's name with a slash
		return f, "another repository inside this one", nil
	}
	if why := UnsafePath(path); why != "" {
		return f, why, nil
	}
	left := workTotalBytes - s.total
	if f, err = tree.read(path, min(workFileBytes, left)); err != nil {
		return f, "", err
	}
	switch fileIsThere := f.kind == regular || f.tooLarge; {
	case fileIsThere && hasValue(a.filter):
		return f, "its filter " + printable(a.filter) + " is not run", nil
	case fileIsThere && hasValue(a.encoding):
		return f, "its encoding " + printable(a.encoding) + " is not converted", nil
	case f.tooLarge && left < workFileBytes:
		return f, "changed files of more than " + sizeText(workTotalBytes) + " in total", nil
	}
	return f, f.why, nil
}

// hasValue reports whether an attribute is set to a text.
func hasValue(value string) bool {
	switch value {
	case "", "set", "unset", "unspecified":
		return false
	}
	return true
}

// store adds a file in the form that git would store, unless the index already has it in that form.
func (s *snapshotter) store(ctx context.Context, w *builder, c change, f workFile, a attributes) error {
	mode := linkMode
	if f.kind == regular {
		mode = s.mode(c, f)
		var err error
		f.data, err = toRepository(f.data, a, s.repo.config.find("core.autocrlf"),
			func() ([]byte, error) { return s.former(ctx, c) })
		if err != nil {
			return err
		}
	}
	if !c.conflict && c.mode == mode && c.id == s.repo.blobID(f.data) {
		return nil
	}
	s.total += int64(len(f.data))
	return w.add(c.path, mode, f.data)
}

// mode returns a regular file's mode in the repository. If the file system has no modes, the index decides.
func (s *snapshotter) mode(c change, f workFile) string {
	if slices.Contains([]string{plainMode, executableMode, linkMode}, c.newMode) {
		return c.newMode
	}
	return ModeOf(f.executable && !s.noFileMode())
}

func (s *snapshotter) noFileMode() bool {
	value := s.repo.config.repository("core.filemode")
	return value != "" && !isTruthy(value)
}

// former returns the content of the file in the index; nil if it has none.
func (s *snapshotter) former(ctx context.Context, c change) ([]byte, error) {
	if c.id == "" || c.mode == submoduleMode {
		return nil, nil
	}
	data, err := s.repo.Blobs(ctx).ReadID(c.id, workFileBytes)
	if err != nil {
		return nil, nil //nolint:nilerr // git also treats missing content as none
	}
	return data, nil
}

// attributes asks git for the files' attributes in the work tree's .gitattributes.
func (s *snapshotter) attributes(
	ctx context.Context, changed []change, untracked []string,
) (map[string]attributes, error) {
	var paths strings.Builder
	for _, c := range changed {
		paths.WriteString(c.path + "\x00")
	}
	for _, path := range untracked {
		paths.WriteString(path + "\x00")
	}
	if paths.Len() == 0 {
		return nil, nil
	}
	c := s.index.call(append([]string{"check-attr", "-z", "--stdin"}, attributeNames...)...)
	c.stdin = strings.NewReader(paths.String())
	out, err := s.repo.run(ctx, c, int64(paths.Len()+256)*int64(2*len(attributeNames))+configBytes)
	if err != nil {
		return nil, err
	}
	return readAttributes(out), nil
}

// lineEnds is how git converts a file's line endings when it is added.
type lineEnds int

const (
	keep    lineEnds = iota
	convert          // CRLF becomes LF
	guess            // the same, for files that look like text and have no CRLF in the index
)

// rule returns git's rule for a file, from its attributes and core.autocrlf; see
// gitattributes(5), "End-of-line conversion", and convert_attrs in git's convert.c.
func (a attributes) rule(autocrlf string) lineEnds {
	for _, value := range []string{a.text, a.crlf} { // crlf is the older name of text
		switch value {
		case "set", "input":
			return convert
		case "unset":
			return keep
		case "auto":
			return guess
		}
	}
	switch {
	case a.eol == "lf" || a.eol == "crlf":
		return convert
	case autocrlf == "input" || isTruthy(autocrlf):
		return guess
	}
	return keep
}

var expandedID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$Id:[^$\n]*\$`) })

// toRepository converts a file's content to the form that git would store, for
// conversions that are built into git: line endings and $Id$. It runs no filter.
// former is called only if the rule depends on the former content.
func toRepository(data []byte, a attributes, autocrlf string, former func() ([]byte, error)) ([]byte, error) {
	rule := a.rule(autocrlf)
	if rule != keep && bytes.Contains(data, []byte("\r\n")) {
		if rule == guess {
			old, err := former()
			if err != nil {
				return nil, err
			}
			if looksBinary(data) || bytes.Contains(old, []byte("\r\n")) && !looksBinary(old) {
				rule = keep
			}
		}
		if rule != keep {
			data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		}
	}
	if a.ident == "set" {
		data = expandedID().ReplaceAll(data, []byte("$$Id$$"))
	}
	return data, nil
}

// looksBinary is git's test before it converts line endings: a NUL, a lone carriage
// return, or more than one odd byte per 128 printable ones.
func looksBinary(data []byte) bool {
	plain, odd := 0, 0
	for i, c := range data {
		switch {
		case c == 0:
			return true
		case c == '\r':
			if i+1 >= len(data) || data[i+1] != '\n' {
				return true
			}
		case c == '\n':
		case c == '\b' || c == '\t' || c == '\f' || c == 0x1b:
			plain++
		case c < ' ' || c == 0x7f:
			odd++
		default:
			plain++
		}
	}
	if n := len(data); n > 0 && data[n-1] == 0x1a {
		odd--
	}
	return plain>>7 < odd
}
