package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// Expected causes of an Error.
var (
	// ErrUnwritable: the file or its folder is not writable. A review can continue with
	// OpenMemory.
	ErrUnwritable = errors.New("it cannot be written")
	// ErrFull: the disk, a quota or a limit is exhausted. Nothing was changed.
	ErrFull = errors.New("no space left to write")
	// ErrCorrupt: the file is damaged, or not a database.
	ErrCorrupt = errors.New("it is damaged")
	// ErrForeign: the file is a database of another program.
	ErrForeign = errors.New("it is not a memory of precedent")
	// ErrOlder: a program wrote the file that is too old for its schema to be upgraded.
	ErrOlder = errors.New("an old version of precedent wrote it, which is not supported any more")
	// ErrNewer: a newer program wrote the file.
	ErrNewer = errors.New("a newer precedent wrote it")
	// ErrBusy: another process kept it locked for too long.
	ErrBusy = errors.New("another process keeps it locked")
	// ErrURL: the URL of the database is not one.
	ErrURL = errors.New("the URL of the database is wrong")
	// ErrUnreachable: the server does not answer, or the connection was lost.
	ErrUnreachable = errors.New("the database server cannot be reached")
	// ErrRefused: the server does not know the user, the password or the database.
	ErrRefused = errors.New("the database server refuses it")
)

// Error is a failed operation on the database.
type Error struct {
	Op   string // "open memory"
	Path string // the database's file, or its URL without password; empty in memory
	Err  error
	Hint string // what the user can do; may be empty
}

func (e *Error) Error() string {
	why := strings.ReplaceAll(e.Err.Error(), "\n\t", " ") // pgx has a line for each try
	if e.Path == "" {
		return fmt.Sprintf("%s: %s", e.Op, why)
	}
	return fmt.Sprintf("%s %s: %s", e.Op, e.Path, why)
}

func (e *Error) Unwrap() error { return e.Err }

// fail adds the operation, the file, the cause and the hint to an error. An error that has
// them, or that comes from a cancelled context, is returned unchanged.
func (db *DB) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	kind := db.kindOf(err)
	if kind != nil && !errors.Is(err, kind) {
		err = fmt.Errorf("%w (%w)", kind, err)
	}
	hint := db.dialect.hints[kind]
	if errors.Is(kind, ErrCorrupt) && db.path != "" {
		hint = db.dialect.damagedHint(db.path)
	}
	return &Error{Op: op, Path: db.path, Err: err, Hint: hint}
}

// kindOf returns the cause of an error, as one of the errors above; nil for none.
func (db *DB) kindOf(err error) error {
	for _, kind := range []error{
		ErrForeign, ErrOlder, ErrNewer, ErrCorrupt, ErrUnwritable, ErrURL, ErrRefused, ErrNotEmpty,
		ErrDump,
	} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR):
		return ErrUnwritable
	case errors.Is(err, syscall.ENOSPC):
		return ErrFull
	}
	return db.dialect.kind(err)
}

// fileHints say what the user can do; damagedHint has the one for a damaged file.
var fileHints = map[error]string{
	ErrForeign:    "give another file, with --memory-db",
	ErrOlder:      "export it with the precedent that wrote it, and import that into another file",
	ErrNewer:      "update precedent, or give another file; docs/upgrading.md has the way back",
	ErrUnwritable: "make the file and its folder writable, or give another file, with --memory-db",
	ErrFull:       "free some space, then try again: nothing was changed",
	ErrBusy:       "wait until the other precedent ends, then try again",
	ErrNotEmpty:   "import into a new database",
	ErrDump:       "export again, with the version of precedent that imports",
}
