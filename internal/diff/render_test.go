package diff

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

func TestNumbered(t *testing.T) {
	c, err := ParsePatch(strings.NewReader(`diff --git a/f b/f
--- a/f
+++ b/f
@@ -8,4 +8,4 @@ func main() {
 	a()
-	b()
+	c()
 	d()
 	e()
@@ -20 +20 @@
-x
\ No newline at end of file
+y
diff --git a/g b/g
deleted file mode 100644
--- a/g
+++ /dev/null
@@ -1,2 +0,0 @@
-1
-2
`), DefaultLimits)
	needs.NoError(t, err)
	c.Files[0].Hunks[1].Cut = "line longer than 64 KiB"
	var b strings.Builder
	for _, f := range c.Files {
		for i := range f.Hunks {
			f.Hunks[i].Numbered(&b)
		}
	}
	want := `@@ -8,4 +8,4 @@ func main() {
8  	a()
-	b()
+	c()
10  	d()
 	e()
@@ -20 +20 @@
-x
\ No newline at end of file
20 +y
… cut: line longer than 64 KiB
@@ -1,2 +0,0 @@
1 -1
-2
`
	needs.Equal(t, want, b.String())
}

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
