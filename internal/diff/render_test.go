package diff

import (
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

func TestIdentical(t *testing.T) {
	edit := func(path string) File { return modified(path, 1, "old(x)", "new(x)") }
	skipped, cut, indented := edit("d"), edit("e"), modified("f", 1, "old(x)", " new(x)")
	skipped.Skip = "vendored"
	cut.Hunks[0].Cut = "diff larger than 1 MiB"
	twice := edit("b")
	twice.Hunks = append(twice.Hunks, edit("b").Hunks[0])
	twice.Hunks[1].Lines = append([]Line{{Op: Context, Text: "other context"}}, twice.Hunks[1].Lines...)
	c := &Change{Files: []File{edit("a"), modified("x", 1, "p", "q"), cut, twice, skipped, indented, edit("g")}}
	groups := Identical(c)
	var got [][]HunkRef
	for _, g := range groups {
		if len(g.Key) != 64 {
			t.Errorf("key %q", g.Key)
		}
		got = append(got, g.Hunks)
	}
	want := [][]HunkRef{{{0, 0}, {3, 0}, {3, 1}, {6, 0}}, {{1, 0}}, {{2, 0}}, {{5, 0}}}
	needs.Equal(t, want, got)
}
