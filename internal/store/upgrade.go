package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var embedded embed.FS

var migrations, _ = fs.Sub(embedded, "migrations") // fails for invalid names only

const versionTable = "schema_version"

// upgrade applies the missing migrations. They commit together with their numbers, under the
// write lock of the database, so a process that dies leaves complete migrations behind.
// Several processes may do this at once: the one that loses the race fails, reads the version
// again and finds the migration applied.
func (db *DB) upgrade(ctx context.Context, steps fs.FS) error {
	oldest, newest, err := numbers(steps)
	if err != nil {
		return err
	}
	if db.dialect.steps != nil {
		steps = db.dialect.steps(steps)
	}
	version, err := db.version(ctx)
	if err != nil {
		return err
	}
	if version > 0 && version < oldest {
		return olderSchema(version, oldest)
	}
	if version < newest && db.dialect.prepare != nil {
		release, err := db.dialect.prepare(ctx, db.sql)
		if err != nil {
			return err
		}
		defer release()
		if version, err = db.version(ctx); err != nil {
			return err
		}
	}
	// Not earlier: a database that is refused must not be changed.
	if version <= newest && db.dialect.setup != "" {
		if err := execute(ctx, db.sql, db.dialect.setup); err != nil {
			return err
		}
	}
	for version < newest {
		failed := db.apply(ctx, steps)
		before := version
		if version, err = db.version(ctx); err != nil {
			return errors.Join(failed, err)
		}
		if failed != nil && version == before {
			return fmt.Errorf("upgrade schema from version %d: %w", version, failed)
		}
	}
	if version > newest {
		return newerSchema(version, newest)
	}
	return nil
}

func newerSchema(version, newest int64) error {
	return fmt.Errorf("%w: its schema has version %d, this program knows %d", ErrNewer, version, newest)
}

func olderSchema(version, oldest int64) error {
	return fmt.Errorf("%w: its schema has version %d, this program knows %d and later", ErrOlder, version, oldest)
}

// apply applies the missing migrations, each in its own transaction, until one fails.
func (db *DB) apply(ctx context.Context, steps fs.FS) error {
	p, err := goose.NewProvider(db.dialect.migrations, db.sql, steps,
		goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err == nil {
		_, err = p.Up(ctx)
	}
	return err
}

// version is the number of the last applied migration: 0 for an empty file. It refuses a
// database of another program: one with tables and no version, or one with triggers or views,
// which our writes would run.
func (db *DB) version(ctx context.Context) (int64, error) {
	tables, err := db.tables(ctx, db.read)
	if err != nil {
		return 0, err
	}
	if !slices.Contains(tables, versionTable) {
		if len(tables) > 0 {
			return 0, fmt.Errorf("%w: it has a table %q and no %s", ErrForeign, tables[0], versionTable)
		}
		return 0, nil
	}
	var version int64
	err = row(ctx, db.read, "SELECT COALESCE(MAX(version_id), 0) FROM "+versionTable, nil, into(&version))
	return version, err
}

// jobsPrefix begins the names of what the library of jobs keeps in the same database. It upgrades
// that itself.
const jobsPrefix = "river_"

// tables returns the names of the tables but those of jobs.
func (db *DB) tables(ctx context.Context, q querier) ([]string, error) {
	var tables []string
	err := rows(ctx, q, db.dialect.objects, nil, func(r scanner) error {
		var kind, name string
		err := r.Scan(&kind, &name)
		switch {
		case err != nil || strings.HasPrefix(name, jobsPrefix):
		case kind == "table":
			tables = append(tables, name)
		default:
			err = fmt.Errorf("%w: it has a %s %q", ErrForeign, kind, name)
		}
		return err
	})
	return tables, err
}

// numbers returns the smallest and the largest number at the beginning of a migration's file name.
func numbers(steps fs.FS) (oldest, newest int64, err error) {
	names, err := fs.Glob(steps, "*.sql") // sorted
	if err != nil || len(names) == 0 {
		return 0, 0, err
	}
	if oldest, err = goose.NumericComponent(names[0]); err == nil {
		newest, err = goose.NumericComponent(names[len(names)-1])
	}
	return oldest, newest, err
}
