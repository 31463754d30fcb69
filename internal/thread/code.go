package thread

import (
	"strings"

	"github.com/precedent-dev/precedent/internal/text"
)

// changedCode tells whether the new file has the code of the lines less often than the old
// one, whatever its comments and white space. What is a comment is decided twice: over
// the whole file, and in each line alone, so that a text which merely looks like the start
// of a comment changes nothing. Lines without code have changed as their text has.
func (r *route) changedCode(lines span) bool {
	before, now := r.from.code(), r.to.code()
	for way := range before {
		want := strings.Join(before[way][lines.start:lines.end], "")
		switch {
		case want == "" && way == 0:
			return true
		case want == "":
		case strings.Count(strings.Join(now[way], ""), want) >= strings.Count(strings.Join(before[way], ""), want):
			return false
		}
	}
	return true
}

// code returns the code of each line without white space, as read in the file and as read
// alone.
func (f *source) code() [2][]string {
	if f.codes[0] == nil && len(f.lines) > 0 {
		f.codes[0] = text.CodeLines(f.path, f.lines)
		for i, l := range f.lines {
			f.codes[0][i] = text.Squeeze(f.codes[0][i])
			f.codes[1] = append(f.codes[1], text.Squeeze(text.CodeLines(f.path, []string{l})[0]))
		}
	}
	return f.codes
}

// hasCode tells whether any of the lines has code.
func (f *source) hasCode(lines span) bool {
	return strings.Join(f.code()[0][lines.start:lines.end], "") != ""
}
