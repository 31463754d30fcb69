package fixround

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// Change is what an engine changed, and that may be committed.
type Change struct {
	Tree  string // with the change; that of the copy if nothing changed
	Paths []string
	Patch []byte // as git prints it
	Lines int    // added and removed
}

// Empty tells whether nothing changed.
func (c Change) Empty() bool { return len(c.Paths) == 0 }

// Changes returns what was changed in the copy. An error is a *RefusalError if that may not be committed.
func (c *Copy) Changes(ctx context.Context, l Limits) (Change, error) {
	edits, err := c.edits(ctx, l)
	if err != nil {
		return Change{}, err
	}
	if len(edits) > l.Files {
		return Change{}, &RefusalError{[]string{fmt.Sprintf("%d files are changed; at most %d may be", len(edits), l.Files)}}
	}
	change, err := c.build(ctx, edits)
	if err == nil && change.Lines > l.Lines {
		err = &RefusalError{[]string{fmt.Sprintf("%d lines are changed; at most %d may be", change.Lines, l.Lines)}}
	}
	return change, err
}

// build makes the tree with the edits and compares it with the one of the copy.
func (c *Copy) build(ctx context.Context, edits []git.Edit) (Change, error) {
	change := Change{Tree: c.tree}
	if len(edits) == 0 {
		return change, nil
	}
	for _, e := range edits {
		change.Paths = append(change.Paths, e.Path)
	}
	var err error
	if change.Tree, err = c.repo.EditTree(ctx, c.tree, edits); err != nil {
		return change, err
	}
	var raw bytes.Buffer
	err = c.repo.Diff(ctx, git.Range{Base: c.tree, Head: change.Tree}, func(r io.Reader) error {
		parsed, err := diff.Parse(io.TeeReader(r, &raw), diff.DefaultLimits)
		if err == nil {
			change.Lines = parsed.Added + parsed.Removed
		}
		return err
	})
	if err != nil {
		return change, err
	}
	if i := bytes.Index(raw.Bytes(), []byte("\x00diff --git ")); i >= 0 {
		change.Patch = raw.Bytes()[i+1:]
	}
	return change, nil
}

// edits compares the copy with what was put there. Everything that is not allowed is a reason of
// the *RefusalError.
func (c *Copy) edits(ctx context.Context, l Limits) ([]git.Edit, error) {
	s, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	no := &s.failed
	blobs := c.repo.Blobs(ctx)
	var edits []git.Edit
	deleted := map[string]bool{}
	for _, p := range slices.Sorted(maps.Keys(c.had)) {
		if _, there := s.files[p]; there || !c.had[p].shown {
			continue
		}
		deleted[p] = true
		before, err := blobs.ReadID(c.had[p].ID, maxCopied)
		if err != nil {
			return nil, err
		}
		if why := cmp.Or(forbidden(p, l), notText(before)); why != "" {
			no.add("%s was deleted: %s", shown(p), why)
		}
		edits = append(edits, git.Edit{Path: p, Delete: true})
	}
	for _, p := range slices.Sorted(maps.Keys(s.files)) {
		f, had := s.files[p], c.had[p]
		if why := c.refuseKind(p, f, deleted); why != "" {
			no.add("%s: %s", shown(p), why)
			continue
		}
		if f.content == nil {
			continue
		}
		if why := forbidden(p, l); why != "" {
			no.add("%s: %s", shown(p), why)
			continue
		}
		var before []byte
		if had.shown {
			if before, err = blobs.ReadID(had.ID, maxCopied); err != nil {
				return nil, err
			}
		}
		content, why := committable(p, before, f.content)
		if why != "" {
			no.add("%s: %s", shown(p), why)
			continue
		}
		edits = append(edits, git.Edit{Path: p, Content: content, Mode: git.ModeOf(f.executable)})
	}
	return edits, no.err()
}

// refuseKind returns why a file in the copy is not of the kind that it was; empty if it is.
func (c *Copy) refuseKind(p string, f found, deleted map[string]bool) string {
	had, known := c.had[p]
	switch {
	case known && !had.shown:
		return "the tree has something else there, which is not a file to edit"
	case known && f.executable != (had.Mode == git.ModeOf(true)):
		return "whether it may be executed has changed"
	case known:
		return ""
	case f.executable:
		return "a new file that may be executed"
	case c.folders[p]:
		return "it replaces a folder"
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if _, isFile := c.had[dir]; isFile {
			return "it is below a file or a link"
		}
		if other, same := c.names[folded(dir)]; same && other != dir {
			return "its folder differs from another one only in case, or in the form of letters"
		}
	}
	if other, same := c.names[folded(p)]; same && !deleted[other] {
		return "its path differs from another one only in case, or in the form of letters"
	}
	return ""
}

