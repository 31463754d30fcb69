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

// caused is a remark about a line that the change does not touch, and of which
// the linter said nothing before it.
type caused struct {
	remark
	at diff.Line
}

// mostReread bounds the file of which lines are compared, in bytes.
const mostReread = 8 << 20

// caused checks the base's version of the files that the remarks are about,
// and returns the remarks that are new: those of which the base has fewer with
// the same rule on a line with the same text. It costs a second run of the
// linter, on these files alone, and nothing if every remark is about an added
// line.
func (x *linting) caused(ctx context.Context, l *Linter, head string, files map[string]*diff.File, outside []remark) []caused {
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
			return newSince(lineReader(base), before, lineReader(head), outside)
		}
	}
	x.note(l, "what it says about unchanged lines was left out, because the base could not be checked: "+oneLine(err.Error(), 200))
	return nil
}

// newSince compares by file, rule and the text of the line.
func newSince(baseLine func(string, int) (string, bool), before []remark, headLine func(string, int) (string, bool), now []remark) []caused {
	key := func(r *remark, line string) string {
		return fmt.Sprintf("%s\x00%s\x00%s", r.path, r.rule, strings.Join(strings.Fields(line), " "))
	}
	known := map[string]int{}
	for i := range before {
		if line, ok := baseLine(before[i].path, before[i].line); ok {
			known[key(&before[i], line)]++
		}
	}
	var all []caused
	for _, r := range now {
		line, ok := headLine(r.path, r.line)
		if !ok {
			continue
		}
		if k := key(&r, line); known[k] > 0 {
			known[k]--
			continue
		}
		all = append(all, caused{r, diff.Line{Op: diff.Context, New: r.line, Text: line}})
	}
	return all
}

// lineReader returns a function that reads a line of a file of a tree, each
// file once.
func lineReader(dir string) func(name string, n int) (string, bool) {
	files := map[string][][]byte{}
	return func(name string, n int) (string, bool) {
		lines, ok := files[name]
		if !ok {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() && info.Size() <= mostReread {
				if data, err := os.ReadFile(file); err == nil {
					lines = bytes.Split(data, []byte("\n"))
				}
			}
			files[name] = lines
		}
		if n < 1 || n > len(lines) {
			return "", false
		}
		return strings.TrimSuffix(string(lines[n-1]), "\r"), true
	}
}

// hasConfig tells whether the root of a tree has a file of the globs.
func hasConfig(dir string, globs []string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return matches(globs, e.Name()) })
}
