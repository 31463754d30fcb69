package review

import (
	"github.com/precedent-dev/precedent"
)

// verdict says how the review ended. What was not read beats what was found:
// nobody may take an incomplete review for a clean one, nor one of a change with
// threads that nobody has settled. Where an engine was to say what became of a
// thread, it is incomplete without that.
func verdict(r *precedent.Review, reports []Report, engine bool) precedent.Verdict {
	bad, asked, answered := false, 0, 0
	for _, rep := range reports {
		bad = bad || rep.Run.Status.Bad()
		asked += len(rep.Answered)
		for _, ok := range rep.Answered {
			if ok {
				answered++
			}
		}
	}
	open, unanswered := false, false
	for _, t := range r.Threads {
		unanswered = unanswered || t.State == precedent.Unanswered
		open = open || t.State == precedent.StillThere || t.State == precedent.Unanswered
	}
	switch {
	case asked > 0 && answered == 0:
		return precedent.Failed
	case bad || len(r.Coverage.Truncated) > 0 || unanswered && engine:
		return precedent.Partial
	case len(r.Live()) > 0 || open:
		return precedent.Findings
	case len(r.Coverage.Skipped) >= r.Coverage.Files || !anyRead(reports):
		return precedent.Skipped
	}
	return precedent.Clean
}

// anyRead tells whether a finder read anything at all.
func anyRead(reports []Report) bool {
	for _, rep := range reports {
		if rep.Run.Status.Good() {
			return true
		}
	}
	return false
}
