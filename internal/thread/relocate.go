package thread

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/text"
)

// Bounds of a file that lines are followed in. Where a line of a larger one went,
// nobody says.
const (
	maxBytes = 8 << 20
	maxLines = 200_000
)

// Trees are the files that threads are carried through.
type Trees struct {
	// Head is the commit that the threads are carried to, and Base the one that
	// its change starts from.
	Head, Base string
	// Read returns a file of a commit. An error that wraps fs.ErrNotExist says that
	// the commit is there and has no such file; any other one, that nobody can tell,
	// as when a force-push took the commit away.
	Read func(commit, path string) ([]byte, error)
	// Renamed returns the files that were renamed between a commit and Head: the old
	// path to the new one. It may be nil.
	Renamed func(from string) map[string]string
}

// Relocate finds the flagged lines of each thread at the head, and sets Now and
// Changed. Of lines that were changed beyond knowing Now is what stands in their
// place, of deleted ones the file as a whole, and the zero Span if that is gone, too. If nobody can tell, because a file cannot be read or is too
// large, Now is the zero Span and Changed is false.
//
// A thread on the old side is carried in the file of the base. It has changed too
// if the head has its lines again. One that stands on no lines, but quotes some,
// is carried as if it stood on the lines that it quotes; else it is about the
// file, which has changed if any line did. What of Quote and Place is not known
// is filled in from the file at the thread's commit.
func Relocate(ts []precedent.Thread, at Trees) {
	c := newRelocator(at)
	for i := range ts {
		c.relocate(&ts[i])
	}
}

// relocator carries the threads of one pull request. It reads each file once.
type relocator struct {
	at      Trees
	files   map[[2]string]*source
	renames map[string]map[string]string
	routes  map[[4]string]*route
	number  map[string]int // of each line that was seen, white space collapsed
}

func newRelocator(at Trees) *relocator {
	return &relocator{
		at: at, files: map[[2]string]*source{}, renames: map[string]map[string]string{},
		routes: map[[4]string]*route{}, number: map[string]int{"": 0},
	}
}

// source is a file at a commit.
type source struct {
	exists, known bool     // it exists; whether it does can be told
	lines         []string // without their endings
	keys          []int    // the lines' numbers; 0 is a blank one
	places        map[int][]int
}

// indexesOf returns the indexes of the lines with a number.
func (f *source) indexesOf(key int) []int {
	if f.places == nil {
		f.places = map[int][]int{}
		for i, k := range f.keys {
			f.places[k] = append(f.places[k], i)
		}
	}
	return f.places[key]
}

// route is the way from one file to another one.
type route struct {
	from, to *source
	toLine   []int        // for each line of from, its line of to, or -1
	taken    map[int]bool // lines of to that are one of from
}

func (c *relocator) file(commit, path string) *source {
	key := [2]string{commit, path}
	if f := c.files[key]; f != nil {
		return f
	}
	f := &source{}
	c.files[key] = f
	content, err := c.at.Read(commit, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.known = true
		return f
	case err != nil || len(content) > maxBytes || strings.Count(string(content), "\n") >= maxLines:
		return f
	}
	f.exists, f.known = true, true
	if len(content) == 0 {
		return f
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(content), "\n"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		collapsed := text.Collapse(line)
		n, ok := c.number[collapsed]
		if !ok {
			n = len(c.number)
			c.number[collapsed] = n
		}
		f.lines, f.keys = append(f.lines, line), append(f.keys, n)
	}
	return f
}

func (c *relocator) route(fromCommit, from, toCommit, to string) *route {
	key := [4]string{fromCommit, from, toCommit, to}
	if r := c.routes[key]; r != nil {
		return r
	}
	r := &route{from: c.file(fromCommit, from), to: c.file(toCommit, to), taken: map[int]bool{}}
	if r.from.exists && r.to.exists {
		r.toLine = align(r.from.keys, r.to.keys)
		for _, j := range r.toLine {
			if j >= 0 {
				r.taken[j] = true
			}
		}
	}
	c.routes[key] = r
	return r
}

// newPath is the path at the head of a file of a commit.
func (c *relocator) newPath(commit, path string) string {
	if c.at.Renamed == nil || commit == c.at.Head {
		return path
	}
	renames, ok := c.renames[commit]
	if !ok {
		renames = c.at.Renamed(commit)
		c.renames[commit] = renames
	}
	return cmp.Or(renames[path], path)
}

// path is the name at the head of the thread's file. From the head that it was
// seen at last the way is shorter than from where it was posted: a file that is
// changed much and renamed is no rename to git.
func (c *relocator) path(t *precedent.Thread) string {
	if t.SeenPath != "" && t.Side != precedent.Left {
		return c.newPath(t.SeenAt, t.SeenPath)
	}
	return c.newPath(t.Commit, t.Path)
}

