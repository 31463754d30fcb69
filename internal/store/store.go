// Package store keeps what reviews found and what people answered, in one
// SQLite file or in memory.
//
// It promises three things. A review is saved whole or not at all, whatever
// kills the process. Processes that write the same file at once wait for each
// other and lose nothing. And a row can only be reached through the repository
// that it belongs to: every method that reads or writes memory is one of Repo,
// and every statement in this package names the repository.
//
// The SQL is written for SQLite and PostgreSQL alike: numbered parameters, text
// ids made in Go, times as unix milliseconds, booleans as 0 or 1, no function
// of the clock. What an engine has of its own stands in sqlite.go, as a dialect:
// how it is opened, locked, measured and checked, and what its errors mean.
package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"
)

// DB is an open database. It is safe for concurrent use, and so is its file by
// several processes.
type DB struct {
	sql     *sql.DB
	dialect *dialect
	read    querier
	path    string // empty in memory
	now     func() time.Time
	after   func(time.Duration) <-chan time.Time
	newID   func() string
}

// dialect is what differs from one database engine to another.
type dialect struct {
	// connector says how each connection is opened.
	connector func(address string) (driver.Connector, error)
	// migrations is the name by which the library for migrations knows the engine.
	migrations goose.Dialect
	// setup makes a database ready for its first step.
	setup string
	// objects lists what a database holds, as pairs of a type and a name; the
	// type of tables is "table".
	objects string
	// kind says which of this package's errors an error of the engine is; nil
	// for none. ErrBusy is for what may well succeed a moment later.
	kind func(error) error
	// alreadyEnded tells whether an error of a rollback says that the engine has ended
	// the transaction already.
	alreadyEnded func(error) bool
	// damagedHint is a hint at what can be done about a damaged database.
	damagedHint func(path string) string
	// check returns what is damaged; nothing if all is well.
	check func(ctx context.Context, q querier) ([]string, error)
	// size is the number of bytes that a database takes.
	size func(ctx context.Context, q querier, path string) (int64, error)
	// shrink are statements that give the space of deleted rows back.
	shrink []string
}

// Options are what the store needs from outside; the zero value is good.
type Options struct {
	Now   func() time.Time                       // time.Now by default
	After func(d time.Duration) <-chan time.Time // what is waited for; time.After by default
	NewID func() string                          // makes ids of rows; UUIDv7 by default
}

func newDB(d *dialect, path string, o Options) *DB {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	db := &DB{dialect: d, path: path, now: o.Now, after: o.After, newID: o.NewID}
	db.read = retryingReader{db}
	return db
}

// Path is the database's file; empty for one in memory.
func (db *DB) Path() string { return db.path }

// Close closes the database. What was saved stays saved without it.
func (db *DB) Close() error { return db.fail("close memory", db.sql.Close()) }

// A statement or transaction that finds the database busy is tried again after a
// pause, for patience in all. That exceeds whatever a healthy neighbour needs: it
// holds the lock for one review, some milliseconds.
const (
	busyTimeout = 20 * time.Second
	busyPause   = 5 * time.Millisecond
)

// change runs use in one writing transaction and commits it: all of it or
// nothing. A database that is busy is tried again from the start, so use must
// not keep what an earlier attempt gave it.
func (db *DB) change(ctx context.Context, op string, use func(*sql.Tx) error) error {
	return db.fail(op, db.retryBusy(ctx, func() error { return db.attempt(ctx, use) }))
}

func (db *DB) attempt(ctx context.Context, use func(*sql.Tx) error) error {
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := use(tx); err != nil {
		return errors.Join(err, db.rollback(tx))
	}
	return tx.Commit()
}

// rollback ends a transaction that failed. That it has ended already is not a
// second error.
func (db *DB) rollback(tx *sql.Tx) error {
	err := tx.Rollback()
	if errors.Is(err, sql.ErrTxDone) || db.dialect.alreadyEnded(err) {
		return nil
	}
	return err
}

// retryBusy repeats do while the database is busy, for as long as patience lasts.
func (db *DB) retryBusy(ctx context.Context, do func() error) error {
	var over <-chan time.Time
	for {
		err := do()
		if !errors.Is(db.kindOf(err), ErrBusy) {
			return err
		}
		if over == nil {
			over = db.after(busyTimeout)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return err
		case <-db.after(busyPause):
		}
	}
}

// scanner is a row, or rows standing on one.
type scanner interface{ Scan(dest ...any) error }

// querier is the database, or a transaction in it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// retryingReader is the database for reading outside of a transaction.
type retryingReader struct{ db *DB }

// QueryContext begins a query. A database that is busy says so at that moment,
// before there is a row.
func (p retryingReader) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	var result *sql.Rows
	err := p.db.retryBusy(ctx, func() (err error) {
		result, err = p.db.sql.QueryContext(ctx, query, args...)
		return err
	})
	return result, err
}

// rows runs a query and calls each for every row of its result.
func rows(ctx context.Context, q querier, query string, args []any, each func(scanner) error) error {
	result, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer result.Close()
	for result.Next() {
		if err := each(result); err != nil {
			return err
		}
	}
	return result.Err()
}

// row runs a query for one row; it is sql.ErrNoRows if there is none.
func row(ctx context.Context, q querier, query string, args []any, use func(scanner) error) error {
	found := false
	err := rows(ctx, q, query, args, func(s scanner) error {
		found = true
		return use(s)
	})
	if err == nil && !found {
		err = sql.ErrNoRows
	}
	return err
}

// into scans a row into the variables.
func into(dest ...any) func(scanner) error {
	return func(s scanner) error { return s.Scan(dest...) }
}

// inBatches calls use with the values in batches that a statement can take as
// parameters, with the list of their numbers, which start at first.
func inBatches(values []string, first int, use func(numbers string, args []any) error) error {
	const batch = 500 // far below both engines' limits, 32,766 and 65,535
	for len(values) > 0 {
		n := min(batch, len(values))
		var numbers strings.Builder
		args := make([]any, n)
		for i, v := range values[:n] {
			if i > 0 {
				numbers.WriteByte(',')
			}
			numbers.WriteByte('$')
			numbers.WriteString(strconv.Itoa(first + i))
			args[i] = v
		}
		if err := use(numbers.String(), args); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}

func millis(t time.Time) int64 { return t.UnixMilli() }

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func zeroOne(b bool) int {
	if b {
		return 1
	}
	return 0
}
