package review

import (
	"github.com/precedent-dev/precedent"
)

// verdict returns the outcome of the review. An incomplete review is never clean or
// findings, and a change with open threads is never clean. With an engine, a review
// that leaves a thread unanswered is incomplete. So is one in which a specialist
// failed; an analyzer that failed counts only by the hunks that nothing else read.
func verdict(r *precedent.Review, reports []Report, engine bool) precedent.Verdict {
	bad, asked, answered := false, 0, 0
	for _, rep := range reports {
		bad = bad || rep.Run.Status.Bad() && !rep.Analyzer
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
		open = open || t.Open()
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

// anyRead tells whether any finder succeeded.
func anyRead(reports []Report) bool {
	for _, rep := range reports {
		if rep.Run.Status.Good() {
			return true
		}
	}
	return false
}
