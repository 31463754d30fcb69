package lint

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/reviewdog/errorformat"

	"github.com/precedent-dev/precedent/internal/sarif"
)

// Limits on a linter's plain-text output.
const (
	maxLineBytes = 4 << 10 // of one line; longer lines are cut
	maxLines     = 100_000
)

// newFormat compiles errorformat patterns. It recovers from panics, because the
// library indexes out of range on some invalid patterns.
func newFormat(patterns []string) (f *errorformat.Errorformat, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, err = nil, fmt.Errorf("invalid errorformat patterns: %q", patterns)
		}
	}()
	if f, err = errorformat.NewErrorformat(patterns); err != nil {
		return nil, fmt.Errorf("invalid errorformat patterns: %w", err)
	}
	return f, nil
}

// readLines parses the output of a linter that saw the tree at dir. Lines that match
// no pattern are ignored, and so are remarks that may not be findings: thousands about old lines must not hide one about
// a new line. found reports whether there are results, even if all are about files elsewhere. If it returns an error, it
// also returns the remarks read so far.
func readLines(f *errorformat.Errorformat, dir string, output []byte, mayFind func(*remark) bool) (all []remark,
	found bool, err error,
) {
	defer func() {
		if p := recover(); p != nil { // a line that belongs to a missing earlier one
			err = fmt.Errorf("read output: the lines are not in the order that the patterns expect: %v", p)
		}
	}()
	seen := ruleCounts{}
	kept, whole := lines(output)
	s := f.NewScanner(bytes.NewReader(kept))
	for s.Scan() {
		e := s.Entry()
		if !e.Valid || e.Lnum < 1 || e.Lnum > maxLine || e.EndLnum > maxLine {
			continue
		}
		found = true
		r := remark{
			path: pathInTree(dir, restoreSlash(e.Filename, dir)), line: e.Lnum, end: max(e.Lnum, e.EndLnum),
			level: levelOf(e.Type),
		}
		rule, message := cutRule(e.Text)
		if r.rule, r.message = oneLine(rule, maxRule), oneLine(message, maxMessage); r.path == "" || r.message == "" {
			continue
		}
		if !mayFind(&r) || !seen.add(&r) {
			continue
		}
		if all = append(all, r); len(all) == maxRemarks {
			return all, found, errMany
		}
	}
	if !whole {
		err = errLong
	}
	return all, found, err
}

// maxOfRule is the number of results about one rule and one file that are kept. More
// are a flood, which must not hide the results about other files.
const maxOfRule = 500

// ruleCounts counts the results about a rule and a file.
type ruleCounts map[[2]string]int

// add counts a result and reports whether it is to be kept.
func (c ruleCounts) add(r *remark) bool {
	key := [2]string{r.path, r.rule}
	c[key]++
	return c[key] <= maxOfRule
}

var (
	errMany = fmt.Errorf("only the first %d results were read", maxRemarks)
	errRuns = fmt.Errorf("only the first %d runs of its SARIF were read", sarif.MaxFew)
	errLong = fmt.Errorf("only the first %d lines of its output were read", maxLines)
)

// restoreSlash restores the leading slash that a pattern such as %-P/%f removes from
// a path.
func restoreSlash(name, dir string) string {
	if strings.HasPrefix("/"+name, strings.TrimSuffix(dir, "/")+"/") {
		return "/" + name
	}
	return name
}

// lines cuts long lines and limits their number, because the library stops without an
// error at a very long line. It removes colours and other control characters.
func lines(output []byte) (kept []byte, whole bool) {
	var b bytes.Buffer
	n := 0
	for line := range bytes.Lines(output) {
		if n++; n > maxLines {
			return b.Bytes(), false
		}
		line = line[:min(len(line), maxLineBytes)]
		b.Write(bytes.Map(func(r rune) rune {
			if control(r) && r != '\t' {
				return -1
			}
			return r
		}, line))
		b.WriteByte('\n')
	}
	return b.Bytes(), true
}

// levelOf maps an errorformat type to a level: error, fatal and warning are kept,
// while convention, refactoring, information and note are lower.
func levelOf(t rune) level {
	switch t {
	case 'E', 'e', 'F', 'f', 0:
		return failure
	case 'W', 'w':
		return warning
	}
	return note
}
