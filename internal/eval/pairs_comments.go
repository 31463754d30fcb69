package eval

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
)

// comment is a review comment in the format of forges; only the needed fields.
type comment struct {
	ID           int64  `json:"id"`
	PR           int    `json:"pr"`
	ReplyTo      int64  `json:"in_reply_to_id"`
	Path         string `json:"path"`
	Side         string `json:"side"`
	Line         int    `json:"line"`
	OriginalLine int    `json:"original_line"`
	StartLine    int    `json:"start_line"`
	Hunk         string `json:"diff_hunk"`
	Body         string `json:"body"`

	repo string // the name of its file
}

// change names the comment's pull request.
func (c *comment) change() string { return fmt.Sprintf("%s#%d", c.repo, c.PR) }

// finding converts the comment to a finding with all its text in the body.
func (c *comment) finding() precedent.Finding {
	end := cmp.Or(c.Line, c.OriginalLine)
	hunk := strings.Split(strings.TrimRight(c.Hunk, "\n"), "\n")
	quote := strings.TrimLeft(hunk[len(hunk)-1], "+- ") // a hunk ends with the line that the comment is about
	return precedent.Finding{
		ID: fmt.Sprint(c.ID), Finder: "people", Quote: quote,
		Span: precedent.Span{Path: c.Path, Side: sideOf(c.Side), Start: cmp.Or(c.StartLine, end), End: end},
		Body: c.Body,
	}
}

// unquoted removes the lines that a comment quotes, unless nothing else is left.
func unquoted(body string) string {
	var own []string
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(strings.TrimSpace(line), ">") {
			own = append(own, line)
		}
	}
	return cmp.Or(strings.TrimSpace(strings.Join(own, "")), body)
}

// link is two comments, with people's answer whether they make the same point.
type link struct {
	Q int64 `json:"q"` // the later one
	D int64 `json:"d"`
	Y *int  `json:"y"` // 1 for the same point
}

// readLinks reads the one file in dir whose name ends in pairs.json. The error wraps
// fs.ErrNotExist if there is none.
func readLinks(dir string) ([]link, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*pairs.json"))
	if err != nil {
		return nil, fmt.Errorf("read pairs: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read pairs of %s: %w", dir, fs.ErrNotExist)
	}
	if len(files) > 1 {
		return nil, fmt.Errorf("read pairs of %s: there are %d files with pairs, want one", dir, len(files))
	}
	links, err := readEntries[link](dir, strings.TrimSuffix(filepath.Base(files[0]), ".json"))
	if err != nil {
		return nil, err
	}
	for i, l := range links {
		if l.Q == 0 || l.D == 0 || l.Y == nil {
			return nil, fmt.Errorf("read pairs of %s: pair %d lacks q, d or y", dir, i+1)
		}
	}
	return links, nil
}

// linkedPairs makes pairs of the linked comments.
func linkedPairs(dir string, links []link) (Pairs, error) {
	comments, err := readComments(dir)
	if err != nil {
		return Pairs{}, err
	}
	pairs := Pairs{Form: commentsForm}
	for _, l := range links {
		q, d := comments[l.Q], comments[l.D]
		if q == nil || d == nil {
			pairs.Unknown++
			continue
		}
		pairs.List = append(pairs.List, Pair{
			Change: q.change(), A: d.finding(), B: q.finding(), Same: *l.Y == 1, Apart: q.change() != d.change(),
		})
	}
	return pairs, nil
}

// readComments reads the review comments in the *.jsonl and *.jsonl.gz of dir, by id.
// Lines without an id are ignored.
func readComments(dir string) (map[int64]*comment, error) {
	comments := map[int64]*comment{}
	for _, pattern := range []string{"*.jsonl", "*.jsonl.gz"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("read comments: %w", err)
		}
		for _, file := range files {
			list, err := commentsOf(file)
			if err != nil {
				return nil, err
			}
			repo, _, _ := strings.Cut(filepath.Base(file), ".jsonl")
			for i := range list {
				if c := &list[i]; c.ID != 0 {
					c.repo = repo
					comments[c.ID] = c
				}
			}
		}
	}
	return comments, nil
}

// maxComments limits the unpacked size of a file of comments, in bytes.
const maxComments = 1 << 30

func commentsOf(file string) ([]comment, error) { return linesOf[comment](file) }

// linesOf reads a file of JSON lines, which may be packed.
func linesOf[T any](file string) ([]T, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read comments: %w", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		packed, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("read comments: %s: %w", file, err)
		}
		r = io.LimitReader(packed, maxComments)
	}
	return decodeLines[T](file, r)
}

// inOrder returns comments sorted by id.
func inOrder(comments map[int64]*comment) []*comment {
	list := make([]*comment, 0, len(comments))
	for _, c := range comments {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *comment) int { return cmp.Compare(a.ID, b.ID) })
	return list
}
