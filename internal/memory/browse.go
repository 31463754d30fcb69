package memory

import (
	"context"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// ActiveLearnings returns the active learnings of the repository that hold for all of its pull
// requests, the last changed first; none if the operator turned learnings off.
func (m *Memory) ActiveLearnings(ctx context.Context) ([]precedent.Learning, error) {
	if m.LearningsOff {
		return nil, nil
	}
	found, err := m.Learnings(ctx, precedent.LearningActive)
	return slices.DeleteFunc(found, func(l precedent.Learning) bool {
		return l.PullRequest != 0 ||
			UnfitLearning(l) != ""
	}), err
}

// InFiles reports whether a glob, or a path, contains one of the files. One without a limit
// contains all, and without files the answer is yes.
func InFiles(glob string, files ...string) bool {
	return len(files) == 0 || slices.ContainsFunc(files, func(f string) bool { return inFiles(glob, f) })
}

// Seen is a finding with its history.
type Seen struct {
	store.Known
	Outcome   precedent.OutcomeKind // the last one that is known; empty for none
	Dismissed bool                  // a dismissal of it holds
}

// maxSeen limits the findings that are read without files, as there may be a million.
const maxSeen = 10_000

// Findings returns the findings that reviews showed in the files, newest first; nil means all files, of which the
// 10,000 findings are read that were seen last.
func (m *Memory) Findings(ctx context.Context, files []string) ([]Seen, error) {
	var shown []store.Known
	var err error
	if files != nil {
		shown, err = m.Rows.Shown(ctx, files, store.Change{})
	} else {
		shown, err = m.Rows.LatestFindings(ctx, "", store.Page{Limit: maxSeen})
		shown = slices.DeleteFunc(shown, func(k store.Known) bool { return k.Seen == 0 })
	}
	if err != nil {
		return nil, err
	}
	dismissals, err := m.Rows.Dismissals(ctx, m.Now(), maxDismissals)
	if err != nil {
		return nil, err
	}
	dismissed := map[string]bool{}
	for _, j := range dismissals {
		dismissed[j.Fingerprint] = true
	}
	var fingerprints []string
	for _, k := range shown {
		fingerprints = append(fingerprints, k.Fingerprint)
	}
	outcomes, err := m.Rows.LastOutcomes(ctx, fingerprints)
	seen := make([]Seen, len(shown))
	for i, k := range shown {
		seen[i] = Seen{Known: k, Outcome: outcomes[k.Fingerprint], Dismissed: dismissed[k.Fingerprint]}
	}
	return seen, err
}
