package lint

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/diff"
)

// causedRemark is a remark about an unchanged line that the linter did not make
// before the change.
type causedRemark struct {
	remark
	at diff.Line
}

// maxRereadBytes is the size of the largest file whose lines are compared.
const maxRereadBytes = 8 << 20

// causedRemarks lints the base versions of the files and returns the remarks that are
// new: those that the base has fewer of, with the same rule on a line with the same
// text. It runs the linter a second time on these files only, and not at all if every
// remark is about an added line.
func (x *linting) causedRemarks(ctx context.Context, l *Linter, head string, files map[string]*diff.File,
	outside []remark,
) []causedRemark {
	var old []string
	for _, r := range outside {
		if files[r.path].Status != diff.Added && r.line > 0 && !slices.Contains(old, r.path) {
			old = append(old, r.path)
		}
	}
	if len(old) == 0 {
		return nil
	}
	base, err := x.tree.forBase(ctx)
	if err == nil {
		var before []remark
		if before, err = x.run(ctx, l, base, old); err == nil {
			return newRemarks(lineReader(base), before, lineReader(head), outside)
		}
	}
	x.note(l, "results about unchanged lines were left out, because the base could not be checked: "+
		oneLine(err.Error(), 200))
	return nil
}

// newRemarks compares remarks by file, rule and the text of the line.
func newRemarks(baseLine func(string, int) (string, bool), before []remark, headLine func(string, int) (string, bool),
	now []remark,
) []causedRemark {
	key := func(r *remark, line string) string {
		return fmt.Sprintf("%s\x00%s\x00%s", r.path, r.rule, strings.Join(strings.Fields(line), " "))
	}
	known := map[string]int{}
	for i := range before {
		if line, ok := baseLine(before[i].path, before[i].line); ok {
			known[key(&before[i], line)]++
		}
	}
	var all []causedRemark
	for _, r := range now {
		line, ok := headLine(r.path, r.line)
		if !ok {
			continue
		}
		if k := key(&r, line); known[k] > 0 {
			known[k]--
			continue
		}
		all = append(all, causedRemark{r, diff.Line{Op: diff.Context, New: r.line, Text: line}})
	}
	return all
}

// lineReader returns a function that reads one line of a file in a tree. It opens
// each file once.
func lineReader(dir string) func(name string, n int) (string, bool) {
	files := map[string][][]byte{}
	return func(name string, n int) (string, bool) {
		lines, ok := files[name]
		if !ok {
			if data := readInTree(dir, name); data != nil {
				lines = bytes.Split(data, []byte("\n"))
			}
			files[name] = lines
		}
		if n < 1 || n > len(lines) {
			return "", false
		}
		return strings.TrimSuffix(string(lines[n-1]), "\r"), true
	}
}

// readInTree reads a regular file of a tree of at most maxRereadBytes, nil if it
// cannot.
func readInTree(dir, name string) []byte {
	file := filepath.Join(dir, filepath.FromSlash(name))
	info, err := os.Lstat(file)
	if err != nil || !filepath.IsLocal(filepath.FromSlash(name)) || !info.Mode().IsRegular() ||
		info.Size() > maxRereadBytes {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return data
}

// hasConfig reports whether the root of a tree has a file that matches one of the
// globs.
func hasConfig(dir string, globs []string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return matches(globs, e.Name()) })
}
