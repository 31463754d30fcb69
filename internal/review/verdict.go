package review

import (
	"cmp"
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

// Followed returns a copy of a complete review without the findings whose threads people ended since, and with those
// whose threads they reopened, which it also returns; nil if there are none, unless anew is set. The copy cost nothing,
// answers nobody, and has no ID. before are the threads as they were stored.
func Followed(r *precedent.Review, before, threads []precedent.Thread, anew bool) (*precedent.Review,
	[]precedent.Thread,
) {
	next := *r
	next.ID, next.Usage, next.CostUSD, next.TookMS = "", precedent.Usage{}, 0, 0
	next.Findings, next.Threads = slices.Clone(r.Findings), nil
	answered := map[string]bool{}
	var reopened []precedent.Thread
	for _, t := range threads {
		open := &openThread{Thread: t}
		answered[t.ID] = open.final()
		if open.reopened(r, before) {
			answered[t.ID], reopened = true, append(reopened, t)
			next.Findings = slices.DeleteFunc(next.Findings, func(f precedent.Finding) bool { return f.DroppedBy == t.ID })
			next.Threads = append(next.Threads, precedent.ThreadAnswer{
				Thread: t.ID, Finding: t.Finding, Title: t.Title, Severity: t.Severity, Span: cmp.Or(t.Current, t.Span),
				State: precedent.StillThere, By: decidedByPerson, Why: "its conversation is open again",
			})
		}
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
		if a.Reply = ""; a.Open() && !answered[a.Thread] {
			next.Threads = append(next.Threads, a)
		}
	}
	left := len(next.Live()) + len(next.OpenThreads())
	switch {
	case len(reopened) > 0:
		next.Verdict = precedent.Findings
	case left == len(r.Live())+len(r.OpenThreads()):
		if !anew {
			return nil, nil
		}
	case next.Verdict == precedent.Findings && left == 0:
		next.Verdict = withoutFindings(r, nil)
		if len(r.Coverage.Skipped) >= r.Coverage.Files {
			next.Verdict = precedent.Skipped
		}
	}
	return &next, reopened
}

// reopened tells whether a thread is open that people had ended when it was stored or when the review was made.
func (t *openThread) reopened(r *precedent.Review, before []precedent.Thread) bool {
	live := func(f precedent.Finding) bool { return f.Thread == t.ID || f.Fingerprint == t.Fingerprint }
	if !t.open() || slices.ContainsFunc(r.Live(), live) ||
		slices.ContainsFunc(r.OpenThreads(), func(a precedent.ThreadAnswer) bool { return a.Thread == t.ID }) {
		return false
	}
	hid := func(f precedent.Finding) bool { return f.DroppedBy == t.ID && f.DroppedWhy == closedByPerson }
	return slices.ContainsFunc(r.Findings, hid) ||
		slices.ContainsFunc(before, func(b precedent.Thread) bool { return b.ID == t.ID && b.State.Final() })
}
