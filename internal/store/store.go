// Package store keeps reviews and people's answers, in one SQLite file, in memory, or in a
// PostgreSQL database.
//
// It makes three promises. A review is saved completely or not at all, even if the
// process is killed. Processes that write the same database at the same time wait for
// each other and lose nothing. And a row can be reached only through its repository:
// all methods that read or write memory belong to Repo, and all statements in this
// package name the repository.
//
// Limits are enforced in the transaction that counts, so that they hold however many try at once:
// the spending of a day and of a pull request (Book), the pending proposals of agents (AddLearning),
// and what one has at a time: the turn to post on a pull request (TakeTurn), the turn to consolidate
// (BeginConsolidation), a claim and a period of the server (Claim, BeginPeriod), and the execution
// of a job (ClaimWork).
//
// The SQL is valid for both SQLite and PostgreSQL: numbered parameters, text ids made
// in Go, times as unix milliseconds, booleans as 0 or 1, no clock functions. The
// differences between engines are in a dialect, in sqlite.go and postgres.go: how to
// open, lock, measure and check a database, and what its errors mean.
package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"
)

// DB is an open database. It is safe for concurrent use, and several processes may use its
// file.
type DB struct {
	sql     *sql.DB
	dialect *dialect
	read    querier
	path    string // of the file, or the URL without password; empty in memory
	now     func() time.Time
	after   func(time.Duration) <-chan time.Time
	// temporary is a folder that Close deletes; empty for none.
	temporary string
	// borrowed means that Close leaves the database open for others.
	borrowed bool
	// engine and address are what more pools of connections are opened with.
	engine  Engine
	address string
	slots   *slots
	// untouched means that nothing is written.
	untouched bool
}

// Engine is what keeps a database.
type Engine string

// The engines.
const (
	SQLite     Engine = "sqlite"
	PostgreSQL Engine = "postgresql"
)

// Engine is what keeps the database.
func (db *DB) Engine() Engine { return db.engine }

// Borrow returns the same database for a user who closes it: then it stays open for all others.
func (db *DB) Borrow() *DB {
	lent := *db
	lent.borrowed, lent.temporary = true, ""
	lent.read = retryingReader{&lent}
	return &lent
}

