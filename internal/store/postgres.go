package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"net"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// postgres is the dialect of PostgreSQL, from version 14 on. All of it is in the current schema.
var postgres = &dialect{
	engine:       PostgreSQL,
	connector:    func(url string) (driver.Connector, error) { return postgresConnector(url) },
	migrations:   goose.DialectPostgres,
	steps:        func(steps fs.FS) fs.FS { return byteOrder{steps} },
	prepare:      postgresPrepare,
	objects:      postgresObjects,
	kind:         postgresKind,
	alreadyEnded: func(err error) bool { return errors.Is(postgresKind(err), ErrUnreachable) },
	damagedHint:  func(string) string { return "restore the database from a backup" },
	hints:        postgresHints,
	lock:         postgresLock,
	mark:         postgresMark,
	marked:       postgresMarked,
	uncertain:    postgresUncertain,
	check:        postgresCheck,
	size:         postgresSize,
	slow:         "SET LOCAL idle_in_transaction_session_timeout = 0",
	shrink: []string{"VACUUM (SKIP_LOCKED) decisions, sightings, findings, reviews, corpus_comments, " +
		"corpus_chunks, corpus_blocks, corpus_vectors"},
}

// postgresObjects leaves out what extensions own, and the table of postgresMark.
const postgresObjects = `
	SELECT CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'view'
		ELSE 'foreign table' END, c.relname
	FROM pg_class c WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
	AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relname <> 'last_commits'
	AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
		AND d.deptype = 'e')
	UNION ALL
	SELECT 'trigger', c.relname || '.' || t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
	WHERE NOT t.tgisinternal AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
	UNION ALL
	SELECT 'rule', c.relname || '.' || r.rulename FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
	WHERE c.relkind IN ('r', 'p') AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())`

// postgresConnections are enough for a replica beside the connections of its jobs; a server
// allows 100 by default.
const postgresConnections = 10

const postgresFresh = 5 * time.Minute

// OpenURL opens the PostgreSQL database of a URL such as
// postgres://user:password@host:5432/name, and brings the schema in its current schema up to
// date. Several processes may open it at once. Errors are of type *Error, never show the
// password, and wrap ErrURL, ErrUnreachable, ErrRefused, ErrUnwritable, ErrForeign, ErrOlder,
// ErrNewer, ErrFull or ErrBusy if one of them is the cause.
func OpenURL(ctx context.Context, address string, o Options) (*DB, error) {
	const op = "open memory"
	db := newDB(postgres, "", o)
	config, err := postgresConfig(address)
	if err != nil {
		return nil, db.fail(op, err)
	}
	db.path = postgresName(config)
	if err := db.connect(ctx, address, postgresConnections); err != nil {
		return nil, db.fail(op, err)
	}
	db.sql.SetConnMaxIdleTime(postgresFresh)
	if o.Untouched {
		return db, nil
	}
	// Processes that ended leave their slots behind.
	err = db.retryBusy(ctx, func() error {
		return execute(ctx, db.sql, "DELETE FROM last_commits WHERE at < now() - interval '1 day'")
	})
	if err != nil {
		return nil, errors.Join(db.fail(op, err), db.sql.Close())
	}
	return db, nil
}

// postgresConfig reads a URL. What its errors quote has no password.
func postgresConfig(address string) (*pgx.ConnConfig, error) {
	if scheme, _, ok := strings.Cut(address, "://"); !ok || scheme != "postgres" && scheme != "postgresql" {
		return nil, fmt.Errorf("%w: it does not begin with postgres://", ErrURL)
	}
	config, err := pgx.ParseConfig(address)
	if err != nil { // its text may quote a part of the password
		return nil, fmt.Errorf("%w: it cannot be parsed", ErrURL)
	}
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, 10*time.Second)
	config.RuntimeParams["application_name"] = cmp.Or(config.RuntimeParams["application_name"], "precedent")
	return config, nil
}

// postgresName is a URL without password and options, for people.
func postgresName(c *pgx.ConnConfig) string {
	u := url.URL{
		Scheme: "postgres", User: url.User(c.User), Host: net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))),
		Path: c.Database,
	}
	if strings.HasPrefix(c.Host, "/") { // the folder of a socket
		u.Host, u.RawQuery = "", url.Values{"host": {c.Host}}.Encode()
	}
	return u.String()
}

// postgresSession are the settings of each connection: a commit is on disk before it returns,
// no lock is waited for longer than 5 s before the transaction is tried again, and a process
// that hangs in a transaction holds others up for 15 s at most, which is less than busyTimeout.
const postgresSession = `SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '15s';
	SELECT set_config('synchronous_commit', 'on', FALSE) WHERE current_setting('synchronous_commit') IN ('off', 'local')`

