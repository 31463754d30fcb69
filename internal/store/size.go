package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Size is the number of bytes that the database takes on disk, the files beside
// it included; in memory, of its pages.
func (db *DB) Size(ctx context.Context) (int64, error) {
	const op = "measure memory"
	if db.path == "" {
		var pages, size int64
		if err := row(ctx, db.read, "PRAGMA page_count", nil, into(&pages)); err != nil {
			return 0, db.fail(op, err)
		}
		if err := row(ctx, db.read, "PRAGMA page_size", nil, into(&size)); err != nil {
			return 0, db.fail(op, err)
		}
		return pages * size, nil
	}
	var total int64
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(db.path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return 0, db.fail(op, err)
		default:
			total += info.Size()
		}
	}
	return total, nil
}

// shrink gives the pages of deleted rows back to the disk. Another process that
// uses the file can prevent it, and so can a full disk, because the copy needs
// room for a moment; then the pages are used for later rows.
func (db *DB) shrink(ctx context.Context) error {
	for _, statement := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		_, err := db.sql.ExecContext(ctx, statement)
		if err = db.fail("shrink memory", err); err != nil && !errors.Is(err, ErrBusy) && !errors.Is(err, ErrFull) {
			return err
		}
	}
	return nil
}
