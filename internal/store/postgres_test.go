package store

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// password is in URLs of tests, and must be in no error.
const password = "p%40ss-hunter2"

func TestOpenURLRefuses(t *testing.T) {
	server := needs.SharedPostgreSQL(t)
	fresh := func(statements ...string) string { return execAt(t, server.Database(t), statements...) }
	good := server.WithPassword(t, server.Database(t))
	with := func(change func(u *url.URL)) string {
		u := needs.Value(url.Parse(good))(t)
		change(u)
		return u.String()
	}
	newer := fresh()
	openPlace(t, newer)
	execAt(t, newer, "INSERT INTO schema_version (version_id, is_applied) VALUES (999, TRUE)")
	triggered := fresh()
	openPlace(t, triggered)
	execAt(t, triggered,
		"CREATE FUNCTION steal() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN DELETE FROM rejections; RETURN NULL; END'",
		"CREATE TRIGGER steal AFTER INSERT ON findings EXECUTE FUNCTION steal()")
	for _, test := range []struct {
		name, url string
		want      error
		hint      string
	}{
		{"file", "server.db", ErrURL, "postgres://user:password@host"},
		{"words", "host=h password=" + password, ErrURL, "postgres://user:password@host"},
		{"wrong port", "postgres://u:" + password + "@h:port/d", ErrURL, "percent-encoded"},
		{"nobody listens", "postgres://u:" + password + "@127.0.0.1:1/d", ErrUnreachable, "host and port"},
		{
			"wrong password", with(func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), password) }), ErrRefused,
			"password",
		},
		{"unknown user", with(func(u *url.URL) { u.User = url.UserPassword("stranger", password) }), ErrRefused, "user"},
		{"unknown database", with(func(u *url.URL) { u.Path = "/nowhere" }), ErrRefused, "database"},
		{"unknown schema", with(func(u *url.URL) { u.RawQuery = "search_path=nowhere" }), ErrRefused, "schema"},
		{"another program's", fresh("CREATE TABLE customers (id INTEGER)"), ErrForeign, "search_path=precedent"},
		{"view", fresh("CREATE VIEW findings AS SELECT 1"), ErrForeign, "search_path=precedent"},
		{"with a trigger", triggered, ErrForeign, "search_path=precedent"},
		{"newer schema", newer, ErrNewer, "update precedent"},
		{"read-only", fresh(`DO 'BEGIN EXECUTE format(''ALTER DATABASE %I SET default_transaction_read_only = on'', current_database()); END'`), ErrUnwritable, "standby"},
	} {
		t.Run(test.name, func(t *testing.T) {
			db, err := OpenURL(t.Context(), test.url, Options{Untouched: test.name == "read-only"})
			if err == nil {
				db.Close()
				t.Fatal("it was opened")
			}
			failure, ok := errors.AsType[*Error](err)
			if !ok || !errors.Is(err, test.want) {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			if !strings.Contains(failure.Hint, test.hint) {
				t.Errorf("hint %q, want one with %q", failure.Hint, test.hint)
			}
			if text := err.Error() + failure.Hint; strings.Contains(text, "hunter2") {
				t.Errorf("the password is in %q", text)
			}
		})
	}
}

// TestSessions: a commit waits for the disk, whatever the database's default is, and text is
// compared by bytes, whatever its language is. What the database is called shows no password.
func TestSessions(t *testing.T) {
	server := needs.SharedPostgreSQL(t)
	at := server.WithPassword(t, server.Database(t))
	execAt(t, at, `DO 'BEGIN EXECUTE format(''ALTER DATABASE %I SET synchronous_commit = off'', current_database()); END'`)
	db := openPlace(t, at)
	if path := db.Path(); !strings.HasPrefix(path, "postgres://precedent@127.0.0.1:") {
		t.Errorf("path %q", path)
	}
	for setting, want := range map[string]string{
		"synchronous_commit": "on", "lock_timeout": "5s",
		"idle_in_transaction_session_timeout": "15s",
	} {
		if got := ask[string](t, db, "SHOW "+setting); got != want {
			t.Errorf("%s is %q, want %s", setting, got, want)
		}
	}
	for _, line := range schemaOf(t, db) {
		if strings.Contains(line, " text ") && !strings.Contains(line, " text C ") &&
			!strings.HasPrefix(line, "last_commits") {
			t.Errorf("sorted as in the database's language: %s", line)
		}
	}
	more := needs.Value(db.Pool(2))(t)
	defer more.Close()
	var got string
	if err := more.QueryRow("SHOW synchronous_commit").Scan(&got); err != nil || got != "on" {
		t.Errorf("in the other pool it is %q, %v", got, err)
	}
}

// TestSchemaOfItsOwn: two installations with schemas of their own share a database with another program.
func TestSchemaOfItsOwn(t *testing.T) {
	at := needs.PostgreSQL(t)
	execAt(t, at, "CREATE TABLE customers (id INTEGER)", "CREATE SCHEMA precedent", "CREATE SCHEMA other")
	for _, schema := range []string{"precedent", "other"} {
		r := repoFor(t, openPlace(t, at+"&search_path="+schema), remote)
		save(t, r, review(remote, schema, 1))
		needs.Result(t, schema, Counts{Reviews: 1})(r.Count(t.Context()))
		checkHealth(t, again(t, r.db))
	}
}

// TestWritersTakeTurns: two transactions of one repository do not overlap, those of two
// repositories do, and one that concerns several is alone.
func TestWritersTakeTurns(t *testing.T) {
	db := openPostgreSQL(t)
	ctx := t.Context()
	waits := func(first, second lock) bool {
		tx := needs.Value(db.begin(ctx, first))(t)
		defer func() { _ = tx.Rollback() }()
		other, err := db.sql.BeginTx(ctx, nil)
		needs.NoError(t, err)
		defer func() { _ = other.Rollback() }()
		needs.Value(other.Exec("SET LOCAL lock_timeout = '50ms'"))(t)
		err = db.dialect.lock(ctx, other, second)
		if err != nil && !errors.Is(db.kindOf(err), ErrBusy) {
			t.Fatal(err)
		}
		return err != nil
	}
	for _, test := range []struct {
		first, second lock
		want          bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a", shared, false},
		{shared, shared, true},
		{everything, "a", true},
		{"a", everything, true},
		{everything, everything, true},
		{shared, everything, true},
	} {
		if got := waits(test.first, test.second); got != test.want {
			t.Errorf("%q after %q waits: %v, want %v", test.second, test.first, got, test.want)
		}
	}
}
