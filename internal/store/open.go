package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"modernc.org/sqlite"
)

// Open opens the database in the file, makes the file (readable by its owner
// alone) and its folder if need be, and brings its schema up to date. Errors
// are of type *Error and wrap ErrUnwritable, ErrCorrupt, ErrForeign, ErrNewer,
// ErrFull or ErrBusy where one of them is the cause.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	const op = "open memory"
	db := newDB(path, o)
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

// OpenMemory opens an empty database that lives as long as the DB.
func OpenMemory(ctx context.Context, o Options) (*DB, error) {
	db := newDB("", o)
	// Every connection to :memory: is a database of its own, so there is one.
	if err := db.connect(ctx, ":memory:", 1); err != nil {
		return nil, db.fail("open memory", err)
	}
	return db, nil
}

func (db *DB) connect(ctx context.Context, path string, connections int) error {
	connector, err := sqlite.NewConnector(dsn(path))
	if err != nil {
		return err
	}
	db.sql = sql.OpenDB(connector)
	db.sql.SetMaxOpenConns(connections)
	db.sql.SetMaxIdleConns(connections)
	if err := db.patiently(ctx, func() error { return db.upgrade(ctx, migrations) }); err != nil {
		return errors.Join(err, db.sql.Close())
	}
	return nil
}

// prepareFile makes sure that the file can be written and is a plain file of
// its own: a link could lead a write anywhere. A file or a folder without any
// write bit is taken at its word, even by root.
func prepareFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if info.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("%w: folder %s is read-only", ErrUnwritable, dir)
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		info, err := os.Lstat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%w: %s is no regular file", ErrUnwritable, path+suffix)
		case info.Mode().Perm()&0o222 == 0:
			return fmt.Errorf("%w: %s is read-only", ErrUnwritable, path+suffix)
		}
	}
	// SQLite gives the files beside it the mode of this one.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn says how every connection is opened. A commit is on the disk before it
// returns (synchronous), and overwritten rows are not left in free pages
// (secure_delete). The file may come from elsewhere, so its schema is not
// trusted to call functions and its pages are checked when they are read; see
// https://www.sqlite.org/security.html.
func dsn(path string) string {
	q := url.Values{
		"_busy_timeout": {strconv.FormatInt(busyPatience.Milliseconds(), 10)},
		"_defensive":    {"1"},
		"_dqs":          {"0"},
		"_error_rc":     {"1"},
		"_foreign_keys": {"on"},
		"_pragma":       {"trusted_schema(0)", "cell_size_check(1)", "secure_delete(1)"},
		"_synchronous":  {"FULL"},
		"_txlock":       {"immediate"},
	}
	if path == ":memory:" {
		return "file::memory:?" + q.Encode()
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	return u.String()
}
