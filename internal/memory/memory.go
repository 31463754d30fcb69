// Package memory is what Precedent remembers of a repository: it recalls what
// concerns a change before its review, records the review afterwards, and keeps
// dismissals.
//
// Reading comes first: after Recall a review reads nothing more. The effects of
// memory are computed by plain functions (Recall.Match, Suppress) that annotate
// and never delete, and that give the same result each time the same change is
// reviewed. Each effect carries the id of the memory that caused it.
package memory

import (
	"context"
	"log/slog"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// Memory is the memory of one repository.
type Memory struct {
	DB *store.DB
	// Rows are those of the repository; Open sets them.
	Rows *store.Repo
	// Repo is the identity from which ids of findings are made.
	Repo precedent.Repo
	// Aliases are other identities of the same repository: the root commit of one that has a
	// remote, so that memory from before it had one is found.
	Aliases []precedent.Repo
	Now     func() time.Time
	// LearningsOff tells that the operator turned learnings off: none is loaded and none saved.
	LearningsOff bool
	// Log gets what was not done because of that; nil for nobody.
	Log *slog.Logger
}

// Retention of findings: how long, and how many per file.
const (
	KeepFor     = 90 * 24 * time.Hour
	KeepPerFile = 50
)

// Open finds the rows of the repository in the database. If it fails, Rows stay what they were.
func (m *Memory) Open(ctx context.Context) error {
	rows, err := m.DB.RepoFor(ctx, append([]precedent.Repo{m.Repo}, m.Aliases...)...)
	if err == nil {
		m.Rows = rows
	}
	return err
}

// Hotspots returns the n files with the most findings, at least HotspotFrom of
// them, most first.
func (m *Memory) Hotspots(ctx context.Context, n int) ([]precedent.Hotspot, error) {
	paths, err := m.Rows.HotPaths(ctx, max(n, 0))
	if err != nil {
		return nil, err
	}
	shown, dismissals, err := m.history(ctx, paths, store.Change{})
	return hottest(countByFile(shown, dismissals)), err
}

// history returns the findings that reviews of other changes showed in the files, those of other clones included, and
// the dismissals.
func (m *Memory) history(ctx context.Context, paths []string, except store.Change) (
	[]store.Known, []precedent.Dismissal, error,
) {
	shown, err := m.Rows.Shown(ctx, paths, except)
	if err != nil {
		return nil, nil, err
	}
	elsewhere, err := m.Rows.ShownElsewhere(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	dismissals, err := m.Dismissals(ctx)
	return append(shown, elsewhere...), dismissals, err
}

// PastReview is a review of the past, in short.
type PastReview struct {
	ID          string            `json:"id"`
	At          time.Time         `json:"at"`
	PullRequest int               `json:"pull_request,omitempty"` // 0 for a local change
	Head        string            `json:"head"`                   // names, which may be another's text
	Base        string            `json:"base"`
	Scope       precedent.Scope   `json:"scope"`
	Verdict     precedent.Verdict `json:"verdict"`
	Findings    int               `json:"findings"` // that were shown
	CostUSD     float64           `json:"cost_usd"`
}

// PastReviews returns the reviews of the repository, the newest first, at most n.
func (m *Memory) PastReviews(ctx context.Context, n int) ([]PastReview, error) {
	var past []PastReview
	for r, err := range m.Rows.ReviewsSince(ctx, time.Time{}, n) {
		if err != nil {
			return nil, err
		}
		one := PastReview{
			ID: r.ID, At: r.At, Head: r.Target.Head, Base: r.Target.Base, Scope: r.Scope, Verdict: r.Verdict,
			Findings: len(r.Live()), CostUSD: r.CostUSD,
		}
		if r.PullRequest != nil {
			one.PullRequest = *r.PullRequest
		}
		past = append(past, one)
	}
	return past, nil
}

// Counts are numbers of rows.
type Counts = store.Counts

// Status describes the memory of a repository.
type Status struct {
	Path  string           `json:"path"`  // of the database's file; empty if it is in memory
	Bytes int64            `json:"bytes"` // of the whole database, other repositories' rows included
	Names []precedent.Repo `json:"names"` // the identities of the repository
	store.Counts
	Oldest time.Time `json:"oldest"` // review; zero if there is none
	Newest time.Time `json:"newest"`
	// Consolidated is when patterns were last looked for completely; zero for never.
	Consolidated time.Time `json:"consolidated"`
}

// Status returns the size and contents of the memory.
func (m *Memory) Status(ctx context.Context) (s Status, err error) {
	s.Path = m.DB.Path()
	if s.Bytes, err = m.DB.Size(ctx); err != nil {
		return Status{}, err
	}
	if s.Names, err = m.Rows.Names(ctx); err != nil {
		return Status{}, err
	}
	if s.Counts, err = m.Rows.Count(ctx); err != nil {
		return Status{}, err
	}
	if s.Oldest, s.Newest, err = m.Rows.Period(ctx); err != nil {
		return Status{}, err
	}
	c, err := m.Rows.Consolidation(ctx)
	s.Consolidated = c.CompletedAt
	return s, err
}

// Prune deletes findings that were not seen for KeepFor, those beyond the newest KeepPerFile
// of each file, and their reviews. It keeps findings that something refers to, as
// store.Repo.Prune says, and a label of each deleted finding. It returns what was deleted, and the number of labels
// made.
func (m *Memory) Prune(ctx context.Context) (store.Counts, error) {
	now := m.Now()
	return m.Rows.Prune(ctx, now.Add(-KeepFor), KeepPerFile, now)
}
