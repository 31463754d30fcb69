package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/precedent-dev/precedent/internal/needs"
)

func TestOpenMakesAPrivateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b", "#%3f?", "memory.db")
	db := openPlace(t, path)
	save(t, repoFor(t, db, remote), review(remote, "r1", 1))
	for suffix, want := range map[string]fs.FileMode{"": 0o600, "-wal": 0o600, "-shm": 0o600} {
		info := needs.Value(os.Stat(path + suffix))(t)
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
		if got := ask[string](t, db, "PRAGMA "+pragma); got != want {
			t.Errorf("%s is %q, want %s", pragma, got, want)
		}
	}
}

// bare returns a database whose schema is not made or checked.
func bare(place string) (*DB, error) {
	d := sqlite
	if strings.Contains(place, "://") {
		d = postgres
	}
	db := newDB(d, place, options(nil))
	connector, err := d.connector(place)
	if err == nil {
		db.sql = sql.OpenDB(connector)
	}
	return db, err
}

func unopened(t testing.TB, place string) *DB {
	t.Helper()
	db := needs.Value(bare(place))(t)
	t.Cleanup(func() { db.sql.Close() })
	return db
}

// execAt executes statements on a database, as another program does, and returns its place.
func execAt(t testing.TB, place string, statements ...string) string {
	t.Helper()
	db := needs.Value(bare(place))(t)
	defer db.sql.Close()
	for _, s := range statements {
		if _, err := db.sql.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return place
}

// filled makes a good database of some hundred pages and closes it.
func filled(t *testing.T) string {
	t.Helper()
	db := open(t)
	r := repoFor(t, db, remote)
	for i := range 20 {
		save(t, r, seededReview("7", "0", i))
	}
	needs.NoError(t, db.Close())
	return db.Path()
}

func write(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	needs.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func TestOpenRefuses(t *testing.T) {
	data := needs.Value(os.ReadFile(filled(t)))(t)
	scratched := slices.Clone(data)
	copy(scratched[100:], strings.Repeat("\xff", 60))
	readOnly, folder := filled(t), t.TempDir()
	needs.NoError(t, errors.Join(os.Chmod(readOnly, 0o444), os.Chmod(folder, 0o555)))
	t.Cleanup(func() { _ = os.Chmod(folder, 0o755) })
	link, beside := filepath.Join(t.TempDir(), "memory.db"), filled(t)
	needs.NoError(t, errors.Join(os.Symlink(write(t, nil), link), os.Symlink(write(t, nil), beside+"-wal")))
	const older = "UPDATE schema_version SET version_id = 21 WHERE version_id > 0"
	const newer = "INSERT INTO schema_version (version_id, is_applied) VALUES (999, 1)"
	const trigger = "CREATE TRIGGER steal AFTER INSERT ON findings BEGIN DELETE FROM rejections; END"
	for _, test := range []struct {
		name, path string
		want       error
		hint       string
	}{
		{"text", write(t, []byte(strings.Repeat("this is no database\n", 300))), ErrCorrupt, "mkdir -p '"},
		{"half a file", write(t, data[:len(data)/2]), ErrCorrupt, "the next review creates an empty one: mkdir -p '"},
		{"scratched schema", write(t, scratched), ErrCorrupt, "mv '"},
		{"older schema", execAt(t, filled(t), older), ErrOlder, "export it"},
		{"newer schema", execAt(t, filled(t), newer), ErrNewer, "update precedent"},
		{"another program's", execAt(t, write(t, nil), "CREATE TABLE customers (id INTEGER)"), ErrForeign, "--memory-db"},
		{"with a trigger", execAt(t, filled(t), trigger), ErrForeign, "--memory-db"},
		{"read-only file", readOnly, ErrUnwritable, "writable"},
		{"read-only folder", filepath.Join(folder, "memory.db"), ErrUnwritable, "writable"},
		{"folder in place of the file", t.TempDir(), ErrUnwritable, "--memory-db"},
		{"file in place of the folder", filepath.Join(write(t, nil), "memory.db"), ErrUnwritable, "--memory-db"},
		{"link", link, ErrUnwritable, "--memory-db"},
		{"link beside the file", beside, ErrUnwritable, "--memory-db"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, _ := os.ReadFile(test.path)
			db, err := Open(t.Context(), test.path, Options{})
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
			if strings.Count(err.Error(), "open memory") != 1 || !strings.Contains(err.Error(), test.path) {
				t.Errorf("message %q", err)
			}
			if after, _ := os.ReadFile(test.path); string(after) != string(before) {
				t.Error("the file was changed")
			}
			if errors.Is(err, ErrCorrupt) { // the hint moves the file away
				_, command, _ := strings.Cut(failure.Hint, ": ")
				if out, err := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput(); err != nil {
					t.Errorf("%s: %v %s", command, err, out)
				}
				openPlace(t, test.path)
			}
		})
	}
}

// TestDamageFoundLater damages pages that opening may not read: a check finds that.
func TestDamageFoundLater(t *testing.T) {
	garbled := needs.Value(os.ReadFile(filled(t)))(t)
	for i := len(garbled) / 2; i < len(garbled)-100; i += 97 {
		garbled[i] ^= 0x5a
	}
	db, err := Open(t.Context(), write(t, garbled), Options{})
	if err == nil {
		defer db.Close()
		_, err = db.Check(t.Context())
	}
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("error %v, want %v", err, ErrCorrupt)
	}
}

