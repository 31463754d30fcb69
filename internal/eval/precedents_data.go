package eval

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/store"
)

// reviewFile is a file of review comments.
type reviewFile struct {
	name string
	// placed tells that hunks end at the commented line, as those of a forge do. Otherwise they
	// are whole, and which line a comment is about is not known.
	placed bool
	// all are the first comments of all conversations, in the order of time.
	all []reviewed
	// clusters are those that make the same point, by id, as far as people labelled them.
	clusters map[string]int
}

// reviewed is the first comment of a conversation with its code.
type reviewed struct {
	precedent.CorpusChunk
	hunk diff.Hunk // as far as the data have it
}

// at is the line in question, in the hunk; -1 if it is not known.
func (f *reviewFile) at(r *reviewed) int {
	if !f.placed {
		return -1
	}
	return len(r.hunk.Lines) - 1
}

// sameness is a pair of comments that people compared.
type sameness struct {
	later, earlier string // ids
	same           bool
}

// reviewLine is a line of a file: a comment in the format of GitHub's API, or a diff and what
// somebody wrote about it.
type reviewLine struct {
	comment
	At    time.Time `json:"created_at"`
	Login string    `json:"author"`
	User  struct {
		Login string `json:"login"`
		Type  string `json:"type"`
	} `json:"user"`
	Diff string `json:"diff"`
	Msg  string `json:"msg"`
}

// readReviews reads the files of review comments of folders, and the labelled pairs beside them.
func readReviews(dirs []string) (files []*reviewFile, labels []sameness, err error) {
	for _, dir := range dirs {
		var names []string
		for _, pattern := range []string{"*.jsonl", "*.jsonl.gz"} {
			more, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				return nil, nil, fmt.Errorf("read comments: %w", err)
			}
			names = append(names, more...)
		}
		slices.Sort(names)
		for _, name := range names {
			f, err := readReviewFile(name)
			if err != nil {
				return nil, nil, err
			}
			if len(f.all) > 0 {
				files = append(files, f)
			}
		}
		links, err := readLinks(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		for _, l := range links {
			labels = append(labels, sameness{strconv.FormatInt(l.Q, 10), strconv.FormatInt(l.D, 10), *l.Y == 1})
		}
	}
	if len(files) == 0 {
		return nil, nil, fmt.Errorf("no review comments in %s: want files *.jsonl or *.jsonl.gz", strings.Join(dirs, ", "))
	}
	for _, f := range files {
		f.cluster(labels)
	}
	return files, labels, nil
}

func readReviewFile(name string) (*reviewFile, error) {
	lines, err := linesOf[reviewLine](name)
	if err != nil {
		return nil, err
	}
	f := &reviewFile{placed: true}
	f.name, _, _ = strings.Cut(filepath.Base(name), ".jsonl")
	for i := range lines {
		l := &lines[i]
		login := cmp.Or(l.User.Login, l.Login)
		if l.ReplyTo != 0 || strings.HasSuffix(login, "[bot]") || l.User.Type == "Bot" {
			continue
		}
		if l.Msg != "" {
			f.placed = false
			l.ID, l.PR, l.Body, l.Hunk = int64(i+1), i+1, l.Msg, l.Diff
		}
		if strings.TrimSpace(l.Body) == "" {
			continue
		}
		r := reviewed{hunk: hunkOf(l.Hunk)}
		c := precedent.CorpusComment{
			Kind: "inline", ID: precedent.ForgeID(strconv.FormatInt(l.ID, 10)), Pull: l.PR,
			Author: login, AuthorID: precedent.ForgeID(login), Body: precedent.Untrusted(l.Body),
			Hunk: precedent.Untrusted(l.Hunk), At: l.At, UpdatedAt: l.At, MayWrite: true,
		}
		c.Root, c.Path, c.Side = c.ID, l.Path, sideOf(l.Side)
		c.Hunk = precedent.Untrusted(corpus.HunkTail(l.Hunk))
		r.CorpusChunk = corpus.Chunks(store.CorpusConversation{Pull: precedent.CorpusPull{Number: l.PR}, Comments: []precedent.CorpusComment{c}})[0]
		f.all = append(f.all, r)
	}
	slices.SortStableFunc(f.all, func(a, b reviewed) int { return a.At.Compare(b.At) })
	return f, nil
}

// hunkOf parses a hunk without checking its numbers.
func hunkOf(s string) diff.Hunk {
	var h diff.Hunk
	first := true
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		if first && strings.HasPrefix(line, "@@") {
			if _, rest, ok := strings.Cut(line[2:], "@@"); ok {
				h.Section = strings.TrimSpace(rest)
			}
			first = false
			continue
		}
		first = false
		line = strings.TrimSuffix(line, "\r")
		op := diff.Context
		if line != "" {
			if op = diff.Op(line[0]); op != diff.Add && op != diff.Delete {
				op = diff.Context
			}
			line = line[1:]
		}
		h.Lines = append(h.Lines, diff.Line{Op: op, Text: line})
	}
	return h
}

// cluster joins the comments of the file that are labelled the same.
func (f *reviewFile) cluster(labels []sameness) {
	f.clusters = map[string]int{}
	known := map[string]bool{}
	for i := range f.all {
		known[string(f.all[i].ID)] = true
	}
	for i, l := range labels {
		if !l.same || !known[l.later] || !known[l.earlier] {
			continue
		}
		a, b := f.clusters[l.later], f.clusters[l.earlier]
		into := i + 1
		for id, n := range f.clusters {
			if n != 0 && (n == a || n == b) {
				f.clusters[id] = into
			}
		}
		f.clusters[l.later], f.clusters[l.earlier] = into, into
	}
}

// same reports whether two comments are labelled as the same point.
func (f *reviewFile) same(a, b *precedent.CorpusChunk) bool {
	n := f.clusters[string(a.ID)]
	return n != 0 && n == f.clusters[string(b.ID)]
}

// precedents counts the earlier comments of other pull requests that make the same point.
func (f *reviewFile) precedents(c *precedent.CorpusChunk, usable bool) int {
	n := 0
	for i := range f.all {
		d := &f.all[i].CorpusChunk
		if f.same(c, d) && d.Pull != c.Pull && d.At.Before(c.At) && (!usable || d.Unusable == "") {
			n++
		}
	}
	return n
}

// chunks returns the chunks to index.
func (f *reviewFile) chunks() []precedent.CorpusChunk {
	out := make([]precedent.CorpusChunk, len(f.all))
	for i := range f.all {
		out[i] = f.all[i].CorpusChunk
	}
	return out
}
