package diff

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Parse reads what git prints for
//
//	git diff --raw -z -p --full-index --no-abbrev --src-prefix=a/ --dst-prefix=b/
//
// that is, one NUL-terminated record for each file and then the patch. Paths,
// modes and statuses come from the records, which quote nothing; the patch's
// sections are matched with them by order and path. Limits that are reached
// are noted in the files and hunks. An error names the line of the patch that
// it is about; it wraps [ErrTooLarge] when even the list of files is too long.
func Parse(r io.Reader, lim Limits) (*Change, error) {
	p := newParser(r, lim)
	if err := p.readRecords(); err != nil {
		return nil, fmt.Errorf("read diff: %w", err)
	}
	p.strict, p.open = true, p.matchRecord
	return p.run()
}

// ParsePatch reads a plain patch: what git diff prints without --raw, or what
// diff -u prints. Text around the sections is ignored, as git apply does. A
// path that comes up twice is an error, because such a patch is a series and
// its line numbers mean different trees. Limits and errors are those of
// [Parse].
func ParsePatch(r io.Reader, lim Limits) (*Change, error) {
	p := newParser(r, lim)
	p.seen = map[string]bool{}
	p.open = p.addSection
	return p.run()
}

// parser splits a patch into sections and hunks while it reads it. Only the
// header of one section and the kept lines of one hunk are held as text.
type parser struct {
	in     input
	budget budget
	change *Change

	strict bool // nothing but what git prints may stand between the sections
	open   func(*header) error

	header *header // the header that is being read, nil behind it
	file   int     // index of the file that hunks belong to, -1 for none
	hidden string  // why no line of the file is kept, "" if they are
	binary bool    // what follows is binary data up to the next section
	hunk   hunkText

	record, parts int             // of Parse: the record to match next, its sections so far
	old           string          // of ParsePatch: a "--- " line outside a header
	named         *header         // of ParsePatch: that line and the "+++ " line behind it
	namedAt       int64           // its line
	seen          map[string]bool // of ParsePatch: the paths so far
}

func newParser(r io.Reader, lim Limits) *parser {
	lim = lim.orDefault()
	// A line and its ending always fit into the buffer unless it is too long.
	size := max(lim.LineBytes+3, maxHeaderLine)
	return &parser{
		in:     input{r: bufio.NewReaderSize(r, size)},
		budget: budget{lim: lim},
		change: &Change{},
		file:   -1,
	}
}

func (p *parser) run() (*Change, error) {
	for {
		line, long, err := p.in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = p.take(line, long)
		}
		if err != nil {
			return nil, fmt.Errorf("read diff: line %d: %w", p.in.line, err)
		}
	}
	if err := p.closeSection(); err != nil {
		return nil, fmt.Errorf("read diff: line %d, the last one: %w", p.in.line, err)
	}
	return p.change, nil
}

var (
	errCombined = errors.New("combined diff of a merge: diff against one of its parents")
	errOrphan   = errors.New("hunk outside of a file's section")
	errHeader   = fmt.Errorf("header line longer than %s", size(maxHeaderLine))
)

// The most that the header of a section may take. A path has at most 4,096
// bytes, each of which git writes as four when it quotes, and a line holds two.
const (
	maxHeaderLine  = 64 << 10
	maxHeaderLines = 32
)

var (
	gitMark      = []byte("diff --git ")
	hunkMark     = []byte("@@ -")
	oldMark      = []byte("--- ")
	newMark      = []byte("+++ ")
	binaryMark   = []byte("Binary files ")
	binaryPatch  = []byte("GIT binary patch")
	combineMarks = [][]byte{[]byte("diff --cc "), []byte("diff --combined "), []byte("@@@ -")}
	headerMarks  = [][]byte{
		oldMark, newMark, []byte("index "), []byte("old mode "), []byte("new mode "),
		[]byte("deleted file mode "), []byte("new file mode "), []byte("similarity index "),
		[]byte("dissimilarity index "), []byte("rename from "), []byte("rename to "),
		[]byte("copy from "), []byte("copy to "),
	}
)

