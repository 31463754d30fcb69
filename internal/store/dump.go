package store

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent/internal/strict"
)

// ErrNotEmpty means that a database has rows, so a dump cannot be restored into it.
var ErrNotEmpty = errors.New("it is not empty")

// ErrDump means that a dump is damaged, or of another version.
var ErrDump = errors.New("it is not a complete export of an installation by this version")

// dumpFormat is the number of the form of a dump.
const dumpFormat = 1

// dumpHead is the first line of a dump.
type dumpHead struct {
	Format int   `json:"precedent_installation"`
	Schema int64 `json:"schema"`
}

// dumpTable precedes the rows of a table.
type dumpTable struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
}

// dumpEnd is the last line.
type dumpEnd struct {
	Rows int `json:"rows"`
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
	err = db.retryBusy(ctx, func() error {
		tx, err = db.snapshot(ctx)
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
		n, err = dumpRows(ctx, tx, t.name, t.key, lines)
		total += n
	}
	if err == nil {
		err = lines.Encode(dumpEnd{total})
	}
	return total, db.fail(op, errors.Join(err, db.rollback(tx), w.Flush()))
}

// snapshot begins a transaction that reads the database as it is at one moment.
func (db *DB) snapshot(ctx context.Context) (*sql.Tx, error) {
	tx, err := db.sql.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	if err := db.beSlow(ctx, tx); err != nil {
		return nil, errors.Join(err, db.rollback(tx))
	}
	return tx, nil
}

// beSlow lets a transaction be idle for as long as the other end of a dump takes.
func (db *DB) beSlow(ctx context.Context, tx *sql.Tx) error {
	if db.dialect.slow == "" {
		return nil
	}
	_, err := tx.ExecContext(ctx, db.dialect.slow)
	return err
}

// dumpRows writes the rows of a table, if it has any.
func dumpRows(ctx context.Context, tx *sql.Tx, table, key string, lines *json.Encoder) (int, error) {
	found, err := tx.QueryContext(ctx, "SELECT * FROM "+table+" ORDER BY "+key)
	if err != nil {
		return 0, err
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		return 0, err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	n := 0
	for ; found.Next(); n++ {
		if n == 0 {
			if err := lines.Encode(dumpTable{table, columns}); err != nil {
				return 0, err
			}
		}
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
		}
		if err := lines.Encode(values); err != nil {
			return 0, err
		}
	}
	return n, found.Err()
}

// maxDumpLine limits a line of a dump, in bytes: the largest review is much smaller.
const maxDumpLine = 256 << 20

// Restore reads a dump into a database without repositories, completely or not at all, and
// returns the number of rows. The error wraps ErrNotEmpty or ErrDump if that is the cause.
func (db *DB) Restore(ctx context.Context, from io.Reader) (int, error) {
	const op = "import installation"
	version, err := db.version(ctx)
	if err != nil {
		return 0, db.fail(op, err)
	}
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 1<<16), maxDumpLine)
	var head dumpHead
	if lines.Scan() {
		err = strict.Unmarshal(lines.Bytes(), &head)
	}
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

// restoreRows inserts rows until the end of the dump.
func restoreRows(ctx context.Context, tx *sql.Tx, lines *bufio.Scanner) (total int, err error) {
	var insert *sql.Stmt
	columns := 0
	defer func() {
		if insert != nil {
			err = errors.Join(err, insert.Close())
		}
	}()
	for lines.Scan() {
		line := lines.Bytes()
		if bytes.HasPrefix(line, []byte("[")) && insert != nil {
			values, err := dumpedValues(line)
			if err != nil || len(values) != columns {
				return total, fmt.Errorf("%w: row %d", ErrDump, total+1)
			}
			if _, err := insert.ExecContext(ctx, values...); err != nil {
				return total, fmt.Errorf("row %d: %w", total+1, err)
			}
			total++
			continue
		}
		var other struct {
			dumpTable
			dumpEnd
		}
		other.Rows = -1
		if err := strict.Unmarshal(line, &other); err != nil {
			return total, fmt.Errorf("%w: after row %d", ErrDump, total)
		}
		if other.Rows >= 0 {
			if other.Rows != total || lines.Scan() {
				return total, fmt.Errorf("%w: %d rows, and it says %d", ErrDump, total, other.Rows)
			}
			return total, nil
		}
		if insert != nil {
			if err := insert.Close(); err != nil {
				return total, err
			}
		}
		columns = len(other.Columns)
		if insert, err = prepareInsert(ctx, tx, other.dumpTable); err != nil {
			return total, err
		}
	}
	if err := lines.Err(); err != nil {
		return total, err
	}
	return total, fmt.Errorf("%w: it ends after row %d", ErrDump, total)
}

// prepareInsert prepares a statement for a table that a dump names, with columns that it has.
func prepareInsert(ctx context.Context, tx *sql.Tx, t dumpTable) (*sql.Stmt, error) {
	if !slices.ContainsFunc(tables, func(known table) bool { return known.name == t.Table }) {
		return nil, fmt.Errorf("%w: it has a table %q", ErrDump, t.Table)
	}
	numbers := make([]string, len(t.Columns))
	for i, column := range t.Columns {
		if strings.Trim(column, "abcdefghijklmnopqrstuvwxyz_") != "" {
			return nil, fmt.Errorf("%w: it has a column %q", ErrDump, column)
		}
		numbers[i] = "$" + strconv.Itoa(i+1)
	}
	return tx.PrepareContext(ctx, "INSERT INTO "+t.Table+" ("+strings.Join(t.Columns,
		", ")+") VALUES ("+strings.Join(numbers, ", ")+")")
}

// dumpedValues reads a row.
func dumpedValues(line []byte) ([]any, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil {
		return nil, err
	}
	values := make([]any, len(raw))
	for i, v := range raw {
		var err error
		switch v[0] {
		case '"':
			var s string
			err = json.Unmarshal(v, &s)
			values[i] = s
		case '{':
			var b dumpBytes
			err = json.Unmarshal(v, &b)
			values[i] = b.Bytes
		default:
			values[i], err = strconv.ParseInt(string(v), 10, 64)
		}
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}
