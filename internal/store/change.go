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

// claim is what a writing transaction has for itself until it ends: the rows of the repository
// with the id. Transactions with one claim are made one after the other.
type claim string

const (
	// everything is the claim of transactions that concern several repositories: no other
	// transaction is made beside one.
	everything claim = ""
	// shared is the claim of Transact.
	shared claim = "shared"
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
	return r.db.write(ctx, op, claim(r.id), use)
}

func (db *DB) write(ctx context.Context, op string, c claim, use func(*sql.Tx) error) error {
	return db.fail(op, db.retryBusy(ctx, func() error { return db.attempt(ctx, c, use) }))
}

func (db *DB) attempt(ctx context.Context, c claim, use func(*sql.Tx) error) error {
	slot, token := db.slots.take()
	defer db.slots.giveBack(slot)
	tx, err := db.begin(ctx, c)
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
	return db.resolve(ctx, c, slot, token, err)
}

// begin begins a transaction, and waits until it has the claim.
func (db *DB) begin(ctx context.Context, c claim) (*sql.Tx, error) {
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil || db.dialect.claim == nil {
		return tx, err
	}
	if err := db.dialect.claim(ctx, tx, c); err != nil {
		return nil, errors.Join(err, db.rollback(tx))
	}
	return tx, nil
}

// errUncertain means that a transaction may have been committed, or not.
var errUncertain = errors.New("it is not known whether it was saved")

// resolve finds out whether a transaction was committed whose commit got no answer. With the
// same claim it waits until the server has ended that transaction. It returns nil if it was
// committed, and the cause if it was not: then it is tried again.
func (db *DB) resolve(ctx context.Context, c claim, slot, token string, cause error) error {
	committed := false
	err := db.retryBusy(ctx, func() error {
		tx, err := db.begin(ctx, c)
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
