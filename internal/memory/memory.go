// Package memory is what Precedent remembers of a repository: it recalls what
// bears on a change before it is reviewed, records the review afterwards, and
// keeps what people dismissed.
//
// Reading comes first and at once: after Recall a review asks nothing more.
// What memory then does to findings is done by plain functions (Recall.Match,
// Suppress) that annotate and never delete, and that give the same answer for the
// same change however often it is reviewed. Whatever memory changes carries the
// id of the memory that spoke.
package memory

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// Memory is the memory of one repository.
type Memory struct {
	DB *store.DB
	// Repo is the identity that findings' ids are made from.
	Repo precedent.Repo
	// Aliases are other identities of the same repository: the root commit of one
	// that has a remote, so that what was remembered before it had one is found.
	Aliases []precedent.Repo
	Now     func() time.Time
}

// How long findings are kept, and how many of a file: the retention that the
// product promises.
const (
	KeepFor     = 90 * 24 * time.Hour
	KeepPerFile = 50
)

func (m *Memory) rows(ctx context.Context) (*store.Repo, error) {
	return m.DB.RepoFor(ctx, append([]precedent.Repo{m.Repo}, m.Aliases...)...)
}

// Record saves the review with everything that belongs to it and what it has to
// say on its pull request, all or nothing, and fills in its Sightings. Quotes and
// evidence must be free of secrets by then.
func (m *Memory) Record(ctx context.Context, review *precedent.Review, posts ...store.Post) error {
	rows, err := m.rows(ctx)
	if err != nil {
		return err
	}
	return rows.SaveReview(ctx, review, posts...)
}

// Hotspots returns the n files with the most findings, at least HotspotFrom of
// them, most first.
func (m *Memory) Hotspots(ctx context.Context, n int) ([]precedent.Hotspot, error) {
	rows, err := m.rows(ctx)
	if err != nil {
		return nil, err
	}
	shown, err := rows.Shown(ctx, nil, store.Change{})
	if err != nil {
		return nil, err
	}
	rejections, err := rows.Rejections(ctx, m.Now(), maxRejections)
	hot := hottest(countByFile(shown, rejections))
	return hot[:min(max(n, 0), len(hot))], err
}

// Counts are numbers of rows of a memory.
type Counts = store.Counts

// Status is what there is of a memory.
type Status struct {
	Path  string           `json:"path"`  // of the database's file; empty if it is in memory
	Bytes int64            `json:"bytes"` // of the whole database, other repositories' rows included
	Names []precedent.Repo `json:"names"` // the identities that the repository goes by
	store.Counts
	Oldest time.Time `json:"oldest"` // review; zero if there is none
	Newest time.Time `json:"newest"`
}

// Status counts the memory.
func (m *Memory) Status(ctx context.Context) (Status, error) {
	rows, err := m.rows(ctx)
	if err != nil {
		return Status{}, err
	}
	s := Status{Path: m.DB.Path()}
	if s.Bytes, err = m.DB.Size(ctx); err != nil {
		return Status{}, err
	}
	if s.Names, err = rows.Names(ctx); err != nil {
		return Status{}, err
	}
	if s.Counts, err = rows.Count(ctx); err != nil {
		return Status{}, err
	}
	s.Oldest, s.Newest, err = rows.Period(ctx)
	return s, err
}

// Prune forgets findings that were not seen for KeepFor and those beyond the
// newest KeepPerFile of each file, and the reviews that go with them. It spares
// whatever a rejection that holds refers to, and keeps a label of each forgotten
// finding. It returns what was deleted, and how many labels that made.
func (m *Memory) Prune(ctx context.Context) (store.Counts, error) {
	rows, err := m.rows(ctx)
	if err != nil {
		return store.Counts{}, err
	}
	now := m.Now()
	return rows.Prune(ctx, now.Add(-KeepFor), KeepPerFile, now)
}

// Clear forgets everything about the repository, rejections included, and
// returns what was deleted. Other repositories in the same database keep theirs.
func (m *Memory) Clear(ctx context.Context) (store.Counts, error) {
	rows, err := m.rows(ctx)
	if err != nil {
		return store.Counts{}, err
	}
	return rows.Clear(ctx)
}
