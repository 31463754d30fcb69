package store

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// ErrNotEmpty means that a database has rows, so a dump cannot be restored into it.
var ErrNotEmpty = errors.New("it is not empty")

// ErrDump means that a dump is damaged, or of another version.
var ErrDump = errors.New("it is not a complete export of an installation by this version")

const dumpFormat = 1

type dumpHead struct {
	Format int   `json:"precedent_installation"`
	Schema int64 `json:"schema"`
}

type dumpRow struct {
	Table string         `json:"table"`
	Row   map[string]any `json:"row"`
}

// dumpBytes is a value that is not text.
type dumpBytes struct {
	Bytes []byte `json:"bytes"`
}

// Dump writes all rows of the database as lines of JSON, and returns their number: memory, answers
// of unfinished reviews, and the work of a server. It has no turns of running processes. Equal
// rows are equal bytes on both engines. They are as of one moment, and nobody waits for it.
func (db *DB) Dump(ctx context.Context, to io.Writer) (int, error) {
	const op = "export installation"
	version, err := db.version(ctx)
	if err != nil {
		return 0, db.fail(op, err)
	}
	var tx *sql.Tx
	err = db.retryBusy(ctx, func() error { // it reads the database as it is at one moment
		tx, err = db.sql.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
		if err == nil {
			err = db.beSlow(ctx, tx)
		}
		if err != nil && tx != nil {
			err = errors.Join(err, db.rollback(tx))
		}
		return err
	})
	if err != nil {
		return 0, db.fail(op, err)
	}
	w := bufio.NewWriterSize(to, 1<<16)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	total := 0
	err = lines.Encode(dumpHead{dumpFormat, version})
	for _, t := range tables {
		if err != nil {
			break
		}
		var n int
		n, err = dumpRows(ctx, tx, t, lines)
		total += n
	}
	if err == nil {
		err = lines.Encode(map[string]int{"rows": total}) // the last line
	}
	return total, db.fail(op, errors.Join(err, db.rollback(tx), w.Flush()))
}

// beSlow lets a transaction be idle for as long as the other end of a dump takes.
func (db *DB) beSlow(ctx context.Context, tx *sql.Tx) error {
	if db.dialect.slow == "" {
		return nil
	}
	return execute(ctx, tx, db.dialect.slow)
}

func dumpRows(ctx context.Context, tx *sql.Tx, t table, lines *json.Encoder) (int, error) {
	found, err := tx.QueryContext(ctx, "SELECT * FROM "+t.name+" ORDER BY "+t.key)
	if err != nil {
		return 0, err
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		return 0, err
	}
	line := dumpRow{t.name, make(map[string]any, len(columns))}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	n := 0
	for ; found.Next(); n++ {
		if err := found.Scan(into...); err != nil {
			return 0, err
		}
		for i, v := range values {
			switch v := v.(type) {
			case string:
				values[i] = portableText(v)
			case []byte:
				values[i] = dumpBytes{append([]byte{}, v...)} // never null
			}
			line.Row[columns[i]] = values[i]
		}
		if err := lines.Encode(line); err != nil {
			return 0, err
		}
	}
	return n, found.Err()
}

// Restore reads a dump into a database without repositories, completely or not at all, and
// returns the number of rows. The error wraps ErrNotEmpty or ErrDump if that is the cause.
func (db *DB) Restore(ctx context.Context, from io.Reader) (int, error) {
	const op = "import installation"
	version, err := db.version(ctx)
	if err != nil {
		return 0, db.fail(op, err)
	}
	lines := json.NewDecoder(from)
	lines.UseNumber()
	lines.DisallowUnknownFields()
	var head dumpHead
	err = lines.Decode(&head)
	switch {
	case err != nil || head.Format != dumpFormat:
		return 0, db.fail(op, ErrDump)
	case head.Schema != version:
		return 0, db.fail(op, fmt.Errorf("%w: its schema has version %d, this program's has %d", ErrDump, head.Schema,
			version))
	}
	total := 0
	// It is not tried again: what was read is gone.
	err = db.attempt(ctx, everything, func(tx *sql.Tx) error {
		if err := db.beSlow(ctx, tx); err != nil {
			return err
		}
		for _, t := range tables {
			var n int
			if err := row(ctx, tx, "SELECT COUNT(*) FROM "+t.name, nil, into(&n)); err != nil {
				return err
			}
			if n > 0 {
				return fmt.Errorf("%w: it has rows in %s", ErrNotEmpty, t.name)
			}
		}
		total, err = restoreRows(ctx, tx, lines)
		return err
	})
	if err != nil {
		return 0, db.fail(op, err)
	}
	return total, nil
}

func restoreRows(ctx context.Context, tx *sql.Tx, lines *json.Decoder) (total int, err error) {
	for {
		var line struct {
			dumpRow
			Rows *int `json:"rows"`
		}
		if err := lines.Decode(&line); err != nil {
			return total, fmt.Errorf("%w: after row %d: %w", ErrDump, total, err)
		}
		if line.Rows != nil {
			if *line.Rows != total || lines.More() {
				return total, fmt.Errorf("%w: %d rows, and it says %d", ErrDump, total, *line.Rows)
			}
			return total, nil
		}
		statement, values, err := line.insert()
		if err == nil {
			err = execute(ctx, tx, statement, values...)
		}
		if err != nil {
			return total, fmt.Errorf("row %d: %w", total+1, err)
		}
		total++
	}
}

// insert is the statement that inserts the row into a table that a dump may have.
func (d dumpRow) insert() (statement string, values []any, err error) {
	if !slices.ContainsFunc(tables, func(t table) bool { return t.name == d.Table }) {
		return "", nil, fmt.Errorf("%w: it has a table %q", ErrDump, d.Table)
	}
	columns := slices.Sorted(maps.Keys(d.Row))
	values = make([]any, len(columns))
	for i, column := range columns {
		if strings.Trim(column, "abcdefghijklmnopqrstuvwxyz_") != "" {
			return "", nil, fmt.Errorf("%w: it has a column %q", ErrDump, column)
		}
		if values[i], err = dumpedValue(d.Row[column]); err != nil {
			return "", nil, fmt.Errorf("%w: %w", ErrDump, err)
		}
	}
	return "INSERT INTO " + d.Table + " (" + strings.Join(columns, ", ") + ") VALUES (" +
		parameters(1, len(columns)) + ")", values, nil
}

func dumpedValue(v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		return v.Int64()
	case map[string]any:
		text, _ := v["bytes"].(string)
		return base64.StdEncoding.DecodeString(text)
	}
	return v, nil // a text, or what the database refuses
}