// take reads one line of the patch.
func (p *parser) take(line []byte, long bool) error {
	switch {
	case p.hunk.unfinished():
		return p.takeBody(line, long)
	case p.hunk.at > 0 && line[0] == '\\':
		p.hunk.noEOL()
		return nil
	case bytes.HasPrefix(line, gitMark):
		if err := p.closeSection(); err != nil {
			return err
		}
		p.header = &header{at: p.in.line}
		return p.header.add(line, long)
	case p.binary:
		return nil
	case bytes.HasPrefix(line, hunkMark):
		return p.startHunk(line)
	case p.header != nil && hasMark(line, headerMarks):
		return p.header.add(line, long)
	case p.header != nil && (bytes.HasPrefix(line, binaryMark) || bytes.HasPrefix(line, binaryPatch)):
		p.header.binary, p.binary = true, true
		return p.closeHeader()
	case hasMark(line, combineMarks):
		return errCombined
	case p.strict && p.header == nil:
		return fmt.Errorf("%.60q is no part of a diff", line)
	case p.strict:
		return nil // an extended header of a newer git
	}
	return p.between(line, long)
}

// between reads a line outside of the sections of a plain patch: the two name
// lines of a section that git did not write, or text that means nothing.
func (p *parser) between(line []byte, long bool) error {
	switch {
	case bytes.HasPrefix(line, oldMark) && !long:
		p.old = string(line)
	case bytes.HasPrefix(line, newMark) && p.old != "":
		h := &header{at: p.in.line - 1, traditional: true}
		if err := h.add([]byte(p.old), false); err != nil {
			return err
		}
		if err := h.add(line, long); err != nil {
			return err
		}
		p.old, p.named, p.namedAt = "", h, p.in.line
	default:
		p.old = ""
		return p.closeSection()
	}
	return nil
}

// closeHeader finds the file of the section whose header has just been read.
func (p *parser) closeHeader() error {
	h := p.header
	p.header = nil
	if h == nil {
		return nil
	}
	p.budget.fileBytes = 0
	if err := p.open(h); err != nil {
		return fmt.Errorf("section from line %d: %w", h.at, err)
	}
	return nil
}

// closeSection ends the section that is being read, if there is one.
func (p *parser) closeSection() error {
	if err := p.closeHeader(); err != nil {
		return err
	}
	if err := p.closeHunk(); err != nil {
		return err
	}
	p.file, p.binary = -1, false
	p.hunk.oldEnd, p.hunk.newEnd = 0, 0
	return nil
}

// startHunk reads the header of a hunk.
func (p *parser) startHunk(line []byte) error {
	if p.named != nil && p.namedAt == p.in.line-1 {
		if err := p.closeSection(); err != nil {
			return err
		}
		p.header = p.named
	}
	p.named = nil
	if err := p.closeHeader(); err != nil {
		return err
	}
	if p.file < 0 {
		return errOrphan
	}
	if err := p.closeHunk(); err != nil {
		return err
	}
	return p.hunk.start(line, p.in.line)
}

// input reads lines of any length in bounded memory.
type input struct {
	r    *bufio.Reader
	line int64 // number of the line that was read last, from 1
	long []byte
}

// next returns the next line with its ending, valid until the next call. Of a
// line that is longer than the buffer it returns the beginning, without an
// ending, and long.
func (in *input) next() (line []byte, long bool, err error) {
	in.line++
	line, err = in.r.ReadSlice('\n')
	switch {
	case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
		return line, false, nil
	case !errors.Is(err, bufio.ErrBufferFull):
		in.line--
		return nil, false, err
	}
	in.long = append(in.long[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = in.r.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	return in.long, true, nil
}

// header is the text of a section in front of its first hunk.
type header struct {
	at          int64 // its first line
	lines       []string
	binary      bool
	traditional bool // written by diff -u, without git's line
}

func (h *header) add(line []byte, long bool) error {
	switch {
	case long:
		return errHeader
	case len(h.lines) == maxHeaderLines:
		return fmt.Errorf("header longer than %d lines", maxHeaderLines)
	}
	h.lines = append(h.lines, strings.TrimSuffix(string(line), "\n"))
	return nil
}

func hasMark(line []byte, marks [][]byte) bool {
	for _, m := range marks {
		if bytes.HasPrefix(line, m) {
			return true
		}
	}
	return false
}