// committable returns the content to commit for a file, which was shown with its credentials
// redacted, or why there is none.
func committable(p string, before, after []byte) (content []byte, why string) {
	if !isText(after) {
		return nil, "it is not text in UTF-8"
	}
	if isPointer(after) {
		return nil, pointer
	}
	if why = notText(before); why != "" {
		return nil, why
	}
	content, why = restore(p, before, after)
	if why != "" {
		return nil, why
	}
	if addsSecret(p, before, content) {
		return nil, "what was added looks like a credential"
	}
	return content, unreadable(before, content)
}

// pointer is why the pointer of a large file may not be changed: the large file is not part of the change.
const pointer = "it is a pointer of Git LFS"

// notText returns why the former content of a file may not be changed or deleted: nobody could read the
// change. It is empty for a file that was not there.
func notText(before []byte) string {
	switch {
	case !isText(before):
		return "it was not text in UTF-8"
	case isPointer(before):
		return pointer
	}
	return ""
}

func isText(content []byte) bool { return utf8.Valid(content) && !bytes.Contains(content, []byte{0}) }

func isPointer(content []byte) bool {
	return bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/"))
}

// maxAddedLine bounds an added line, in bytes: people have to read it.
const maxAddedLine = 4_000

// unreadable returns why people could not read what was added: it is not displayed as it is, or its
// lines are too long. Lines that were there before do not count.
func unreadable(before, after []byte) string {
	const mark = "\ufeff" // of the byte order
	if bytes.HasPrefix(before, []byte(mark)) {
		before, after = bytes.TrimPrefix(before, []byte(mark)), bytes.TrimPrefix(after, []byte(mark))
	}
	known := linesOf(before)
	for line := range strings.SplitSeq(string(after), "\n") {
		if known[line] {
			continue
		}
		if len(line) > maxAddedLine {
			return fmt.Sprintf("a line of more than %d bytes was added", maxAddedLine)
		}
		for spot := range text.Spots(line) {
			return fmt.Sprintf("what was added has a character that is not shown: U+%04X", spot.Rune)
		}
	}
	return ""
}

// restore puts back the lines that were redacted in what the engine saw. It returns why it cannot:
// the engine changed them.
func restore(p string, before, after []byte) (content []byte, why string) {
	const touched = "a line with a credential was changed"
	seen := secret.RedactFile(p, before)
	if bytes.Equal(seen, before) {
		return after, ""
	}
	was, saw := strings.Split(string(before), "\n"), strings.Split(string(seen), "\n")
	if len(was) != len(saw) {
		return nil, touched
	}
	originals, plain := map[string][]string{}, map[string]bool{}
	for i := range was {
		if was[i] == saw[i] {
			plain[saw[i]] = true
		} else {
			originals[saw[i]] = append(originals[saw[i]], was[i])
		}
	}
	lines := strings.Split(string(after), "\n")
	count := map[string]int{}
	for _, line := range lines {
		count[line]++
	}
	for line, all := range originals {
		alike := !slices.ContainsFunc(all, func(s string) bool { return s != all[0] })
		if plain[line] || count[line] > len(all) || count[line] > 0 && count[line] < len(all) && !alike {
			return nil, touched
		}
	}
	next := map[string]int{}
	for i, line := range lines {
		if all := originals[line]; all != nil {
			lines[i] = all[next[line]]
			next[line]++
		}
	}
	content = []byte(strings.Join(lines, "\n"))
	if bytes.Count(content, []byte("[REDACTED:")) > bytes.Count(before, []byte("[REDACTED:")) {
		return nil, touched
	}
	return content, ""
}

// addsSecret tells whether a file has a line with a credential that it did not have before.
func addsSecret(p string, before, after []byte) bool {
	known := linesOf(before)
	clean := strings.Split(string(secret.RedactFile(p, after)), "\n")
	lines := strings.Split(string(after), "\n")
	if len(clean) != len(lines) {
		return true
	}
	for i, line := range lines {
		if clean[i] != line && !known[line] {
			return true
		}
	}
	return false
}

// linesOf is the set of the lines of a text.
func linesOf(content []byte) map[string]bool {
	lines := map[string]bool{}
	for line := range strings.SplitSeq(string(content), "\n") {
		lines[line] = true
	}
	return lines
}

// shown makes a path printable.
func shown(p string) string { return text.Cut(text.VisibleLine(p), 200) }
