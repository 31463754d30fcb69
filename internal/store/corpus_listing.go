package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/precedent-dev/precedent"
)

// CorpusListing is the state of the complete listing of one list of comments.
type CorpusListing struct {
	Stream string
	Since  time.Time // what it lists is edited since then
	Began  time.Time // when the unfinished one began; zero without one
	Done   bool      // the unfinished one has read this list to its end
	Ended  time.Time // when the last finished one had begun; zero without one
}

// CorpusRef identifies a comment of the corpus, or with the kind CorpusPullKind all comments on the
// pull request with the number ID.
type CorpusRef struct {
	Kind string
	ID   precedent.ForgeID
}

// CorpusPullKind is the kind of a CorpusRef to a pull request.
const CorpusPullKind = "pull"

// CorpusListings returns the state of each list, ordered by stream.
func (r *Repo) CorpusListings(ctx context.Context) ([]CorpusListing, error) {
	all, err := collect(ctx, r.db.read,
		"SELECT stream, since, began, done, ended FROM corpus_listings WHERE repo_id = $1 ORDER BY stream", []any{r.id},
		func(s scanner, l *CorpusListing) error {
			return s.Scan(&l.Stream, (*moment)(&l.Since), (*moment)(&l.Began), &l.Done, (*moment)(&l.Ended))
		})
	return all, r.db.fail("read listings of the corpus", err)
}

// BeginCorpusListing begins a complete listing of the streams, and forgets an unfinished one.
func (r *Repo) BeginCorpusListing(ctx context.Context, streams []string, since, at time.Time) error {
	return r.change(ctx, "begin listing of the corpus", func(tx *sql.Tx) error {
		if err := execute(ctx, tx, "DELETE FROM corpus_listed WHERE repo_id = $1", r.id); err != nil {
			return err
		}
		for _, stream := range streams {
			err := execute(ctx, tx, `INSERT INTO corpus_listings (repo_id, stream, since, began, done, ended) VALUES ($1, $2, $3, $4, 0, 0)
				ON CONFLICT (repo_id, stream) DO UPDATE SET since = excluded.since, began = excluded.began, done = 0`, r.id, stream, zeroMillis(since), millis(at))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// SaveCorpusListed records what a complete listing met on a page of a stream; last says that it
// was the last page. It comes before SaveCorpus of the page, which may fail: the page is then read
// again, and what was met stays.
func (r *Repo) SaveCorpusListed(ctx context.Context, stream string, met []CorpusRef, last bool) error {
	var listed [][]any
	for _, m := range met {
		listed = append(listed, []any{r.id, m.Kind, string(m.ID)})
	}
	return r.change(ctx, "save listing of the corpus", func(tx *sql.Tx) error {
		err := insertRows(ctx, tx, "INSERT INTO corpus_listed (repo_id, kind, id)",
			"ON CONFLICT (repo_id, kind, id) DO NOTHING", listed)
		if err != nil || !last {
			return err
		}
		return execute(ctx, tx, "UPDATE corpus_listings SET done = 1 WHERE repo_id = $1 AND stream = $2", r.id, stream)
	})
}

// UnlistedCorpus returns the comments that were written since a time and before the unfinished
// listing began, and that it has not met, and how many of that time are stored. Deleted ones do
// not count.
func (r *Repo) UnlistedCorpus(ctx context.Context, from time.Time) ([]CorpusRef, int, error) {
	var all []CorpusRef
	stored := 0
	var to int64
	err := row(ctx, r.db.read, "SELECT COALESCE(MIN(began), 0) FROM corpus_listings WHERE repo_id = $1 AND began > 0",
		[]any{r.id}, into(&to))
	args := []any{r.id, zeroMillis(from), to}
	if err == nil {
		err = row(ctx, r.db.read,
			"SELECT COUNT(*) FROM corpus_comments WHERE repo_id = $1 AND deleted_at = 0 AND at >= $2 AND at < $3", args,
			into(&stored))
	}
	if err == nil {
		all, err = collect(ctx, r.db.read, `SELECT c.kind, c.id FROM corpus_comments c WHERE c.repo_id = $1 AND c.deleted_at = 0 AND c.at >= $2 AND c.at < $3
			AND NOT EXISTS (SELECT 1 FROM corpus_listed l WHERE l.repo_id = c.repo_id AND l.kind = c.kind AND l.id = c.id)
			AND NOT EXISTS (SELECT 1 FROM corpus_listed l WHERE l.repo_id = c.repo_id AND l.kind = $4 AND l.id = CAST(c.pull AS TEXT))
			ORDER BY c.kind, c.id`, append(args, CorpusPullKind), func(s scanner, c *CorpusRef) error { return s.Scan(&c.Kind, &c.ID) })
	}
	return all, stored, r.db.fail("compare the corpus with its listing", err)
}

// EndCorpusListing ends the listing.
func (r *Repo) EndCorpusListing(ctx context.Context) error {
	return r.change(ctx, "end listing of the corpus", func(tx *sql.Tx) error {
		for _, statement := range []string{
			"UPDATE corpus_listings SET ended = began, began = 0, done = 0 WHERE repo_id = $1 AND began > 0",
			"DELETE FROM corpus_listed WHERE repo_id = $1",
		} {
			if err := execute(ctx, tx, statement, r.id); err != nil {
				return err
			}
		}
		return nil
	})
}

// CorpusCommentsOf returns those of the comments of a kind that are stored, also deleted ones, by
// id.
func (r *Repo) CorpusCommentsOf(ctx context.Context, kind string,
	ids []string,
) (map[precedent.ForgeID]precedent.CorpusComment, error) {
	found := make(map[precedent.ForgeID]precedent.CorpusComment, len(ids))
	all, err := r.corpusCommentsOf(ctx, r.db.read, "c.id", kind, ids)
	for _, c := range all {
		found[c.ID] = c
	}
	return found, r.db.fail("read comments of the corpus", err)
}
