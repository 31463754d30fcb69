package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	modernc "modernc.org/sqlite"
)

// sqlite is the dialect of SQLite, in one file or in memory.
var sqlite = &dialect{
	engine: SQLite,
	connector: func(path string) (driver.Connector, error) {
		return modernc.NewConnector(dsn(path, sqliteBusyTimeout))
	},
	patient:      func(path string) (driver.Connector, error) { return modernc.NewConnector(dsn(path, busyTimeout)) },
	migrations:   goose.DialectSQLite3,
	setup:        "PRAGMA journal_mode = WAL", // the file keeps this mode
	objects:      "SELECT type, name FROM sqlite_schema WHERE type <> 'index'",
	kind:         sqliteKind,
	alreadyEnded: func(err error) bool { return code(err) == sqliteError },
	hints:        fileHints,
	damagedHint:  moveAwayHint,
	check:        sqliteCheck,
	size:         sqliteSize,
	shrink:       []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"},
}

// prepareFile makes sure that the file is writable and a regular file: a link could redirect
// writes. Files and folders without any write permission are refused, even for root.
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
			return fmt.Errorf("%w: %s is not a regular file", ErrUnwritable, path+suffix)
		case info.Mode().Perm()&0o222 == 0:
			return fmt.Errorf("%w: %s is read-only", ErrUnwritable, path+suffix)
		}
	}
	// SQLite creates its other files with the mode of this one.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// sqliteBusyTimeout is how long SQLite itself waits for a lock; it ignores the context
// meanwhile.
const sqliteBusyTimeout = 200 * time.Millisecond

// dsn returns the options of a connection. SQLite waits for a lock as long as busy. A commit is on disk before it
// returns (synchronous), and deleted data is overwritten (secure_delete). The file may come from elsewhere, so its
// schema may not call functions and its pages are checked when read; see https://www.sqlite.org/security.html.
func dsn(path string, busy time.Duration) string {
	q := url.Values{
		"_busy_timeout": {strconv.FormatInt(busy.Milliseconds(), 10)},
		"_defensive":    {"1"},
		"_dqs":          {"0"},
		"_error_rc":     {"1"},
		"_foreign_keys": {"on"},
		"_pragma":       {"trusted_schema(0)", "cell_size_check(1)", "secure_delete(1)"},
		"_synchronous":  {"FULL"},
		"_timezone":     {"UTC"}, // of the times of River, which are compared as texts
		"_txlock":       {"immediate"},
	}
	if path == ":memory:" {
		return "file::memory:?" + q.Encode()
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	return u.String()
}

// Primary result codes of SQLite, from https://www.sqlite.org/rescode.html.
// The low byte of an extended code is its primary code.
const (
	sqliteError    = 1
	sqlitePerm     = 3
	sqliteBusy     = 5
	sqliteLocked   = 6
	sqliteReadOnly = 8
	sqliteIOErr    = 10
	sqliteCorrupt  = 11
	sqliteFull     = 13
	sqliteCantOpen = 14
	sqliteProtocol = 15
	sqliteNotADB   = 26

	sqliteIOErrWrite = sqliteIOErr | 3<<8
	sqliteIOErrShm   = sqliteIOErr | 19<<8 // the index of the write-ahead log could not grow
)

func code(err error) int { return extendedCode(err) & 0xff }

func extendedCode(err error) int {
	if s, ok := errors.AsType[*modernc.Error](err); ok {
		return s.Code()
	}
	return 0
}

func sqliteKind(err error) error {
	switch extendedCode(err) {
	case sqliteIOErrWrite, sqliteIOErrShm:
		return ErrFull
	}
	switch code(err) {
	case sqliteReadOnly, sqlitePerm, sqliteCantOpen:
		return ErrUnwritable
	case sqliteFull:
		return ErrFull
	case sqliteCorrupt, sqliteNotADB:
		return ErrCorrupt
	case sqliteBusy, sqliteLocked, sqliteProtocol:
		return ErrBusy
	}
	return nil
}

// moveAwayHint is a hint with a command that moves a damaged database away, together with its
// two other files, which must never be used with another database.
func moveAwayHint(path string) string {
	aside := quote(filepath.Join(filepath.Dir(path), "damaged"))
	return fmt.Sprintf("move it away; the next review creates an empty one: mkdir -p %s && mv %s* %s", aside, quote(path),
		aside)
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// sqliteCheck reads all pages and returns at most ten errors.
func sqliteCheck(ctx context.Context, q querier) ([]string, error) {
	damage, err := collect(ctx, q, "PRAGMA integrity_check(10)", nil, scanOne[string])
	return slices.DeleteFunc(damage, func(line string) bool { return line == "ok" }), err
}

func sqliteSize(ctx context.Context, q querier, path string) (int64, error) {
	if path == "" {
		var size int64
		err := row(ctx, q, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", nil, into(&size))
		return size, err
	}
	var total int64
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return 0, err
		default:
			total += info.Size()
		}
	}
	return total, nil
}

// copyDatabase copies a database with its log, which holds what is not in its file yet.
func copyDatabase(from, to string) error {
	if err := copyFile(from, to); err != nil {
		return err
	}
	if err := copyFile(from+"-wal", to+"-wal"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Copy writes the database, as it is at one moment, to a file, which it replaces. Only SQLite can.
func (db *DB) Copy(ctx context.Context, to string) error {
	err := os.WriteFile(to, nil, 0o600)
	if err == nil {
		err = execute(ctx, db.sql, "VACUUM INTO $1", to)
	}
	return db.fail("copy memory", err)
}
