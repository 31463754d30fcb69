package store

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// WatchedPull is an open pull request as a server last saw it.
type WatchedPull struct {
	Pull int
	// Head is the commit, and Shape stands for everything else that can make a review due.
	Head, Shape string
	Updated     time.Time // by the forge's clock
	// Done is the head whose last round ended well; empty for none.
	Done string
	// Title and Labels are for people; the labels are sorted.
	Title  string
	Labels []string
}

// WatchedPulls returns the open pull requests as they were last saved, by number.
func (r *Repo) WatchedPulls(ctx context.Context) (map[int]WatchedPull, error) {
	all := map[int]WatchedPull{}
	err := rows(ctx, r.db.read,
		"SELECT pull, head, shape, updated, done, title, labels FROM watched_pulls WHERE repo_id = $1",
		[]any{r.id}, func(s scanner) error {
			var w WatchedPull
			var labels string
			err := s.Scan(&w.Pull, &w.Head, &w.Shape, (*moment)(&w.Updated), &w.Done, &w.Title, &labels)
			if labels != "" {
				w.Labels = strings.Split(labels, "\n")
			}
			all[w.Pull] = w
			return err
		})
	return all, r.db.fail("read watched pull requests", err)
}

// SaveWatched saves how pull requests were seen, and deletes those that are no longer open. It
// leaves Done as it is.
func (r *Repo) SaveWatched(ctx context.Context, seen []WatchedPull, gone []int) error {
	return r.change(ctx, "save watched pull requests", func(tx *sql.Tx) error {
		for _, w := range seen {
			err := execute(ctx, tx, `
				INSERT INTO watched_pulls (repo_id, pull, head, shape, updated, done, title, labels, seen_at)
				VALUES ($1, $2, $3, $4, $5, '', $6, $7, $8)
				ON CONFLICT (repo_id, pull) DO UPDATE SET head = excluded.head, shape = excluded.shape, updated = excluded.updated,
					title = excluded.title, labels = excluded.labels`,
				r.id, w.Pull, w.Head, w.Shape, millis(w.Updated), w.Title, strings.Join(w.Labels, "\n"),
				millis(r.db.now()))
			if err != nil {
				return err
			}
		}
		for _, pull := range gone {
			if err := execute(ctx, tx, "DELETE FROM watched_pulls WHERE repo_id = $1 AND pull = $2", r.id,
				pull); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetWatchedDone saves the head whose last round ended well, if the pull request is watched.
func (r *Repo) SetWatchedDone(ctx context.Context, pull int, head string) error {
	return r.exec(ctx, "save watched pull request",
		"UPDATE watched_pulls SET done = $3 WHERE repo_id = $1 AND pull = $2", pull, head)
}

// ForgetWatchedShape makes the next look at a pull request find it changed, if it is watched. A
// server calls it when it changes labels: otherwise labels that a person sets back to what the last
// poll had seen would look unchanged.
func (r *Repo) ForgetWatchedShape(ctx context.Context, pull int) error {
	return r.exec(ctx, "save watched pull request",
		"UPDATE watched_pulls SET shape = '' WHERE repo_id = $1 AND pull = $2", pull)
}

// Asking says whether a comment asked for a review that has not begun.
type Asking int

// The values of Asking.
const (
	NotAsked Asking = iota
	AskedReview
	AskedAgain // to read everything again
)

// PullAsked returns whether a comment asked for a review of the pull request.
func (r *Repo) PullAsked(ctx context.Context, pull int) (Asking, error) {
	var a Asking
	err := rows(ctx, r.db.read, "SELECT asked FROM asked_pulls WHERE repo_id = $1 AND pull = $2", []any{r.id, pull},
		into(&a))
	return a, r.db.fail("read what was asked", err)
}

// AskPull saves that a comment asked for a review of the pull request. Of several that ask, the one
// counts that asks for more.
func (r *Repo) AskPull(ctx context.Context, pull int, a Asking) error {
	return r.exec(ctx, "save what was asked", `INSERT INTO asked_pulls (repo_id, pull, asked) VALUES ($1, $2, $3)
		ON CONFLICT (repo_id, pull) DO UPDATE SET asked = excluded.asked
			WHERE asked_pulls.asked < excluded.asked`, pull, a)
}

// EndAsked saves that the review was made that comments had asked for as was says. If they ask for
// more since, that stays.
func (r *Repo) EndAsked(ctx context.Context, pull int, was Asking) error {
	return r.exec(ctx, "save what was asked",
		"DELETE FROM asked_pulls WHERE repo_id = $1 AND pull = $2 AND asked <= $3", pull, was)
}

// KeepValue stores a value of the server under a name that has none yet, and returns the stored
// one: of several processes that call it at once, all get the same.
func (db *DB) KeepValue(ctx context.Context, name, value string) (stored string, err error) {
	err = db.Transact(ctx, "keep value of the server", func(tx *sql.Tx) error {
		err := execute(ctx, tx,
			"INSERT INTO server_values (name, value, until) VALUES ($1, $2, 0) ON CONFLICT (name) DO NOTHING", name, value)
		if err != nil {
			return err
		}
		return row(ctx, tx, "SELECT value FROM server_values WHERE name = $1", []any{name}, into(&stored))
	})
	return stored, err
}

// HasValue tells whether a name has a value.
func (db *DB) HasValue(ctx context.Context, name string) (bool, error) {
	var found int
	err := row(ctx, db.read, "SELECT COUNT(*) FROM server_values WHERE name = $1", []any{name}, into(&found))
	return found > 0, db.fail("read value of the server", err)
}

// Claim gives a name to somebody for a time, unless somebody else has it. Who has it may extend
// it. A process whose clock is wrong may take it early: what a claim protects must bear two
// owners for a while.
func (db *DB) Claim(ctx context.Context, name, who string, lasts time.Duration) (mine bool, err error) {
	err = db.Transact(ctx, "claim", func(tx *sql.Tx) error {
		mine, err = claim(ctx, tx, name, who, lasts, db.now())
		return err
	})
	return mine, err
}

func claim(ctx context.Context, tx *sql.Tx, name, who string, lasts time.Duration, now time.Time) (bool, error) {
	n, err := affected(tx.ExecContext(ctx, `
		INSERT INTO server_values (name, value, until) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, until = excluded.until
			WHERE server_values.value = excluded.value OR server_values.until <= $4 OR server_values.until > $5`,
		name, who, millis(now.Add(lasts)), millis(now), millis(now.Add(lasts+clockSlack))))
	return n > 0, err
}

// BeginPeriod returns true once in an interval for a name, over all replicas: a claim that nobody
// extends.
func (db *DB) BeginPeriod(ctx context.Context, tx *sql.Tx, name string, interval time.Duration, now time.Time) (bool,
	error,
) {
	return claim(ctx, tx, "period of "+name, newID(), interval, now)
}

// Unclaim ends a claim that somebody has; an empty who stands for everybody.
func (db *DB) Unclaim(ctx context.Context, name, who string) error {
	return db.exec(ctx, "end claim",
		"DELETE FROM server_values WHERE name = $1 AND (value = $2 OR $2 = '') AND until > 0", name, who)
}
