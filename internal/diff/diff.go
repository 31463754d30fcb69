// Package diff reads git's description of a change and answers questions about it: its files, hunks and
// lines, which of them a remark can refer to, and which files need no review.
//
// A diff is untrusted: it is read as a stream, and [Limits] bound what is kept. Files
// and hunks that are not kept completely say so.
package diff

import (
	"iter"
	"regexp"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
)

// Change is a parsed change: every file that differs between two trees.
type Change struct {
	Files []File
	// Added and Removed count the changed lines of all files, including those that exceeded a limit.
	Added, Removed int
}

// Status is what happened to a file.
type Status string

// The statuses.
const (
	Added    Status = "added"
	Modified Status = "modified"
	Deleted  Status = "deleted"
	Renamed  Status = "renamed"
	Copied   Status = "copied"
	Retyped  Status = "type-changed" // a file became a link or a submodule, or the reverse
)

// File is one changed file.
type File struct {
	Path    string // in the new tree; of a deleted file, in the old one
	OldPath string // in the old tree; equal to Path unless renamed or copied
	Status  Status
	// OldMode and NewMode are six octal digits, "000000" if the file is absent; empty
	// if the patch does not include them.
	OldMode, NewMode string
	// OldBlob and NewBlob are object ids, in the length that git printed; empty if
	// the file is absent or the patch does not include them.
	OldBlob, NewBlob string
	Binary           bool
	// Hunks are sorted by line. Those of a Retyped file are the complete old content
	// followed by the complete new content.
	Hunks   []Hunk
	Skip    string  // why the file is not reviewed; empty if it is
	Content Content // what the lines hold, if it is neither code nor prose
	// Excused is set if the file is skipped for what only its own name or content says, and
	// nothing of its kind is in the base: a review without the file is incomplete.
	Excused  bool
	TooLarge bool // set if Skip comes from a limit, not a rule: a review without the file is incomplete
}

// Hunk is one block of a file's diff.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Section            string // the text after the second @@
	Lines              []Line
	Cut                string // why lines of the hunk are missing or shortened; empty if it is complete
}

// lineCut begins the reason for which lines of a hunk are shortened.
const lineCut = "line longer than "

// LacksLines reports whether a limit left out lines of the hunk, which is more than to shorten some.
func (h *Hunk) LacksLines() bool { return h.Cut != "" && !strings.HasPrefix(h.Cut, lineCut) }

// Op is what a line of a hunk does.
type Op byte

// The operations.
const (
	Context Op = ' '
	Add     Op = '+'
	Delete  Op = '-'
)

// Line is one line of a hunk. Old and New count from 1, and are 0 on a side that does not have the line.
type Line struct {
	Op       Op
	CRLF     bool // the line ends in CRLF
	NoEOL    bool // the file ends here without a line ending
	Old, New int
	Text     string // without its line ending, LF or CRLF
}

// On returns the line's number on a side, 0 if that side does not have it.
func (l *Line) On(side precedent.Side) int {
	if side == precedent.Left {
		return l.Old
	}
	return l.New
}

// File returns the changed file with a path in the new tree, nil if there is none.
func (c *Change) File(path string) *File {
	for i := range c.Files {
		if c.Files[i].Path == path {
			return &c.Files[i]
		}
	}
	return nil
}

// Commentable returns the lines of one side that a remark can refer to, by number:
// context and added lines on the right, context and deleted lines on the left.
func (f *File) Commentable(side precedent.Side) []Line {
	var lines []Line
	for h := range f.Hunks {
		for _, l := range f.Hunks[h].Lines {
			if l.On(side) > 0 {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// HunkAt returns the index of the hunk that contains a line of one side, -1 if none does.
func (f *File) HunkAt(side precedent.Side, line int) int {
	for i := range f.Hunks {
		if f.Hunks[i].Holds(side, line) {
			return i
		}
	}
	return -1
}

// Holds reports whether the hunk contains a line of one side.
func (h *Hunk) Holds(side precedent.Side, line int) bool {
	start, n := h.NewStart, h.NewLines
	if side == precedent.Left {
		start, n = h.OldStart, h.OldLines
	}
	return line >= start && line < start+n
}

// AddedLines yields the added lines of the file, in order.
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

// Adds reports whether the change adds one of some lines of the file.
func (f *File) Adds(from, to int) bool {
	for l := range f.AddedLines() {
		if l.New >= from && l.New <= to {
			return true
		}
	}
	return false
}

// pattern returns a function that compiles an expression on its first call, so that a program that
// does not need it starts sooner.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
