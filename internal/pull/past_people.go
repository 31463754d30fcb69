package pull

import (
	"context"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/thread"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// nearLines is how many lines a comment may be from a finding to count as one about its place:
// reviewers often mark the first line of a statement or of a function.
const nearLines = 5

// compare compares the shown findings of a review with what people did on the pull request.
func (p *Pull) compare(ctx context.Context, s *State, r *precedent.Review, one *PastPull) error {
	rows, err := p.Workspace.Rows(ctx)
	if err != nil {
		return err
	}
	then, err := rows.Threads(ctx, p.Number)
	if err != nil {
		return err
	}
	outcomes, err := rows.Outcomes(ctx, p.Number)
	if err != nil {
		return err
	}
	became := map[string]precedent.Outcome{} // by fingerprint
	for _, o := range outcomes {
		became[o.Fingerprint] = o
	}
	var shown []*precedent.Finding
	for i := range r.Findings {
		if r.Findings[i].Dropped == "" {
			shown = append(shown, &r.Findings[i])
		}
	}
	places := p.placesOf(ctx, s, shown)
	again := foundAgain(shown, then)
	for i, f := range shown {
		one.addFinding(places.about(i, f), again[f.Fingerprint], became)
	}
	if len(then) > 0 {
		one.New = one.Shown - one.Again
	}
	one.addThen(then, became, again)
	return nil
}

// foundAgain returns the fingerprint that each finding was posted with then, by the one that it
// has now.
func foundAgain(shown []*precedent.Finding, then []precedent.Thread) map[string]string {
	var posted []*precedent.Finding
	again := map[string]string{}
	for _, t := range then {
		posted = append(posted, &precedent.Finding{Fingerprint: t.Fingerprint, Category: t.Category, Span: t.Span, Quote: t.Quote, Title: t.Title, Body: t.Body})
	}
	for now, was := range match.Earlier(shown, posted, nil) {
		again[now] = was.Fingerprint
	}
	for _, f := range shown {
		if slices.ContainsFunc(posted, func(k *precedent.Finding) bool { return k.Fingerprint == f.Fingerprint }) {
			again[f.Fingerprint] = f.Fingerprint
		}
	}
	return again
}

// addFinding counts a finding of the review; was is the fingerprint that it was posted with
// before the merge, empty if it was not.
func (one *PastPull) addFinding(f PastFinding, was string, became map[string]precedent.Outcome) {
	one.Shown++
	changed := f.Changed != nil && *f.Changed
	if f.NearComment {
		one.Commented++
	}
	if changed {
		one.Changed++
	}
	if !f.NearComment && !changed {
		one.Neither++
	}
	if was != "" {
		one.Again++
		f.Posted, f.Outcome = true, became[was].Kind
	}
	one.Findings = append(one.Findings, f)
}

// addThen counts the findings that were posted before the merge.
func (one *PastPull) addThen(then []precedent.Thread, became map[string]precedent.Outcome, again map[string]string) {
	found := map[string]bool{}
	for _, was := range again {
		found[was] = true
	}
	for _, t := range then {
		one.Then++
		o := became[t.Fingerprint]
		if accepted, answered := o.Label(); answered && accepted {
			one.Accepted++
		} else if answered {
			one.Rejected++
		}
		if !found[t.Fingerprint] {
			one.Gone = append(one.Gone, PastFinding{
				Finding: t.Finding, Title: t.Title, Severity: t.Severity, Path: t.Path, Line: t.Start, Posted: true, Outcome: o.Kind,
			})
		}
	}
}

// pastPlaces are the places of findings in the merged tree, and those that reviewers commented on.
type pastPlaces struct {
	merged   []precedent.Thread // one for each finding
	known    bool               // the merged tree could be read
	comments []precedent.Thread // relocated to the reviewed head
}

// placesOf relocates the findings to the merged tree, and the comments to the reviewed head.
func (p *Pull) placesOf(ctx context.Context, s *State, shown []*precedent.Finding) pastPlaces {
	places := pastPlaces{comments: p.remarks(ctx, s)}
	for _, f := range shown {
		places.merged = append(places.merged, precedent.Thread{Commit: s.Range.Head, Span: f.Span, Quote: f.Quote})
	}
	if s.Patched {
		for i := range places.comments {
			places.comments[i].Current = places.comments[i].Span
		}
		return places
	}
	ids := []string{p.MergeCommit}
	for _, c := range places.comments {
		ids = append(ids, c.Commit)
	}
	there := append(p.Repo.commits.Earlier(ctx, s.Spec, ids), s.Range.Head, s.Range.Base)
	if places.known = p.MergeCommit != "" && slices.Contains(there, p.MergeCommit); places.known {
		thread.Relocate(places.merged, run.TreesAt(ctx, s.Subject, there, p.MergeCommit, s.Range.Base))
	}
	thread.Relocate(places.comments, run.TreesAt(ctx, s.Subject, there, s.Range.Head, s.Range.Base))
	return places
}

// remarks are the comments of reviewers on lines. Those of the author, of programs and of our own
// account are left out, and so are answers to our comments: they are not about the code alone.
func (p *Pull) remarks(ctx context.Context, s *State) []precedent.Thread {
	me := workspace.OwnAccount(ctx, p.Conn)
	ours := map[precedent.ForgeID]bool{}
	var all []precedent.Thread
	for _, c := range s.Comments { // the oldest first: a reply comes after what it replies to
		if c.Kind != forge.OnLine {
			continue
		}
		_, marked := p.Writer.Read(string(c.Body))
		own := marked || me != "" && c.Author.ID == me
		if own {
			ours[c.ID] = true
		}
		if own || ours[c.ReplyTo] || c.Author.Bot || c.Author.ID != "" && c.Author.ID == p.Author.ID {
			continue
		}
		all = append(all, precedent.Thread{Commit: c.Commit, Span: c.Span, URL: c.URL})
	}
	return all
}

// about says what people did at the place of the finding with an index.
func (x *pastPlaces) about(i int, f *precedent.Finding) PastFinding {
	out := PastFinding{Finding: f.ID, Title: f.Title, Severity: f.Severity, Path: f.Path, Line: f.Start}
	if x.known {
		changed := x.merged[i].Changed
		out.Changed = &changed
	}
	for _, c := range x.comments {
		if isNear(c.Current, f.Span) {
			out.NearComment, out.CommentURL = true, c.URL
			break
		}
	}
	return out
}

// isNear tells whether two places are in one file, and at most nearLines apart.
func isNear(a, b precedent.Span) bool {
	return a.Path == b.Path && a.Side == b.Side && a.Start > 0 && b.Start > 0 && a.Start <= b.End+nearLines && b.Start <= a.End+nearLines
}
