package diff

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Parse parses the output of
//
//	git diff --raw -z -p --full-index --no-abbrev --src-prefix=a/ --dst-prefix=b/
//
// that is, one NUL-terminated record per file and then the patch. Paths, modes and statuses come from the
// records, which are not quoted; the patch's sections are matched with them by order and path. Files and
// hunks record which limits were reached. An error names its line in the patch; it wraps [ErrTooLarge] if
// even the list of files is too long.
func Parse(r io.Reader, lim Limits) (*Change, error) {
	p := newParser(r, lim)
	if err := p.readRecords(); err != nil {
		return nil, fmt.Errorf("read diff: %w", err)
	}
	p.strict, p.open = true, p.matchRecord
	return p.run()
}

// ParsePatch parses a plain patch: the output of git diff without --raw. Text around the sections is ignored, as
// with git apply, but a section without git's own header is not read. A path that occurs twice is an error, because such a patch is a
// series whose line numbers refer to different trees. Limits and errors are those of [Parse].
func ParsePatch(r io.Reader, lim Limits) (*Change, error) {
	p := newParser(r, lim)
	p.seen = map[string]bool{}
	p.open = p.addSection
	return p.run()
}

// parser splits a patch into sections and hunks as it reads. It holds only the header
// of one section and the kept lines of one hunk.
type parser struct {
	in     input
	budget budget
	change *Change

	strict bool // only git's own output is allowed between the sections
	open   func(*header) error

	header     *header // the header that is being read, nil after it
	file       int     // index of the file that hunks belong to, -1 for none
	skipReason string  // why no line of the file is kept, "" if they are
	binary     bool    // what follows is binary data up to the next section
	hunk       openHunk

	record, parts int             // for Parse: the record to match next, its sections so far
	seen          map[string]bool // for ParsePatch: the paths so far
}

func newParser(r io.Reader, lim Limits) *parser {
	lim = lim.orDefault()
	// A line and its ending always fit into the buffer unless the line is too long.
	size := max(lim.LineBytes+3, maxHeaderLine)
	return &parser{in: input{r: bufio.NewReaderSize(r, size)}, budget: budget{lim: lim}, change: &Change{}, file: -1}
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
		return nil, fmt.Errorf("read diff: line %d (the last): %w", p.in.line, err)
	}
	return p.change, nil
}

var (
	errCombined = errors.New("combined diff of a merge: diff against one of its parents")
	errOrphan   = errors.New(`hunk outside a file's section, which starts with "diff --git"`)
	errHeader   = fmt.Errorf("header line longer than %s", size(maxHeaderLine))
)

// The limits of a section's header. A path has at most 4,096 bytes, each of which git
// can quote as four, and a line has two paths.
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
		return fmt.Errorf("%.60q is not part of a diff", line)
	case p.strict:
		return nil // an extended header of a newer git
	}
	return p.closeSection() // other text
}

// closeHeader determines the file of the section whose header was just read.
func (p *parser) closeHeader() error {
	h := p.header
	p.header = nil
	if h == nil {
		return nil
	}
	p.budget.fileBytes, p.budget.fileLines = 0, 0
	if err := p.open(h); err != nil {
		return fmt.Errorf("section from line %d: %w", h.at, err)
	}
	return nil
}

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

func (p *parser) startHunk(line []byte) error {
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
	line int64 // number of the last line read, from 1
	long []byte
}

// next returns the next line with its ending, valid until the next call. If a line is longer than the buffer,
// it returns the beginning, without an ending, and long is set.
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

// header is the text of a section before its first hunk.
type header struct {
	at     int64 // its first line
	lines  []string
	binary bool
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
	return slices.ContainsFunc(marks, func(m []byte) bool { return bytes.HasPrefix(line, m) })
}
