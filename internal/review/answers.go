package review

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxReply bounds a reply in a thread, in characters.
const maxReply = 1_000

// What decided the state of a thread.
const (
	decidedByPlace  = "place"
	decidedByEngine = "engine"
	decidedByPerson = "person"
	decidedByFinder = "finder"
)

// inquiry is a thread that needs an answer.
type inquiry struct {
	*openThread
	found  *precedent.Finding // the same finding in this review; nil if there is none
	ran    precedent.Status   // how its finder ended, if that is an analyzer
	answer precedent.ThreadAnswer
}

// decide records the state of the thread's finding, what decided it, and the reason.
func (q *inquiry) decide(state precedent.AnswerState, by, format string, args ...any) {
	q.answer.State, q.answer.By, q.answer.Why = state, by, fmt.Sprintf(format, args...)
}

// answer returns the state of each open thread's finding, and of threads closed as
// fixed whose finding is back. A finding that a finder found again is still there.
// The engine is asked about the others, and where a person waits for a reply; its
// answer counts as far as the code or people's own words prove it. Without an engine,
// the place of the flagged lines decides where it can.
func (x *reader) answer(ctx context.Context) []precedent.ThreadAnswer {
	all := x.inquiries(x.r.Findings, x.r.Finders)
	var open []*inquiry
	for _, q := range all {
		switch {
		case q.decideWithoutReading(x.in):
		case x.in.Engine == nil:
			q.decideByPlace()
		default:
			open = append(open, q)
		}
	}
	x.inquire(ctx, open)
	var answers []precedent.ThreadAnswer
	for _, q := range all {
		q.reply(x.in.Head)
		x.secrets.redact(&q.answer.Title, &q.answer.Reply, &q.answer.Why, &q.answer.Words)
		q.answer.Reply = text.Cut(q.answer.Reply, maxReply)
		if q.answer.State == precedent.DeclinedHere && q.found != nil {
			q.found.Drop("threads", precedent.Dismissed, q.ID, "a person dismissed it in its thread")
		}
		answers = append(answers, q.answer)
	}
	slices.SortFunc(answers, func(a, b precedent.ThreadAnswer) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Thread, b.Thread))
	})
	return answers
}

// inquiries returns the threads that need an answer.
func (x *reader) inquiries(fs []precedent.Finding, runs []precedent.FinderRun) []*inquiry {
	found := map[string]*precedent.Finding{} // by thread
	for i := range fs {
		if f := &fs[i]; f.Thread != "" && f.Dropped != precedent.Refuted && (found[f.Thread] == nil || f.Live()) {
			found[f.Thread] = f
		}
	}
	ran := map[string]precedent.Status{}
	for _, r := range runs {
		ran[r.Name] = r.Status
	}
	var all []*inquiry
	for _, t := range x.threads {
		q := &inquiry{openThread: t, found: found[t.ID], ran: ran[t.Finder]}
		if x.unread[fileOf{t.Finder, t.remark.Path}] {
			q.ran = precedent.StatusSkipped
		}
		back := q.found != nil && q.found.Live() && q.found.Confidence >= x.in.thresholdFor(q.found)
		if t.final() || !t.open() && !back {
			continue
		}
		at := t.remark.Span
		if at.Start == 0 {
			at = precedent.Span{Path: at.Path, Side: at.Side, Start: t.Start, End: t.End} // where it was
		}
		q.answer = precedent.ThreadAnswer{
			Thread: t.ID, Finding: t.Finding, Title: t.remark.Title, Severity: t.Severity,
			Span: at,
		}
		all = append(all, q)
	}
	return all
}

// decideWithoutReading decides a thread that no engine has to read, and reports whether
// that is enough: a person who waits gets a reply from the engine, if there is one.
func (q *inquiry) decideWithoutReading(in *Input) bool {
	if q.found != nil && q.found.Dropped == precedent.Dismissed { // by memory: a closed thread gets no answer
		q.decide(precedent.DeclinedHere, decidedByPerson, "%s", q.found.DroppedWhy)
		return true
	}
	if i := slices.IndexFunc(in.Recall.Dismissals,
		func(j precedent.Dismissal) bool { return j.Fingerprint == q.Fingerprint }); i >= 0 && q.found == nil &&
		q.Fingerprint != "" {
		q.decide(precedent.DeclinedHere, decidedByPerson, "%s dismissed it", cmp.Or(in.Recall.Dismissals[i].Who, "somebody"))
		return true
	}
	if q.found != nil {
		q.answer.Span = q.found.Span
		q.decide(precedent.StillThere, decidedByFinder, "%s found it again", q.found.Finder)
		return !q.waits() || in.Engine == nil
	}
	if q.waits() {
		return false
	}
	if in.Last != nil && q.remark.Analyzer && q.ran.Good() { // it has read everything again
		q.decide(precedent.Addressed, decidedByPlace, "%s no longer finds it", q.Finder)
		return true
	}
	still := in.Since != nil && in.Since.Changed != nil && len(in.Since.Changed.Files) == 0
	if q.deleted || q.remark.Analyzer && q.changed && q.ran.Good() || still && !q.changed && !q.lost {
		q.decideByPlace()
		return true
	}
	return false
}

// decideByPlace decides by where the flagged lines are now, where that is possible.
func (q *inquiry) decideByPlace() {
	switch {
	case q.deleted:
		q.decide(precedent.NoLonger, decidedByPlace, "its file was deleted")
	case q.lost:
		q.decide(precedent.Unanswered, decidedByPlace, "its lines could not be located")
	case !q.changed:
		q.decide(precedent.StillThere, decidedByPlace, "the flagged lines have not changed")
	case q.remark.Analyzer && q.ran.Good():
		q.decide(precedent.Addressed, decidedByPlace, "the flagged lines changed, and %s no longer finds it", q.Finder)
	default:
		q.decide(precedent.Unanswered, decidedByPlace, "the flagged lines changed, and were not compared")
	}
}

// reply sets the reply in the thread: one if a person waits or the finding's state
// has changed, otherwise none.
func (q *inquiry) reply(head string) {
	a := &q.answer
	back := !q.open()
	switch {
	case a.State == precedent.Unanswered, a.State == precedent.StillThere && !q.waits() && !back,
		a.State == precedent.DeclinedHere && q.answered():
		a.Reply = ""
	case a.Reply != "":
	case back && !q.Severe() && (isSevere(q.found.Severity) || q.found.Category.Protected()):
		a.Reply = fmt.Sprintf("This is back, at %s. It is severe now, so only somebody with write permission may dismiss it.",
			text.VisibleLine(a.String()))
	case back:
		a.Reply = fmt.Sprintf("This is back, at %s.", text.VisibleLine(a.String()))
	case a.State == precedent.StillThere:
		a.Reply = fmt.Sprintf("This is still there, at %s.", text.VisibleLine(a.String()))
	case a.State == precedent.Addressed:
		a.Reply = fmt.Sprintf("Addressed by %s.", short(head))
	case a.State == precedent.NoLonger:
		a.Reply = "No longer applicable: the code is gone."
	case a.State == precedent.DeclinedHere:
		a.Reply = "Understood. This will not be raised again."
	}
}
