package corpus

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

// Imported counts what became of the lines of a file. Each line that is not empty is counted once:
// as a pull request, as malformed, as foreign, as being on an issue, or as what became of its
// comment.
type Imported struct {
	Lines     int   `json:"lines"`
	Bytes     int64 `json:"bytes"` // that were read, after decompression
	Pulls     int   `json:"pull_requests"`
	Malformed int   `json:"malformed"`
	Foreign   int   `json:"foreign"`   // of another repository
	OnIssues  int   `json:"on_issues"` // not on a pull request
	Saved
	// Bad are the first lines that are malformed or foreign.
	Bad []BadLine `json:"bad"`
}

// Add adds the counts of another file.
func (i *Imported) Add(o Imported) {
	i.Lines += o.Lines
	i.Bytes += o.Bytes
	i.Pulls += o.Pulls
	i.Malformed += o.Malformed
	i.Foreign += o.Foreign
	i.OnIssues += o.OnIssues
	i.Saved.Add(o.Saved)
	i.Bad = append(i.Bad, o.Bad[:min(len(o.Bad), maxBad-min(len(i.Bad), maxBad))]...)
}

// BadLine is a line that was not imported.
type BadLine struct {
	File string `json:"file"`
	Line int    `json:"line"` // from 1
	Why  string `json:"why"`
}

const (
	// maxBad limits the lines that are named.
	maxBad = 5
	// maxImportLine limits a line, in bytes. The longest comment of GitHub takes 400 KiB if every
	// character is escaped; the rest is for the diff hunk.
	maxImportLine = 8 << 20
	// A part of a file that is saved at once has at most so many lines, and about so many bytes.
	partLines, partBytes = 1_024, 4 << 20
)

// Import saves the comments of a file of JSON lines in the form of GitHub's REST API: comments on
// lines, reviews, comments on pull requests, and pull requests. The file may be compressed with
// gzip. It is saved in parts; after an interruption, importing the file again leads to the same
// result. Lines that cannot be used are counted, and do not stop the import.
//
// Comments that say that they are about another repository than one with these names are left out. Permalinks that a
// file does not have are made with the first name. progress is called after each part that was saved; nil for nothing.
func (c *Corpus) Import(ctx context.Context, name string, from io.Reader, repos []precedent.Repo,
	progress func(Imported),
) (total Imported, err error) {
	from, err = decompressed(from)
	if err != nil {
		return total, err
	}
	if err := c.Refresh(ctx); err != nil {
		return total, err
	}
	r := bufio.NewReaderSize(from, 1<<20)
	p := part{file: name, repos: repos}
	for number := 1; ; number++ {
		line, size, err := text.ReadLine(r, maxImportLine)
		if size > 0 {
			p.read(number, line)
			p.lines++
			p.result.Bytes += int64(size)
		}
		if p.lines == partLines || p.result.Bytes >= partBytes || p.lines > 0 && err != nil {
			if err := ctx.Err(); err != nil {
				return total, err
			}
			saved, err := c.Save(ctx, p.page)
			if err != nil {
				return total, err
			}
			p.result.Saved = saved
			total.Add(p.result)
			if progress != nil {
				progress(total)
			}
			p = part{file: name, repos: repos}
		}
		switch {
		case errors.Is(err, io.EOF):
			return total, nil
		case err != nil:
			return total, fmt.Errorf("read line %d: %w", number, err)
		}
	}
}

// decompressed returns the content of a file that may be compressed.
func decompressed(from io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(from, 1<<20)
	if head, _ := buffered.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) { // the reader fails later
		return buffered, nil
	}
	z, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return z, nil
}

// part is a number of lines of a file, and what they say.
type part struct {
	file   string
	repos  []precedent.Repo
	lines  int
	page   Page
	result Imported
}

// read adds what a line says, which is nil if it is too long.
func (p *part) read(number int, line []byte) {
	if line != nil && len(bytes.TrimSpace(line)) == 0 {
		return
	}
	p.result.Lines++
	got, err := imported{}, fmt.Errorf("longer than %d MiB", maxImportLine>>20)
	if line != nil {
		got, err = parseLine(line)
	}
	switch {
	case errors.Is(err, errNoPull):
		p.result.OnIssues++
		return
	case err == nil && !belongs(got.repo, p.repos):
		p.result.Foreign++
		p.result.bad(p.file, number, fmt.Errorf("it is about %s", oneLine(got.repo.String(), maxName)))
		return
	case err != nil:
		p.result.Malformed++
		p.result.bad(p.file, number, err)
		return
	}
	n := got.pull.Number
	known := slices.ContainsFunc(p.page.Pulls, func(o store.CorpusPull) bool { return o.Number == n })
	if n != 0 && (!got.has || !known) {
		p.page.Pulls = append(p.page.Pulls, got.pull)
	}
	if !got.has {
		p.result.Pulls++
		return
	}
	if got.comment.URL == "" {
		got.comment.URL = permalink(p.repos, &got.comment.CorpusComment)
	}
	p.page.Comments = append(p.page.Comments, got.comment)
}

func (i *Imported) bad(file string, line int, err error) {
	if len(i.Bad) < maxBad {
		i.Bad = append(i.Bad, BadLine{File: file, Line: line, Why: err.Error()})
	}
}

// belongs reports whether a repository is one of the names, or may be.
func belongs(repo precedent.Repo, names []precedent.Repo) bool {
	same := func(n precedent.Repo) bool {
		return strings.EqualFold(n.Host, repo.Host) && strings.EqualFold(n.Owner, repo.Owner) &&
			strings.EqualFold(n.Name, repo.Name)
	}
	remote := func(n precedent.Repo) bool { return !n.IsLocal() }
	return repo.IsZero() || !slices.ContainsFunc(names, remote) || slices.ContainsFunc(names, same)
}
