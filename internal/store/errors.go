package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"modernc.org/sqlite"
)

// What can be wrong with a database, apart from defects. An *Error wraps one of them.
var (
	// ErrUnwritable: the file or its folder may not be written. A review can go
	// on with OpenMemory.
	ErrUnwritable = errors.New("it cannot be written")
	// ErrFull: the disk, a quota or a limit leaves no room. Nothing was changed.
	ErrFull = errors.New("there is no room to write")
	// ErrCorrupt: the file is damaged, or no database.
	ErrCorrupt = errors.New("it is damaged")
	// ErrForeign: the file is a database, but not one of this program.
	ErrForeign = errors.New("it is not a memory of precedent")
	// ErrNewer: a newer program wrote the file.
	ErrNewer = errors.New("a newer precedent wrote it")
	// ErrBusy: another process kept it locked for longer than a review takes.
	ErrBusy = errors.New("another process keeps it locked")
)

// Error is trouble with the database.
type Error struct {
	Op   string // "open memory"
	Path string // the database's file; empty in memory
	Err  error
	Hint string // what the user can do; empty if nothing special
}

func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("%s %s: %v", e.Op, e.Path, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

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

// code is the primary result code of an error of SQLite, else 0.
func code(err error) int { return extendedCode(err) & 0xff }

func extendedCode(err error) int {
	if s, ok := errors.AsType[*sqlite.Error](err); ok {
		return s.Code()
	}
	return 0
}

// isBusy tells whether the same transaction may well succeed a moment later.
func isBusy(err error) bool {
	switch code(err) {
	case sqliteBusy, sqliteLocked, sqliteProtocol:
		return true
	}
	return false
}

// fail gives an error its operation, its file, its kind and its hint. An error
// that has them, or says that the caller gave up, stays as it is.
func (db *DB) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	kind := kindOf(err)
	if kind != nil && !errors.Is(err, kind) {
		err = fmt.Errorf("%w (%w)", kind, err)
	}
	hint := hints[kind]
	if errors.Is(kind, ErrCorrupt) && db.path != "" {
		hint = db.moveAway()
	}
	return &Error{Op: op, Path: db.path, Err: err, Hint: hint}
}

// kindOf says which of the errors above an error is of; nil for none.
func kindOf(err error) error {
	for _, kind := range []error{ErrForeign, ErrNewer, ErrCorrupt, ErrUnwritable} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR):
		return ErrUnwritable
	case errors.Is(err, syscall.ENOSPC), extendedCode(err) == sqliteIOErrWrite, extendedCode(err) == sqliteIOErrShm:
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

// hints say what the user can do; a damaged file has one that names it.
var hints = map[error]string{
	ErrForeign:    "give another file, with --memory-db",
	ErrNewer:      "update precedent, or give another file, with --memory-db",
	ErrUnwritable: "make the file and its folder writable, or give another file, with --memory-db",
	ErrFull:       "free some space, then try again: nothing was changed",
	ErrBusy:       "wait until the other precedent ends, then try again",
}

// moveAway is the command that puts a damaged database aside with the two files
// beside it, which belong to it and must never meet another one.
func (db *DB) moveAway() string {
	aside := quote(filepath.Join(filepath.Dir(db.path), "damaged"))
	return fmt.Sprintf("move it away, and the next review starts an empty one: mkdir -p %s && mv %s* %s", aside, quote(db.path), aside)
}

// quote makes s one word for a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
