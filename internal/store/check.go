package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Check reads the whole database to detect damage, and returns the version of its schema.
// Damage is an *Error that wraps ErrCorrupt.
func (db *DB) Check(ctx context.Context) (schema int64, err error) {
	const op = "check memory"
	schema, err = db.version(ctx)
	if err != nil {
		return 0, db.fail(op, err)
	}
	damage, err := db.dialect.check(ctx, db.read)
	if err == nil && len(damage) > 0 {
		err = fmt.Errorf("%w: %s", ErrCorrupt, strings.Join(damage, "; "))
	}
	return schema, db.fail(op, err)
}

// Schema is the version of the schema, 0 for an empty database, and the newest one that this
// program knows.
func (db *DB) Schema(ctx context.Context) (version, newest int64, err error) {
	oldest, newest, err := numbers(migrations)
	if err == nil {
		version, err = db.version(ctx)
	}
	if err == nil && version > 0 && version < oldest {
		err = olderSchema(version, oldest)
	}
	return version, newest, db.fail("read schema", err)
}

// Outdated returns ErrNewer if a newer program has changed the schema.
func (db *DB) Outdated(ctx context.Context) error {
	version, newest, err := db.Schema(ctx)
	if err != nil || version <= newest {
		return nil //nolint:nilerr // the next query reports it
	}
	return db.fail("read schema", newerSchema(version, newest))
}

// NewestSchema is the version of the newest schema that this program knows.
func NewestSchema() (int64, error) {
	_, newest, err := numbers(migrations)
	return newest, err
}

// Size is the number of bytes on disk, with the files beside the database; for one in memory,
// of its pages.
func (db *DB) Size(ctx context.Context) (int64, error) {
	size, err := db.dialect.size(ctx, db.read, db.path)
	return size, db.fail("measure memory", err)
}

// shrink returns the space of deleted rows to the disk. If another process or a full disk
// prevents that, the space is reused for later rows.
func (db *DB) shrink(ctx context.Context) error {
	for _, statement := range db.dialect.shrink {
		err := execute(ctx, db.sql, statement)
		if err = db.fail("shrink memory", err); err != nil && !errors.Is(err, ErrBusy) && !errors.Is(err, ErrFull) {
			return err
		}
	}
	return nil
}
