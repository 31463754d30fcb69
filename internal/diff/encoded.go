package diff

import (
	"bytes"
	"strings"
	"unicode/utf16"
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
		f.Binary, f.Hunks = false, wholeHunk(splitLines(before), splitLines(now))
		for range f.AddedLines() {
			c.Added++
		}
	}
}

// isText reports whether data is text, but for a few zero bytes.
func isText(data []byte) bool {
	f := File{Hunks: []Hunk{{Lines: splitLines(data[:min(len(data), maxSniff)])}}}
	o := f.oddBytes()
	return len(data) > 0 && !o.many()
}

// splitLines returns the lines of a text, without numbers.
func splitLines(data []byte) []Line {
	var lines []Line
	for l := range strings.Lines(string(data)) {
		l, ended := strings.CutSuffix(l, "\n")
		text, crlf := strings.CutSuffix(l, "\r")
		lines = append(lines, Line{Text: text, CRLF: crlf && ended, NoEOL: !ended})
	}
	return lines
}

// aroundEncoded is the number of unchanged lines before and after a hunk, as git's.
const aroundEncoded = 3

// wholeHunk returns one hunk from the first to the last line that differs.
func wholeHunk(before, now []Line) []Hunk {
	first := 0
	for first < min(len(before), len(now)) && before[first] == now[first] {
		first++
	}
	last := 0
	for last < min(len(before), len(now))-first && before[len(before)-1-last] == now[len(now)-1-last] {
		last++
	}
	if first == len(before) && first == len(now) {
		return nil
	}
	h := Hunk{}
	add := func(op Op, l Line, from, to int) {
		l.Op, l.Old, l.New = op, from, to
		if len(l.Text) > DefaultLimits.LineBytes {
			most := DefaultLimits.LineBytes
			l.Text, h.Cut = l.Text[:runeStart(l.Text, most)], lineCut+size(int64(most))
		}
		if from > 0 {
			h.OldLines++
		}
		if to > 0 {
			h.NewLines++
		}
		h.Lines = append(h.Lines, l)
	}
	begin := max(first-aroundEncoded, 0)
	for i := begin; i < first; i++ {
		add(Context, before[i], i+1, i+1)
	}
	for i := first; i < len(before)-last; i++ {
		add(Delete, before[i], i+1, 0)
	}
	for i := first; i < len(now)-last; i++ {
		add(Add, now[i], 0, i+1)
	}
	for n := range min(last, aroundEncoded) {
		add(Context, now[len(now)-last+n], len(before)-last+n+1, len(now)-last+n+1)
	}
	h.OldStart, h.NewStart = begin+1, begin+1
	if h.OldLines == 0 {
		h.OldStart = begin
	}
	if h.NewLines == 0 {
		h.NewStart = begin
	}
	return []Hunk{h}
}
