package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOpenMakesAPrivateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b", "#%3f?", "memory.db")
	db := openFile(t, path)
	save(t, repoFor(t, db, remote), review(remote, "r1", 1))
	for suffix, want := range map[string]fs.FileMode{"": 0o600, "-wal": 0o600, "-shm": 0o600} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("memory.db%s has mode %o, want %o", suffix, got, want)
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", info, err)
	}
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1",
		"trusted_schema": "0", "secure_delete": "1",
	} {
		var got string
		if err := db.sql.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %s", pragma, got, err, want)
		}
	}
	if n, err := db.Size(t.Context()); err != nil || n < 4096 {
		t.Errorf("size %d, %v", n, err)
	}
}

func TestOpenAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	db := openFile(t, path)
	save(t, repoFor(t, db, remote), review(remote, "r1", 1))
	again := openFile(t, path)
	if _, err := repoFor(t, again, remote).Review(t.Context(), "r1"); err != nil {
		t.Error(err)
	}
}

// plant writes a database by other means than Open.
func plant(t *testing.T, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return path
}

// filled makes a good database of some hundred pages and closes it.
func filled(t *testing.T) string {
	t.Helper()
	db := open(t)
	r := repoFor(t, db, remote)
	for i := range 20 {
		save(t, r, seededReview("7", "0", i))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return db.Path()
}

func write(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(t *testing.T) string
		want error
		hint string
	}{
		{
			"text", func(t *testing.T) string { return write(t, []byte(strings.Repeat("this is no database\n", 300))) },
			ErrCorrupt, "mkdir -p '",
		},
		{"zeros", func(t *testing.T) string { return write(t, make([]byte, 8192)) }, ErrCorrupt, "mv '"},
		{"half a file", func(t *testing.T) string {
			path := filled(t)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, info.Size()/2); err != nil {
				t.Fatal(err)
			}
			return path
		}, ErrCorrupt, "the next review creates an empty one: mkdir -p '"},
		{"scratched schema", func(t *testing.T) string {
			path := filled(t)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			copy(data[100:], strings.Repeat("\xff", 60))
			return write(t, data)
		}, ErrCorrupt, "mv '"},
		{"newer schema", func(t *testing.T) string {
			path := filled(t)
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec("INSERT INTO schema_version (version_id, is_applied) VALUES (999, 1)"); err != nil {
				t.Fatal(err)
			}
			return path
		}, ErrNewer, "update precedent"},
		{
			"another program's", func(t *testing.T) string { return plant(t, "CREATE TABLE customers (id INTEGER)") },
			ErrForeign, "--memory-db",
		},
		{"with a trigger", func(t *testing.T) string {
			path := filled(t)
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec("CREATE TRIGGER steal AFTER INSERT ON findings BEGIN DELETE FROM rejections; END"); err != nil {
				t.Fatal(err)
			}
			return path
		}, ErrForeign, "--memory-db"},
		{"read-only file", func(t *testing.T) string {
			path := filled(t)
			if err := os.Chmod(path, 0o444); err != nil {
				t.Fatal(err)
			}
			return path
		}, ErrUnwritable, "writable"},
		{"read-only folder", func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o555); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
			return filepath.Join(dir, "memory.db")
		}, ErrUnwritable, "writable"},
		{"folder in place of the file", func(t *testing.T) string { return t.TempDir() }, ErrUnwritable, "--memory-db"},
		{
			"file in place of the folder", func(t *testing.T) string { return filepath.Join(write(t, nil), "memory.db") },
			ErrUnwritable, "--memory-db",
		},
		{"link", func(t *testing.T) string {
			target := write(t, nil)
			link := filepath.Join(t.TempDir(), "memory.db")
			if err := os.Symlink(target, link); err != nil {
				t.Fatal(err)
			}
			return link
		}, ErrUnwritable, "--memory-db"},
		{"link beside the file", func(t *testing.T) string {
			path := filled(t)
			if err := os.Symlink(write(t, nil), path+"-wal"); err != nil {
				t.Fatal(err)
			}
			return path
		}, ErrUnwritable, "--memory-db"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := test.make(t)
			before, _ := os.ReadFile(path)
			db, err := Open(t.Context(), path, Options{})
			if err == nil {
				db.Close()
				t.Fatal("it was opened")
			}
			if !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			failure, ok := errors.AsType[*Error](err)
			if !ok || !strings.Contains(failure.Hint, test.hint) {
				t.Errorf("error %#v, want a hint with %q", err, test.hint)
			}
			if strings.Count(err.Error(), "open memory") != 1 || !strings.Contains(err.Error(), path) {
				t.Errorf("message %q", err)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestHintMovesAway does what the hint for a damaged file says.
func TestHintMovesAway(t *testing.T) {
	path := write(t, []byte(strings.Repeat("x", 5000)))
	_, err := Open(t.Context(), path, Options{})
	failure, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatal(err)
	}
	_, command, _ := strings.Cut(failure.Hint, ": ")
	runShell(t, command)
	openFile(t, path)
}

// TestDamageFoundLater damages pages that opening does not read.
func TestDamageFoundLater(t *testing.T) {
	path := filled(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Every page but the first, which has the schema, loses its header.
	for at := 4096; at < len(data); at += 4096 {
		if kind := data[at]; kind == 0x0d || kind == 0x05 || kind == 0x0a || kind == 0x02 {
			data[at] = 0x77
		}
	}
	path = write(t, data)
	db, err := Open(t.Context(), path, Options{})
	if err == nil {
		defer db.Close()
		var r *Repo
		if r, err = db.RepoFor(t.Context(), remote); err == nil {
			err = r.SaveReview(t.Context(), review(remote, "r1", 1, finding(remote, "a.go", "x", "bugs", "high")))
		}
	}
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("error %v, want %v", err, ErrCorrupt)
	}
}

// TestWALCut cuts the write-ahead log at many places: what is left of it holds
// whole reviews.
func TestWALCut(t *testing.T) {
	db := open(t)
	r := repoFor(t, db, remote)
	for i := range 6 {
		save(t, r, seededReview("7", "0", i))
	}
	file, err := os.ReadFile(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	wal, err := os.ReadFile(db.Path() + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for cut := 0; cut < len(wal); cut += max(len(wal)/8, 1) {
		path := write(t, file)
		if err := os.WriteFile(path+"-wal", wal[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		n := len(checkFile(t, path, "7"))
		if n < last {
			t.Errorf("%d bytes of log hold %d reviews, fewer bytes held %d", cut, n, last)
		}
		last = n
	}
}

// unopened returns a database without a schema.
func unopened(t *testing.T, place string) *DB {
	t.Helper()
	d := sqlite
	if strings.Contains(place, "://") {
		d = postgres
	}
	db := newDB(d, place, Options{})
	connector, err := d.connector(place)
	if err != nil {
		t.Fatal(err)
	}
	db.sql = sql.OpenDB(connector)
	t.Cleanup(func() { db.sql.Close() })
	return db
}

func TestUpgradeGoesOn(t *testing.T) { onBothEngines(t, testUpgradeGoesOn) }

func testUpgradeGoesOn(t *testing.T, place func() string) {
	step := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("-- +goose Up\n" + s)} }
	good := fstest.MapFS{
		"00001_a.sql": step("CREATE TABLE a (x TEXT);"),
		"00002_b.sql": step("CREATE TABLE b (x TEXT); INSERT INTO b VALUES ('1');"),
	}
	bad := fstest.MapFS{
		"00001_a.sql": good["00001_a.sql"],
		"00002_b.sql": step("CREATE TABLE b (x TEXT); INSERT INTO nowhere VALUES ('1');"),
	}
	db := unopened(t, place())
	ctx := t.Context()
	if err := db.upgrade(ctx, bad); err == nil {
		t.Fatal("a step that fails was done")
	}
	if v, err := db.version(ctx); v != 1 || err != nil {
		t.Errorf("version %d, %v after the second step failed, want 1", v, err)
	}
	if _, err := db.sql.Exec("SELECT * FROM b"); err == nil {
		t.Error("half of the second step was kept")
	}
	if err := db.upgrade(ctx, good); err != nil {
		t.Fatal(err)
	}
	if v, err := db.version(ctx); v != 2 || err != nil {
		t.Errorf("version %d, %v, want 2", v, err)
	}
	if err := db.upgrade(ctx, fstest.MapFS{"00001_a.sql": good["00001_a.sql"]}); !errors.Is(err, ErrNewer) {
		t.Errorf("error %v, want %v", err, ErrNewer)
	}
}

// TestKept: only what is written to a file or a server lasts.
func TestKept(t *testing.T) {
	onBothEngines(t, func(t *testing.T, place func() string) {
		db, err := openAt(t.Context(), place(), Options{})
		db = opened(t, db, err)
		if !db.Kept() || !db.Borrow().Kept() {
			t.Errorf("%s is not kept", db.Path())
		}
	})
	inMemory, err := OpenMemory(t.Context(), Options{})
	if opened(t, inMemory, err).Kept() {
		t.Error("a database in memory is kept")
	}
	file := openFile(t, filepath.Join(t.TempDir(), "memory.db"))
	copied, err := OpenCopy(t.Context(), file.Path(), t.TempDir(), Options{})
	if opened(t, copied, err).Kept() {
		t.Error("a copy is kept")
	}
}

// TestUntouched: a database that is only looked at keeps its schema.
func TestUntouched(t *testing.T) {
	onBothEngines(t, func(t *testing.T, place func() string) {
		first, err := fs.ReadFile(migrations, "00001_memory.sql")
		if err != nil {
			t.Fatal(err)
		}
		at := place()
		if err := unopened(t, at).upgrade(t.Context(), fstest.MapFS{"00001_memory.sql": {Data: first}}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			db, err := openAt(t.Context(), at, Options{Untouched: true})
			db = opened(t, db, err)
			if version, newest, err := db.Schema(t.Context()); version != 1 || newest < 16 || err != nil {
				t.Errorf("schema %d of %d, %v", version, newest, err)
			}
			if size, err := db.Size(t.Context()); size == 0 || err != nil {
				t.Errorf("size %d, %v", size, err)
			}
		}
	})
}

// TestCreateIsEveryStep: a database that is made at once is the one that the steps make.
func TestCreateIsEveryStep(t *testing.T) { onBothEngines(t, testCreateIsEveryStep) }

func testCreateIsEveryStep(t *testing.T, place func() string) {
	dump := func(make func(*DB, fs.FS) error) []string {
		db := unopened(t, place())
		steps := migrations
		if db.dialect.steps != nil {
			steps = db.dialect.steps(steps)
			release, err := db.dialect.prepare(t.Context(), db.sql)
			if err != nil {
				t.Fatal(err)
			}
			defer release()
		}
		if err := make(db, steps); err != nil {
			t.Fatal(err)
		}
		all := schemaOf(t, db)
		err := rows(t.Context(), db.sql, "SELECT id, version_id, is_applied, tstamp IS NULL FROM "+versionTable, nil,
			func(r scanner) error {
				var line [4]any
				err := r.Scan(&line[0], &line[1], &line[2], &line[3])
				all = append(all, fmt.Sprintln(line))
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	atOnce := dump(func(db *DB, steps fs.FS) error { return db.create(t.Context(), steps) })
	stepwise := dump(func(db *DB, steps fs.FS) error { return db.step(t.Context(), steps) })
	if d := cmp.Diff(stepwise, atOnce); d != "" {
		t.Errorf("they differ (-stepwise +at once):\n%s", d)
	}
	if text := strings.Join(atOnce, "\n"); !strings.Contains(text, "findings") {
		t.Errorf("no findings in\n%s", text)
	}
}

// TestUpgradeAfterKill opens what a process leaves behind that is killed while
// it makes the database.
func TestUpgradeAfterKill(t *testing.T) {
	const versions = `CREATE TABLE schema_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')))`
	for name, path := range map[string]string{
		"an empty file": write(t, nil),
		"an empty log":  plant(t, "PRAGMA journal_mode = WAL"),
		"the zeroth step": plant(t, "PRAGMA journal_mode = WAL", versions,
			"INSERT INTO schema_version (version_id, is_applied) VALUES (0, 1)"),
	} {
		db, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		save(t, repoFor(t, db, remote), review(remote, "r1", 1))
		db.Close()
	}
}

// TestUpgradeTogether lets several databases upgrade one place at once, step by step.
func TestUpgradeTogether(t *testing.T) { onBothEngines(t, testUpgradeTogether) }

func testUpgradeTogether(t *testing.T, place func() string) {
	steps := fstest.MapFS{}
	for i := 1; i <= 6; i++ {
		steps[fmt.Sprintf("%05d_s.sql", i)] = &fstest.MapFile{Data: fmt.Appendf(nil,
			"-- +goose Up\nCREATE TABLE t%d (x TEXT);", i)}
	}
	at := place()
	done := make(chan error)
	for range 5 {
		db := unopened(t, at)
		go func() { done <- db.retryBusy(t.Context(), func() error { return db.upgrade(t.Context(), steps) }) }()
	}
	for range 5 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestOpenMemory(t *testing.T) {
	ctx := t.Context()
	db, err := OpenMemory(ctx, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := repoFor(t, db, remote)
	save(t, r, review(remote, "r1", 1, finding(remote, "a.go", "x", "bugs", "high")))
	if _, err := r.Review(ctx, "r1"); err != nil {
		t.Error(err)
	}
	if _, err := r.Clear(ctx); err != nil {
		t.Error(err)
	}
	if n, err := db.Size(ctx); err != nil || n == 0 {
		t.Errorf("size %d, %v", n, err)
	}
	// With no page left to take, the review is refused whole.
	if _, err := db.sql.Exec("PRAGMA max_page_count = 1"); err != nil {
		t.Fatal(err)
	}
	v := review(remote, "r2", 1)
	for i := range 200 {
		v.Findings = append(v.Findings, finding(remote, "a.go", strings.Repeat(string(rune('a'+i%26)), 100+i), "bugs",
			"high"))
	}
	if err := r.SaveReview(ctx, v); !errors.Is(err, ErrFull) {
		t.Errorf("error %v, want %v", err, ErrFull)
	}
	if c, err := r.Count(ctx); err != nil || c != (Counts{}) {
		t.Errorf("after a review that did not fit: %+v, %v", c, err)
	}
}

// TestLocked holds the write lock in another connection: a caller that gives up
// gets its context's error, and one that waits gets through.
func TestLocked(t *testing.T) {
	db := open(t)
	r := repoFor(t, db, remote)
	other := openFile(t, db.Path())
	lock, err := other.sql.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.SaveReview(ctx, review(remote, "r1", 1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
	}
	saved := make(chan error)
	go func() { saved <- r.SaveReview(t.Context(), review(remote, "r2", 1)) }()
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-saved; err != nil {
		t.Error(err)
	}
}
