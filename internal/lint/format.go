package lint

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/reviewdog/errorformat"
)

// Bounds of a linter's plain output.
const (
	maxLineBytes = 4 << 10 // of one line; what is longer is cut
	maxLines     = 100_000
)

// newFormat compiles patterns. The library indexes past the end of some broken
// ones.
func newFormat(patterns []string) (f *errorformat.Errorformat, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, err = nil, fmt.Errorf("no errorformat: %q", patterns)
		}
	}()
	if f, err = errorformat.NewErrorformat(patterns); err != nil {
		return nil, fmt.Errorf("no errorformat: %w", err)
	}
	return f, nil
}

// readLines reads what a linter wrote in lines. It saw the tree at dir. What
// matches no pattern is left out; an error comes with what was read until then.
func readLines(f *errorformat.Errorformat, dir string, output []byte) (all []remark, err error) {
	defer func() {
		if p := recover(); p != nil { // a line of which the patterns expect an earlier one
			err = fmt.Errorf("read output: its lines are not in the order of the patterns: %v", p)
		}
	}()
	s := f.NewScanner(bytes.NewReader(lines(output)))
	for s.Scan() {
		e := s.Entry()
		if !e.Valid || e.Lnum < 1 || e.Lnum > maxLine || e.EndLnum > maxLine {
			continue
		}
		r := remark{path: within(dir, named(e.Filename, dir)), line: e.Lnum, end: max(e.Lnum, e.EndLnum), level: levelOf(e.Type)}
		rule, message := cutRule(e.Text)
		if r.rule, r.message = oneLine(rule, maxRule), oneLine(message, maxMessage); r.path == "" || r.message == "" {
			continue
		}
		if all = append(all, r); len(all) == maxRemarks {
			return all, errMany
		}
	}
	return all, nil
}

var errMany = fmt.Errorf("only the first %d results were read", maxRemarks)

// named gives a path back the slash that a pattern such as %-P/%f took from it.
func named(name, dir string) string {
	if strings.HasPrefix("/"+name, strings.TrimSuffix(dir, "/")+"/") {
		return "/" + name
	}
	return name
}

// lines cuts long lines and bounds their number, because the library gives up
// in silence at a long one. Colours and other control characters go.
func lines(output []byte) []byte {
	var b bytes.Buffer
	n := 0
	for line := range bytes.SplitSeq(output, []byte("\n")) {
		if n++; n > maxLines {
			break
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
	return b.Bytes()
}

// levelOf reads the letter of a type: error, fatal, warning, and what is
// milder: convention, refactoring, information, note.
func levelOf(t rune) level {
	switch t {
	case 'E', 'e', 'F', 'f', 0:
		return failure
	case 'W', 'w':
		return warning
	}
	return note
}