// Pool opens more connections to the database, at most n at a time, for a library that makes
// its own statements. The caller closes it. A database in memory has no others.
func (db *DB) Pool(n int) (*sql.DB, error) {
	if db.address == memoryAddress {
		return nil, errors.New("a database in memory has one connection only")
	}
	open := db.dialect.connector
	if db.dialect.patient != nil {
		open = db.dialect.patient
	}
	connector, err := open(db.address)
	if err != nil {
		return nil, db.fail("open memory", err)
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	return pool, nil
}

// dialect holds the differences between database engines.
type dialect struct {
	engine Engine
	// connector opens connections.
	connector func(address string) (driver.Connector, error)
	// patient opens those of Pool, which wait for locks themselves because their user does not try
	// again; nil if all do.
	patient func(address string) (driver.Connector, error)
	// migrations is the name of the engine in the migration library.
	migrations goose.Dialect
	// setup prepares a database before its first migration.
	setup string
	// steps returns the migrations as the engine needs them; nil changes nothing.
	steps func(fs.FS) fs.FS
	// prepare prepares a database for an upgrade, which no other process does until release is
	// called; nil if migrations themselves take turns.
	prepare func(ctx context.Context, db *sql.DB) (release func(), err error)
	// objects lists the objects of a database as pairs of type and name; the type of tables is
	// "table".
	objects string
	// kind returns the cause of an error of the engine, as one of this package's errors; nil for
	// none. ErrBusy means that a retry may succeed.
	kind func(error) error
	// alreadyEnded tells whether an error of a rollback means that the engine has already ended
	// the transaction.
	alreadyEnded func(error) bool
	// hints say what the user can do about a cause.
	hints map[error]string
	// lock waits until a transaction has a lock; nil if writing transactions
	// are made one after the other anyway.
	lock func(ctx context.Context, tx *sql.Tx, l lock) error
	// mark has a transaction leave a token in a slot, and marked tells whether one is there. Both
	// are nil if a commit cannot fail without it being known whether it was made.
	mark   func(ctx context.Context, tx *sql.Tx, slot, token string) error
	marked func(ctx context.Context, tx *sql.Tx, slot, token string) (bool, error)
	// uncertain tells whether the error of a commit leaves open whether it was made; nil for never.
	uncertain func(error) bool
	// damagedHint is the hint for a damaged database.
	damagedHint func(path string) string
	// check returns the damage that it finds.
	check func(ctx context.Context, q querier) ([]string, error)
	// size is the size of a database in bytes.
	size func(ctx context.Context, q querier, path string) (int64, error)
	// shrink are statements that free the space of deleted rows.
	shrink []string
	// slow is a statement that lifts the limit of a transaction that waits for its client; empty for
	// none.
	slow string
}

// Options are the store's dependencies; the zero value uses the defaults.
type Options struct {
	Now   func() time.Time                       // time.Now by default
	After func(d time.Duration) <-chan time.Time // time.After by default
	// Untouched opens an existing database without upgrading its schema, for Schema and Size.
	Untouched bool
}

func newDB(d *dialect, path string, o Options) *DB {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
	db := &DB{
		dialect: d, engine: d.engine, path: path, now: o.Now, after: o.After, untouched: o.Untouched,
		slots: &slots{name: uuid.NewString()},
	}
	db.read = retryingReader{db}
	return db
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// Path is the database's file, or its URL without password; empty for one in memory.
func (db *DB) Path() string { return db.path }

// Kept tells whether what is written lasts: not in a database in memory, nor in a copy.
func (db *DB) Kept() bool { return db.path != "" && db.temporary == "" }

// Close closes the database. Saved data does not depend on it.
func (db *DB) Close() error {
	if db.borrowed {
		return nil
	}
	err := db.sql.Close()
	if db.temporary != "" {
		err = errors.Join(err, os.RemoveAll(db.temporary))
	}
	return db.fail("close memory", err)
}

// Statements and transactions are retried while the database is busy. The timeout is much
// longer than other processes normally need: they hold the lock while saving one review, some
// milliseconds.
const (
	busyTimeout = 20 * time.Second
	busyPause   = 5 * time.Millisecond
	// unreachablePause is the pause before another attempt to connect.
	unreachablePause = 100 * time.Millisecond
)

// retryBusy repeats do while the database is busy or cannot be reached, until busyTimeout.
func (db *DB) retryBusy(ctx context.Context, do func() error) error {
	var over <-chan time.Time
	for {
		err := do()
		pause := busyPause
		switch kind := db.kindOf(err); {
		case errors.Is(err, errUncertain):
			return err
		case errors.Is(kind, ErrBusy):
		case errors.Is(kind, ErrUnreachable):
			pause = unreachablePause
		default:
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
		case <-db.after(pause):
		}
	}
}

type scanner interface{ Scan(dest ...any) error }

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

type executor interface {
	ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error)
}

// retryingReader reads outside of transactions, and retries while the database is busy or cannot
// be reached.
type retryingReader struct{ db *DB }

// QueryContext starts a query. Only the start can fail because the database is busy.
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

// row runs a query for one row; the error is sql.ErrNoRows if there is none.
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

// collect runs a query and returns the rows of its result as scan reads them; never nil.
func collect[T any](ctx context.Context, q querier, query string, args []any,
	scan func(scanner, *T) error,
) ([]T, error) {
	all := []T{}
	err := rows(ctx, q, query, args, func(s scanner) error {
		var v T
		err := scan(s, &v)
		all = append(all, v)
		return err
	})
	return all, err
}

func scanOne[T any](s scanner, v *T) error { return s.Scan(v) }

func intoMap[K comparable, V any](to map[K]V) func(scanner) error {
	return func(s scanner) error {
		var key K
		var value V
		err := s.Scan(&key, &value)
		to[key] = value
		return err
	}
}

// moment is a time as it is scanned from unix milliseconds, of which 0 is the zero time.
type moment time.Time

func (m *moment) Scan(v any) error {
	var ms sql.Null[int64]
	err := ms.Scan(v)
	*m = moment(fromZeroMillis(ms.V))
	return err
}

// execute runs a statement of which the result does not matter.
func execute(ctx context.Context, on executor, statement string, args ...any) error {
	_, err := on.ExecContext(ctx, statement, args...)
	return err
}

func affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func into(dest ...any) func(scanner) error {
	return func(s scanner) error { return s.Scan(dest...) }
}

// valuesPerInsert is about how many values insertRows sends at once: SQLite finds a parameter by
// comparing it with all before it.
const valuesPerInsert = 120

// insertRows inserts rows with few statements: on PostgreSQL each is a round trip. Head is the
// statement up to VALUES, and tail what follows the rows. All rows have as many values.
func insertRows(ctx context.Context, tx *sql.Tx, head, tail string, all [][]any) error {
	if len(all) == 0 {
		return nil
	}
	for batch := range slices.Chunk(all, max(1, valuesPerInsert/len(all[0]))) {
		var args []any
		var lists []string
		for _, values := range batch {
			lists = append(lists, "("+parameters(len(args)+1, len(values))+")")
			args = append(args, values...)
		}
		if err := execute(ctx, tx, head+" VALUES "+strings.Join(lists, ", ")+" "+tail, args...); err != nil {
			return err
		}
	}
	return nil
}

// putRows adds rows to a table, each in place of the one with the same key. The values are first those of the columns of
// the key.
func putRows(ctx context.Context, tx *sql.Tx, table, key, columns string, all ...[]any) error {
	var set []string
	for column := range strings.SplitSeq(columns, ", ") {
		set = append(set, column+" = excluded."+column)
	}
	return insertRows(ctx, tx, "INSERT INTO "+table+" ("+key+", "+columns+")",
		"ON CONFLICT ("+key+") DO UPDATE SET "+strings.Join(set, ", "), all)
}

// rowsIn is rows for batches of values, whose parameters take the place of %s in the query. Its other parameters come
// first.
func rowsIn[V any](ctx context.Context, q querier, query string, args []any, values []V,
	each func(scanner) error,
) error {
	return inBatches(values, len(args)+1, func(numbers string, batch []any) error {
		return rows(ctx, q, fmt.Sprintf(query, numbers), slices.Concat(args, batch), each)
	})
}

func collectIn[V, T any](ctx context.Context, q querier, query string, args []any, values []V,
	scan func(scanner, *T) error,
) ([]T, error) {
	all := []T{}
	err := inBatches(values, len(args)+1, func(numbers string, batch []any) error {
		some, err := collect(ctx, q, fmt.Sprintf(query, numbers), slices.Concat(args, batch), scan)
		all = append(all, some...)
		return err
	})
	return all, err
}

func executeIn[V any](ctx context.Context, on executor, statement string, args []any, values []V) error {
	return inBatches(values, len(args)+1, func(numbers string, batch []any) error {
		return execute(ctx, on, fmt.Sprintf(statement, numbers), slices.Concat(args, batch)...)
	})
}

// inBatches calls use for batches of values that fit into one statement, with a list of their
// parameter numbers, starting at first.
func inBatches[T any](values []T, first int, use func(numbers string, args []any) error) error {
	const batch = 500 // far below both engines' limits, 32,766 and 65,535
	for some := range slices.Chunk(values, batch) {
		args := make([]any, len(some))
		for i, v := range some {
			args[i] = v
		}
		if err := use(parameters(first, len(args)), args); err != nil {
			return err
		}
	}
	return nil
}

// parameters returns a list of n numbers of parameters, starting at first: "$1, $2".
func parameters(first, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(all, ", ")
}

func millis(t time.Time) int64 { return t.UnixMilli() }

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func zeroOne(b bool) int {
	if b {
		return 1
	}
	return 0
}
