package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
)

// lock is what a writing transaction has for itself until it ends: the rows of the repository
// with the id. Transactions with one lock are made one after the other.
type lock string

const (
	// everything is the lock of transactions that concern several repositories: no other
	// transaction is made beside one.
	everything lock = ""
	// shared is the lock of Transact.
	shared lock = "shared"
)

// Transact runs use in one writing transaction and commits it, all or nothing. It may run use
// again, so use must not keep results of an earlier attempt. It is for what is stored together
// with rows of this package: a job with what caused it. Calls are made one after the other, also
// those of other processes.
func (db *DB) Transact(ctx context.Context, op string, use func(*sql.Tx) error) error {
	return db.write(ctx, op, shared, use)
}

// change runs use in one writing transaction and commits it, all or nothing. If the database
// is busy or the connection is lost, it starts again, so use must not keep results of an earlier
// attempt.
func (db *DB) change(ctx context.Context, op string, use func(*sql.Tx) error) error {
	return db.write(ctx, op, everything, use)
}

// change is DB.change for the rows of the repository.
func (r *Repo) change(ctx context.Context, op string, use func(*sql.Tx) error) error {
	return r.db.write(ctx, op, lock(r.id), use)
}

// exec is change for one statement, in which $1 is the repository.
func (r *Repo) exec(ctx context.Context, op, statement string, args ...any) error {
	return r.change(ctx, op, func(tx *sql.Tx) error {
		return execute(ctx, tx, statement, append([]any{r.id}, args...)...)
	})
}

// exec is Transact for one statement.
func (db *DB) exec(ctx context.Context, op, statement string, args ...any) error {
	return db.Transact(ctx, op, func(tx *sql.Tx) error {
		return execute(ctx, tx, statement, args...)
	})
}

func (db *DB) write(ctx context.Context, op string, l lock, use func(*sql.Tx) error) error {
	return db.fail(op, db.retryBusy(ctx, func() error { return db.attempt(ctx, l, use) }))
}

func (db *DB) attempt(ctx context.Context, l lock, use func(*sql.Tx) error) error {
	slot, token := db.slots.take()
	defer db.slots.giveBack(slot)
	tx, err := db.begin(ctx, l)
	if err != nil {
		return err
	}
	if err = use(tx); err == nil && db.dialect.mark != nil {
		err = db.dialect.mark(ctx, tx, slot, token)
	}
	if err != nil {
		return errors.Join(err, db.rollback(tx))
	}
	err = tx.Commit()
	if err == nil || ctx.Err() != nil || db.dialect.uncertain == nil || !db.dialect.uncertain(err) {
		return err
	}
	return db.resolve(ctx, l, slot, token, err)
}

// begin begins a transaction, and waits until it has the lock.
func (db *DB) begin(ctx context.Context, l lock) (*sql.Tx, error) {
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil || db.dialect.lock == nil {
		return tx, err
	}
	if err := db.dialect.lock(ctx, tx, l); err != nil {
		return nil, errors.Join(err, db.rollback(tx))
	}
	return tx, nil
}

var errUncertain = errors.New("it is not known whether it was saved")

// resolve finds out whether a transaction was committed whose commit got no answer. With the
// same lock it waits until the server has ended that transaction. It returns nil if it was
// committed, and the cause if it was not: then it is tried again.
func (db *DB) resolve(ctx context.Context, l lock, slot, token string, cause error) error {
	committed := false
	err := db.retryBusy(ctx, func() error {
		tx, err := db.begin(ctx, l)
		if err != nil {
			return err
		}
		committed, err = db.dialect.marked(ctx, tx, slot, token)
		return errors.Join(err, db.rollback(tx))
	})
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errUncertain, err)
	case committed:
		return nil
	}
	return cause
}

// rollback ends a transaction that failed. It is not an error if it has already ended.
func (db *DB) rollback(tx *sql.Tx) error {
	err := tx.Rollback()
	if errors.Is(err, sql.ErrTxDone) || db.dialect.alreadyEnded(err) {
		return nil
	}
	return err
}

// slots are the names under which the transactions of a database mark that they were committed.
type slots struct {
	sync.Mutex
	name string // unique to this process
	made int
	free []string
	last int // number of the last token
}

// take returns a slot that no other transaction uses, and a token that it never had.
func (s *slots) take() (slot, token string) {
	s.Lock()
	defer s.Unlock()
	s.last++
	if n := len(s.free); n > 0 {
		slot = s.free[n-1]
		s.free = slices.Delete(s.free, n-1, n)
	} else {
		s.made++
		slot = s.name + "/" + strconv.Itoa(s.made)
	}
	return slot, strconv.Itoa(s.last)
}

func (s *slots) giveBack(slot string) {
	s.Lock()
	defer s.Unlock()
	s.free = append(s.free, slot)
}
