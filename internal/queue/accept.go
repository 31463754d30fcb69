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
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

const (
	// maxWaiting is how many calls of Accept wait for the database.
	maxWaiting = 10_000
	// maxGroup is how many calls of Accept share a transaction.
	maxGroup = 256
	// groupPause lets others have SQLite's only lock, who poll for it.
	groupPause = 2 * time.Millisecond
	// maxName limits names and ids, in bytes, and maxReason reasons, in characters.
	maxName   = 300
	maxReason = 200
	// maxTasks limits the tasks of one delivery: a push may concern many pull requests.
	maxTasks = 1000
)

// intake collects concurrent calls of Accept.
type intake struct {
	mu      sync.Mutex
	waiting []*acceptance
	busy    bool // a goroutine commits
}

// acceptance is a call of Accept, Want or Found. Fresh and err are set when done is closed.
type acceptance struct {
	delivery Delivery
	tasks    []Task
	restarts bool // dead letters
	done     chan struct{}
	fresh    bool
	err      error
}

// Accept saves a delivery and the work that it causes, and returns when both are on disk. Calls at
// the same time share a transaction; one that fails does not fail the others. It returns false,
// and changes nothing, for a delivery that was accepted before. It gives up after 8 seconds: then
// the sender has to send it again.
func (q *Queue) Accept(ctx context.Context, d Delivery, tasks []Task) (bool, error) {
	return q.save(ctx, &acceptance{delivery: d, tasks: tasks, restarts: true})
}

func (q *Queue) save(ctx context.Context, a *acceptance) (fresh bool, err error) {
	if err := check(a.delivery, a.tasks); err != nil {
		return false, fmt.Errorf("accept delivery: %w", err)
	}
	a.done = make(chan struct{})
	if !q.enqueue(a) { //nolint:contextcheck // a commit for several callers does not end with one of them
		return false, fmt.Errorf("accept delivery: %w", errFull)
	}
	late := time.NewTimer(q.commitTimeout)
	defer late.Stop()
	select {
	case <-ctx.Done():
		return false, fmt.Errorf("accept delivery: %w", ctx.Err())
	case <-late.C:
		return false, fmt.Errorf("accept delivery: %w", errLate)
	case <-a.done:
		return a.fresh, a.err
	}
}

// The reasons for which Accept gives up. The delivery may be saved later, all the same.
var (
	errFull = errors.New("too many deliveries wait for the database")
	errLate = errors.New("the database takes too long")
)

// enqueue adds an acceptance to those that wait, if there is room.
func (q *Queue) enqueue(a *acceptance) bool {
	q.intake.mu.Lock()
	defer q.intake.mu.Unlock()
	if len(q.intake.waiting) >= maxWaiting {
		return false
	}
	q.intake.waiting = append(q.intake.waiting, a)
	if !q.intake.busy {
		q.intake.busy = true
		go q.commitAll()
	}
	return true
}

// commitAll commits what waits, and what comes meanwhile.
func (q *Queue) commitAll() {
	for {
		q.intake.mu.Lock()
		group := q.intake.waiting[:min(maxGroup, len(q.intake.waiting))]
		q.intake.waiting = q.intake.waiting[len(group):]
		if len(group) == 0 {
			q.intake.waiting, q.intake.busy = nil, false
			q.intake.mu.Unlock()
			return
		}
		q.intake.mu.Unlock()
		q.commitGroup(group)
		for _, a := range group {
			close(a.done)
		}
		q.lookNow()
		if q.db.Engine() == store.SQLite {
			<-time.After(groupPause)
		}
	}
}

// commitGroup commits acceptances together, or, if one of them fails, each alone.
func (q *Queue) commitGroup(group []*acceptance) {
	ctx, cancel := context.WithTimeout(context.Background(), q.commitTimeout)
	defer cancel()
	err := q.commit(ctx, group)
	alone := err != nil && len(group) > 1 && ctx.Err() == nil
	for _, all := range []error{store.ErrBusy, store.ErrFull, store.ErrUnreachable, store.ErrUnwritable} {
		alone = alone && !errors.Is(err, all)
	}
	for _, a := range group {
		if alone {
			err = q.commit(ctx, []*acceptance{a})
		}
		if a.err = err; err != nil {
			a.fresh = false
		}
	}
}

func (q *Queue) commit(ctx context.Context, group []*acceptance) error {
	return q.change(ctx, "save delivery", func(tx *sql.Tx, now time.Time) error {
		if err := q.saveDeliveries(ctx, tx, group, now); err != nil {
			return err
		}
		for _, restarts := range []bool{true, false} {
			if err := q.want(ctx, tx, merge(group, restarts, now), restarts); err != nil {
				return err
			}
		}
		return nil
	})
}

// want wants entries, and gets them their jobs.
func (q *Queue) want(ctx context.Context, tx *sql.Tx, entries []store.Work, restarts bool) error {
	all, err := q.db.WantWork(ctx, tx, entries, restarts)
	if err != nil {
		return err
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

// saveDeliveries saves the deliveries that are new, and marks them.
func (q *Queue) saveDeliveries(ctx context.Context, tx *sql.Tx, group []*acceptance, now time.Time) error {
	var rows []store.Delivery
	var of []*acceptance
	seen := map[[2]string]bool{}
	for _, a := range group {
		d := a.delivery
		key := [2]string{d.Forge, d.ID}
		a.fresh = d.ID == ""
		if d.ID != "" && !seen[key] {
			seen[key] = true
			rows, of = append(rows, store.Delivery{Forge: d.Forge, ID: d.ID, Event: d.Event, Received: now}), append(of, a)
		}
	}
	fresh, err := q.db.AddDeliveries(ctx, tx, rows)
	for i, f := range fresh {
		of[i].fresh = f
	}
	return err
}

// merge returns the work that the new ones of the acceptances want, those that restart dead letters
// or the others, one entry for each identity.
func merge(group []*acceptance, restarts bool, now time.Time) []store.Work {
	var all []store.Work
	nth := map[int64]int{}
	for _, a := range group {
		if !a.fresh || restarts != a.restarts {
			continue
		}
		for _, t := range a.tasks {
			id := entryID(t)
			i, ok := nth[id]
			if !ok {
				i = len(all)
				nth[id] = i
				all = append(all, store.Work{ID: id, Kind: string(t.Kind), Repo: t.Repo.String(), Pull: t.Pull, WantedAt: now})
			}
			all[i].Generation++
			all[i].Reason = text.Cut(text.VisibleLine(t.Reason), maxReason)
			if t.Head != "" {
				all[i].Head = t.Head
			}
		}
	}
	return all
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
			return fmt.Errorf("no number of a pull request: %d", t.Pull)
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
