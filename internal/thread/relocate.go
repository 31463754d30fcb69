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

// Limits of a file in which lines are followed. Lines of larger files are not relocated.
const (
	maxBytes = 8 << 20
	maxLines = 200_000
)

// Trees are the files through which threads are relocated.
type Trees struct {
	// Head is the commit to which the threads are relocated, Base the one that its change is
	// based on.
	Head, Base string
	// Read returns a file of a commit. An error that wraps fs.ErrNotExist means that the commit
	// exists and has no such file; any other error means that it is unknown, as when the commit
	// is gone after a force-push.
	Read func(commit, path string) ([]byte, error)
	// Renamed returns the files that were renamed between a commit and Head, from old path to
	// new path. It may be nil.
	Renamed func(from string) map[string]string
}

// Relocate finds the flagged lines of each thread at the head, and sets Current, Changed and
// CodeChanged.
// If the lines were rewritten, Current is what replaced them; if they were deleted, it is the
// file; if the file is gone, it is the zero Span. If that is unknown because a file cannot be
// read or is too large, Current is the zero Span, and nothing counts as changed.
//
// A thread on the old side is relocated in the file of the base. It has also changed if the
// head restores its lines. A thread without lines but with a quote is relocated as if it were
// on the quoted lines; without a quote it is about the file, which has changed if any line
// did. Missing values of Quote and Place are filled in from the file at the thread's commit.
func Relocate(ts []precedent.Thread, at Trees) {
	c := newRelocator(at)
	for i := range ts {
		c.relocate(&ts[i])
	}
}

// relocator relocates the threads of one pull request. It reads each file once.
type relocator struct {
	at      Trees
	files   map[[2]string]*source
	renames map[string]map[string]string
	routes  map[[4]string]*route
	number  map[string]int // of each distinct line, white space collapsed
}

func newRelocator(at Trees) *relocator {
	return &relocator{
		at: at, files: map[[2]string]*source{}, renames: map[string]map[string]string{},
		routes: map[[4]string]*route{}, number: map[string]int{"": 0},
	}
}

// source is a file at a commit.
type source struct {
	exists, known bool     // the file exists; whether it exists is known
	lines         []string // without their endings
	keys          []int    // a number for each line; 0 for a blank one
	places        map[int][]int
	path          string
	codes         [2][]string // see code
}

// indexesOf returns the indexes of the lines with the number.
func (f *source) indexesOf(key int) []int {
	if f.places == nil {
		f.places = map[int][]int{}
		for i, k := range f.keys {
			f.places[k] = append(f.places[k], i)
		}
	}
	return f.places[key]
}

// route maps the lines of one file to those of another.
type route struct {
	from, to *source
	toLine   []int        // for each line of from, its line of to; -1 for none
	taken    map[int]bool // lines of to that a line of from maps to
}

func (c *relocator) file(commit, path string) *source {
	key := [2]string{commit, path}
	if f := c.files[key]; f != nil {
		return f
	}
	f := &source{path: path}
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

// newPath returns the path at the head of a file of a commit.
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

// path returns the path of the thread's file at the head. It starts from the head at which the
// thread was last seen: git does not detect the rename of a file that changed much since it
// was posted.
func (c *relocator) path(t *precedent.Thread) string {
	if t.SeenPath != "" && t.Side != precedent.Left {
		return c.newPath(t.SeenAt, t.SeenPath)
	}
	return c.newPath(t.Commit, t.Path)
}

func (c *relocator) relocate(t *precedent.Thread) {
	t.Current, t.Changed, t.CodeChanged = precedent.Span{}, false, false
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
		t.Changed, t.CodeChanged = true, true
	case !r.from.exists && t.Quote != "":
		// The commit is gone, as after a force-push, but the quoted lines may still exist. The
		// quote may have fewer lines than were flagged.
		if found := findQuote(r.to, t.Quote); found.end > 0 {
			last := min(found.start+1+max(0, t.End-t.Start), len(r.to.lines))
			t.Current = precedent.Span{Path: path, Side: t.Side, Start: found.start + 1, End: max(found.end, last)}
		}
	case lines.end > 0:
		t.Current, t.Changed = r.follow(lines, path, t.Side)
		t.CodeChanged = t.Changed && r.changedCode(lines)
	case t.Start == 0 && r.from.exists:
		t.Current = precedent.Span{Path: path, Side: t.Side}
		t.Changed = !slices.Equal(r.from.keys, r.to.keys)
		t.CodeChanged = strings.Join(r.from.code()[0], "") != strings.Join(r.to.code()[0], "")
	}
	if t.Changed && t.Current.Start == 0 && r.to.exists {
		// The lines are gone; a remark can still be made on the file.
		t.Current = precedent.Span{Path: path, Side: t.Side}
	}
}

