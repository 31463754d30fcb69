package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

// testFollow has a repository that is renamed, and others that get its names.
func testFollow(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	called := func(name string) precedent.Repo { return precedent.Repo{Host: remote.Host, Owner: "team", Name: name} }
	number := func(n precedent.ForgeID) precedent.Repo { return precedent.NumberedRepo(remote.Host, n) }
	follow := func(n precedent.ForgeID, names ...precedent.Repo) *Repo {
		t.Helper()
		for range 2 { // the second time nothing changes
			if err := db.Follow(ctx, number(n), names...); err != nil {
				t.Fatal(err)
			}
		}
		return repoFor(t, db, names...) //nolint:contextcheck // it uses that of the test, as ctx is
	}
	f := finding(called("app"), "a.go", "x", precedent.Bugs, precedent.High)
	first := repoFor(t, db, called("app"), local) // before its number was known
	save(t, first, review(called("app"), "r1", 1, f))

	renamed := follow("7", called("store"), called("app"), local)
	if renamed.id != first.id || repoFor(t, db, called("app")).id != first.id {
		t.Error("the memory did not follow the name")
	}
	now := precedent.FindingID(called("store"), f.Fingerprint)
	for _, id := range []string{f.ID, now} {
		if found, err := renamed.FindingsByID(ctx, id, 10); err != nil || len(found) != 1 || found[0].ID != now {
			t.Errorf("id %s finds %v, %v", id, found, err)
		}
	}
	if names, err := renamed.Names(ctx); err != nil || !cmp.Equal(names,
		[]precedent.Repo{called("app"), called("store")}) {
		t.Errorf("names %v, %v", names, err)
	}

	// Another clone knew the newest name before this memory did.
	other := repoFor(t, db, called("shop"))
	save(t, other, review(called("shop"), "r2", 2, finding(called("shop"), "b.go", "y", precedent.Bugs, precedent.High)))
	if moved := follow("7", called("shop")); moved.id != first.id {
		t.Error("the memory did not follow the number")
	} else if c, err := moved.Count(ctx); err != nil || c.Reviews != 2 {
		t.Errorf("%+v, %v", c, err)
	}

	// A new repository takes a former name, and then the present one: it has no memory.
	for i, name := range []string{"app", "shop"} {
		taken := follow(precedent.NumberID(int64(8+i)), called(name), local)
		if c, err := taken.Count(ctx); err != nil || taken.id == first.id || c != (Counts{}) {
			t.Errorf("%s: a new repository reads the memory of another: %+v, %v", name, c, err)
		}
	}
	if again := follow("7", called("end")); again.id != first.id {
		t.Error("the number lost its memory")
	}
	checkHealth(t, db)
}
