package diff

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// openHunk is a hunk that is being read.
type openHunk struct {
	Hunk
	at               int64 // line of its header; 0 when no hunk is being read
	oldLeft, newLeft int   // remaining lines
	changed          bool  // a changed line was kept
	closed           bool  // no more lines are kept
	lastKept         bool  // the last line was kept

	oldEnd, newEnd int // first lines after the previous hunk of the section
}

var (
	errCount = errors.New("the lines of the hunk do not match its header")
	errEarly = errors.New("the diff ends within a hunk")
	errOrder = errors.New("hunk starts before the previous one ends")
	errSame  = errors.New("it contains no changes")
)

// maxSection limits the text after a hunk's second @@; git writes 80 bytes.
const maxSection = 256

func (h *openHunk) unfinished() bool { return h.at > 0 && (h.oldLeft > 0 || h.newLeft > 0) }

// start parses a hunk header, "@@ -1,2 +3,4 @@ section".
func (h *openHunk) start(line []byte, at int64) error {
	ranges, section, ok := strings.Cut(string(line[len(hunkMark):]), " @@")
	before, after, ok2 := strings.Cut(ranges, " +")
	if !ok || !ok2 {
		return fmt.Errorf("invalid hunk header %.60q", line)
	}
	oldStart, oldLines, err := parseRange(before)
	if err != nil {
		return err
	}
	newStart, newLines, err := parseRange(after)
	if err != nil {
		return err
	}
	// A side without lines has the number of the line before the hunk.
	oldFirst, newFirst := oldStart, newStart
	if oldLines == 0 {
		oldFirst++
	}
	if newLines == 0 {
		newFirst++
	}
	if oldFirst < max(h.oldEnd, 1) || newFirst < max(h.newEnd, 1) {
		return errOrder
	}
	section = strings.TrimSpace(section)
	*h = openHunk{
		Hunk: Hunk{
			OldStart: oldStart, OldLines: oldLines, NewStart: newStart, NewLines: newLines,
			Section: section[:runeStart(section, maxSection)],
		},
		at: at, oldLeft: oldLines, newLeft: newLines,
		oldEnd: oldFirst + oldLines, newEnd: newFirst + newLines,
	}
	return nil
}

// parseRange parses "12,3" or "12", which counts one line.
func parseRange(s string) (start, n int, err error) {
	first, count, both := strings.Cut(s, ",")
	a, err := strconv.ParseUint(first, 10, 31)
	b := uint64(1)
	if err == nil && both {
		b, err = strconv.ParseUint(count, 10, 31)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("invalid range %.40q in a hunk header", s)
	}
	if a+b >= math.MaxInt32 {
		return 0, 0, fmt.Errorf("range %.40q in a hunk header is too large", s)
	}
	return int(a), int(b), nil
}

func (p *parser) takeBody(line []byte, long bool) error {
	h := &p.hunk
	op := line[0]
	switch op {
	case '\n': // git may omit the space of an empty context line
		op, line = ' ', []byte(" \n")
		fallthrough
	case ' ':
		h.oldLeft--
		h.newLeft--
	case '-':
		h.oldLeft--
		p.change.Removed++
	case '+':
		h.newLeft--
		p.change.Added++
	case '\\':
		h.noEOL()
		return nil
	default:
		return fmt.Errorf("%w: %.60q is not a line of a hunk", errCount, line)
	}
	if h.oldLeft < 0 || h.newLeft < 0 {
		return errCount
	}
	p.keep(op, line[1:], long)
	return nil
}

// keep adds a line to the hunk if the limits allow it. A line without its
// ending is cut at the limit, between characters.
func (p *parser) keep(op byte, line []byte, long bool) {
	h := &p.hunk
	h.lastKept = false
	if p.skipReason != "" && !h.closed {
		h.Cut, h.closed = p.skipReason, true
	}
	if h.closed {
		return
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	limit := p.budget.lim.LineBytes
	cut := long || len(bytes.TrimSuffix(line, []byte("\r"))) > limit
	if cut {
		line = line[:runeStart(line, limit)]
	}
	if why := p.budget.line(len(line)); why != "" {
		h.Cut, h.closed = why, true
		return
	}
	if cut && h.Cut == "" {
		h.Cut = lineCut + size(int64(limit))
	}
	l := Line{Op: Op(op)}
	l.Text, l.CRLF = strings.CutSuffix(string(line), "\r")
	if l.Op != Add {
		l.Old = h.OldStart + h.OldLines - h.oldLeft - 1
	}
	if l.Op != Delete {
		l.New = h.NewStart + h.NewLines - h.newLeft - 1
	}
	h.Lines = append(h.Lines, l)
	h.lastKept = true
	h.changed = h.changed || l.Op != Context
}

func (h *openHunk) noEOL() {
	if !h.lastKept {
		return
	}
	l := &h.Lines[len(h.Lines)-1]
	if l.CRLF {
		l.Text += "\r"
	}
	l.CRLF, l.NoEOL, h.lastKept = false, true, false
}

func (p *parser) closeHunk() error {
	h := &p.hunk
	if h.at == 0 {
		return nil
	}
	if h.unfinished() {
		return errEarly
	}
	at := h.at
	h.at = 0
	f := &p.change.Files[p.file]
	if why := p.budget.hunk(); why != "" {
		f.Skip, f.TooLarge = why, true
		return nil
	}
	if !h.changed {
		if h.Cut == "" {
			return fmt.Errorf("hunk at line %d: %w", at, errSame)
		}
		h.Lines = nil
	}
	f.Hunks = append(f.Hunks, h.Hunk)
	return nil
}

// runeStart returns the largest index up to n where s can be cut without splitting a character.
func runeStart[S string | []byte](s S, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for i := n; i > 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return n
}
