package review

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxCached bounds the text of files in memory, in bytes. Beyond it, files are
// dropped and read again when needed.
const maxCached = 64 << 20

// sources reads the files that findings refer to, each once.
type sources struct {
	read   func(precedent.Side, string) ([]byte, error)
	change map[string]*diff.File
	files  map[sideKey]*source
	bytes  int
	// secrets are those in the lines of the change, which are scanned on first use.
	secrets func() *lint.Secrets
}

// source is the text of one file on one side, white space collapsed, or as
// much of it as is known.
type source struct {
	whole    bool // the whole file was read, not only the lines of the diff
	numbers  []int
	lines    []string
	indents  []int            // bytes of white space at the start of each line
	at       map[string][]int // indexes of equal lines
	squeezed []string         // the lines without white space, made on first use
}

func newSources(c *diff.Change, read func(precedent.Side, string) ([]byte, error)) *sources {
	s := &sources{read: read, change: map[string]*diff.File{}, files: map[sideKey]*source{}}
	s.secrets = sync.OnceValue(func() *lint.Secrets { return lint.ScanSecrets(c) })
	for i := range c.Files {
		s.change[c.Files[i].Path] = &c.Files[i]
	}
	return s
}

// file returns a file of one side by its path in the new tree. If it cannot be read,
// the result has only the lines of the diff.
func (s *sources) file(side precedent.Side, path string) *source {
	key := sideKey{path, side}
	if f := s.files[key]; f != nil {
		return f
	}
	changed := s.change[path]
	f := &source{at: map[string][]int{}}
	data, err := s.read(side, s.nameOn(side, path))
	switch {
	case err == nil:
		f.whole = true
		for l := range strings.Lines(string(data)) {
			f.add(len(f.lines)+1, l)
		}
	case changed != nil:
		for _, l := range changed.Commentable(side) {
			f.add(l.On(side), l.Text)
		}
	}
	if s.bytes += len(data); s.bytes > maxCached {
		clear(s.files)
		s.bytes = len(data)
	}
	s.files[key] = f
	return f
}

// nameOn returns the name that a file has on a side, by its path in the new tree.
func (s *sources) nameOn(side precedent.Side, path string) string {
	if changed := s.change[path]; changed != nil && side == precedent.Left {
		return changed.OldPath
	}
	return path
}

func (f *source) add(number int, line string) {
	f.indents = append(f.indents, len(line)-len(strings.TrimLeft(line, " \t")))
	line = text.Collapse(line)
	f.at[line] = append(f.at[line], len(f.lines))
	f.numbers = append(f.numbers, number)
	f.lines = append(f.lines, line)
}

// identity returns what identifies a line: its text, that of the nearest non-blank
// lines before and after it, and how many earlier lines have the same three. All are
// empty for an unknown line.
func (f *source) identity(number int) (line, before, behind string, ordinal int) {
	i, ok := slices.BinarySearch(f.numbers, number)
	if !ok {
		return "", "", "", 0
	}
	line, before, behind = f.lines[i], f.neighbour(i, -1), f.neighbour(i, 1)
	for _, j := range f.at[line] {
		if j < i && f.neighbour(j, -1) == before && f.neighbour(j, 1) == behind {
			ordinal++
		}
	}
	return line, before, behind, ordinal
}

// between returns the lines from one number to another, inclusive.
func (f *source) between(from, to int) []string {
	start, _ := slices.BinarySearch(f.numbers, from)
	end, _ := slices.BinarySearch(f.numbers, to+1)
	if start >= end {
		return nil
	}
	return f.lines[start:end]
}

// neighbour returns the next non-blank line in a direction.
func (f *source) neighbour(i, step int) string {
	for i += step; i >= 0 && i < len(f.lines); i += step {
		if f.lines[i] != "" {
			return f.lines[i]
		}
	}
	return ""
}

// quoted returns the number of the line that a quote is on, the nearest to the named
// number, and whether the file has it. White space is ignored, and the quote may have
// only parts of lines.
func (f *source) quoted(quote string, named int) (number int, ok bool) {
	var want []string
	for l := range strings.Lines(quote) {
		if s := text.Squeeze(l); s != "" {
			want = append(want, s)
		}
	}
	if len(want) == 0 || !f.whole {
		return 0, false
	}
	if f.squeezed == nil {
		for _, l := range f.lines {
			f.squeezed = append(f.squeezed, text.Squeeze(l))
		}
	}
	for i := range f.squeezed {
		if ok && distance(i+1, named) >= distance(number, named) || !f.saysAt(i, want) {
			continue
		}
		number, ok = i+1, true
	}
	return number, ok
}

// saysAt reports whether the lines of a quote follow each other from a line on,
// ignoring blank lines.
func (f *source) saysAt(i int, want []string) bool {
	for n, w := range want {
		for n > 0 && i < len(f.squeezed) && f.squeezed[i] == "" {
			i++
		}
		if i >= len(f.squeezed) {
			return false
		}
		got := f.squeezed[i]
		if got != w && (len(w) < substringMin || !strings.Contains(got, w)) {
			return false
		}
		i++
	}
	return true
}

// placed returns the number of the line with the text and the neighbours of the one that a thread flags, the nearest to
// where that was; 0 if there is none.
func (f *source) placed(t *precedent.Thread) int {
	found := 0
	for _, i := range f.at[match.Flagged(t.Quote)] {
		n := f.numbers[i]
		if precedent.Place(t.Path, f.lines[i], f.neighbour(i, -1), f.neighbour(i, 1)) == t.Place &&
			(found == 0 || distance(n, t.Start) < distance(found, t.Start)) {
			found = n
		}
	}
	return found
}

// lacksCode reports whether the file nowhere has the code of a line, whatever its comments and white space.
// A line without code is looked for as it is, and so is one that may be in a comment now.
func (f *source) lacksCode(path, line string) bool {
	code := func(l string) string { return text.Squeeze(text.CodeLines(path, []string{l})[0]) }
	want := cmp.Or(code(line), text.Squeeze(line))
	if want == "" || !f.whole || strings.Contains(line, "[REDACTED") {
		return false
	}
	var bare, all strings.Builder
	for _, l := range f.lines {
		bare.WriteString(code(l))
		all.WriteString(text.Squeeze(l))
	}
	return !strings.Contains(bare.String(), want) && !strings.Contains(all.String(), want)
}

func distance(a, b int) int { return max(a-b, b-a) }

// holdsQuote reports whether a quote is at a span of the head, in the diff or not.
func (s *sources) holdsQuote(at precedent.Span, quote string) bool {
	if at.Side == precedent.Left {
		return false
	}
	line, ok := s.file(precedent.Right, at.Path).quoted(quote, at.Start)
	return ok && line == at.Start
}