// TestWALCut cuts the write-ahead log at many places: what is left of it holds whole reviews (fault row 58).
func TestWALCut(t *testing.T) {
	db := open(t)
	r := repoFor(t, db, remote)
	for i := range 6 {
		save(t, r, seededReview("7", "0", i))
	}
	file := needs.Value(os.ReadFile(db.Path()))(t)
	wal := needs.Value(os.ReadFile(db.Path() + "-wal"))(t)
	last := 0
	for cut := 0; cut < len(wal); cut += len(wal) / 8 {
		path := write(t, file)
		needs.NoError(t, os.WriteFile(path+"-wal", wal[:cut], 0o600))
		n := len(checkFile(t, path, "7"))
		if n < last {
			t.Errorf("%d bytes of log hold %d reviews, fewer bytes held %d", cut, n, last)
		}
		last = n
	}
}

func TestUpgradeGoesOn(t *testing.T) {
	onBothEngines(t, func(t *testing.T, place func() string) {
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
		needs.Result[int64](t, "version", 1)(db.version(ctx))
		if _, err := db.sql.Exec("SELECT * FROM b"); err == nil {
			t.Error("half of the second step was kept")
		}
		needs.NoError(t, db.upgrade(ctx, good))
		needs.Result[int64](t, "version", 2)(db.version(ctx))
		if err := db.upgrade(ctx, fstest.MapFS{"00001_a.sql": good["00001_a.sql"]}); !errors.Is(err, ErrNewer) {
			t.Errorf("error %v, want %v", err, ErrNewer)
		}
	})
}

// TestKept: only what is written to a file or a server lasts.
func TestKept(t *testing.T) {
	file := open(t)
	copied, err := OpenCopy(t.Context(), file.Path(), t.TempDir(), Options{})
	if !file.Kept() || !file.Borrow().Kept() || openMemory(t).Kept() || opened(t, copied, err).Kept() {
		t.Error("what is in a file lasts, and nothing else")
	}
}

// TestUntouched: a database that is only looked at keeps its schema.
func TestUntouched(t *testing.T) {
	onBothEngines(t, func(t *testing.T, place func() string) {
		at, older := place(), place()
		oldest, _, err := numbers(migrations)
		needs.NoError(t, err)
		step := &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE a (b TEXT);")}
		for at, number := range map[string]int64{at: oldest, older: 1} {
			needs.NoError(t, unopened(t, at).upgrade(t.Context(), fstest.MapFS{fmt.Sprintf("%05d_a.sql", number): step}))
		}
		if _, _, err := openPlace(t, older, Options{Untouched: true}).Schema(t.Context()); !errors.Is(err, ErrOlder) {
			t.Errorf("error %v, want %v", err, ErrOlder)
		}
		for range 2 {
			db := openPlace(t, at, Options{Untouched: true})
			if version, newest, err := db.Schema(t.Context()); version != oldest || newest < oldest || err != nil {
				t.Errorf("schema %d of %d, %v", version, newest, err)
			}
			if size, err := db.Size(t.Context()); size == 0 || err != nil {
				t.Errorf("size %d, %v", size, err)
			}
		}
	})
}

// TestLibcIsSQLitesOwn guards a trap: modernc.org/sqlite is generated against
// one version of modernc.org/libc and breaks in subtle ways with another, which
// any other module can raise.
func TestLibcIsSQLitesOwn(t *testing.T) {
	list := func(format, module string) string {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", format, module).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		return strings.TrimSpace(string(out))
	}
	mod := needs.Value(os.ReadFile(list("{{.GoMod}}", "modernc.org/sqlite")))(t)
	want := regexp.MustCompile(`modernc\.org/libc (v\S+)`).FindSubmatch(mod)
	if want == nil {
		t.Fatal("modernc.org/sqlite names no version of modernc.org/libc")
	}
	if got := list("{{.Version}}", "modernc.org/libc"); got != string(want[1]) {
		t.Errorf("modernc.org/libc is %s, SQLite wants %s", got, want[1])
	}
}
