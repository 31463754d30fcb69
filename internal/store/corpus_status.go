package store

import (
	"context"
	"time"
)

// CorpusStatus says what is in the corpus.
type CorpusStatus struct {
	Comments []Tally `json:"comments"` // that exist, by kind
	Deleted  int     `json:"deleted"`
	People   int     `json:"people"` // logins of their authors
	Pulls    int     `json:"pull_requests"`
	Merged   int     `json:"merged"`
	Reverted int     `json:"reverted"`
	Chunks   int     `json:"chunks"`
	Usable   int     `json:"usable"`   // chunks that are precedents
	Unusable []Tally `json:"unusable"` // the others, by reason
	Outcomes []Tally `json:"outcomes"` // of usable chunks
	// Oldest and Newest are when the first and the last comment were written; zero without one.
	Oldest      time.Time          `json:"oldest"`
	Newest      time.Time          `json:"newest"`
	Streams     []CorpusCheckpoint `json:"streams"`
	Vectors     []VectorTally      `json:"vectors"`
	VectorBytes int64              `json:"vector_bytes"`
	TextBytes   int64              `json:"text_bytes"` // of comments, their lines of code, and chunks, in characters
}

// Tally is how many rows have a value.
type Tally struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// VectorTally is how many chunks have a vector of a model.
type VectorTally struct {
	Model      string `json:"model"`
	Dimensions int    `json:"dimensions"`
	Count      int    `json:"count"`
}

// CorpusStatus counts what is in the corpus.
func (r *Repo) CorpusStatus(ctx context.Context) (s CorpusStatus, err error) {
	defer func() { err = r.db.fail("read state of the corpus", err) }()
	err = row(ctx, r.db.read, `SELECT COALESCE(SUM(CASE WHEN deleted_at > 0 THEN 1 ELSE 0 END), 0),
		COUNT(DISTINCT CASE WHEN deleted_at > 0 THEN NULL ELSE LOWER(author) END),
		COALESCE(MIN(CASE WHEN deleted_at > 0 THEN NULL ELSE at END), 0), COALESCE(MAX(CASE WHEN deleted_at > 0 THEN NULL ELSE at END), 0),
		COALESCE(SUM(LENGTH(body) + LENGTH(hunk)), 0) FROM corpus_comments WHERE repo_id = $1`,
		[]any{r.id}, into(&s.Deleted, &s.People, (*moment)(&s.Oldest), (*moment)(&s.Newest), &s.TextBytes))
	if err != nil {
		return s, err
	}
	// Of one that is reverted and was not merged, nothing is known but that.
	err = row(ctx, r.db.read, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN merged > 0 THEN 1 ELSE 0 END), 0),
		COALESCE(SUM(CASE WHEN reverted > 0 THEN 1 ELSE 0 END), 0) FROM corpus_pulls
		WHERE repo_id = $1 AND (merged > 0 OR reverted = 0)`,
		[]any{r.id}, into(&s.Pulls, &s.Merged, &s.Reverted))
	if err != nil {
		return s, err
	}
	var chunkText int64
	err = row(ctx, r.db.read, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN unusable = '' THEN 1 ELSE 0 END), 0), COALESCE(SUM(LENGTH(text) + LENGTH(words)), 0)
		FROM corpus_chunks WHERE repo_id = $1`, []any{r.id}, into(&s.Chunks, &s.Usable, &chunkText))
	if err != nil {
		return s, err
	}
	s.TextBytes += chunkText
	for _, t := range []struct {
		into *[]Tally
		sql  string
	}{
		{&s.Comments, "SELECT kind, COUNT(*) FROM corpus_comments WHERE repo_id = $1 AND deleted_at = 0 GROUP BY kind " +
			"ORDER BY kind"},
		{&s.Unusable, "SELECT unusable, COUNT(*) FROM corpus_chunks WHERE repo_id = $1 AND unusable <> '' GROUP BY " +
			"unusable ORDER BY COUNT(*) DESC, unusable"},
		{&s.Outcomes, "SELECT outcome, COUNT(*) FROM corpus_chunks WHERE repo_id = $1 AND unusable = '' GROUP BY outcome " +
			"ORDER BY outcome"},
	} {
		*t.into, err = collect(ctx, r.db.read, t.sql, []any{r.id}, func(row scanner, one *Tally) error {
			return row.Scan(&one.Name, &one.Count)
		})
		if err != nil {
			return s, err
		}
	}
	if s.Vectors, s.VectorBytes, err = r.countVectors(ctx); err != nil {
		return s, err
	}
	s.Streams, err = r.CorpusCheckpoints(ctx)
	return s, err
}

func (r *Repo) countVectors(ctx context.Context) ([]VectorTally, int64, error) {
	var bytes int64
	all, err := collect(ctx, r.db.read, `SELECT v.model, v.dimensions, COUNT(*) FROM corpus_vectors v
		JOIN corpus_chunks h ON h.repo_id = v.repo_id AND h.kind = v.kind AND h.comment = v.comment AND h.chunk = v.chunk AND h.hash = v.hash
		WHERE v.repo_id = $1 GROUP BY v.model, v.dimensions ORDER BY v.model, v.dimensions`, []any{r.id}, func(row scanner, one *VectorTally) error {
		err := row.Scan(&one.Model, &one.Dimensions, &one.Count)
		bytes += int64(one.Count) * int64(one.Dimensions)
		return err
	})
	return all, bytes, err
}

// CorpusCheckpoints returns how far each stream was read, ordered by stream.
func (r *Repo) CorpusCheckpoints(ctx context.Context) ([]CorpusCheckpoint, error) {
	all, err := collect(ctx, r.db.read, `SELECT stream, watermark, since, cursor, pages, saved_at FROM corpus_checkpoints
		WHERE repo_id = $1 ORDER BY stream`, []any{r.id}, func(row scanner, c *CorpusCheckpoint) error {
		return row.Scan(&c.Stream, (*moment)(&c.Watermark), (*moment)(&c.Since), &c.Cursor, &c.Pages,
			(*moment)(&c.SavedAt))
	})
	return all, r.db.fail("read checkpoints", err)
}
