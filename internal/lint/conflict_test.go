package lint

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/diff"
)

func TestConflicts(t *testing.T) {
	const ours, middle, theirs = "+<<<<<<< HEAD", "+=======", "+>>>>>>> x"
	for _, test := range []struct {
		name   string
		change *diff.Change
		want   string // places and severities
	}{
		{
			"whole", change("a.txt", "@@5", " a", ours, "+x", middle, "+y", "+>>>>>>> feature/login", " b"),
			"a.txt:6 high",
		},
		{"with base", change("a.go", "+<<<<<<< ours", "+||||||| 1a2b3c4", middle, "+>>>>>>> theirs"), "a.go:1 high"},
		{"two", change("a.go", ours, middle, theirs, ours, middle, theirs), "a.go:1 high, a.go:4 high"},
		{"only the end was left", change("a.md", "+text", "+>>>>>>> 1a2b3c4 (subject)"), "a.md:2 high"},
		{"only the start was left", change("a.md", "+<<<<<<< Updated upstream", "+text"), "a.md:1 high"},
		{"old one that was extended", change("a.go", " <<<<<<< HEAD", "+x", middle, " >>>>>>> x"), "a.go:3 high"},
		{"carriage return", change("a.go", "+<<<<<<< HEAD\r", "+=======\r", "+>>>>>>> x\r"), "a.go:1 high"},
		{"without a label", change("a.go", "+<<<<<<<", middle, "+>>>>>>>"), "a.go:1 high"},
		{"unchanged", change("a.go", " <<<<<<< HEAD", " =======", " >>>>>>> x", "+y"), ""},
		{"resolved", change("a.go", "-<<<<<<< HEAD", "-=======", "->>>>>>> x", "+y"), ""},
		{"underlined title", change("a.rst", "+Heading", middle, "+", "+Heading2", "+========"), ""},
		{"underlined title after a conflict", change("a.rst", ours, middle, theirs, "+Heading",
			middle), "a.rst:1 high"},
		{"indented", change("a.go", "+  <<<<<<< HEAD", "+\t>>>>>>> x"), ""},
		{"longer", change("a.go", "+<<<<<<<< HEAD", "+>>>>>>>> x", "+<<<<<<<x"), ""},
		{"table", change("a.md", "+||||||| a | b |", "+|||||||"), ""},
		{"quoted mail", change("a.txt", "+>>>>>> earlier", "+>>>>>>> first", "+>>>>>> earlier"), ""},
		{
			"one within another", change("a.go", ours, ours, middle, theirs, middle, "+>>>>>>> y", ours, theirs),
			"a.go:1 high, a.go:7 high",
		},
		{"not closed, then another", change("a.go", ours, middle, ours, middle, theirs), "a.go:1 high, a.go:3 high"},
		{"in two hunks", change("a.go", "@@1", ours, " x", "@@50", " y", middle, theirs), "a.go:1 high"},
		{
			"example in a document", change("merging.md", "+Git marks a merge conflict like this:", ours, middle,
				theirs),
			"merging.md:2 low",
		},
		{"document", change("README.md", "+```xml", ours, middle, theirs), "README.md:2 high"},
		{
			"test of a merge tool", change("internal/resolve/conflict_test.go", "+const in = `", ours, middle,
				theirs, "+`"),
			"internal/resolve/conflict_test.go:2 low",
		},
		{
			"test of something else", change("sql/upsert_test.go", "+ON CONFLICT DO NOTHING", ours, middle, theirs),
			"sql/upsert_test.go:2 high",
		},
		{"merge tool itself", change("merge.go", "+// a merge conflict", ours, middle, theirs), "merge.go:2 high"},
		{"documentation of conflicts", change("a.go", `+	"<<<<<<< HEAD",`), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := run(t, "conflict-markers", &Input{Change: test.change})
			if got := strings.ReplaceAll(strings.Join(brief(r), ", "), " conflict-marker", ""); got != test.want {
				t.Errorf("found %q, want %q", got, test.want)
			}
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
