package diff

import (
	"bytes"
	"io"
	"path"
	"strings"
	"unicode/utf16"

	differ "github.com/rogpeppe/go-internal/diff"
)

// Text returns the text of a file in UTF-8: that of one in UTF-16, with a mark of its
// byte order or recognized by its zero bytes, and any other as it is.
func Text(data []byte) []byte {
	big, ok := isUTF16(data)
	if !ok {
		return data
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 0; i+1 < len(data); i += 2 {
		if u := uint16(data[i])<<8 | uint16(data[i+1]); big {
			units = append(units, u)
		} else {
			units = append(units, u<<8|u>>8)
		}
	}
	if len(units) > 0 && units[0] == 0xfeff {
		units = units[1:]
	}
	return []byte(string(utf16.Decode(units)))
}

// Shares of zero bytes, in percent, in text in UTF-16 without a mark: in the half of each
// unit that is zero for Latin letters, and in the other.
const (
	zeroHalf  = 40
	otherHalf = 5
)

// isUTF16 reports whether data is text in UTF-16, and whether its big half comes first.
func isUTF16(data []byte) (big, ok bool) {
	switch {
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return true, true
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		return false, true
	}
	head := data[:min(len(data), maxSniff)]
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	half := len(head) / 2
	if half < 4 {
		return false, false
	}
	for first := range zeros {
		if zeros[first]*100 >= half*zeroHalf && zeros[1-first]*100 <= half*otherHalf {
			return first == 0, true
		}
	}
	return false, false
}

// readEncoded gives the files that git takes for binary, but that hold text, the hunks that git did not print,
// since a zero byte would hide a file from review (T5): text in UTF-16, and text with zero bytes. Binary files
// stay as they are, and so do those that the base's attributes call binary.
func (c *Change) readEncoded(at Trees, attrs *attributes) {
	left := DefaultLimits.Bytes
	for i := range c.Files {
		f := &c.Files[i]
		if !f.Binary || f.Status == Deleted || at.Head == nil || attrs.get(f.Path).diff == unset {
			continue
		}
		now, err := at.Head(f.Path)
		if err != nil || int64(len(now)) > min(left, DefaultLimits.FileBytes) {
			continue
		}
		now = Text(now)
		if !isText(now) {
			continue
		}
		left -= int64(len(now))
		var before []byte
		if f.Status != Added && f.Status != Retyped {
			if b, err := at.Base(f.OldPath); err == nil && isText(Text(b)) {
				before = Text(b)
			}
		}
		got, err := hunksOf(before, now)
		if err != nil {
			continue // it stays binary
		}
		f.Binary, f.Hunks = false, got.Hunks
		if got.TooLarge {
			f.Skip, f.TooLarge = got.Skip, true
		}
		added, removed := f.changed()
		c.Added, c.Removed = c.Added+added, c.Removed+removed
	}
}

// movedUnread is why a file that was moved to where it is read is not reviewed.
const movedUnread = "moved to where it is reviewed, and its content cannot be read"

// readMoved gives the files that a move makes a pipeline, a hook, a build file or code the hunks of new ones: what
// they hold runs from now on, and was not read for that before (T5). So it does with text that nobody read where it was.
func (c *Change) readMoved(at Trees, attrs *attributes) {
	left := DefaultLimits.Bytes
	for i := range c.Files {
		f := &c.Files[i]
		if f.Status != Renamed && f.Status != Copied || f.NewMode == modeLink || f.NewMode == modeSubmodule || at.Head == nil {
			continue
		}
		runs := alwaysRead().MatchString(f.Path) && !alwaysRead().MatchString(f.OldPath) || f.becomesCode()
		if !runs && !f.leavesSkipped(attrs) {
			continue
		}
		whole := File{Skip: movedUnread, TooLarge: true}
		if left > 0 {
			now, err := at.Head(f.Path)
			if err == nil && len(now) == 0 {
				continue
			}
			if now = Text(now); err == nil && isText(now) {
				left -= int64(len(now))
				if got, err := hunksOf(nil, now); err == nil {
					whole = got
				}
			} else if !runs {
				continue // not text
			}
		}
		added, removed := f.changed()
		c.Added, c.Removed = c.Added-added, c.Removed-removed
		f.Hunks, f.Skip, f.TooLarge = whole.Hunks, whole.Skip, whole.TooLarge
		added, _ = f.changed()
		c.Added += added
	}
}

// changed returns how many lines of the hunks are added and removed.
func (f *File) changed() (added, removed int) {
	for h := range f.Hunks {
		for _, l := range f.Hunks[h].Lines {
			switch l.Op {
			case Add:
				added++
			case Delete:
				removed++
			}
		}
	}
	return added, removed
}

// becomesCode reports whether a move turns a file into code: from another kind of file, or from where compilers skip it.
func (f *File) becomesCode() bool {
	if !isCode(f.Path) {
		return false
	}
	kind, old := strings.ToLower(path.Ext(f.Path)), strings.ToLower(path.Ext(f.OldPath))
	return kind != old && (!isScript().MatchString(kind) || !isScript().MatchString(old)) ||
		isIdle().MatchString(f.OldPath) && !isIdle().MatchString(f.Path)
}

var (
	isScript = pattern(`^\.[cm]?[jt]sx?$`)                              // moved from one to another, they run as before
	isIdle   = pattern(`(?i)(^|/)(testdata|[._][^/]*)(/|$)|_test\.go$`) // Go's rules
)

// leavesSkipped reports whether a file is moved from where its path or the base's attributes let reviews skip it.
func (f *File) leavesSkipped(attrs *attributes) bool {
	was, _ := skipPath(f.OldPath, attrs.get(f.OldPath))
	is, _ := skipPath(f.Path, attrs.get(f.Path))
	return was != "" && is == ""
}

// isText reports whether data is text, but for a few zero bytes.
func isText(data []byte) bool {
	f := File{Hunks: []Hunk{{Lines: []Line{{Text: string(data[:min(len(data), maxSniff)])}}}}}
	o := f.oddBytes()
	return len(data) > 0 && !o.many()
}

// hunksOf returns a file with the hunks between two texts.
func hunksOf(before, now []byte) (File, error) {
	_, patch, _ := bytes.Cut(differ.Diff("a/f", before, "b/f", now), []byte("\n"))
	c, err := ParsePatch(io.MultiReader(strings.NewReader("diff --git a/f b/f\n"), bytes.NewReader(patch)), DefaultLimits)
	if err != nil {
		return File{}, err
	}
	return c.Files[0], nil
}
