package corpus

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRenew: an index that is brought up to date finds what a new one finds, after imports, edits
// and a cleared corpus, and is kept if nothing changed.
func TestRenew(t *testing.T) {
	c := openCorpus(t, "")
	mustImport(t, c, generated(300, 1))
	kept, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for step, change := range []func(){
		func() {},
		func() { mustImport(t, c, generated(400, 2)) },
		func() { mustImport(t, c, generated(500, 3)) },
		func() {
			if _, err := c.Rows.ClearCorpus(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		func() { mustImport(t, c, generated(50, 4)) },
	} {
		change()
		before := kept
		if kept, err = c.Renew(t.Context(), kept); err != nil {
			t.Fatal(err)
		}
		if same := kept == before; same != (step < 3 || step == 4) {
			t.Errorf("step %d: the index was kept: %v", step, same)
		}
		fresh, err := c.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if kept.revision != fresh.revision || kept.Len() != fresh.Len() {
			t.Errorf("step %d: revision %d with %d chunks, want %d with %d", step, kept.revision, kept.Len(), fresh.revision, fresh.Len())
		}
		for _, q := range []Query{{Text: "please check the error of user3", All: true}, {Text: "lock map race", Path: "a.go"}} {
			if d := cmp.Diff(fresh.Search(t.Context(), q), kept.Search(t.Context(), q)); d != "" {
				t.Errorf("step %d, %q (-new +kept):\n%s", step, q.Text, d)
			}
		}
	}
}
