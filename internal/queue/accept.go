package queue

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

const (
	// maxName limits names and ids, in bytes, and maxReason reasons, in characters.
	maxName   = 300
	maxReason = 200
	// maxTasks limits the tasks of one delivery: a push may concern many pull requests.
	maxTasks = 1000
)

// Accept saves a delivery and the work that it causes, and returns when both are on disk. It returns
// false, and changes nothing, for a delivery that was accepted before. It gives up after 8 seconds:
// then the sender has to send it again.
func (q *Queue) Accept(ctx context.Context, d Delivery, tasks []Task) (fresh bool, err error) {
	if err := check(d, tasks); err != nil {
		return false, fmt.Errorf("accept delivery: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, q.commitTimeout)
	defer cancel()
	err = q.change(ctx, "save delivery", func(tx *sql.Tx, now time.Time) (err error) {
		if fresh = d.ID == ""; !fresh {
			d.Received = now
			if fresh, err = q.db.AddDelivery(ctx, tx, d); err != nil || !fresh {
				return err
			}
		}
		return q.want(ctx, tx, tasks, true, now)
	})
	if err != nil {
		return false, err
	}
	q.lookNow()
	return fresh, nil
}

// Want saves work that is wanted again and again until it is done. It does not restart a dead letter
// for the same head.
func (q *Queue) Want(ctx context.Context, tasks ...Task) error {
	return q.wantAll(ctx, tasks, false)
}

// Found saves work that something new made due: what a poll found, or a period that began. Like a
// delivery, it restarts dead letters. If it fails, a part of the work may be saved.
func (q *Queue) Found(ctx context.Context, tasks ...Task) error {
	return q.wantAll(ctx, tasks, true)
}

func (q *Queue) wantAll(ctx context.Context, tasks []Task, restarts bool) error {
	for part := range slices.Chunk(tasks, maxTasks) {
		if err := check(Delivery{}, part); err != nil {
			return fmt.Errorf("want jobs: %w", err)
		}
		err := q.change(ctx, "save jobs", func(tx *sql.Tx, now time.Time) error {
			return q.want(ctx, tx, part, restarts, now)
		})
		if err != nil {
			return err
		}
		q.lookNow()
	}
	return nil
}

// want wants entries, and gets them their jobs.
func (q *Queue) want(ctx context.Context, tx *sql.Tx, tasks []Task, restarts bool, now time.Time) error {
	var all []store.Work
	nth := map[int64]int{}
	for _, t := range tasks {
		w, err := q.db.WantWork(ctx, tx, store.Work{
			ID: entryID(t), Kind: string(t.Kind), Repo: t.Repo.String(), Pull: t.Pull, Head: t.Head,
			Reason: text.Cut(text.VisibleLine(t.Reason), maxReason), WantedAt: now,
		}, restarts)
		if err != nil {
			return err
		}
		if i, twice := nth[w.ID]; twice {
			all[i] = w
			continue
		}
		nth[w.ID] = len(all)
		all = append(all, w)
	}
	return q.issue(ctx, tx, all)
}

// change makes a change at a time that all replicas agree on.
func (q *Queue) change(ctx context.Context, op string, do func(tx *sql.Tx, now time.Time) error) error {
	return q.db.Transact(ctx, op, func(tx *sql.Tx) error {
		now, err := q.db.Clock(ctx, tx, q.o.Now)
		if err != nil {
			return err
		}
		return do(tx, now)
	})
}

// entryID is the id of the entry of a task: 53 bits of a hash of its identity, which every program
// can read as a number. Two of a million entries have the same with a probability of 10^-4.
func entryID(t Task) int64 {
	sum := sha256.Sum256([]byte(string(t.Kind) + "\x00" + t.Repo.String() + "\x00" + strconv.Itoa(t.Pull)))
	return int64(binary.BigEndian.Uint64(sum[:8])>>11) | 1
}

// check refuses what no row may contain.
func check(d Delivery, tasks []Task) error {
	if len(tasks) > maxTasks {
		return fmt.Errorf("%d tasks, more than %d", len(tasks), maxTasks)
	}
	if d.ID != "" && d.Forge == "" {
		return errors.New("a delivery with an id needs a forge")
	}
	names := []string{d.Forge, d.ID, d.Event}
	for _, t := range tasks {
		if !slices.Contains(Kinds, t.Kind) {
			return fmt.Errorf("no kind of jobs: %q", text.Cut(string(t.Kind), 40))
		}
		if t.Pull < 0 || t.Pull > math.MaxInt32 {
			return fmt.Errorf("invalid pull request number %d", t.Pull)
		}
		if t.Pull != 0 && t.Repo.IsZero() {
			return errors.New("a pull request needs a repository")
		}
		names = append(names, t.Repo.String(), t.Head)
	}
	for _, name := range names {
		if len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			return fmt.Errorf("not a name or an id: %q", text.Cut(name, 40))
		}
	}
	return nil
}
