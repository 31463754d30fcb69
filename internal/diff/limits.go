package diff

import (
	"cmp"
	"errors"
	"fmt"
)

// Limits bounds what is kept of a diff. Whatever is beyond a limit is read and
// thrown away, and the file or the hunk says so. A limit of 0 is that of
// [DefaultLimits].
type Limits struct {
	Bytes     int64 // text of all lines that are kept
	FileBytes int64 // text of the lines of one file that are kept
	LineBytes int   // length of one line; the rest of a longer one is cut off
	Lines     int   // lines that are kept
	Files     int   // files whose hunks are kept
	Hunks     int   // hunks that are kept
}

// DefaultLimits is more than anyone reviews: 16 MiB are about four million
// tokens, twice what a review may spend, and 3,000 files are what GitHub shows
// of a pull request.
var DefaultLimits = Limits{
	Bytes:     16 << 20,
	FileBytes: 4 << 20,
	LineBytes: 64 << 10,
	Lines:     250_000,
	Files:     3_000,
	Hunks:     25_000,
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits
	return Limits{
		Bytes:     cmp.Or(l.Bytes, d.Bytes),
		FileBytes: cmp.Or(l.FileBytes, d.FileBytes),
		LineBytes: cmp.Or(l.LineBytes, d.LineBytes),
		Lines:     cmp.Or(l.Lines, d.Lines),
		Files:     cmp.Or(l.Files, d.Files),
		Hunks:     cmp.Or(l.Hunks, d.Hunks),
	}
}

// maxListed bounds the files that are listed at all, and maxListedBytes their
// paths. No review of such a change says anything.
const (
	maxListed      = 100_000
	maxListedBytes = 32 << 20
)

// ErrTooLarge is wrapped by the error for a change of which not even the list
// of its files can be kept.
var ErrTooLarge = errors.New("change too large")

// budget counts what is kept against the limits.
type budget struct {
	lim       Limits
	bytes     int64
	fileBytes int64
	lines     int
	hunks     int
	listed    int // files
	paths     int // bytes of their paths
}

// full says which limit on the whole change is reached, "" if none is.
func (b *budget) full() string {
	switch {
	case b.bytes >= b.lim.Bytes:
		return "diff larger than " + size(b.lim.Bytes)
	case b.lines >= b.lim.Lines:
		return fmt.Sprintf("diff longer than %d lines", b.lim.Lines)
	}
	return ""
}

// line takes a line of n bytes and says why it cannot be kept, "" if it can.
func (b *budget) line(n int) string {
	switch {
	case b.bytes+int64(n) > b.lim.Bytes:
		b.bytes = b.lim.Bytes // nothing shorter gets in behind it
	case b.fileBytes+int64(n) > b.lim.FileBytes:
		b.fileBytes = b.lim.FileBytes
		return "file's diff larger than " + size(b.lim.FileBytes)
	}
	if why := b.full(); why != "" {
		return why
	}
	b.bytes += int64(n)
	b.fileBytes += int64(n)
	b.lines++
	return ""
}

// hunk takes a hunk and says why it cannot be kept, "" if it can.
func (b *budget) hunk() string {
	if b.hunks >= b.lim.Hunks {
		return fmt.Sprintf("change has more than %d hunks", b.lim.Hunks)
	}
	b.hunks++
	return ""
}

// file takes a file and says why its hunks cannot be kept, "" if they can.
func (b *budget) file(f *File) (string, error) {
	b.listed++
	b.paths += len(f.Path)
	if f.OldPath != f.Path {
		b.paths += len(f.OldPath)
	}
	if b.listed > maxListed || b.paths > maxListedBytes {
		return "", fmt.Errorf("%w: more than %d files, or their paths longer than %s", ErrTooLarge, maxListed, size(maxListedBytes))
	}
	if b.listed > b.lim.Files {
		return fmt.Sprintf("change has more than %d files", b.lim.Files), nil
	}
	return "", nil
}

// size writes a number of bytes as people do.
func size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