// relocateOldSide relocates a thread on the old side.
func (c *relocator) relocateOldSide(t *precedent.Thread) {
	base := c.file(c.at.Base, t.Path)
	if !base.known || !base.exists {
		t.Changed, t.CodeChanged = base.known, base.known
		return
	}
	// The base that the line numbers refer to is not known: the quote locates the lines.
	r := &route{from: base, to: base}
	lines := r.lines(*t)
	if t.Quote != "" && !startsWithQuote(base, lines, t.Quote) {
		if lines = findQuote(base, t.Quote); lines.end == 0 {
			t.Changed, t.CodeChanged = true, true
			return
		}
	}
	if lines.end == 0 {
		return
	}
	fillQuote(t, base, lines)
	t.Current = precedent.Span{Path: t.Path, Side: t.Side, Start: lines.start + 1, End: lines.end}
	then, now := c.route(c.at.Base, t.Path, t.Commit, t.Path), c.route(c.at.Base, t.Path, c.at.Head,
		c.newPath(c.at.Base, t.Path))
	if then.to.known && now.to.known {
		t.Changed = now.countKept(lines, false) > then.countKept(lines, false)
		t.CodeChanged = t.Changed && (!base.hasCode(lines) || now.countKept(lines, true) > then.countKept(lines, true))
	}
}

// countKept counts the lines, or only those with code, that the other file still has.
func (r *route) countKept(lines span, code bool) int {
	n := 0
	for i := lines.start; i < lines.end && i < len(r.toLine); i++ {
		if r.toLine[i] >= 0 && (!code || r.from.hasCode(span{i, i + 1})) {
			n++
		}
	}
	return n
}

// span is a range of line indexes; end is 0 if there is none.
type span struct{ start, end int }

// lines returns the lines that the thread flags, in the file that it was posted on.
func (r *route) lines(t precedent.Thread) span {
	switch {
	case t.Start == 0 && t.Quote != "":
		return findQuote(r.from, t.Quote)
	case t.Start <= 0 || t.Start > len(r.from.lines):
		return span{}
	}
	return span{t.Start - 1, max(t.Start, min(t.End, len(r.from.lines)))}
}

// startsWithQuote tells whether the first of the lines is the first one of the quote.
func startsWithQuote(f *source, lines span, quote string) bool {
	return lines.end > 0 && text.Collapse(f.lines[lines.start]) == match.Flagged(quote)
}

// findQuote returns the lines of the quote in the file if they occur exactly once.
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

// fillQuote sets the thread's quote and place if they are missing.
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

// maxQuoted limits the lines of a quote that is filled in: a finding's has at most three.
const maxQuoted = 3

// place is the identity of a line, computed as for findings.
func (f *source) place(path string, i int) string {
	return precedent.Place(path, f.lines[i], f.neighbour(i, -1), f.neighbour(i, 1))
}

// neighbour returns the next non-blank line in a direction.
func (f *source) neighbour(i, step int) string {
	for i += step; i >= 0 && i < len(f.lines); i += step {
		if f.keys[i] != 0 {
			return f.lines[i]
		}
	}
	return ""
}