func postgresConnector(address string) (driver.Connector, error) {
	config, err := postgresConfig(address)
	if err != nil {
		return nil, err
	}
	prepare := stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		if encoding := c.PgConn().ParameterStatus("server_encoding"); encoding != "UTF8" {
			return fmt.Errorf("%w: its encoding is %s, not UTF8", ErrRefused, encoding)
		}
		for _, name := range []string{"in_hot_standby", "default_transaction_read_only"} {
			if c.PgConn().ParameterStatus(name) == "on" {
				return fmt.Errorf("%w: %s is on", ErrUnwritable, name)
			}
		}
		_, err := c.Exec(ctx, postgresSession)
		return err
	})
	return textConnector{stdlib.GetConnector(*config, prepare)}, nil
}

// textConnector opens connections to which any text can be sent.
type textConnector struct{ driver.Connector }

func (c textConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return textConn{conn.(*stdlib.Conn)}, nil
}

// textConn sends text that PostgreSQL accepts.
type textConn struct{ *stdlib.Conn }

func (c textConn) CheckNamedValue(v *driver.NamedValue) error {
	if text := reflect.ValueOf(v.Value); text.Kind() == reflect.String {
		if s := text.String(); strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
			v.Value = portableText(s)
		}
	}
	return nil
}

// byteOrder has migrations in which text is compared byte by byte, as SQLite does it, whatever
// the language of the database is.
type byteOrder struct{ fs.FS }

var textType = regexp.MustCompile(`\bTEXT\b`)

func (b byteOrder) Open(name string) (fs.File, error) {
	f, err := b.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return f, err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return textFile{f, bytes.NewReader(textType.ReplaceAll(text, []byte(`TEXT COLLATE "C"`)))}, nil
}

type textFile struct {
	fs.File
	text io.Reader
}

func (f textFile) Read(p []byte) (int, error) { return f.text.Read(p) }

// postgresPrepare lets one process at a time upgrade a schema, until release is called or the
// process ends. It creates the table of postgresMark.
func postgresPrepare(ctx context.Context, db *sql.DB) (release func(), err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var schema sql.NullString
	if err = conn.QueryRowContext(ctx, "SELECT current_schema()").Scan(&schema); err == nil && !schema.Valid {
		err = fmt.Errorf("%w: the schema of its search_path does not exist", ErrRefused)
	}
	if err == nil {
		err = execute(ctx, conn, "SELECT pg_advisory_lock($1)", lockNumber("upgrade "+schema.String))
	}
	if err == nil {
		err = execute(ctx, conn,
			"CREATE TABLE IF NOT EXISTS last_commits (slot TEXT PRIMARY KEY, token TEXT NOT NULL, at TIMESTAMPTZ NOT NULL)")
	}
	if err != nil {
		return nil, errors.Join(err, closeConn(conn))
	}
	return func() { _ = closeConn(conn) }, nil
}

// closeConn ends a connection with all its locks, so that none goes back to the pool.
func closeConn(conn *sql.Conn) error {
	err := conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) {
		err = nil
	}
	if closed := conn.Close(); !errors.Is(closed, sql.ErrConnDone) {
		err = errors.Join(err, closed)
	}
	return err
}

func lockNumber(name string) int64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, "precedent "+name)
	return int64(h.Sum64())
}

// postgresLock waits until no other transaction has the lock. Its snapshots are taken later,
// one for each statement (READ COMMITTED), so they have what the others committed.
func postgresLock(ctx context.Context, tx *sql.Tx, l lock) error {
	query, args := "SELECT pg_advisory_xact_lock(hashtextextended(current_schema(), $1))", []any{lockNumber("rows")}
	if l != everything {
		query = "SELECT pg_advisory_xact_lock_shared(hashtextextended(current_schema(), $1)), " +
			"pg_advisory_xact_lock(hashtextextended(current_schema(), $2))"
		args = append(args, lockNumber("rows of "+string(l)))
	}
	return execute(ctx, tx, query, args...)
}

// postgresMark writes a token that is there if and only if the transaction was committed. A
// slot is used by one transaction at a time, so its row is overwritten.
func postgresMark(ctx context.Context, tx *sql.Tx, slot, token string) error {
	return execute(ctx, tx, `INSERT INTO last_commits (slot, token, at) VALUES ($1, $2, now())
		ON CONFLICT (slot) DO UPDATE SET token = excluded.token, at = excluded.at`, slot, token)
}

// postgresMarked tells whether the last transaction of a slot had the token.
func postgresMarked(ctx context.Context, tx *sql.Tx, slot, token string) (bool, error) {
	var n int
	err := row(ctx, tx, "SELECT COUNT(*) FROM last_commits WHERE slot = $1 AND token = $2", []any{slot, token}, into(&n))
	return n > 0, err
}

// postgresUncertain tells whether a transaction may have been committed although its commit
// failed: the server did not answer, or ended the session.
func postgresUncertain(err error) bool {
	if p, ok := errors.AsType[*pgconn.PgError](err); ok {
		return p.SeverityUnlocalized != "ERROR" || p.Code == "40003"
	}
	return !errors.Is(err, pgx.ErrTxCommitRollback)
}
