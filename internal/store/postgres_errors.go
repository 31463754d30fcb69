package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// postgresKind returns the cause of an error, by its code:
// https://www.postgresql.org/docs/current/errcodes-appendix.html.
func postgresKind(err error) error {
	if p, ok := errors.AsType[*pgconn.PgError](err); ok {
		return postgresCode(p)
	}
	for _, lost := range []error{
		driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
		syscall.ECONNRESET, syscall.EPIPE,
	} {
		if errors.Is(err, lost) {
			return ErrUnreachable
		}
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return ErrUnreachable
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return ErrUnreachable
	}
	if err != nil && strings.Contains(err.Error(), "conn closed") { // pgx has no type for it
		return ErrUnreachable
	}
	return nil
}

func postgresCode(p *pgconn.PgError) error {
	switch p.Code {
	case "40001", "40P01", "55P03", "53300", "57P03": // conflict, deadlock, lock, too many connections, starting
		return ErrBusy
	case "0A000":
		if strings.Contains(p.Message, "cached plan") { // another replica upgraded the schema
			return ErrBusy
		}
	case "57P01", "57P02", "57P05", "25P03": // shut down, crashed, idle for too long
		return ErrUnreachable
	case "53100": // disk full
		return ErrFull
	case "42501", "25006": // no privilege, read-only
		return ErrUnwritable
	case "XX001", "XX002": // damaged data or index
		return ErrCorrupt
	case "3D000", "3F000": // no such database or schema
		return ErrRefused
	}
	switch p.Code[:min(2, len(p.Code))] {
	case "08":
		return ErrUnreachable
	case "28": // who is it?
		return ErrRefused
	}
	return nil
}

var postgresHints = map[error]string{
	ErrURL: "write it as postgres://user:password@host:5432/database; a password with special characters is " +
		"percent-encoded",
	ErrUnreachable: "check that PostgreSQL runs, and the host and port of the URL",
	ErrRefused: "check the user, the password, the database and the schema of the URL; a new database needs the " +
		"encoding UTF8",
	ErrForeign: "give a database of its own, or a schema: append ?search_path=precedent to the URL, after CREATE " +
		"SCHEMA precedent",
	ErrOlder: "export it with the precedent that wrote it, and import that into another database",
	ErrNewer: "update precedent, or give another database; docs/upgrading.md has the way back",
	ErrUnwritable: "connect to a server that accepts writes, which a standby does not, and grant the user all privileges " +
		"on the schema: GRANT ALL ON SCHEMA public TO the user",
	ErrFull:     "free some space on the disk of PostgreSQL, then try again: nothing was changed",
	ErrBusy:     "wait until the other precedent ends, then try again",
	ErrNotEmpty: "import into a new database",
	ErrDump:     "export again, with the version of precedent that imports",
}

// postgresCheck reads all rows, so that the server compares the checksums of their pages if it
// has any.
func postgresCheck(ctx context.Context, q querier) ([]string, error) {
	var tables []string
	err := rows(ctx, q, postgresObjects, nil, func(s scanner) error {
		var kind, name string
		err := s.Scan(&kind, &name)
		if kind == "table" {
			tables = append(tables, name)
		}
		return err
	})
	var damage []string
	for _, table := range tables {
		if err != nil {
			break
		}
		var n int64
		err = row(ctx, q, `SELECT COALESCE(SUM(LENGTH(t::text)), 0) FROM "`+strings.ReplaceAll(table, `"`, `""`)+`" t`, nil,
			into(&n))
		if errors.Is(postgresKind(err), ErrCorrupt) {
			damage, err = append(damage, table+": "+err.Error()), nil
		}
	}
	return damage, err
}

func postgresSize(ctx context.Context, q querier, _ string) (int64, error) {
	var size int64
	err := row(ctx, q, `SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
		WHERE c.relkind = 'r' AND c.relnamespace = (SELECT oid FROM pg_namespace
			WHERE nspname = current_schema())`, nil, into(&size))
	return size, err
}
