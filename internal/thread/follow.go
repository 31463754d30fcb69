package thread

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/text"
)

// follow returns the new position of the lines, and whether they changed.
func (r *route) follow(lines span, path string, side precedent.Side) (now precedent.Span, changed bool) {
	first, last := r.toLine[lines.start], r.toLine[lines.end-1]
	if first < 0 {
		first = r.findMoved(lines.start)
	}
	if last < 0 {
		last = r.findMoved(lines.end - 1)
	}
	for i := lines.start; i < lines.end && first < 0; i++ {
		if r.from.keys[i] != 0 {
			first = r.toLine[i]
		}
	}
	for i := lines.end - 1; i >= lines.start && last < 0; i-- {
		if r.from.keys[i] != 0 {
			last = r.toLine[i]
		}
	}
	switch {
	case first < 0:
		first = last
	case last < 0:
		last = first
	}
	if first < 0 {
		return r.replaced(lines, path, side), true
	}
	if first > last { // the lines were moved apart
		last = first
	}
	changed = !slices.Equal(withoutBlank(r.from.keys[lines.start:lines.end]), withoutBlank(r.to.keys[first:last+1]))
	return precedent.Span{Path: path, Side: side, Start: first + 1, End: last + 1}, changed
}

// replaced returns the lines that replaced the lines: those between the remaining neighbours.
// It is the zero Span if the lines were only deleted, or if there are more than
// match.NearLines.
func (r *route) replaced(lines span, path string, side precedent.Side) precedent.Span {
	before, behind := lines.start-1, lines.end
	for before >= 0 && r.toLine[before] < 0 {
		before--
	}
	for behind < len(r.toLine) && r.toLine[behind] < 0 {
		behind++
	}
	from, to := 0, len(r.to.lines)
	if before >= 0 {
		from = r.toLine[before] + 1
	}
	if behind < len(r.toLine) {
		to = r.toLine[behind]
	}
	if old := behind - before - 1; old == to-from { // line for line
		from += lines.start - before - 1
		to = from + lines.end - lines.start
	}
	if from >= to || to-from > match.NearLines || behind-before-1 > match.NearLines {
		return precedent.Span{}
	}
	return precedent.Span{Path: path, Side: side, Start: from + 1, End: to}
}

func withoutBlank(keys []int) []int {
	return slices.DeleteFunc(slices.Clone(keys), func(k int) bool { return k == 0 })
}

// findMoved looks for a line that was moved out of order: an equal line that no other line
// maps to, with enough equal neighbours, or one that is unique in both files and long enough.
// Of equal candidates the nearest counts.
func (r *route) findMoved(i int) int {
	key, found, best := r.from.keys[i], -1, 0
	equal := r.to.indexesOf(key)
	if key == 0 || len(equal) > maxEqual {
		return -1 // blank, or too common to identify
	}
	around := r.from.around(i)
	for _, j := range equal {
		if r.taken[j] {
			continue
		}
		n := countShared(around, r.to.around(j))
		if found < 0 || n > best || n == best && distance(i, j) < distance(i, found) {
			found, best = j, n
		}
	}
	if best >= match.NeighbourNeed {
		return found
	}
	alone := len(equal) == 1 && len(r.from.indexesOf(key)) == 1
	if alone && utf8.RuneCountInString(text.Collapse(r.from.lines[i])) >= match.UniqueLine {
		return found
	}
	return -1
}

// maxEqual is the number of equal lines beyond which a line is not looked for.
const maxEqual = 1_000

func distance(i, j int) int { return max(i-j, j-i) }

// around returns the nearest non-blank lines before and after a line.
func (f *source) around(i int) [2][]int {
	var near [2][]int
	for side, step := range []int{-1, 1} {
		for j := i + step; j >= 0 && j < len(f.keys) && len(near[side]) < match.NeighbourSpan; j += step {
			if f.keys[j] != 0 {
				near[side] = append(near[side], f.keys[j])
			}
		}
	}
	return near
}

// countShared counts the neighbours that two lines share on the same sides.
func countShared(a, b [2][]int) int {
	n := 0
	for side := range a {
		left := slices.Clone(b[side])
		for _, k := range a[side] {
			if at := slices.Index(left, k); at >= 0 {
				n++
				left = slices.Delete(left, at, at+1)
			}
		}
	}
	return n
}

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
