package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Open opens the database in the file and brings its schema up to date. It creates the file,
// readable only by its owner, and its folder if needed. Errors are of type *Error and wrap
// ErrUnwritable, ErrCorrupt, ErrForeign, ErrOlder, ErrNewer, ErrFull or ErrBusy if one of them
// is the cause.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	const op = "open memory"
	db := newDB(sqlite, path, o)
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, db.fail(op, err)
	}
	db.path = abs
	if err := prepareFile(abs); err != nil {
		return nil, db.fail(op, err)
	}
	// Four readers at a time are enough for a command; writers queue in SQLite.
	if err := db.connect(ctx, abs, 4); err != nil {
		return nil, db.fail(op, err)
	}
	db.sql.SetConnMaxIdleTime(sqliteFresh)
	return db, nil
}

// sqliteFresh limits how long an unused connection is kept, which holds a megabyte of pages,
// schema and statements. Opening one takes about a millisecond.
const sqliteFresh = 10 * time.Second

const maxCopy = 1 << 30 // bytes

// OpenCopy opens a copy of the database in the file, which is deleted when it is closed. It
// serves readers of a file that cannot be written, and follows no link.
func OpenCopy(ctx context.Context, path, tempDir string, o Options) (*DB, error) {
	dir, err := os.MkdirTemp(tempDir, "precedent-memory-")
	if err != nil {
		return nil, fmt.Errorf("copy memory: %w", err)
	}
	to := filepath.Join(dir, filepath.Base(path))
	var db *DB
	if err = copyDatabase(path, to); err == nil {
		db, err = Open(ctx, to, o)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copy memory: %w", err), os.RemoveAll(dir))
	}
	db.temporary = dir
	return db, nil
}

func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxCopy {
		return fmt.Errorf("%s is not a regular file of at most 1 GiB", from)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, maxCopy))
	return errors.Join(err, out.Close())
}

const memoryAddress = ":memory:"

// OpenMemory opens an empty database in memory.
func OpenMemory(ctx context.Context, o Options) (*DB, error) {
	db := newDB(sqlite, "", o)
	// Each connection to :memory: has a separate database, so use only one.
	if err := db.connect(ctx, memoryAddress, 1); err != nil {
		return nil, db.fail("open memory", err)
	}
	return db, nil
}

func (db *DB) connect(ctx context.Context, address string, connections int) error {
	connector, err := db.dialect.connector(address)
	if err != nil {
		return err
	}
	db.sql, db.address = sql.OpenDB(connector), address
	db.sql.SetMaxOpenConns(connections)
	db.sql.SetMaxIdleConns(connections)
	if db.engine == PostgreSQL { // it is not waited for a server that is not there
		if err := db.sql.PingContext(ctx); errors.Is(db.kindOf(err), ErrUnreachable) {
			return errors.Join(err, db.sql.Close())
		}
	}
	prepare := func() error { return db.upgrade(ctx, migrations) }
	if db.untouched {
		prepare = func() error {
			_, err := db.version(ctx)
			return err
		}
	}
	if err := db.retryBusy(ctx, prepare); err != nil {
		return errors.Join(err, db.sql.Close())
	}
	return nil
}
