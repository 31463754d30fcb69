package lint

import (
	"testing"

	"github.com/precedent-dev/precedent/internal/diff"
)

func TestConflicts(t *testing.T) {
	for _, test := range []struct {
		name   string
		change *diff.Change
		want   []string
	}{
		{
			"whole", change("a.txt", "@@5", " a", "+<<<<<<< HEAD", "+x", "+=======", "+y", "+>>>>>>> feature/login", " b"),
			[]string{"a.txt:6 conflict-marker high"},
		},
		{
			"with base", change("a.go", "+<<<<<<< ours", "+||||||| 1a2b3c4", "+=======", "+>>>>>>> theirs"),
			[]string{"a.go:1 conflict-marker high"},
		},
		{
			"two", change("a.go", "+<<<<<<< HEAD", "+=======", "+>>>>>>> x", "+<<<<<<< HEAD", "+=======", "+>>>>>>> x"),
			[]string{"a.go:1 conflict-marker high", "a.go:4 conflict-marker high"},
		},
		{
			"only the end was left", change("a.md", "+text", "+>>>>>>> 1a2b3c4 (subject)"),
			[]string{"a.md:2 conflict-marker high"},
		},
		{
			"only the start was left", change("a.md", "+<<<<<<< Updated upstream", "+text"),
			[]string{"a.md:1 conflict-marker high"},
		},
		{
			"old one that was extended", change("a.go", " <<<<<<< HEAD", "+x", "+=======", " >>>>>>> x"),
			[]string{"a.go:3 conflict-marker high"},
		},
		{
			"carriage return", change("a.go", "+<<<<<<< HEAD\r", "+=======\r", "+>>>>>>> x\r"),
			[]string{"a.go:1 conflict-marker high"},
		},
		{"without a label", change("a.go", "+<<<<<<<", "+=======", "+>>>>>>>"), []string{"a.go:1 conflict-marker high"}},
		{"unchanged", change("a.go", " <<<<<<< HEAD", " =======", " >>>>>>> x", "+y"), nil},
		{"resolved", change("a.go", "-<<<<<<< HEAD", "-=======", "->>>>>>> x", "+y"), nil},
		{"underlined title", change("a.rst", "+Heading", "+=======", "+", "+Heading2", "+========"), nil},
		{"underlined title after a conflict", change("a.rst", "+<<<<<<< HEAD", "+=======", "+>>>>>>> x", "+Heading",
			"+======="), []string{"a.rst:1 conflict-marker high"}},
		{"indented", change("a.go", "+  <<<<<<< HEAD", "+\t>>>>>>> x"), nil},
		{"longer", change("a.go", "+<<<<<<<< HEAD", "+>>>>>>>> x", "+<<<<<<<x"), nil},
		{"table", change("a.md", "+||||||| a | b |", "+|||||||"), nil},
		{"quoted mail", change("a.txt", "+>>>>>> earlier", "+>>>>>>> first", "+>>>>>> earlier"), nil},
		{
			"one within another", change("a.go", "+<<<<<<< HEAD", "+<<<<<<< HEAD", "+=======", "+>>>>>>> x", "+=======",
				"+>>>>>>> y", "+<<<<<<< HEAD", "+>>>>>>> x"),
			[]string{"a.go:1 conflict-marker high", "a.go:7 conflict-marker high"},
		},
		{
			"not closed, then another", change("a.go", "+<<<<<<< HEAD", "+=======", "+<<<<<<< HEAD", "+=======", "+>>>>>>> x"),
			[]string{"a.go:1 conflict-marker high", "a.go:3 conflict-marker high"},
		},
		{
			"in two hunks", change("a.go", "@@1", "+<<<<<<< HEAD", " x", "@@50", " y", "+=======", "+>>>>>>> x"),
			[]string{"a.go:1 conflict-marker high"},
		},
		{
			"example in a document", change("merging.md", "+Git marks a merge conflict like this:", "+<<<<<<< HEAD", "+=======",
				"+>>>>>>> x"),
			[]string{"merging.md:2 conflict-marker low"},
		},
		{
			"document", change("README.md", "+```xml", "+<<<<<<< HEAD", "+=======", "+>>>>>>> x"),
			[]string{"README.md:2 conflict-marker high"},
		},
		{
			"test of a merge tool", change("internal/resolve/conflict_test.go", "+const in = `", "+<<<<<<< HEAD", "+=======",
				"+>>>>>>> x", "+`"),
			[]string{"internal/resolve/conflict_test.go:2 conflict-marker low"},
		},
		{
			"test of something else", change("sql/upsert_test.go", "+ON CONFLICT DO NOTHING", "+<<<<<<< HEAD", "+=======",
				"+>>>>>>> x"),
			[]string{"sql/upsert_test.go:2 conflict-marker high"},
		},
		{
			"merge tool itself", change("merge.go", "+// a merge conflict", "+<<<<<<< HEAD", "+=======", "+>>>>>>> x"),
			[]string{"merge.go:2 conflict-marker high"},
		},
		{"documentation of conflicts", change("a.go", `+	"<<<<<<< HEAD",`), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			same(t, run(t, "conflict-markers", &Input{Change: test.change}),
				test.want...)
		})
	}
}

func FuzzConflicts(f *testing.F) {
	f.Add("<<<<<<< a", "|||||||", "=======", ">>>>>>>", "+- +")
	f.Add("=======", "", "<", ">>>>>>> x|", "++ +")
	f.Fuzz(func(t *testing.T, a, b, c, d, ops string) {
		var lines []diff.Line
		for i := range len(ops) {
			lines = append(lines, diff.Line{Op: diff.Op(ops[i]), Text: []string{a, b, c, d}[i%4], New: i + 1})
		}
		for _, found := range conflictsIn(lines) {
			added := false
			for _, l := range found {
				added = added || l.Op == diff.Add
				if marker(l.Text) == 0 || l.Op == diff.Delete {
					t.Errorf("%q is not a marker", l.Text)
				}
			}
			if !added {
				t.Error("a conflict that the change did not add")
			}
		}
	})
}
