package review

import (
	"slices"

	"github.com/precedent-dev/precedent"
)

// verdict returns the outcome of the review. An incomplete review is never clean or
// findings, and a change with open threads is never clean. With an engine, a review
// that leaves a thread unanswered is incomplete. So is one in which a specialist
// failed; an analyzer that failed counts only by the hunks that nothing else read.
func verdict(r *precedent.Review, reports []Report, in *Input) precedent.Verdict {
	bad, read, asked, answered := false, false, 0, 0
	for _, rep := range reports {
		bad = bad || rep.Run.Status.Bad() && !rep.Analyzer
		read = read || rep.Run.Status.Good()
		asked += len(rep.Answered)
		for _, ok := range rep.Answered {
			if ok {
				answered++
			}
		}
	}
	left := slices.DeleteFunc(slices.Clone(in.Skipped), isRepository)
	open, unanswered := false, false
	for _, t := range r.Threads {
		unanswered = unanswered || t.State == precedent.Unanswered
		open = open || t.Open()
	}
	switch {
	case asked > 0 && answered == 0:
		return precedent.Failed
	case in.Incomplete || bad || len(r.Coverage.Truncated) > 0 || unanswered && in.Engine != nil:
		return precedent.Partial
	case len(r.Live()) > 0 || open:
		return precedent.Findings
	case len(r.Coverage.Skipped)+len(left) >= r.Coverage.Files || !read:
		return precedent.Skipped
	}
	return withoutFindings(r, reports)
}

// withoutFindings is the verdict of a complete review without findings. Without a model it is clean only if
// analyzers that understand the language read every file: the others look for secrets and the like.
func withoutFindings(r *precedent.Review, reports []Report) precedent.Verdict {
	understood := map[string]bool{} // the skipped files included
	for _, f := range r.Coverage.Skipped {
		understood[f.Path] = true
	}
	for _, rep := range reports {
		for path, read := range rep.Files {
			if read {
				understood[path] = true
			}
		}
	}
	if len(r.Coverage.NotChecked) > 0 || r.Scope == precedent.AnalyzersScope && len(understood) < r.Coverage.Files {
		return precedent.NoFindings
	}
	return precedent.Clean
}

// WithoutEnded returns a copy of a complete review without the findings whose threads people
// ended since; nil if there are none. It cost nothing, answers nobody, and has no ID.
func WithoutEnded(r *precedent.Review, threads []precedent.Thread) *precedent.Review {
	next := *r
	next.ID, next.Usage, next.CostUSD, next.TookMS = "", precedent.Usage{}, 0, 0
	next.Findings, next.Threads = slices.Clone(r.Findings), nil
	ended := map[string]bool{}
	for _, t := range threads {
		open := &openThread{Thread: t}
		ended[t.ID] = open.final()
		for i := range next.Findings {
			f := &next.Findings[i]
			if !f.Live() || f.Thread != t.ID && (f.Thread != "" || f.Fingerprint != t.Fingerprint) {
				continue
			}
			f.Thread, f.Trail = t.ID, slices.Clip(f.Trail)
			if open.final() {
				open.dropRepeated(f)
			}
		}
	}
	for _, a := range r.Threads {
		if a.Reply = ""; a.Open() && !ended[a.Thread] {
			next.Threads = append(next.Threads, a)
		}
	}
	if len(next.Live())+len(next.OpenThreads()) == len(r.Live())+len(r.OpenThreads()) {
		return nil
	}
	if next.Verdict == precedent.Findings && len(next.Live())+len(next.OpenThreads()) == 0 {
		next.Verdict = withoutFindings(r, nil)
		if len(r.Coverage.Skipped) >= r.Coverage.Files {
			next.Verdict = precedent.Skipped
		}
	}
	return &next
}
