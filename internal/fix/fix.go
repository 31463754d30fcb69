// Package fix applies the suggestions of a review to the files of a work tree.
//
// A suggestion refers to lines of the reviewed head. It is applied if the file still has these lines, even if
// they moved, and refused if it does not, or has them at several places that cannot be told apart. Other
// lines and git's index are not changed.
package fix

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
)

// Edit replaces lines of a file in the work tree.
type Edit struct {
	Finding precedent.Finding
	// Start and End are the first and last of the lines, from 1.
	Start, End int
	New        []string // without line ends
	Moved      bool     // the lines were elsewhere in the reviewed head
}

// Refusal is a suggestion that cannot be applied.
type Refusal struct {
	Finding precedent.Finding
	Why     string
}

// Plan holds the edits of files, and the refused suggestions.
type Plan struct {
	Refused []Refusal
	files   []*file // by path
	now     func(path string) ([]byte, error)
}

// file is one file with its edits, the first in the file first.
type file struct {
	path  string
	data  []byte
	lines []string // each with its end
	edits []Edit
}

// New plans the suggestions of findings, of which those that come first win where two want the same lines.
// head reads a file as it was reviewed, now a regular file as it lies in the work tree, without following links.
func New(findings []precedent.Finding, head, now func(path string) ([]byte, error)) Plan {
	p := Plan{now: now}
	files := map[string]*file{}
	for _, f := range findings {
		if f.Suggestion == "" || !f.Live() {
			continue
		}
		refuse := func(format string, args ...any) {
			p.Refused = append(p.Refused, Refusal{f, fmt.Sprintf(format, args...)})
		}
		reviewed, err := head(f.Path)
		if err != nil {
			refuse("the reviewed file cannot be read: %v", err)
			continue
		}
		at := files[f.Path]
		if at == nil {
			data, err := now(f.Path)
			if err != nil {
				refuse("the file cannot be read: %v", err)
				continue
			}
			at = &file{path: f.Path, data: data, lines: split(data)}
			files[f.Path] = at
		}
		edit, why := at.locate(f, split(reviewed))
		if why != "" {
			refuse("%s", why)
			continue
		}
		at.edits = append(at.edits, edit)
	}
	for _, at := range files {
		if len(at.edits) > 0 {
			slices.SortFunc(at.edits, func(a, b Edit) int { return a.Start - b.Start })
			p.files = append(p.files, at)
		}
	}
	slices.SortFunc(p.files, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	return p
}

// Edits returns all edits, file by file.
func (p Plan) Edits() []Edit {
	var all []Edit
	for _, f := range p.files {
		all = append(all, f.edits...)
	}
	return all
}

// Only returns the plan of the edits that keep chooses.
func (p Plan) Only(keep func(Edit) bool) Plan {
	chosen := Plan{now: p.now}
	for _, f := range p.files {
		one := *f
		one.edits = slices.DeleteFunc(slices.Clone(f.edits), func(e Edit) bool { return !keep(e) })
		if len(one.edits) > 0 {
			chosen.files = append(chosen.files, &one)
		}
	}
	return chosen
}

// Files counts the files that are to be changed.
func (p Plan) Files() int { return len(p.files) }

// locate finds the lines of a finding, or returns why it cannot.
func (f *file) locate(found precedent.Finding, reviewed []string) (e Edit, why string) {
	if found.Side != precedent.Right || found.Start < 1 || found.End < found.Start || found.End > len(reviewed) {
		return e, "it does not refer to lines of the new file"
	}
	want := reviewed[found.Start-1 : found.End]
	at, why := f.find(reviewed, found.Start-1, len(want))
	if why != "" {
		return e, why
	}
	e = Edit{
		Finding: found, Start: at + 1, End: at + len(want), New: suggested(found.Suggestion), Moved: at != found.Start-1,
	}
	for _, other := range f.edits {
		if e.Start <= other.End && other.Start <= e.End {
			return e, fmt.Sprintf("the suggestion of %s changes the same lines", other.Finding.ID)
		}
	}
	return e, ""
}

// find returns the index from which the file has the n lines that the reviewed file has from an index on:
// there, or at the only other place. The reviewed file must have had no other such place either, of which the
// one that is left may be the rest.
func (f *file) find(reviewed []string, from, n int) (at int, why string) {
	places := occurrences(f.lines, reviewed[from:from+n])
	switch {
	case len(places) == 0:
		return 0, "the file has changed there"
	case slices.Equal(f.lines, reviewed):
		return from, ""
	case len(places) > 1:
		return 0, fmt.Sprintf("the lines are now in %d places", len(places))
	case len(occurrences(reviewed, reviewed[from:from+n])) > 1:
		return 0, "the lines cannot be told apart from equal ones that are gone"
	}
	return places[0], ""
}

// occurrences returns the indexes from which a file has some lines.
func occurrences(lines, some []string) (places []int) {
	for i := range len(lines) - len(some) + 1 {
		if equal(lines[i:i+len(some)], some) {
			places = append(places, i)
		}
	}
	return places
}

func equal(a, b []string) bool {
	return slices.EqualFunc(a, b, func(x, y string) bool { return trimEnd(x) == trimEnd(y) })
}

// split cuts a text into its lines, with their ends.
func split(data []byte) []string { return slices.Collect(strings.Lines(string(data))) }

// trimEnd is a line without its end.
func trimEnd(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }

// lineEnd is the end of a line as it stands.
func lineEnd(line string) string { return line[len(trimEnd(line)):] }

// suggested are the lines of a suggestion.
func suggested(s string) []string {
	var lines []string
	for l := range strings.Lines(s) {
		lines = append(lines, trimEnd(l))
	}
	return lines
}

// newLines are the lines of an edit as they will stand in the file: with the ends
// that lines have there, and without one if the file ends so.
func (f *file) newLines(e Edit) []string {
	end := lineEnd(f.lines[e.Start-1])
	if end == "" && e.Start > 1 {
		end = lineEnd(f.lines[e.Start-2])
	}
	end = cmp.Or(end, "\n")
	var lines []string
	for i, l := range e.New {
		if i == len(e.New)-1 {
			end = lineEnd(f.lines[e.End-1])
		}
		lines = append(lines, l+end)
	}
	return lines
}

// content is the file with its edits made.
func (f *file) content() []byte {
	var b bytes.Buffer
	done := 0
	for _, e := range f.edits {
		b.WriteString(strings.Join(f.lines[done:e.Start-1], ""))
		b.WriteString(strings.Join(f.newLines(e), ""))
		done = e.End
	}
	b.WriteString(strings.Join(f.lines[done:], ""))
	return b.Bytes()
}
