package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
)

// Open opens the database in the file and brings its schema up to date. It creates the file,
// readable only by its owner, and its folder if needed. Errors are of type *Error and wrap
// ErrUnwritable, ErrCorrupt, ErrForeign, ErrNewer, ErrFull or ErrBusy if one of them is the
// cause.
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
	return db, nil
}

// OpenMemory opens an empty database in memory.
func OpenMemory(ctx context.Context, o Options) (*DB, error) {
	db := newDB(sqlite, "", o)
	// Each connection to :memory: has a separate database, so use only one.
	if err := db.connect(ctx, ":memory:", 1); err != nil {
		return nil, db.fail("open memory", err)
	}
	return db, nil
}

func (db *DB) connect(ctx context.Context, address string, connections int) error {
	connector, err := db.dialect.connector(address)
	if err != nil {
		return err
	}
	db.sql = sql.OpenDB(connector)
	db.sql.SetMaxOpenConns(connections)
	db.sql.SetMaxIdleConns(connections)
	if err := db.retryBusy(ctx, func() error { return db.upgrade(ctx, migrations) }); err != nil {
		return errors.Join(err, db.sql.Close())
	}
	return nil
}
