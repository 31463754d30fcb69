package diff

import (
	"cmp"
	"errors"
	"fmt"
)

// Limits bound what is kept of a diff (T21). Anything beyond a limit is read and dropped,
// and the file or hunk says so. A limit of 0 means that of [DefaultLimits].
type Limits struct {
	Bytes     int64 // text of all kept lines
	FileBytes int64 // text of the kept lines of one file
	LineBytes int   // length of one line, which bundles of scripts reach; longer ones are cut
	Lines     int   // kept lines, half of them at most in one file, so that others are read, too
	Hunks     int   // kept hunks
}

// DefaultLimits are more than anyone reviews: 16 MiB are about four million tokens,
// twice what a review may spend. Files without hunks are limited by maxListed.
var DefaultLimits = Limits{Bytes: 16 << 20, FileBytes: 4 << 20, LineBytes: 1 << 20, Lines: 250_000, Hunks: 25_000}

func (l Limits) orDefault() Limits {
	d := DefaultLimits
	return Limits{
		Bytes: cmp.Or(l.Bytes, d.Bytes), FileBytes: cmp.Or(l.FileBytes, d.FileBytes),
		LineBytes: cmp.Or(l.LineBytes, d.LineBytes), Lines: cmp.Or(l.Lines, d.Lines), Hunks: cmp.Or(l.Hunks, d.Hunks),
	}
}

// maxListed limits the listed files, and maxListedBytes their paths. No review of a
// larger change would be useful.
const (
	maxListed      = 100_000
	maxListedBytes = 32 << 20
)

// ErrTooLarge is wrapped by the error for a change whose list of files is too long to keep.
var ErrTooLarge = errors.New("change too large")

// budget counts what is kept against the limits.
type budget struct {
	lim       Limits
	bytes     int64
	fileBytes int64
	lines     int
	fileLines int
	hunks     int
	listed    int // files
	paths     int // bytes of their paths
}

// full returns which limit on the whole change is reached, "" if none is.
func (b *budget) full() string {
	switch {
	case b.bytes >= b.lim.Bytes:
		return "diff larger than " + size(b.lim.Bytes)
	case b.lines >= b.lim.Lines:
		return fmt.Sprintf("diff longer than %d lines", b.lim.Lines)
	}
	return ""
}

// line counts a line of n bytes and returns why it cannot be kept, "" if it can.
func (b *budget) line(n int) string {
	switch {
	case b.bytes+int64(n) > b.lim.Bytes:
		b.bytes = b.lim.Bytes // do not keep shorter lines after it
	case b.fileBytes+int64(n) > b.lim.FileBytes:
		b.fileBytes = b.lim.FileBytes
		return "file's diff larger than " + size(b.lim.FileBytes)
	}
	if why := b.full(); why != "" {
		return why
	}
	if most := (b.lim.Lines + 1) / 2; b.fileLines >= most {
		return fmt.Sprintf("file's diff longer than %d lines", most)
	}
	b.fileLines++
	b.bytes += int64(n)
	b.fileBytes += int64(n)
	b.lines++
	return ""
}

// hunk counts a hunk and returns why it cannot be kept, "" if it can.
func (b *budget) hunk() string {
	if b.hunks >= b.lim.Hunks {
		return fmt.Sprintf("change has more than %d hunks", b.lim.Hunks)
	}
	b.hunks++
	return ""
}

func (b *budget) file(f *File) error {
	b.listed++
	b.paths += len(f.Path)
	if f.OldPath != f.Path {
		b.paths += len(f.OldPath)
	}
	if b.listed > maxListed || b.paths > maxListedBytes {
		return fmt.Errorf("%w: more than %d files, or their paths longer than %s", ErrTooLarge, maxListed,
			size(maxListedBytes))
	}
	return nil
}

func size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
