package forgetest

import (
	"fmt"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
)

// wrong says which part of a place is not in a diff; empty if it is valid.
type wrong string

const (
	wrongCommit wrong = "commit"
	wrongPath   wrong = "path"
	wrongLine   wrong = "line"
	wrongStart  wrong = "start" // it is behind the end, or not in the diff
	wrongHunk   wrong = "hunk"  // start and end are in the diff, but not in one hunk
)

// parsed caches the most recent diffs: lists look up the diff for every comment.
var parsed = struct {
	mu  sync.Mutex
	all map[string]*diff.Change
}{all: map[string]*diff.Change{}}

// parse parses a diff, which callers must not modify. A malformed one has no changes.
func parse(patch string) *diff.Change {
	const most = 32
	parsed.mu.Lock()
	defer parsed.mu.Unlock()
	if c, ok := parsed.all[patch]; ok {
		return c
	}
	c, err := diff.ParsePatch(strings.NewReader(patch), diff.DefaultLimits)
	if err != nil {
		c = &diff.Change{}
	}
	if len(parsed.all) >= most {
		clear(parsed.all)
	}
	parsed.all[patch] = c
	return c
}

// diffAt returns the diff to the current or an earlier head.
func (p *Pull) diffAt(commit string) (string, bool) {
	if commit == p.Head.SHA {
		return p.Diff, true
	}
	for _, e := range p.Earlier {
		if e.SHA == commit {
			return e.Diff, true
		}
	}
	return "", false
}

// place reports whether a remark can be on a span. Its lines refer to a commit of the pull request.
func (p *Pull) place(s precedent.Span, commit string) wrong {
	patch, ok := p.diffAt(commit)
	if !ok {
		return wrongCommit
	}
	f := parse(patch).File(s.Path)
	switch {
	case f == nil:
		return wrongPath
	case s.Start == 0 && s.End == 0:
		return ""
	case f.HunkAt(s.Side, s.End) < 0:
		return wrongLine
	case s.Start > s.End || f.HunkAt(s.Side, s.Start) < 0:
		return wrongStart
	case f.HunkAt(s.Side, s.Start) != f.HunkAt(s.Side, s.End):
		return wrongHunk
	}
	return ""
}

// hunk returns the hunk up to the line of a comment.
func (p *Pull) hunk(s precedent.Span, commit string) string {
	patch, _ := p.diffAt(commit)
	f := parse(patch).File(s.Path)
	if f == nil || f.HunkAt(s.Side, s.End) < 0 {
		return "@@ -1 +1 @@"
	}
	h := f.Hunks[f.HunkAt(s.Side, s.End)]
	out := fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
	for _, l := range h.Lines {
		out += "\n" + string(l.Op) + l.Text
		if s.Side == precedent.Right && l.New == s.End || s.Side == precedent.Left && l.Old == s.End {
			break
		}
	}
	return out
}

// follow moves an inline comment to a new head like forges do: if its lines are in
// the diff it is there, else it is outdated and keeps its original place.
func (p *Pull) follow(m *forge.Comment, head, patch string) {
	if m.Kind != forge.OnLine || m.Outdated || m.Commit == head {
		return
	}
	before, _ := p.diffAt(m.Commit)
	from, to := parse(before).File(m.Span.Path), parse(patch).File(m.Span.Path)
	if p.placed == nil {
		p.placed = map[precedent.ForgeID]forge.Comment{}
	}
	if _, ok := p.placed[m.ID]; !ok {
		p.placed[m.ID] = *m
	}
	first := p.placed[m.ID]
	if m.Span.End == 0 && to != nil {
		m.Commit = head
	} else if shift, ok := lineShift(from, to, m.Span); ok {
		m.Span.Start, m.Span.End, m.Commit = m.Span.Start+shift, m.Span.End+shift, head
	} else {
		m.Span, m.Commit, m.Outdated = first.Span, first.Commit, true
	}
}

// lineShift finds the lines of a span in another diff: at their old numbers, or at
// the only place where they are now.
func lineShift(from, to *diff.File, s precedent.Span) (shift int, ok bool) {
	if from == nil || to == nil {
		return 0, false
	}
	lines := func(f *diff.File) map[int]string {
		all := map[int]string{}
		for _, l := range f.Commentable(s.Side) {
			n := l.New
			if s.Side == precedent.Left {
				n = l.Old
			}
			all[n] = l.Text
		}
		return all
	}
	before, after := lines(from), lines(to)
	at := func(shift int) bool {
		for n := s.Start; n <= s.End; n++ {
			was, known := before[n]
			is, there := after[n+shift]
			if !known || !there || was != is {
				return false
			}
		}
		return true
	}
	if at(0) {
		return 0, true
	}
	places := 0
	for n := range after {
		if at(n - s.Start) {
			shift, places = n-s.Start, places+1
		}
	}
	return shift, places == 1
}
