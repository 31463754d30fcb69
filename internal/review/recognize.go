package review

import (
	"cmp"
	"context"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/thread"
)

// threadMatch is a thread and a live finding that are the same, by their indexes.
type threadMatch struct {
	thread, finding int
	match.Comparison
}

func bySureness(a, b threadMatch) int {
	return cmp.Or(cmp.Compare(a.By, b.By), -cmp.Compare(a.Similarity, b.Similarity),
		cmp.Compare(a.thread, b.thread), cmp.Compare(a.finding, b.finding))
}

// recognize finds the findings that already have a thread on the pull request. Such a
// finding takes the thread's id and fingerprint, so that it is not posted again; if
// people closed the thread, it is dropped. A thread takes one finding; others that
// match it are duplicates of that one. The order of threads and findings does not
// matter.
func (x *reader) recognize(ctx context.Context, fs []precedent.Finding) {
	if len(x.threads) == 0 {
		return
	}
	var live []*precedent.Finding
	dropped := map[string][]*precedent.Finding{} // by merge, as duplicates of the finding with the id
	for i := range fs {
		switch f := &fs[i]; {
		case f.Live():
			live = append(live, f)
		case f.Dropped == precedent.Duplicate:
			dropped[f.DroppedBy] = append(dropped[f.DroppedBy], f)
		}
	}
	slices.SortStableFunc(live, byContent)
	for _, same := range dropped {
		slices.SortStableFunc(same, byContent)
	}
	bonds := x.matchThreads(ctx, live, dropped)
	taker := make([]*precedent.Finding, len(x.threads))
	bound := map[*precedent.Finding]bool{}
	n := threadAssignment{map[string]*precedent.Finding{}, dropped}
	for _, f := range live {
		n.owners[f.Fingerprint] = f
	}
	for _, b := range bonds {
		if f := live[b.finding]; taker[b.thread] == nil && !bound[f] {
			taker[b.thread], bound[f] = f, true
			n.take(x.in, x.threads[b.thread], f)
			if f.Dropped == precedent.Dismissed && b.By == match.ByJudge {
				x.takeAway(f, x.threads[b.thread].remark.Title)
			}
		}
	}
	for _, b := range bonds {
		f, t, first := live[b.finding], x.threads[b.thread], taker[b.thread]
		switch {
		case bound[f] || b.By == match.ByWords || b.By == match.ByIdentity: // similar: another place with the same defect
		case t.final():
			bound[f] = true
			t.dropRepeated(f)
			if f.Live() {
				taker[b.thread] = f
			}
			if b.By == match.ByJudge {
				x.takeAway(f, t.remark.Title)
			}
		default:
			bound[f] = true
			why := "already has a thread"
			if x.in.Last != nil {
				why = "the last review had"
			}
			f.Drop("threads", precedent.Duplicate, first.ID, "duplicate of %q at %s, which %s", first.Title, first.Span, why)
		}
	}
}

// matchThreads returns which threads and findings are the same, the surest first. A
// judge decides the doubtful pairs in one request.
func (x *reader) matchThreads(ctx context.Context, live []*precedent.Finding,
	dropped map[string][]*precedent.Finding,
) []threadMatch {
	var sure, open []threadMatch
	for i, t := range x.threads {
		posted := match.Posted{Remark: &t.remark, Ended: t.final(), Changed: t.changed}
		for j, f := range live {
			b := threadMatch{i, j, posted.Nearest(f, dropped[f.ID])}
			switch b.Like {
			case match.SurelySame:
				sure = append(sure, b)
			case match.PerhapsSame:
				open = append(open, b)
			}
		}
	}
	slices.SortFunc(open, func(a, b threadMatch) int {
		return cmp.Or(-cmp.Compare(a.Similarity, b.Similarity), bySureness(a, b))
	})
	var doubts []match.Doubt
	for _, b := range open {
		doubts = append(doubts, match.Doubt{A: &x.threads[b.thread].remark, B: b.With, Similarity: b.Similarity})
	}
	said := x.judge(ctx, doubts, "pairs of a finding and a thread, so place and words decided", provesSame)
	for i, b := range open {
		same, judged := said[i]
		switch {
		case same:
			b.By = match.ByJudge
			sure = append(sure, b)
		case judged:
			live[b.finding].Note("threads", "similar to the thread at %s (similarity %.2f), but a judge found them different",
				x.threads[b.thread].remark.Span, b.Similarity)
		case b.Unjudged:
			sure = append(sure, b)
		}
	}
	slices.SortFunc(sure, bySureness)
	return sure
}

// threadAssignment gives findings the ids and fingerprints of their threads.
type threadAssignment struct {
	owners  map[string]*precedent.Finding // by fingerprint
	dropped map[string][]*precedent.Finding
}

// take assigns a thread to a finding, with the thread's id and fingerprint unless
// another finding has that fingerprint.
func (n threadAssignment) take(in *Input, t *openThread, f *precedent.Finding) {
	f.Thread = t.ID
	owner := n.owners[t.Fingerprint]
	if t.Fingerprint != "" && (owner == nil || owner == f) {
		n.owners[t.Fingerprint] = f
		id := cmp.Or(t.Finding, precedent.FindingID(in.Repo, t.Fingerprint))
		for _, d := range n.dropped[f.ID] {
			d.DroppedBy = id
		}
		f.ID, f.Fingerprint = id, t.Fingerprint
	}
	switch {
	case t.final():
		t.dropRepeated(f)
	case t.State == precedent.ThreadAddressed:
		f.Note("threads", "back: its thread was closed as fixed")
	case in.Last != nil:
		f.Note("threads", "the last review had it, and it keeps its id")
	default:
		f.Note("threads", "already has a thread, and keeps its id")
	}
}

// dropRepeated drops a finding whose thread people closed, unless it is one now that they may not dismiss: then the
// thread is open again.
func (t *openThread) dropRepeated(f *precedent.Finding) {
	f.Thread = t.ID
	why := closedByPerson
	switch {
	case (isSevere(f.Severity) || f.Category.Protected()) && thread.EndedByAuthor(t.Thread):
		t.State = precedent.ThreadAddressed
		f.Note("threads", "the author of the pull request dismissed its thread, and may not dismiss what is severe")
		return
	case t.Deleted:
		why = "a person deleted its comment"
	case t.State == precedent.ThreadWontFix:
		why = "a person dismissed it in its thread"
	}
	f.Drop("threads", precedent.Dismissed, t.ID, "%s", why)
}

// closedByPerson is why a finding is dropped whose thread a person closed. Reopening it brings the finding back.
const closedByPerson = "a person closed its thread"

// threadOf returns the thread of a finding, or nil.
func (x *reader) threadOf(f *precedent.Finding) *openThread {
	i := slices.IndexFunc(x.threads, func(t *openThread) bool { return f.Thread != "" && t.ID == f.Thread })
	if i < 0 {
		return nil
	}
	return x.threads[i]
}
