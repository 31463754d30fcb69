// Package diff reads what git says about a change and answers questions about
// it: which files, hunks and lines there are, which of them a remark can stand
// on, and which files no reviewer should be bothered with.
//
// A diff is hostile: it is read as a stream, and what is kept of it is bounded
// by [Limits], however large it is. What was not kept says so.
package diff

import (
	"iter"

	"github.com/precedent-dev/precedent"
)

// Change is a parsed change: every file that differs between two trees.
type Change struct {
	Files []File
	// Added and Removed count the changed lines of all files, those included
	// that were beyond a limit and not kept.
	Added, Removed int
}

// Status says what happened to a file.
type Status string

// The statuses.
const (
	Added    Status = "added"
	Modified Status = "modified"
	Deleted  Status = "deleted"
	Renamed  Status = "renamed"
	Copied   Status = "copied"
	Retyped  Status = "type-changed" // a file became a link, a submodule, or the reverse
)

// File is one changed file.
type File struct {
	Path    string // in the new tree; of a deleted file, in the old one
	OldPath string // in the old tree; equal to Path unless renamed or copied
	Status  Status
	// OldMode and NewMode are six octal digits, "000000" where the file is
	// absent; empty where a patch did not say.
	OldMode, NewMode string
	// OldBlob and NewBlob are object ids, as long as git printed them; empty
	// where the file is absent or a patch did not say.
	OldBlob, NewBlob string
	Binary           bool
	// Hunks are sorted by line. Those of a Retyped file are the whole old
	// content followed by the whole new one.
	Hunks []Hunk
	// Skip says why the file is not reviewed; empty for a file that is.
	Skip string
	// TooLarge tells that Skip is a limit's doing and not a rule's: a review
	// that leaves the file out is not complete.
	TooLarge bool
}

// Hunk is one block of a file's diff.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Section            string // the text that git puts behind the second @@
	Lines              []Line
	// Cut says why the hunk's lines are not all here, or not whole; empty when
	// they are.
	Cut string
}

// Op says what a line of a hunk does.
type Op byte

// The operations.
const (
	Context Op = ' '
	Add     Op = '+'
	Delete  Op = '-'
)

// Line is one line of a hunk. Old and New count from 1; the number of the side
// that does not have the line is 0.
type Line struct {
	Op       Op
	CRLF     bool // the line ends in a carriage return and a line feed
	NoEOL    bool // the file ends here without a line ending
	Old, New int
	Text     string // without its line ending, LF or CRLF
}

// on is the line's number on a side, 0 if that side does not have it.
func (l *Line) on(side precedent.Side) int {
	if side == precedent.Left {
		return l.Old
	}
	return l.New
}

// File returns the changed file with a path in the new tree, nil if there is
// none.
func (c *Change) File(path string) *File {
	for i := range c.Files {
		if c.Files[i].Path == path {
			return &c.Files[i]
		}
	}
	return nil
}

// Commentable returns the lines that a remark on one side can stand on, by
// number: on the right context and added lines, on the left context and
// deleted ones.
func (f *File) Commentable(side precedent.Side) []Line {
	var lines []Line
	for h := range f.Hunks {
		for _, l := range f.Hunks[h].Lines {
			if l.on(side) > 0 {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// HunkAt returns the index of the hunk that holds a line of one side, -1 if
// none does.
func (f *File) HunkAt(side precedent.Side, line int) int {
	for i := range f.Hunks {
		if f.Hunks[i].Holds(side, line) {
			return i
		}
	}
	return -1
}

// Holds tells whether the hunk has the line of a side.
func (h *Hunk) Holds(side precedent.Side, line int) bool {
	start, n := h.NewStart, h.NewLines
	if side == precedent.Left {
		start, n = h.OldStart, h.OldLines
	}
	return line >= start && line < start+n
}

// AddedLines yields the lines that the change adds to the file, in order.
func (f *File) AddedLines() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for h := range f.Hunks {
			for _, l := range f.Hunks[h].Lines {
				if l.Op == Add && !yield(l) {
					return
				}
			}
		}
	}
}