func (c *relocator) relocate(t *precedent.Thread) {
	t.Current, t.Changed = precedent.Span{}, false
	if t.Path == "" {
		return
	}
	if t.Side == precedent.Left {
		c.relocateOldSide(t)
		return
	}
	path := c.path(t)
	r := c.route(t.Commit, t.Path, c.at.Head, path)
	lines := r.lines(*t)
	fillQuote(t, r.from, lines)
	switch {
	case !r.to.known:
	case !r.to.exists:
		t.Changed = true
	case !r.from.exists && t.Quote != "":
		// The commit is gone, as after a force-push: what is quoted may be there still.
		if found := findQuote(r.to, t.Quote); found.end > 0 {
			t.Current = precedent.Span{Path: path, Side: t.Side, Start: found.start + 1, End: found.end}
		}
	case lines.end > 0:
		t.Current, t.Changed = r.follow(lines, path, t.Side)
	case t.Start == 0 && r.from.exists:
		t.Current = precedent.Span{Path: path, Side: t.Side}
		t.Changed = !slices.Equal(r.from.keys, r.to.keys)
	}
	if t.Changed && t.Current.Start == 0 && r.to.exists {
		// What is said of lines that are gone can still be said of their file.
		t.Current = precedent.Span{Path: path, Side: t.Side}
	}
}

// relocateOldSide carries a thread on the old side.
func (c *relocator) relocateOldSide(t *precedent.Thread) {
	base := c.file(c.at.Base, t.Path)
	if !base.known || !base.exists {
		t.Changed = base.known
		return
	}
	// Which base the lines were counted in is not known: the quote says where they are.
	r := &route{from: base, to: base}
	lines := r.lines(*t)
	if t.Quote != "" && !startsWithQuote(base, lines, t.Quote) {
		if lines = findQuote(base, t.Quote); lines.end == 0 {
			t.Changed = true
			return
		}
	}
	if lines.end == 0 {
		return
	}
	fillQuote(t, base, lines)
	t.Current = precedent.Span{Path: t.Path, Side: t.Side, Start: lines.start + 1, End: lines.end}
	then, now := c.route(c.at.Base, t.Path, t.Commit, t.Path), c.route(c.at.Base, t.Path, c.at.Head, c.newPath(c.at.Base, t.Path))
	if then.to.known && now.to.known {
		t.Changed = now.countKept(lines) > then.countKept(lines)
	}
}

// countKept counts the lines that are in the file at the end of the route.
func (r *route) countKept(lines span) int {
	n := 0
	for i := lines.start; i < lines.end && i < len(r.toLine); i++ {
		if r.toLine[i] >= 0 {
			n++
		}
	}
	return n
}

// span is a range of indexes of lines; end is 0 if there is none.
type span struct{ start, end int }

// lines are those that the thread flags, in the file that it was posted on.
func (r *route) lines(t precedent.Thread) span {
	switch {
	case t.Start == 0 && t.Quote != "":
		return findQuote(r.from, t.Quote)
	case t.Start <= 0 || t.Start > len(r.from.lines):
		return span{}
	}
	return span{t.Start - 1, max(t.Start, min(t.End, len(r.from.lines)))}
}

// startsWithQuote tells whether the first of the lines is the one that a quote begins with.
func startsWithQuote(f *source, lines span, quote string) bool {
	return lines.end > 0 && text.Collapse(f.lines[lines.start]) == match.Flagged(quote)
}

// findQuote returns where the quote stands in the file, if that is one place alone.
func findQuote(f *source, quote string) span {
	var want []string
	for line := range strings.SplitSeq(strings.TrimRight(quote, "\n"), "\n") {
		want = append(want, text.Collapse(line))
	}
	found := span{}
	for i := 0; i+len(want) <= len(f.lines) && strings.TrimSpace(quote) != ""; i++ {
		same := true
		for j := 0; j < len(want) && same; j++ {
			same = text.Collapse(f.lines[i+j]) == want[j]
		}
		switch {
		case same && found.end > 0:
			return span{}
		case same:
			found = span{i, i + len(want)}
		}
	}
	return found
}

// fillQuote sets what the thread does not know of the lines that it was posted on.
func fillQuote(t *precedent.Thread, f *source, lines span) {
	if lines.end == 0 {
		return
	}
	if t.Quote == "" {
		t.Quote = strings.Join(f.lines[lines.start:min(lines.end, lines.start+maxQuoted)], "\n")
	}
	if t.Place == "" && t.Start > 0 {
		t.Place = f.place(t.Path, lines.start)
	}
}

// maxQuoted bounds the lines of a quote that is filled in: a finding's has three.
const maxQuoted = 3

// place is the identity of a line, as findings have it.
func (f *source) place(path string, i int) string {
	return precedent.Place(path, f.lines[i], f.neighbour(i, -1), f.neighbour(i, 1))
}

// neighbour is the next line in a direction that is not blank.
func (f *source) neighbour(i, step int) string {
	for i += step; i >= 0 && i < len(f.lines); i += step {
		if f.keys[i] != 0 {
			return f.lines[i]
		}
	}
	return ""
}
