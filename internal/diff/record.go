package diff

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// statuses are the status letters in git's records. Unmerged files and unknown types
// have none: they do not occur between two trees.
var statuses = map[byte]Status{'A': Added, 'M': Modified, 'D': Deleted, 'R': Renamed, 'C': Copied, 'T': Retyped}

const absent = "000000" // the mode of an absent file

// readRecords reads the records in front of the patch into the change's files:
//
//	:<old mode> <new mode> <old id> <new id> <status>NUL<path>NUL[<path>NUL]
//
// and the NUL that ends them.
func (p *parser) readRecords() error {
	for n := 1; ; n++ {
		c, err := p.in.r.ReadByte()
		if errors.Is(err, io.EOF) || err == nil && c == 0 && n > 1 {
			return nil
		}
		if err == nil {
			err = p.readRecord(c)
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
	}
}

func (p *parser) readRecord(first byte) error {
	if first != ':' {
		return errors.New("not a record of git diff --raw -z")
	}
	head, err := p.readField()
	if err != nil {
		return err
	}
	if strings.HasPrefix(head, ":") {
		return errCombined
	}
	fields := strings.Split(head, " ")
	if len(fields) != 5 || len(fields[0]) != len(absent) || len(fields[1]) != len(absent) || fields[4] == "" {
		return fmt.Errorf("%.100q is not a record of git diff --raw", head)
	}
	status, ok := statuses[fields[4][0]]
	if !ok {
		return fmt.Errorf("unknown status %.10q in a record", fields[4])
	}
	f := File{
		Status: status, OldMode: fields[0], NewMode: fields[1], OldBlob: objectID(fields[2]),
		NewBlob: objectID(fields[3]),
	}
	if f.OldPath, err = p.readField(); err != nil {
		return err
	}
	f.Path = f.OldPath
	if status == Renamed || status == Copied {
		if f.Path, err = p.readField(); err != nil {
			return err
		}
	}
	if f.Path == "" || f.OldPath == "" {
		return errors.New("empty path")
	}
	_, err = p.addFile(f)
	return err
}

// readField reads up to the next NUL.
func (p *parser) readField() (string, error) {
	b, err := p.in.r.ReadSlice(0)
	switch {
	case errors.Is(err, bufio.ErrBufferFull), len(b) > maxHeaderLine:
		return "", errors.New("path too long")
	case errors.Is(err, io.EOF):
		return "", io.ErrUnexpectedEOF
	case err != nil:
		return "", err
	}
	return string(b[:len(b)-1]), nil
}

// objectID returns "" for zeros, which mean no object.
func objectID(s string) string {
	if strings.Trim(s, "0") == "" {
		return ""
	}
	return s
}

func (p *parser) addFile(f File) (int, error) {
	if err := p.budget.file(&f); err != nil {
		return 0, err
	}
	p.change.Files = append(p.change.Files, f)
	return len(p.change.Files) - 1, nil
}

// setFile sets the file that the next hunks belong to.
func (p *parser) setFile(i int, h *header) {
	f := &p.change.Files[i]
	p.file = i
	f.Binary = f.Binary || h.binary
	if full := p.budget.full(); full != "" && f.Skip == "" {
		f.Skip, f.TooLarge = full, true
	}
	p.skipReason = ""
	if f.TooLarge {
		p.skipReason = f.Skip
	}
}

// matchRecord finds the record of a section of the patch. Both are in the same order.
// A record may have no section, and one of a changed type has two.
func (p *parser) matchRecord(h *header) error {
	names := strings.TrimPrefix(h.lines[0], string(gitMark))
	for i := p.record; i < len(p.change.Files); i++ {
		f := &p.change.Files[i]
		if !isNames(names, f.OldPath, f.Path) {
			p.parts = 0
			continue
		}
		p.record = i
		if p.parts++; f.Status != Retyped || p.parts == 2 {
			p.record, p.parts = i+1, 0
		}
		p.setFile(i, h)
		return nil
	}
	return fmt.Errorf("%.200q does not match a record", h.lines[0])
}

// blobs returns the ids of the header's index line, "" for none.
func (h *header) blobs() (before, after string) {
	for _, l := range h.lines {
		if rest, ok := strings.CutPrefix(l, "index "); ok {
			rest, _, _ = strings.Cut(rest, " ")
			before, after, _ = strings.Cut(rest, "..")
			return objectID(before), objectID(after)
		}
	}
	return "", ""
}

// isNames reports whether the names in a section's first line are those of two paths,
// each with its prefix, quoted or not.
func isNames(names, before, after string) bool {
	rest, ok := cutName(names, "a/"+before)
	if !ok || !strings.HasPrefix(rest, " ") {
		return false
	}
	rest, ok = cutName(rest[1:], "b/"+after)
	return ok && rest == ""
}

// cutName removes a name from the start of s.
func cutName(s, name string) (rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return strings.CutPrefix(s, name)
	}
	got, rest, ok := unquote(s)
	return rest, ok && got == name
}

// unquote parses a name that git quoted as in C, and returns the text after it.
func unquote(s string) (name, rest string, ok bool) {
	var b bytes.Buffer
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c != '\\':
			b.WriteByte(c)
		case i+1 == len(s):
			return "", "", false
		default:
			i++
			if j := strings.IndexByte(`abtnvfr"\`, s[i]); j >= 0 {
				b.WriteByte("\a\b\t\n\v\f\r\"\\"[j])
				continue
			}
			if i+3 > len(s) || s[i] > '3' || !octal(s[i]) || !octal(s[i+1]) || !octal(s[i+2]) {
				return "", "", false
			}
			b.WriteByte((s[i]-'0')<<6 | (s[i+1]-'0')<<3 | (s[i+2] - '0'))
			i += 2
		}
	}
	return "", "", false
}

func octal(c byte) bool { return '0' <= c && c <= '7' }
