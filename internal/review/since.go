package review

import (
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// Since says what an earlier review of the same pull request read. It was complete,
// and was made with an engine if this one is.
type Since struct {
	Head string // object id of the commit that it looked at
	// Changed is the change from that head to the one that is reviewed now.
	Changed *diff.Change
	// Unchanged are the hunks that the last review of the same local work read, as it read
	// them; nil for a pull request.
	Unchanged map[diff.HunkRef]precedent.ReadHunk
	// Finders are those that succeeded in it. Nil if unknown; then they are assumed to
	// be those of this review.
	Finders []string
	// Skipped are the files of which it read nothing.
	Skipped []string
	// Before is the change that it read, if the base has changed since because of a
	// rebase or another target: then hunks that are not in it were not read, even if
	// their lines are the same. Nil if the base is the same.
	Before *diff.Change
	// Answered are lines of the new head that were changed because of a finding.
	Answered []precedent.Span
}

// readBefore returns the hunks of a change that the earlier review read and that are
// certainly unchanged.
func (s *Since) readBefore(c *diff.Change) map[diff.HunkRef]bool {
	before := map[diff.HunkRef]bool{}
	if s == nil || s.Changed == nil {
		return before
	}
	had := s.earlierHunks()
	for _, g := range diff.Identical(c) {
		for _, ref := range g.Hunks {
			f := &c.Files[ref.File]
			h := &f.Hunks[ref.Hunk]
			if h.Cut == "" && !slices.Contains(s.Skipped, f.Path) && !s.touches(f.Path, h) && had(f, g.Key) {
				before[ref] = true
			}
		}
	}
	return before
}

// earlierHunks returns a function that reports whether the change that the earlier
// review read has a hunk of a file that deletes and adds the same lines.
func (s *Since) earlierHunks() func(f *diff.File, key string) bool {
	if s.Before == nil {
		return func(*diff.File, string) bool { return true }
	}
	read := map[[2]string]bool{}
	for _, g := range diff.Identical(s.Before) {
		for _, ref := range g.Hunks {
			if f := &s.Before.Files[ref.File]; f.Hunks[ref.Hunk].Cut == "" {
				read[[2]string{f.Path, g.Key}] = true
			}
		}
	}
	return func(f *diff.File, key string) bool { return read[[2]string{f.Path, key}] }
}

// finderRan reports whether a finder succeeded in the earlier review.
func (s *Since) finderRan(finder string) bool {
	return s.Finders == nil || slices.Contains(s.Finders, finder)
}

// needsFullRead reports whether an enabled finder has not read what the earlier review
// read.
func (in *Input) needsFullRead() bool {
	return in.Since != nil && slices.ContainsFunc(in.asked, func(spec prompt.Spec) bool {
		return !in.Since.finderRan(spec.Name)
	})
}

// isOpaque reports whether a file changed in a way that its hunks do not show: it was
// added, deleted, renamed, or its diff is incomplete.
func isOpaque(f *diff.File) bool {
	return f.Status != diff.Modified || f.Binary || f.TooLarge || f.Skip != "" ||
		slices.ContainsFunc(f.Hunks, func(h diff.Hunk) bool { return h.Cut != "" })
}

// touches reports whether the push changed lines of a hunk, or deleted lines in it or at
// its edges.
func (s *Since) touches(path string, h *diff.Hunk) bool {
	f := s.Changed.File(path)
	if f == nil {
		return false
	}
	if isOpaque(f) {
		return true
	}
	first, last := h.NewStart, h.NewStart+h.NewLines-1
	if h.NewLines == 0 { // it is after the line that git names
		last = first + 1
	}
	for i := range f.Hunks {
		next := f.Hunks[i].NewStart // the number that a line which is not deleted has next
		if f.Hunks[i].NewLines == 0 {
			next++
		}
		for j := range f.Hunks[i].Lines {
			switch l := &f.Hunks[i].Lines[j]; {
			case l.Op == diff.Delete && next >= first && next-1 <= last:
				return true
			case l.Op == diff.Add && l.New >= first && l.New <= last:
				return true
			}
			if f.Hunks[i].Lines[j].New > 0 {
				next = f.Hunks[i].Lines[j].New + 1
			}
		}
	}
	return false
}

// newToChange reports whether a finding is in a part of the change that was not in the
// change that the earlier review read.
func (x *reader) newToChange(f *precedent.Finding) bool {
	s, file := x.in.Since, x.in.Change.File(f.Path)
	if file == nil || f.Start > 0 && file.HunkAt(f.Side, f.Start) < 0 {
		return false
	}
	if slices.Contains(s.Skipped, f.Path) {
		return true
	}
	if s.Before == nil || f.Side == precedent.Left {
		return false
	}
	was := s.Before.File(f.Path)
	return was == nil || f.Start > 0 && was.HunkAt(precedent.Right, s.lineThen(f.Path, f.Start)) < 0
}

// lineThen returns the number that a line of the head had at the earlier head; 0 if the
// push added it.
func (s *Since) lineThen(path string, line int) int {
	f := s.Changed.File(path)
	if f == nil {
		return line
	}
	moved := 0
	for i := range f.Hunks {
		h := &f.Hunks[i]
		if h.Holds(precedent.Right, line) {
			at := slices.IndexFunc(h.Lines, func(l diff.Line) bool { return l.New == line })
			if at < 0 {
				return 0
			}
			return h.Lines[at].Old
		}
		if h.NewStart < line {
			moved += h.OldLines - h.NewLines
		}
	}
	return line + moved
}

// inPush reports whether a finding is in lines that the push changed, or next to them.
func (x *reader) inPush(f *precedent.Finding) bool {
	if f.Side == precedent.Left && f.Start > 0 { // its number is one of the base, which the push does not show
		for i := range x.in.Change.Files {
			if file := &x.in.Change.Files[i]; file.Path == f.Path {
				return !x.before[diff.HunkRef{File: i, Hunk: file.HunkAt(f.Side, f.Start)}]
			}
		}
	}
	changed := x.in.Since.Changed.File(f.Path)
	switch {
	case changed == nil:
		return false
	case f.Start == 0 || isOpaque(changed):
		return true
	}
	for i := range changed.Hunks {
		h := &changed.Hunks[i]
		if f.Start <= h.NewStart+max(h.NewLines-1, 1) && h.NewStart <= f.End {
			return true
		}
	}
	return false
}

// markOrigins sets the origin of new findings of a later review. In unchanged code that
// a complete review has read, only findings of high or critical severity are kept.
func (x *reader) markOrigins(fs []precedent.Finding) {
	s := x.in.Since
	if s == nil || s.Changed == nil {
		return
	}
	for i := range fs {
		f := &fs[i]
		t := x.threadOf(f)
		back := t != nil && t.State == precedent.ThreadAddressed
		switch {
		case !f.Live(), t != nil && !back:
			continue
		case !back && x.in.Recall.Known[f.Fingerprint].Seen > 0:
			continue // an earlier review showed it, if only in its summary
		}
		answers := f.Start > 0 && slices.ContainsFunc(s.Answered, f.Overlaps)
		switch {
		case answers && !back:
			f.Origin = precedent.CausedByFix
			f.Note("threads", "is in lines that fixed an earlier finding")
		case answers || !s.finderRan(f.Finder) || x.newToChange(f) || x.inPush(f):
		case f.Severity.AtLeast(precedent.High):
			f.Origin = precedent.MissedBefore
			f.Note("threads", "missed before: a complete review read this code at %s, and it has not changed since",
				short(s.Head))
		default:
			f.Drop("threads", precedent.UnchangedCode, "", "read by a complete review of %s, not changed since, and below %s",
				short(s.Head), precedent.High)
		}
	}
}

// short returns an abbreviated commit id.
func short(commit string) string { return commit[:min(len(commit), 7)] }
