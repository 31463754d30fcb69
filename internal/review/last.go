package review

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/match"
)

// Hunks identifies the hunks of a change that can be read.
func Hunks(c *diff.Change) []precedent.ReadHunk {
	var all []precedent.ReadHunk
	for i := range c.Files {
		f := &c.Files[i]
		for j := range f.Hunks {
			if h := &f.Hunks[j]; isReadable(f, j) {
				all = append(all, precedent.ReadHunk{
					Path: f.Path, Start: h.NewStart, Lines: h.NewLines, OldStart: h.OldStart,
					OldLines: h.OldLines, Hash: hashOf(h),
				})
			}
		}
	}
	return all
}

// isReadable reports whether a hunk of a file is complete and to be read.
func isReadable(f *diff.File, hunk int) bool { return f.Skip == "" && f.Hunks[hunk].Cut == "" }

// hashOf hashes all lines of a hunk, without their numbers.
func hashOf(h *diff.Hunk) string {
	sum := sha256.New()
	for i := range h.Lines {
		sum.Write([]byte{byte(h.Lines[i].Op)})
		sum.Write([]byte(h.Lines[i].Text))
		sum.Write([]byte{'\n'})
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Unchanged pairs the hunks of a change with equal ones of a reading, in order. now are
// those of the change, as Hunks returns them.
func Unchanged(c *diff.Change, now []precedent.ReadHunk, was *precedent.Reading) map[diff.HunkRef]precedent.ReadHunk {
	type content struct{ path, hash string }
	read := map[content][]precedent.ReadHunk{}
	for _, h := range was.Hunks {
		key := content{h.Path, h.Hash}
		read[key] = append(read[key], h)
	}
	same := map[diff.HunkRef]precedent.ReadHunk{}
	for i := range c.Files {
		for j := range c.Files[i].Hunks {
			if !isReadable(&c.Files[i], j) {
				continue
			}
			key := content{now[0].Path, now[0].Hash}
			now = now[1:]
			if left := read[key]; len(left) > 0 {
				same[diff.HunkRef{File: i, Hunk: j}], read[key] = left[0], left[1:]
			}
		}
	}
	return same
}

// Unread returns the part of a change without the unchanged hunks: what has changed since
// a reading, as far as it is still part of the change.
func Unread(c *diff.Change, unchanged map[diff.HunkRef]precedent.ReadHunk) *diff.Change {
	rest := &diff.Change{}
	for i := range c.Files {
		f := c.Files[i]
		f.Hunks, f.Status = nil, diff.Modified // its hunks alone tell what changed
		for j, h := range c.Files[i].Hunks {
			if _, ok := unchanged[diff.HunkRef{File: i, Hunk: j}]; !ok {
				f.Hunks = append(f.Hunks, h)
			}
		}
		if len(f.Hunks) > 0 {
			rest.Files = append(rest.Files, f)
		}
	}
	return rest
}

// findKept finds what the finders of the last review found in the hunks that are not
// read again. Such a finding needs no thread: its lines are known to be unchanged. It
// returns these lines with their numbers in the last review.
func (x *reader) findKept() map[flaggedLine]int {
	last, taken := x.in.Last, map[flaggedLine]int{}
	if last == nil || len(x.plan.before) == 0 {
		return taken
	}
	for _, f := range last.Findings {
		switch f.Dropped {
		case "", precedent.Dismissed, precedent.Rejected, precedent.ByLearning, precedent.Minor, precedent.BelowThreshold:
		default:
			continue
		}
		if f.Analyzer {
			continue
		}
		for ref, h := range x.in.Since.Unchanged {
			file := &x.in.Change.Files[ref.File]
			now, whole := &file.Hunks[ref.Hunk], f.Start == 0 && f.Path == h.Path
			if !x.plan.before[ref] || !h.Holds(f.Span) && (!whole || !x.unchanged(file)) {
				continue
			}
			moved := now.NewStart - h.Start
			if f.Side == precedent.Left {
				moved = now.OldStart - h.OldStart
			}
			was := f.Start
			if !whole {
				f.Start, f.End = f.Start+moved, f.End+moved
			}
			taken[lineFlaggedBy(&f)] = was
			f = asBefore(f)
			f.Note("last", "found by an earlier review; its lines have not changed, and were not read again")
			x.kept = append(x.kept, f)
			x.threads = slices.DeleteFunc(x.threads, func(t *openThread) bool { return t.ID == f.ID })
			break
		}
	}
	slices.SortFunc(x.kept, func(a, b precedent.Finding) int { return byContent(&a, &b) })
	return taken
}

// flaggedLine is a line of the head that a finding flags.
type flaggedLine struct {
	path, text string
	side       precedent.Side
	number     int
}

func lineFlaggedBy(f *precedent.Finding) flaggedLine {
	return flaggedLine{f.Path, match.Flagged(f.Quote), f.Side, f.Start}
}

// part finds the threads of uncommitted lines that are gone while a line with the same text is left: that of another
// finding, which was on another line. Of several threads on a line, the one that moved least stays.
func (x *reader) part(taken map[flaggedLine]int) {
	if x.in.Last == nil {
		return
	}
	moved := func(t *openThread) int { return distance(t.Start, t.remark.Start) }
	near := slices.Clone(x.threads)
	slices.SortStableFunc(near, func(a, b *openThread) int { return cmp.Compare(moved(a), moved(b)) })
	for _, t := range near {
		line := lineFlaggedBy(&t.remark)
		was, ok := taken[line]
		switch {
		case t.changed || line.number == 0:
		case ok && was != t.Start:
			t.remark.Start, t.remark.End = 0, 0
			t.deletedComment, t.changed, t.CodeChanged = true, true, true
		default:
			taken[line] = t.Start
		}
	}
}

// unchanged reports whether the last review read exactly the hunks that a file has.
func (x *reader) unchanged(file *diff.File) bool {
	read := 0
	for _, h := range x.in.Since.Unchanged {
		if h.Path == file.Path {
			read++
		}
	}
	for _, h := range x.in.Last.Reading.Hunks {
		if h.Path == file.Path {
			read--
		}
	}
	return read == 0 && x.in.Since.Changed.File(file.Path) == nil
}

// asBefore returns a finding as it was before the last review refitted, suppressed and selected. One that no verifier
// read, because memory or the threshold hid it, is as its finder reported it.
func asBefore(f precedent.Finding) precedent.Finding {
	unread := f.Verifier == precedent.Unchecked && !f.Analyzer && f.Basis != nil
	if unread {
		f = undecided(&f)
		f.Cites = slices.DeleteFunc(slices.Clone(f.Cites), func(c precedent.Cite) bool { return c.Kind != "insight" })
	}
	f.Confidence, f.Weighed, f.Refit = f.Confidence-f.Weighed-f.Refit, 0, 0
	f.Trail = slices.DeleteFunc(slices.Clone(f.Trail), func(d precedent.Decision) bool {
		return d.Step == "refit" || d.Step == "suppress" || d.Step == "select" || d.Step == "last" || d.Step == precedentStep
	})
	f.Dropped, f.DroppedBy, f.DroppedWhy, f.Placement, f.Origin, f.Kept = "", "", "", "", "", !unread
	return f
}

// keep returns the findings of the last review that were not found again: those in hunks that are not read
// again, and those with a thread, which are there only if its answer says so.
func (x *reader) keep(found []precedent.Finding) []precedent.Finding {
	kept := slices.DeleteFunc(slices.Clone(x.kept), func(k precedent.Finding) bool {
		return slices.ContainsFunc(found, func(f precedent.Finding) bool { return f.Fingerprint == k.Fingerprint })
	})
	if x.in.Last == nil {
		return kept
	}
	x.open = map[string]bool{}
	for _, t := range x.threads {
		known := func(f precedent.Finding) bool { return f.ID == t.Finding }
		was := slices.IndexFunc(x.in.Last.Findings, known)
		if was < 0 || slices.ContainsFunc(found, known) || slices.ContainsFunc(kept, known) {
			continue
		}
		f := asBefore(x.in.Last.Findings[was])
		f.Path = t.remark.Path
		x.open[f.ID] = true
		kept = append(kept, f)
	}
	return kept
}

// dropFixed removes the kept findings that are not there any more. Those that are move to their lines.
func (x *reader) dropFixed() {
	there := map[string]*precedent.ThreadAnswer{}
	for i := range x.r.Threads {
		if a := &x.r.Threads[i]; a.State == precedent.StillThere {
			there[a.Finding] = a
		}
	}
	x.r.Findings = slices.DeleteFunc(x.r.Findings, func(f precedent.Finding) bool {
		return x.open[f.ID] &&
			there[f.ID] == nil
	})
	for i := range x.r.Findings {
		if f := &x.r.Findings[i]; x.open[f.ID] {
			f.Span = there[f.ID].Span
			f.Note("last", "still there: %s", there[f.ID].Why)
		}
	}
}

// tally says which findings of the last review are fixed, still there or new. The threads have served
// their purpose then: a local change has none.
func (x *reader) tally(r *precedent.Review) {
	last := x.in.Last
	if last == nil {
		return
	}
	s := &precedent.SinceLast{Review: last.ID}
	was := map[string]bool{}
	for _, f := range last.Live() {
		was[f.ID] = true
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		switch {
		case !f.Live():
		case was[f.ID] || f.Thread != "" || f.Kept:
			s.Still = append(s.Still, f.ID)
		default:
			s.New = append(s.New, f.ID)
		}
		f.Thread = ""
	}
	for _, a := range r.Threads {
		switch a.State {
		case precedent.Addressed, precedent.NoLonger:
			s.Fixed = append(s.Fixed, a.Finding)
		case precedent.Unanswered:
			s.Unknown = append(s.Unknown, a.Finding)
		}
	}
	r.Since = s
}
