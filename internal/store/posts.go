package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent"
)

// Post is one thing to post on a pull request, or one that was posted. It is saved before it
// is sent, so that after a crash the next process knows what may have been posted.
type Post struct {
	ID     string // UUIDv7; that of the thread for one that opens a thread
	Pull   int
	Review string // id of its review
	Head   string // the commit that was reviewed
	Kind   PostKind
	Thread string            // id of its thread; empty if that is not known yet
	Nth    int               // its position among the posts of the review, from 0
	State  PostState         // state of the delivery
	Remote precedent.ForgeID // the forge's id of it; empty if there is none or it is unknown
	Why    string            // why it was not confirmed, for people
	At     time.Time         // when its review began
	Hash   string            // of the text that was last sent; may be empty
	// Payload is JSON with the data that the poster needs.
	Payload json.RawMessage
	// Attempts is the number of requests that tried to send it.
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
	PostReopen  PostKind = "reopen"  // reopens a thread that we closed
	PostCheck   PostKind = "check"   // the result of the review, as a check on the commit
	PostAnswer  PostKind = "answer"  // answers a comment of a person; belongs to no review
)

// PostState is the state of the delivery of a post.
type PostState string

// The states. In the first three the post is not done.
const (
	PostPlanned       PostState = "planned"
	PostSending       PostState = "sending"       // a request is under way, or was when the process died
	PostUnknown       PostState = "unknown"       // it may have been posted; the forge has not shown it yet
	PostConfirmed     PostState = "confirmed"     // it was posted
	PostRejected      PostState = "rejected"      // the forge rejected it
	PostSuperseded    PostState = "superseded"    // the head has moved, there is a newer review, or it is no longer needed
	PostUndeliverable PostState = "undeliverable" // posting on the pull request is not possible any more
)

// Done tells whether the post is in a final state.
func (s PostState) Done() bool {
	switch s {
	case PostPlanned, PostSending, PostUnknown:
		return false
	}
	return true
}

// savePosts adds the posts of a review that is saved for the first time. None is older than it.
func (r *Repo) savePosts(ctx context.Context, tx *sql.Tx, review string, at time.Time, posts []Post) error {
	var planned [][]any
	for _, p := range posts {
		if p.Review != review {
			return fmt.Errorf("post %s belongs to review %q", p.ID, p.Review)
		}
		planned = append(planned, []any{
			r.id, p.ID, p.Pull, p.Review, p.Head, p.Kind, p.Thread, p.Nth, string(p.Payload), p.Hash, p.State, p.Attempts,
			p.Remote, p.Why, max(millis(p.At), millis(at)), millis(r.db.now()),
		})
	}
	return insertRows(ctx, tx, `INSERT INTO posts (repo_id, id, pull, review_id, head, kind, thread, nth, payload, hash,
		state, attempts, remote, why, at, updated_at)`, "", planned)
}

// Posts returns the posts of all reviews of the pull request, oldest review first, in their
// order.
func (r *Repo) Posts(ctx context.Context, pull int) ([]Post, error) {
	return r.posts(ctx, pull, "kind <> $3")
}

// posts returns posts, for which answers are $3.
func (r *Repo) posts(ctx context.Context, pull int, condition string) ([]Post, error) {
	posts, err := collect(ctx, r.db.read, `
		SELECT id, pull, review_id, head, kind, thread, nth, payload, hash, state, attempts, remote, why, at
		FROM posts WHERE repo_id = $1 AND pull = $2 AND `+condition+` ORDER BY at, review_id, nth, id`,
		[]any{r.id, pull, PostAnswer}, func(s scanner, p *Post) error {
			return s.Scan(&p.ID, &p.Pull, &p.Review, &p.Head, &p.Kind, &p.Thread, &p.Nth, (*[]byte)(&p.Payload), &p.Hash,
				&p.State, &p.Attempts, &p.Remote, &p.Why, (*moment)(&p.At))
		})
	return posts, r.db.fail("read posts", err)
}

// SetPosts saves the state, attempts, id, reason, hash and thread of the posts, all or none.
// The rest of a post never changes.
func (r *Repo) SetPosts(ctx context.Context, posts ...Post) error {
	if len(posts) == 0 {
		return nil
	}
	return r.change(ctx, "save posts", func(tx *sql.Tx) error {
		for _, p := range posts {
			n, err := affected(tx.ExecContext(ctx, `
				UPDATE posts SET state = $3, attempts = $4, remote = $5, why = $6, hash = $7, thread = $8, updated_at = $9
				WHERE repo_id = $1 AND id = $2`,
				r.id, p.ID, p.State, p.Attempts, p.Remote, p.Why, p.Hash, p.Thread, millis(r.db.now())))
			switch {
			case err != nil:
				return err
			case n == 0:
				return fmt.Errorf("post %s does not exist", p.ID)
			}
		}
		return nil
	})
}
