package workspace

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// PullSeen is an open pull request as a server last saw it.
type PullSeen = store.WatchedPull

// Watched returns how the open pull requests of a repository were last seen, by number.
func (r *Env) Watched(ctx context.Context, repo precedent.Repo) (map[int]PullSeen, error) {
	rows, err := r.Shared.RepoFor(ctx, repo)
	if err != nil {
		return nil, err
	}
	return rows.WatchedPulls(ctx)
}

// SaveWatched saves how pull requests were seen, and forgets those that are gone.
func (r *Env) SaveWatched(ctx context.Context, repo precedent.Repo, seen []PullSeen, gone []int) error {
	rows, err := r.Shared.RepoFor(ctx, repo)
	if err != nil {
		return err
	}
	return rows.SaveWatched(ctx, seen, gone)
}

// FollowName makes the rows of a repository those of its present name. number is the forge's; empty
// if it is not known: then nothing changes.
func (r *Env) FollowName(ctx context.Context, from, to precedent.Repo, number precedent.ForgeID) error {
	if number == "" {
		return nil
	}
	return r.Shared.Follow(ctx, precedent.NumberedRepo(to.Host, number), to, from)
}

// RoundEnded saves that the last round of a head ended well, so that no sweep repeats it.
func (r *Env) RoundEnded(ctx context.Context, repo precedent.Repo, pull int, head string) error {
	rows, err := r.Shared.RepoFor(ctx, repo)
	if err != nil {
		return err
	}
	return rows.SetWatchedDone(ctx, pull, head)
}

// AskedReview tells whether comments ask for a review that no round has made.
func (r *Env) AskedReview(ctx context.Context, repo precedent.Repo, pull int) (bool, error) {
	rows, err := r.Shared.RepoFor(ctx, repo)
	if err != nil {
		return false, err
	}
	asked, err := rows.PullAsked(ctx, pull)
	return asked != store.NotAsked, err
}

// SharedWorkspace opens the memory of a repository in the shared database, without a clone.
func (r *Env) SharedWorkspace(ctx context.Context, repo precedent.Repo) (*Workspace, error) {
	if _, err := r.Shared.RepoFor(ctx, repo); err != nil {
		return nil, err
	}
	return r.workspace(&Repository{IDs: []precedent.Repo{repo}}, r.Shared.Borrow()), nil
}

// ApplyComments brings the corpus of a repository up to date with what an event tells about comments.
func (r *Env) ApplyComments(ctx context.Context, conn Connection, e forge.Event) error {
	w, err := r.SharedWorkspace(ctx, e.Repo)
	if err != nil {
		return err
	}
	defer w.Close()
	c, err := r.CorpusOf(ctx, w)
	if err != nil {
		return err
	}
	c.Me = OwnAccount(ctx, conn)
	_, err = c.Apply(ctx, conn.Forge, e.Repo, e.Comments)
	return conn.Explain(err)
}
