package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
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

// fail gives an error its operation, its file, its kind and its hint. An error
// that has them, or says that the caller gave up, stays as it is.
func (db *DB) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	kind := db.kindOf(err)
	if kind != nil && !errors.Is(err, kind) {
		err = fmt.Errorf("%w (%w)", kind, err)
	}
	hint := hints[kind]
	if errors.Is(kind, ErrCorrupt) && db.path != "" {
		hint = db.dialect.damagedHint(db.path)
	}
	return &Error{Op: op, Path: db.path, Err: err, Hint: hint}
}

// kindOf says which of the errors above an error is of; nil for none.
func (db *DB) kindOf(err error) error {
	for _, kind := range []error{ErrForeign, ErrNewer, ErrCorrupt, ErrUnwritable} {
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

// hints say what the user can do; a damaged file has one that names it.
var hints = map[error]string{
	ErrForeign:    "give another file, with --memory-db",
	ErrNewer:      "update precedent, or give another file, with --memory-db",
	ErrUnwritable: "make the file and its folder writable, or give another file, with --memory-db",
	ErrFull:       "free some space, then try again: nothing was changed",
	ErrBusy:       "wait until the other precedent ends, then try again",
}
