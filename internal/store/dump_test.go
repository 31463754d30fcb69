package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestDumpHasEveryTable: no table is forgotten, and rows are in the order of their keys.
func TestDumpHasEveryTable(t *testing.T) {
	db := open(t)
	found := needs.Value(db.tables(t.Context(), db.read))(t)
	listed := slices.Clone(otherTables)
	for _, d := range tables {
		listed = append(listed, d.name)
		key, err := collect(t.Context(), db.read, "SELECT name FROM pragma_table_info($1) WHERE pk > 0 ORDER BY pk",
			[]any{d.name}, scanOne[string])
		if got := strings.Join(key, ", "); err != nil || got != d.key {
			t.Errorf("the key of %s is %s, %v, not %s", d.name, got, err, d.key)
		}
	}
	found = slices.DeleteFunc(found, func(name string) bool { return name == "sqlite_sequence" })
	slices.Sort(found)
	slices.Sort(listed)
	if d := cmp.Diff(found, listed); d != "" {
		t.Errorf("list each table in tables or otherTables (-tables +lists):\n%s", d)
	}
}

// columnTypes are the columns of a table.
func columnTypes(t *testing.T, db *DB, table string) []*sql.ColumnType {
	t.Helper()
	found := needs.Value(db.sql.QueryContext(t.Context(), "SELECT * FROM "+table))(t)
	defer found.Close()
	types, err := found.ColumnTypes()
	if err != nil || found.Err() != nil {
		t.Fatal(err, found.Err())
	}
	return types
}

// fillTables puts random rows into all tables of a dump. Columns of keys have few values, so that
// rows refer to each other.
func fillTables(t *testing.T, db *DB, rnd *rand.Rand) {
	t.Helper()
	texts := slices.Concat(naughty, broken)
	for _, d := range tables {
		types := columnTypes(t, db, d.name)
		keys := strings.Split(d.key, ", ")
		all := 1 << (2 * len(keys)) // combinations
		for i := range all {
			if len(keys) > 3 && rnd.IntN(all/16) > 0 {
				continue
			}
			values, numbers := make([]any, len(types)), make([]string, len(types))
			for c, column := range types {
				numbers[c] = fmt.Sprint("$", c+1)
				k := slices.Index(keys, column.Name())
				n := i >> (2 * max(k, 0)) & 3
				last := i >> (2 * (len(keys) - 1)) & 3
				switch text := column.DatabaseTypeName() == "TEXT"; {
				case k >= 0 && text:
					values[c] = fmt.Sprint("k", n)
				case k >= 0:
					values[c] = n
				case column.Name() == "repo_id" || column.Name() == "hash":
					values[c] = fmt.Sprint("k", rnd.IntN(4))
				case column.Name() == "fingerprint" || d.name == "work" && text:
					values[c] = fmt.Sprint("k", last) // one of a pull request
				case column.Name() == "pull":
					values[c] = last
				case text:
					values[c] = texts[rnd.IntN(len(texts))]
				case column.DatabaseTypeName() == "BYTEA":
					values[c] = []byte(texts[rnd.IntN(len(texts))])
				default:
					values[c] = int64(rnd.Uint64())
				}
			}
			if _, err := db.sql.Exec("INSERT INTO "+d.name+" VALUES ("+strings.Join(numbers, ", ")+")", values...); err != nil {
				t.Fatalf("%s: %v", d.name, err)
			}
		}
	}
}

func dumpOf(t *testing.T, db *DB) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := db.Dump(t.Context(), &b)
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	return b.Bytes()
}

// TestMoveBetweenEngines moves random rows from SQLite to PostgreSQL and back: each export has
// equal bytes, so nothing is lost or changed.
func TestMoveBetweenEngines(t *testing.T) {
	rnd := needs.Random(t)
	first := open(t)
	fillTables(t, first, rnd)
	dump := dumpOf(t, first)
	t.Logf("%d rows, %d bytes", bytes.Count(dump, []byte("\n"))-2, len(dump))
	for _, other := range []*DB{openPlace(t, needs.PostgreSQL(t)), open(t)} {
		needs.Value(other.Restore(t.Context(), bytes.NewReader(dump)))(t)
		if !bytes.Equal(dumpOf(t, other), dump) {
			t.Errorf("on %s the export is another one", other.Engine())
		}
		checkHealth(t, other)
	}
}

// testRestoreRefuses: a dump that is cut off, changed or of another version leaves nothing, and
// one does not overwrite rows.
func testRestoreRefuses(t *testing.T, open opener) {
	from := openMemory(t)
	save(t, repoFor(t, from, remote), seededReview("7", "0", 1))
	dump := string(dumpOf(t, from))
	lines := strings.SplitAfter(dump, "\n")
	db := open(t)
	bad := map[string]string{
		"nothing":           "",
		"other text":        "hello\n" + dump,
		"another export":    `{"precedent_memory":1}` + "\n",
		"another schema":    strings.Replace(dump, `"schema":`, `"schema":9`, 1),
		"another table":     strings.Replace(dump, `"table":"reviews"`, `"table":"sqlite_schema"`, 1),
		"a statement":       strings.Replace(dump, `{"created_at":`, `{"created_at) VALUES (1); --":`, 1),
		"an unknown column": strings.Replace(dump, `{"created_at":`, `{"made_at":`, 1),
		"bytes of nothing":  strings.Replace(dump, `{"created_at":`, `{"created_at":{"bytes":"?"},"x":`, 1),
		"more after it":     dump + "[1]\n",
		"a row left out":    strings.Join(slices.Delete(slices.Clone(lines), 2, 3), ""),
		"a row twice":       strings.Join(slices.Insert(slices.Clone(lines), 2, lines[2]), ""),
		"null":              "null\n",
		"a row of nothing":  strings.Replace(dump, "\n", "\n"+`{"table":"repos","row":{}}`+"\n", 1),
	}
	for i := range len(lines) - 2 {
		bad[fmt.Sprint("cut off after line ", i+1)] = strings.Join(lines[:i+1], "")
	}
	for name, text := range bad {
		if _, err := db.Restore(t.Context(), strings.NewReader(text)); err == nil {
			t.Errorf("%s is restored", name)
		}
		if all, err := db.Repos(t.Context()); err != nil || len(all) > 0 {
			t.Fatalf("%s left %d repositories, %v", name, len(all), err)
		}
	}
	needs.Value(db.Restore(t.Context(), strings.NewReader(dump)))(t)
	if _, err := db.Restore(t.Context(), strings.NewReader(dump)); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a second time: %v", err)
	}
}

// writer calls do before each write.
type writer struct {
	bytes.Buffer
	do func()
}

func (w *writer) Write(p []byte) (int, error) {
	w.do()
	return w.Buffer.Write(p)
}

// TestDumpHoldsNobodyUp: while an installation is exported, its server goes on, and stores reviews. The export has what
// was there when it began.
func TestDumpHoldsNobodyUp(t *testing.T) {
	onBothEngines(t, func(t *testing.T, place func() string) {
		db := openPlace(t, place())
		r := repoFor(t, db, remote)
		for i := range 60 { // more than is buffered
			save(t, r, seededReview("7", "0", i))
		}
		want, writes := dumpOf(t, db), 0
		got := &writer{do: func() {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			writes++
			if err := r.SaveReview(ctx, seededReview("7", "1", writes)); err != nil {
				t.Error(err)
			}
		}}
		needs.Value(db.Dump(t.Context(), got))(t)
		if !bytes.Equal(want, got.Bytes()) || writes < 2 {
			t.Errorf("another export of %d bytes after %d writes", got.Len(), writes)
		}
	})
}
