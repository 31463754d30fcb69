package diff

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// hunkText is a hunk that is being read: its numbers and the text of those of
// its lines that are kept.
type hunkText struct {
	Hunk
	at               int64 // line of its header; 0 when no hunk is being read
	oldLeft, newLeft int   // lines that are still to come
	oldKept, newKept int
	changed          bool // a changed line was kept
	closed           bool // no further line is kept
	lastKept         bool // the last line was kept
	text             bytes.Buffer

	oldEnd, newEnd int // first lines behind the previous hunk of the section
}

var (
	errCount = errors.New("hunk has other lines than its header counts")
	errEarly = errors.New("the diff ends within a hunk")
	errOrder = errors.New("hunk starts before the previous one ends")
)

// maxSection bounds the text behind a hunk's second @@; git writes 80 bytes.
const maxSection = 256

func (h *hunkText) unfinished() bool { return h.at > 0 && (h.oldLeft > 0 || h.newLeft > 0) }

// start reads a hunk's header, "@@ -1,2 +3,4 @@ section".
func (h *hunkText) start(line []byte, at int64) error {
	ranges, section, ok := strings.Cut(string(line[len(hunkMark):]), " @@")
	before, after, ok2 := strings.Cut(ranges, " +")
	if !ok || !ok2 {
		return fmt.Errorf("hunk header %.60q", line)
	}
	oldStart, oldLines, err := parseRange(before)
	if err != nil {
		return err
	}
	newStart, newLines, err := parseRange(after)
	if err != nil {
		return err
	}
	// A side without lines names the line in front of the hunk.
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
	text := h.text
	text.Reset()
	*h = hunkText{
		Hunk: Hunk{
			OldStart: oldStart, OldLines: oldLines, NewStart: newStart, NewLines: newLines,
			Section: section[:runeStart(section, maxSection)],
		},
		at: at, oldLeft: oldLines, newLeft: newLines,
		oldEnd: oldFirst + oldLines, newEnd: newFirst + newLines,
		text: text,
	}
	return nil
}

// parseRange reads "12,3" or "12", which counts one line.
func parseRange(s string) (start, n int, err error) {
	first, count, both := strings.Cut(s, ",")
	a, err := strconv.ParseUint(first, 10, 31)
	b := uint64(1)
	if err == nil && both {
		b, err = strconv.ParseUint(count, 10, 31)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("range %.40q of a hunk header", s)
	}
	if a+b >= math.MaxInt32 {
		return 0, 0, fmt.Errorf("range %.40q of a hunk header is too large", s)
	}
	return int(a), int(b), nil
}

// takeBody reads one line of the hunk.
func (p *parser) takeBody(line []byte, long bool) error {
	h := &p.hunk
	op := line[0]
	switch op {
	case '\n': // diff -u may leave out the blank of an empty line of context
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
		return fmt.Errorf("%w: %.60q is no line of a hunk", errCount, line)
	}
	if h.oldLeft < 0 || h.newLeft < 0 {
		return errCount
	}
	p.keep(op, line[1:], long)
	return nil
}

// keep puts a line into the text of the hunk if the limits allow it. Without
// its ending, a line is cut at the limit, between characters.
func (p *parser) keep(op byte, line []byte, long bool) {
	h := &p.hunk
	h.lastKept = false
	if p.hidden != "" && !h.closed {
		h.Cut, h.closed = p.hidden, true
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
		h.Cut = "line longer than " + size(int64(limit))
	}
	h.text.WriteByte(op)
	h.text.Write(line)
	h.text.WriteByte('\n')
	h.lastKept = true
	if op != '+' {
		h.oldKept++
	}
	if op != '-' {
		h.newKept++
	}
	h.changed = h.changed || op != ' '
}

// noEOL notes that the last line has no ending.
func (h *hunkText) noEOL() {
	if h.lastKept {
		h.text.WriteString("\\ No newline at end of file\n")
		h.lastKept = false
	}
}

// closeHunk adds the hunk that was read to its file.
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
	if h.changed || h.Cut == "" {
		lines, err := h.parse()
		if err != nil {
			return fmt.Errorf("hunk at line %d: %w", at, err)
		}
		h.Lines = lines
	}
	f.Hunks = append(f.Hunks, h.Hunk)
	return nil
}

// parse hands the kept text to gitdiff, under names that mean nothing and a
// header that counts what was kept.
func (h *hunkText) parse() ([]Line, error) {
	var text bytes.Buffer
	text.Grow(h.text.Len() + 80)
	fmt.Fprintf(&text, "--- a\n+++ b\n@@ -%d,%d +%d,%d @@\n", h.OldStart, h.oldKept, h.NewStart, h.newKept)
	text.Write(h.text.Bytes())
	files, _, err := gitdiff.Parse(&text)
	if err != nil {
		return nil, err
	}
	if len(files) != 1 || len(files[0].TextFragments) != 1 {
		return nil, errCount
	}
	fragment := files[0].TextFragments[0].Lines
	lines := make([]Line, len(fragment))
	before, after := h.OldStart, h.NewStart
	for i, g := range fragment {
		l := &lines[i]
		l.Text = g.Line
		if rest, ok := strings.CutSuffix(l.Text, "\n"); !ok {
			l.NoEOL = true
		} else {
			l.Text, l.CRLF = strings.CutSuffix(rest, "\r")
		}
		switch g.Op {
		case gitdiff.OpAdd:
			l.Op = Add
		case gitdiff.OpDelete:
			l.Op = Delete
		default:
			l.Op = Context
		}
		if l.Op != Add {
			l.Old = before
			before++
		}
		if l.Op != Delete {
			l.New = after
			after++
		}
	}
	return lines, nil
}

// runeStart returns the largest index up to n at which s can be cut without
// cutting a character.
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
