package store

import (
	"context"
	"fmt"
	"strings"
)

// Check reads the whole database for damage, and returns the version of its
// schema. Damage is an *Error that wraps ErrCorrupt.
func (db *DB) Check(ctx context.Context) (schema int64, err error) {
	const op = "check memory"
	schema, err = db.version(ctx)
	if err != nil {
		return 0, db.fail(op, err)
	}
	var said []string
	// Ten complaints are enough to know.
	err = rows(ctx, db.read, "PRAGMA integrity_check(10)", nil, func(r scanner) error {
		var line string
		err := r.Scan(&line)
		said = append(said, line)
		return err
	})
	if err == nil && (len(said) != 1 || said[0] != "ok") {
		err = fmt.Errorf("%w: %s", ErrCorrupt, strings.Join(said, "; "))
	}
	return schema, db.fail(op, err)
}
