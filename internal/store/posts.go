package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent"
)

// Post is one thing that is to be said on a pull request, or that was. It is
// saved before it is sent, so that whoever comes after a crash knows what may
// stand there.
type Post struct {
	ID     string // UUIDv7; that of the thread for one that opens a thread
	Pull   int
	Review string // id of the review that says it
	Head   string // the commit that was reviewed
	Kind   PostKind
	Thread string            // id of the thread that it belongs to; empty if that is not known yet
	Nth    int               // its place in the order of the review's posts, from 0
	State  PostState         // how far it has come
	Remote precedent.ForgeID // the forge's id of it; empty if there is none, or nobody knows it
	Why    string            // why it ended otherwise than confirmed, or what is in its way; for a person
	At     time.Time         // when its review began
	Hash   string            // of what was sent last; empty before
	// Payload is what the poster needs to say it: JSON of its own.
	Payload json.RawMessage
	// Attempts counts the requests that tried to send it.
	Attempts int
}

// PostKind says what a post does.
type PostKind string

// The kinds, in the order in which they are sent.
const (
	PostRemark  PostKind = "remark"  // opens a thread on lines or on a file
	PostSummary PostKind = "summary" // the one comment that is edited by each review
	PostReply   PostKind = "reply"   // answers in a thread
	PostClose   PostKind = "close"   // closes a thread of ours
	PostReopen  PostKind = "reopen"  // opens again what we closed
	PostCheck   PostKind = "check"   // the end of the review, for the list of checks of the commit
)

// PostState says how far a post has come.
type PostState string

// The states. The first three are those of work that is left.
const (
	PostPlanned       PostState = "planned"
	PostSending       PostState = "sending"       // a request is under way, or was when the process died
	PostUnknown       PostState = "unknown"       // it may have been carried out, and the forge has not shown it yet
	PostConfirmed     PostState = "confirmed"     // it stands there, or did
	PostRejected      PostState = "rejected"      // the forge does not take it
	PostSuperseded    PostState = "superseded"    // the head has moved, a newer review speaks, or there is no need any more
	PostUndeliverable PostState = "undeliverable" // nothing can be said on the pull request any more
)

// Done tells whether nothing is left to do.
func (s PostState) Done() bool {
	switch s {
	case PostPlanned, PostSending, PostUnknown:
		return false
	}
	return true
}

const insertPost = `
	INSERT INTO posts (repo_id, id, pull, review_id, head, kind, thread, nth, payload, hash, state, attempts, remote, why, at, updated_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`

// savePosts adds what a review that is saved for the first time is to say.
func (r *Repo) savePosts(ctx context.Context, tx *sql.Tx, review string, posts []Post) error {
	for _, p := range posts {
		if p.Review != review {
			return fmt.Errorf("post %s is of review %q", p.ID, p.Review)
		}
		if _, err := tx.ExecContext(ctx, insertPost, r.id, p.ID, p.Pull, p.Review, p.Head, p.Kind, p.Thread, p.Nth, string(p.Payload),
			p.Hash, p.State, p.Attempts, p.Remote, p.Why, millis(p.At), millis(r.db.now())); err != nil {
			return err
		}
	}
	return nil
}

// Posts returns what reviews of the pull request had to say, those of the
// oldest review first, each review's in their order.
func (r *Repo) Posts(ctx context.Context, pull int) ([]Post, error) {
	var posts []Post
	err := rows(ctx, r.db.read, `
		SELECT id, pull, review_id, head, kind, thread, nth, payload, hash, state, attempts, remote, why, at
		FROM posts WHERE repo_id = $1 AND pull = $2 ORDER BY at, review_id, nth, id`,
		[]any{r.id, pull}, func(s scanner) error {
			var p Post
			var payload string
			var at int64
			err := s.Scan(&p.ID, &p.Pull, &p.Review, &p.Head, &p.Kind, &p.Thread, &p.Nth, &payload, &p.Hash, &p.State, &p.Attempts,
				&p.Remote, &p.Why, &at)
			p.Payload, p.At = json.RawMessage(payload), fromMillis(at)
			posts = append(posts, p)
			return err
		})
	return posts, r.db.fail("read posts", err)
}

// SetPosts writes how far the posts have come, all or none: state, attempts,
// id, reason, hash and thread. The rest of a post never changes.
func (r *Repo) SetPosts(ctx context.Context, posts ...Post) error {
	if len(posts) == 0 {
		return nil
	}
	return r.db.change(ctx, "save posts", func(tx *sql.Tx) error {
		for _, p := range posts {
			result, err := tx.ExecContext(ctx, `
				UPDATE posts SET state = $3, attempts = $4, remote = $5, why = $6, hash = $7, thread = $8, updated_at = $9
				WHERE repo_id = $1 AND id = $2`,
				r.id, p.ID, p.State, p.Attempts, p.Remote, p.Why, p.Hash, p.Thread, millis(r.db.now()))
			if err != nil {
				return err
			}
			switch n, err := result.RowsAffected(); {
			case err != nil:
				return err
			case n == 0:
				return fmt.Errorf("there is no post %s", p.ID)
			}
		}
		return nil
	})
}
