package review

import (
	"cmp"
	"context"
	"slices"

	"github.com/precedent-dev/precedent"
)

// bond joins a thread and a live finding, by their indexes.
type bond struct {
	thread, finding int
	match
}

func bySureness(a, b bond) int {
	return cmp.Or(cmp.Compare(a.how, b.how), -cmp.Compare(a.similarity, b.similarity),
		cmp.Compare(a.thread, b.thread), cmp.Compare(a.finding, b.finding))
}

// recognize finds out which findings stand in threads of the pull request already.
// Such a one takes the thread's name, so that it is not posted again; where people
// ended the thread it is dropped. A thread takes one finding, and what else says the
// same is a duplicate of that one. The order of neither threads nor findings matters.
func (x *reader) recognize(ctx context.Context, fs []precedent.Finding) {
	if len(x.threads) == 0 {
		return
	}
	var live []*precedent.Finding
	dropped := map[string][]*precedent.Finding{} // by merge, for the one with the id
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
	bonds := x.bonds(ctx, live, dropped)
	taker := make([]*precedent.Finding, len(x.threads))
	bound := map[*precedent.Finding]bool{}
	n := newNaming(live, dropped)
	for _, b := range bonds {
		if f := live[b.finding]; taker[b.thread] == nil && !bound[f] {
			taker[b.thread], bound[f] = f, true
			n.take(x.in.Repo, x.threads[b.thread], f)
		}
	}
	for _, b := range bonds {
		f, t, first := live[b.finding], x.threads[b.thread], taker[b.thread]
		switch {
		case bound[f] || b.how == sameWords || b.how == sameName: // alike, and another place with the same defect
		case t.settled():
			bound[f] = true
			t.silence(f)
		default:
			bound[f] = true
			f.Drop("threads", precedent.Duplicate, first.ID, "says the same as %q at %s, which stands in a thread already", first.Title, first.Span)
		}
	}
}

// bonds returns which threads and findings say the same, the surest first. A judge
// decides on the doubtful ones, in one request.
func (x *reader) bonds(ctx context.Context, live []*precedent.Finding, dropped map[string][]*precedent.Finding) []bond {
	var sure, open []bond
	for i, t := range x.threads {
		for j, f := range live {
			b := bond{i, j, t.nearest(f, dropped[f.ID])}
			switch b.like {
			case SurelySame:
				sure = append(sure, b)
			case PerhapsSame:
				open = append(open, b)
			}
		}
	}
	slices.SortFunc(open, func(a, b bond) int { return cmp.Or(-cmp.Compare(a.similarity, b.similarity), bySureness(a, b)) })
	var doubts []doubt
	for _, b := range open {
		doubts = append(doubts, doubt{&x.threads[b.thread].remark, b.said})
	}
	opinions := x.judge(ctx, doubts, "findings with threads, where place and words decided")
	for i, b := range open {
		t := x.threads[b.thread]
		switch {
		case opinions[i] == same:
			b.how = judgedSame
			sure = append(sure, b)
		case opinions[i] == unasked && b.otherwise:
			sure = append(sure, b)
		case opinions[i] == distinct:
			live[b.finding].Note("threads", "near what the thread says at %s (similarity %.2f), and not the same: a judge compared them", t.remark.Span, b.similarity)
		}
	}
	slices.SortFunc(sure, bySureness)
	return sure
}

// naming gives findings the names of their threads.
type naming struct {
	owners  map[string]*precedent.Finding // by fingerprint
	dropped map[string][]*precedent.Finding
}

func newNaming(live []*precedent.Finding, dropped map[string][]*precedent.Finding) naming {
	n := naming{owners: map[string]*precedent.Finding{}, dropped: dropped}
	for _, f := range live {
		n.owners[f.Fingerprint] = f
	}
	return n
}

// take gives a finding its thread, and the thread's name unless another finding
// goes by it.
func (n naming) take(repo precedent.Repo, t *carried, f *precedent.Finding) {
	f.Thread = t.ID
	owner := n.owners[t.Fingerprint]
	if t.Fingerprint != "" && (owner == nil || owner == f) {
		n.owners[t.Fingerprint] = f
		id := cmp.Or(t.Finding, precedent.FindingID(repo, t.Fingerprint))
		for _, d := range n.dropped[f.ID] {
			d.DroppedBy = id
		}
		f.ID, f.Fingerprint = id, t.Fingerprint
	}
	switch {
	case t.settled():
		t.silence(f)
	case t.State == precedent.ThreadAddressed:
		f.Note("threads", "is back: the thread about it was closed as fixed")
	default:
		f.Note("threads", "stands in a thread already, and keeps its id")
	}
}

// silence drops a finding that people do not want to read again.
func (t *carried) silence(f *precedent.Finding) {
	f.Thread = t.ID
	why := "a person closed the thread about it"
	switch {
	case t.Gone:
		why = "a person deleted the comment about it"
	case t.State == precedent.ThreadWontFix:
		why = "a person declined it in the thread about it"
	}
	f.Drop("threads", precedent.Dismissed, t.ID, "%s", why)
}

// threadOf is the thread that a finding stands in, nil if it stands in none.
func (x *reader) threadOf(f *precedent.Finding) *carried {
	if f.Thread == "" {
		return nil
	}
	for _, t := range x.threads {
		if t.ID == f.Thread {
			return t
		}
	}
	return nil
}
