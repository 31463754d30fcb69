package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

func titles(known []Known) []string {
	var titles []string
	for _, k := range known {
		titles = append(titles, k.Title)
	}
	return titles
}

func testShown(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	r := repoFor(t, db, remote)
	a := finding(remote, "a.go", "a", precedent.Bugs, precedent.Medium)
	b := finding(remote, "a.go", "b", precedent.Security, precedent.High)
	c := finding(remote, "c.go", "c", precedent.Style, precedent.Nit)
	hidden := finding(remote, "a.go", "hidden", precedent.Bugs, precedent.High)
	hidden.Drop("verify", precedent.Refuted, "", "the guard is above")
	save(t, r, review(remote, "r1", 1, a, c, hidden))
	save(t, r, review(remote, "r2", 2, c))
	worse := a
	worse.Severity, worse.Title = precedent.Critical, "Worse"
	save(t, r, review(remote, "r3", 3, worse))
	save(t, r, review(remote, "r4", 4, b))

	this := func(n int) Change { v := review(remote, "", n); return Change{v.Base, v.Head} }
	files := []string{"a.go", "c.go", "none.go"}
	for _, test := range []struct {
		name   string
		paths  []string
		except Change
		want   []string
	}{
		{"another change", files, this(5), []string{"Title of b", "Worse", "Title of c"}},
		{"all files", nil, Change{}, []string{"Title of b", "Worse", "Title of c"}},
		{"the third again", files, this(3), []string{"Title of b", "Title of c", "Title of a"}},
		{"the fourth again", files, this(4), []string{"Worse", "Title of c"}},
		{"one file", []string{"c.go"}, this(5), []string{"Title of c"}},
		{"no file", []string{}, this(5), nil},
	} {
		got, err := r.Shown(ctx, test.paths, test.except)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, titles(got)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		for _, k := range got {
			if k.Title == "Title of c" && (k.Seen != 2 || k.ID != c.ID || !k.First.Equal(start.Add(time.Hour)) ||
				!k.Last.Equal(start.Add(2*time.Hour))) {
				t.Errorf("%s: %+v", test.name, k)
			}
			if k.Title == "Title of a" && (k.Seen != 1 || k.Severity != precedent.Medium) {
				t.Errorf("%s: %+v", test.name, k)
			}
		}
	}
}

// testManyFiles asks for more files than one statement takes as parameters.
func testManyFiles(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	r := repoFor(t, db, remote)
	v := review(remote, "r1", 1)
	var paths []string
	for i := range 1300 {
		path := fmt.Sprintf("f%d.go", i)
		paths = append(paths, path)
		if i%100 == 0 {
			v.Findings = append(v.Findings, finding(remote, path, "x", precedent.Bugs, precedent.High))
		}
	}
	for i := range 60 {
		v.Findings = append(v.Findings, finding(remote, "f1.go", fmt.Sprint(i), precedent.Bugs, precedent.High))
	}
	save(t, r, v)
	history, err := r.Shown(ctx, paths, Change{})
	if err != nil || len(history) != 73 {
		t.Errorf("%d findings, %v, want 73", len(history), err)
	}
	known, err := r.Known(ctx, paths, 1000)
	if err != nil || len(known) != 13+knownPerFile {
		t.Errorf("%d findings, %v, want %d", len(known), err, 13+knownPerFile)
	}
	if known, err := r.Known(ctx, paths, 3); err != nil || len(known) != 3 {
		t.Errorf("%d findings, %v, want 3", len(known), err)
	}
}

func testFindingsByID(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	r := repoFor(t, db, remote)
	ids := []string{"abcde00001", "abcde00002", "abzzz00003", "abcde"}
	v := review(remote, "r1", 1)
	for i, id := range ids {
		f := finding(remote, "a.go", fmt.Sprint(i), precedent.Bugs, precedent.High)
		f.ID = id
		v.Findings = append(v.Findings, f)
	}
	save(t, r, v)
	for prefix, want := range map[string]int{
		"ab": 4, "abc": 3, "abcde": 1, "abcde0": 2, "abz": 1, "abcde00001": 1, "x": 0,
		"abcde000019": 0, "%": 0, "_": 0,
	} {
		found, err := r.FindingsByID(ctx, prefix, 10)
		if err != nil || len(found) != want {
			t.Errorf("%q finds %v, %v, want %d", prefix, found, err, want)
		}
	}
	if found, err := r.FindingsByID(ctx, "", 3); err != nil || len(found) != 3 {
		t.Errorf("%v, %v, want 3", found, err)
	}
}
