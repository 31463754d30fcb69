package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/calibration"
	"github.com/precedent-dev/precedent/internal/store"
)

// Limits of what is recalled for one review.
const (
	maxKnown      = 5_000  // findings that new ones can be matched to
	maxAccepted   = 50     // accepted findings of the touched files
	maxDismissals = 10_000 // more than people make in the 180 days until one expires
	maxRecalled   = 5      // insights: more would distract finders
)

// Recall is what memory has about the files of a change. The zero Recall is that of a
// repository without memory.
type Recall struct {
	// Files counts the findings that reviews of other changes showed, by file, sorted by path.
	// Findings of this change only are left out: otherwise a second review of it would start
	// from another history than the first. Hotspots are the files with at least HotspotFrom,
	// those with the most first.
	Files, Hotspots []precedent.Hotspot
	// Accepted are the newest findings in the files that people fixed or agreed with: id,
	// path, category, severity and title.
	Accepted []precedent.Finding
	// Dismissals are all current ones of the repository, newest first.
	Dismissals []precedent.Dismissal
	// Insights are the last changed active ones whose scope has a file of the change, and, where one
	// person at most has answered findings, candidates.
	Insights []precedent.Insight
	// Known are the findings last seen in the files, by fingerprint, including those of earlier
	// reviews of this change.
	Known map[string]store.Known
	// Learned is what the outcomes of the repository's findings change; the zero value changes
	// nothing.
	Learned calibration.Learned
	// Former maps a path to the one that the change renamed it from. The caller fills it in;
	// without it Match takes a renamed file for a new one.
	Former map[string]string
	// Stands reports whether an earlier finding is still at its place, on another line than a new one. The caller fills it
	// in; without it Match takes each line for the one that an earlier finding flagged.
	Stands func(earlier, found *precedent.Finding) bool
	// Learnings are those that apply to the change, the most relevant first. RecallLearnings
	// returns them.
	Learnings []Recalled
	// Pending are those that were proposed on the pull request and wait for approval. PendingOn returns them.
	Pending []precedent.LearningUse
}

// Recall returns what is known about the files with the paths, which include the old paths of
// renamed files. Base and head identify the change.
func (m *Memory) Recall(ctx context.Context, paths []string, base, head string) (Recall, error) {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	shown, dismissals, err := m.history(ctx, paths, store.Change{Base: base, Head: head})
	if err != nil {
		return Recall{}, err
	}
	r := Recall{Dismissals: dismissals}
	r.Files = countByFile(shown, r.Dismissals)
	r.Hotspots = hottest(r.Files)
	if r.Accepted, err = m.Rows.Accepted(ctx, paths, maxAccepted); err != nil {
		return Recall{}, err
	}
	insights, err := m.Rows.Insights(ctx)
	if err != nil {
		return Recall{}, err
	}
	var people []string
	for _, i := range insights {
		people = append(people, i.People...)
	}
	for _, j := range r.Dismissals {
		people = append(people, j.Who)
	}
	alone := atMostOne(people)
	for _, i := range insights {
		wanted := i.State == precedent.InsightActive || alone && i.State == precedent.InsightCandidate
		if wanted && len(r.Insights) < maxRecalled && slices.ContainsFunc(paths, func(p string) bool { return inFiles(i.Scope, p) }) {
			r.Insights = append(r.Insights, i)
		}
	}
	if r.Known, err = m.Rows.Known(ctx, paths, maxKnown); err != nil {
		return Recall{}, err
	}
	labels, err := m.Labels(ctx)
	r.Learned = calibration.Learn(labels)
	return r, err
}

// Suppressed lists the findings that dismissals and learnings hid, in the order of the findings. For one
// that a thread dropped because it was dismissed there, the dismissal learned from that thread
// gives the reason.
func (r Recall) Suppressed(findings []precedent.Finding) []precedent.SuppressedFinding {
	by, of := map[string]precedent.Dismissal{}, map[string]precedent.Dismissal{}
	learned := map[string]precedent.Learning{}
	for _, l := range r.Learnings {
		learned[l.ID] = l.Learning
	}
	for _, j := range r.Dismissals {
		by[j.ID], of[j.Fingerprint] = j, j
	}
	var suppressed []precedent.SuppressedFinding
	for _, f := range findings {
		if l, ok := learned[f.DroppedBy]; ok && f.Dropped == precedent.ByLearning {
			suppressed = append(suppressed, precedent.SuppressedFinding{
				Finding: f.ID, Title: f.Title, Dropped: f.Dropped, By: l.ID, Why: cmp.Or(l.Rationale, l.Directive), Who: l.From.Who,
			})
			continue
		}
		j, ok := by[f.DroppedBy]
		if !ok && f.Dropped == precedent.Dismissed {
			j, ok = of[f.Fingerprint]
		}
		if !ok || f.Dropped != precedent.Dismissed && f.Dropped != precedent.Rejected {
			continue
		}
		suppressed = append(suppressed, precedent.SuppressedFinding{
			Finding: f.ID, Title: f.Title, Dropped: f.Dropped, By: j.ID, Why: j.Reason, Who: j.Who,
		})
	}
	return suppressed
}
