package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"
)

// HandledComment is a comment on a pull request that was read, and what followed from it.
type HandledComment struct {
	Comment  string // its kind and its number
	Hash     string // of what it asked: an edit that changes nothing of that is ignored
	Document json.RawMessage
	At       time.Time
}

// HandledComments returns the comments of the pull request that were handled, by Comment.
func (r *Repo) HandledComments(ctx context.Context, pull int) (map[string]HandledComment, error) {
	found := map[string]HandledComment{}
	err := rows(ctx, r.db.read,
		"SELECT comment, hash, document, at FROM handled_comments WHERE repo_id = $1 AND pull = $2", []any{r.id, pull},
		func(s scanner) error {
			var h HandledComment
			err := s.Scan(&h.Comment, &h.Hash, (*[]byte)(&h.Document), (*moment)(&h.At))
			found[h.Comment] = h
			return err
		})
	return found, r.db.fail("read handled comments", err)
}

const saveHandled = `
	INSERT INTO handled_comments (repo_id, pull, comment, hash, document, at) VALUES ($1, $2, $3, $4, $5, $6)
	ON CONFLICT (repo_id, pull, comment) DO UPDATE SET hash = excluded.hash, document = excluded.document,
		at = excluded.at`

// SaveHandled saves that a comment was handled, with its answer if there is one: both, or
// nothing.
func (r *Repo) SaveHandled(ctx context.Context, pull int, h HandledComment, answers ...Post) error {
	return r.change(ctx, "save handled comment", func(tx *sql.Tx) error {
		err := execute(ctx, tx, saveHandled, r.id, pull, h.Comment, h.Hash, string(h.Document), millis(h.At))
		if err != nil {
			return err
		}
		return r.savePosts(ctx, tx, "", time.Time{}, answers)
	})
}

// SaveHandledOnce is SaveHandled if nobody has saved the comment since the caller read what is known of it; the zero
// value is nothing. Otherwise it saves nothing and returns false.
func (r *Repo) SaveHandledOnce(ctx context.Context, pull int, read, h HandledComment, answers ...Post) (once bool, err error) {
	err = r.change(ctx, "save handled comment", func(tx *sql.Tx) error {
		n, err := affected(tx.ExecContext(ctx, saveHandled+`
			WHERE handled_comments.hash = $7 AND handled_comments.document = $8`,
			r.id, pull, h.Comment, h.Hash, string(h.Document), millis(h.At), read.Hash, string(read.Document)))
		if once = n > 0; err != nil || !once {
			return err
		}
		return r.savePosts(ctx, tx, "", time.Time{}, answers)
	})
	return once, err
}

// AnswerPosts returns the posts of the pull request that answer comments, oldest first. They
// belong to no review, and Posts does not return them.
func (r *Repo) AnswerPosts(ctx context.Context, pull int) ([]Post, error) {
	return r.posts(ctx, pull, "kind = $3")
}

// Pause pauses the reviews of the pull request, or resumes them. Pausing twice keeps the first.
func (r *Repo) Pause(ctx context.Context, pull int, who string, paused bool) error {
	const op = "pause reviews"
	if !paused {
		return r.exec(ctx, op, "DELETE FROM paused_pulls WHERE repo_id = $1 AND pull = $2", pull)
	}
	return r.exec(ctx, op,
		"INSERT INTO paused_pulls (repo_id, pull, who, at) VALUES ($1, $2, $3, $4) ON CONFLICT (repo_id, pull) DO NOTHING",
		pull, who, millis(r.db.now()))
}

// PausedBy returns who paused the reviews of the pull request; paused is false if nobody did.
func (r *Repo) PausedBy(ctx context.Context, pull int) (who string, paused bool, err error) {
	err = row(ctx, r.db.read, "SELECT who FROM paused_pulls WHERE repo_id = $1 AND pull = $2", []any{r.id, pull},
		into(&who))
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return who, err == nil, r.db.fail("read pause", err)
}
