package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/thread"
)

// maxWork limits how many reviews of a line of work are looked at for a complete one.
const maxWork = 20

// followLast compares the change with the last review of the same work, as follow does for a pull request:
// its findings become threads that nobody sees, and what it read is not read again, unless job.Again is set.
// The objects of uncommitted files are gone, so the reading tells what changed.
func (p *Prepared) followLast(ctx context.Context, job Job) error {
	in, s := &p.Input, p.subject
	work, err := s.Repo.Work(ctx, s.Range, in.Target.Uncommitted)
	if err != nil {
		return err
	}
	in.Reading = &precedent.Reading{Work: work, With: p.readsWith(), Hunks: review.Hunks(in.Change)}
	err = p.findLast(ctx, p.workspace.Memory.Rows)
	if err != nil && ctx.Err() == nil {
		p.fail("memory", err.Error()+"; this review is not compared with the last one")
		in.Last, err = nil, nil
	}
	if job.Again || in.Last == nil {
		in.Since = nil
	}
	return err
}

// readsWith identifies what reads: the engine, its model, the policy, and what finders are taught to check. Of
// a learning that asks for less no finder has to read again.
func (p *Prepared) readsWith() string {
	if p.Input.Engine == nil {
		return ""
	}
	policy, _ := json.Marshal(p.Input.Policy) // plain data
	info := p.Input.Engine.Info()
	var taught []string
	for _, l := range p.Input.Recall.Learnings {
		if !l.Kind.Quieter() {
			taught = append(taught, strings.Join([]string{"", string(l.Kind), l.Directive, l.Rationale, l.Glob}, "\x00"))
		}
	}
	slices.Sort(taught)
	sum := sha256.Sum256([]byte(info.Name + "\x00" + info.Who + "\x00" + string(policy) + strings.Join(taught, "")))
	return hex.EncodeToString(sum[:])
}

// findLast finds the last complete review of the work. With an engine it is one with an
// engine, if there is one; only that spares reading anything again.
func (p *Prepared) findLast(ctx context.Context, rows *store.Repo) error {
	in, s := &p.Input, p.subject
	last, readers, err := LastRead(rows.ReviewsOf(ctx, in.Reading.Work, maxWork), in.Engine != nil)
	if last == nil && err == nil && in.Engine != nil {
		last, _, err = LastRead(rows.ReviewsOf(ctx, in.Reading.Work, maxWork), false)
	}
	if last == nil || err != nil {
		return err
	}
	named := s.Repo.Named(ctx, s.Range.Head)
	for i := range last.Findings {
		last.Findings[i].Path = named(last.Findings[i].Path)
	}
	for i := range last.Reading.Hunks {
		last.Reading.Hunks[i].Path = named(last.Reading.Hunks[i].Path)
	}
	in.Last = last
	p.followFiles(ctx, last)
	threads := openFindings(last, in.Recall.Dismissals)
	trees := TreesAt(ctx, s, []string{s.Range.Head, s.Range.Base, last.Head}, s.Range.Head, s.Range.Base)
	thread.Relocate(threads, trees)
	in.Threads = slices.DeleteFunc(threads, func(t precedent.Thread) bool {
		byAnalyzer := slices.ContainsFunc(last.Findings, func(f precedent.Finding) bool { return f.ID == t.ID && f.Analyzer })
		return leftChange(t, byAnalyzer, last.Reading, in.Change)
	})
	if in.Engine == nil || last.Reading.With != in.Reading.With {
		return nil
	}
	for _, f := range last.Finders {
		if f.Engine == precedent.AnalyzerEngine { // it reads everything again
			readers = slices.DeleteFunc(readers, func(name string) bool { return name == f.Name })
		}
	}
	same := review.Unchanged(in.Change, in.Reading.Hunks, last.Reading)
	since := &review.Since{
		Head: last.Head, Changed: review.Unread(in.Change, same), Unchanged: same, Finders: readers,
	}
	for _, f := range last.Coverage.Skipped {
		since.Skipped = append(since.Skipped, f.Path)
	}
	RecheckRules(since, last.RulesChecked, in.Guide.Rules)
	in.Since = since
	return nil
}

// followFiles lets the findings of the last review keep their identity in files that the change added or moved before and
// has moved again since: then a dismissal does, too. Of files that were not committed, the lines of hunks tell.
func (p *Prepared) followFiles(ctx context.Context, last *precedent.Review) {
	in, s := &p.Input, p.subject
	gone := func(f precedent.Finding) bool { return in.Change.File(f.Path) == nil }
	if in.Recall.Known == nil || !slices.ContainsFunc(last.Findings, gone) { // nil if the memory could not be read
		return
	}
	moved := renamed(ctx, s.Repo, last.Head, s.Range.Head)
	if moved == nil {
		moved = map[string]string{}
		at := map[string]string{} // paths by the hash of a hunk
		for _, h := range in.Reading.Hunks {
			if !slices.ContainsFunc(last.Reading.Hunks, func(was precedent.ReadHunk) bool { return was.Path == h.Path }) {
				at[h.Hash] = h.Path
			}
		}
		for _, h := range last.Reading.Hunks {
			moved[h.Path] = cmp.Or(at[h.Hash], moved[h.Path])
		}
	}
	for _, f := range last.Findings {
		_, known := in.Recall.Known[f.Fingerprint] // under the old path of a file that the change renames
		if to := moved[f.Path]; to != "" && gone(f) && !known {
			f.Path = to
			in.Recall.Known[f.Fingerprint] = store.Known{Finding: f, Seen: 1}
		}
	}
}

// openFindings returns the live findings of a review as threads, without those that were dismissed since.
func openFindings(last *precedent.Review, dismissed []precedent.Dismissal) []precedent.Thread {
	var open []precedent.Thread
	for _, f := range last.Live() {
		if slices.ContainsFunc(dismissed, func(j precedent.Dismissal) bool { return j.Fingerprint == f.Fingerprint }) {
			continue
		}
		open = append(open, precedent.ThreadOf(last, &f))
	}
	return open
}

// leftChange reports whether the lines of a thread are unchanged and no longer part of
// the change, as after a push: then nothing is said about them. An analyzer only looks at lines that the change adds.
func leftChange(t precedent.Thread, byAnalyzer bool, was *precedent.Reading, now *diff.Change) bool {
	if t.Changed || t.Current.Start == 0 || t.Side != precedent.Right {
		return false
	}
	file := now.File(t.Current.Path)
	if file != nil && file.HunkAt(t.Current.Side, t.Current.Start) >= 0 {
		return byAnalyzer && !file.Adds(t.Current.Start, t.Current.End)
	}
	return file == nil || slices.ContainsFunc(was.Hunks, func(h precedent.ReadHunk) bool { return h.Holds(t.Span) })
}
