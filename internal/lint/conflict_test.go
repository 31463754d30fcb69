package lint

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/needs"
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
		{"a half", change("a.go", "+>>>>>>> 1a2b3c4 (subject)", middle, ours), ""},
		{"old one that was extended", change("a.go", " <<<<<<< HEAD", "+x", middle, " >>>>>>> x"), "a.go:3 high"},
		{"carriage return", change("a.go", "+<<<<<<< HEAD\r", "+=======\r", "+>>>>>>> x\r"), "a.go:1 high"},
		{"without a label", change("a.go", "+<<<<<<<", middle, "+>>>>>>>"), "a.go:1 high"},
		{"unchanged", change("a.go", " <<<<<<< HEAD", " =======", " >>>>>>> x", "+y"), ""},
		{"resolved", change("a.go", "-<<<<<<< HEAD", "-=======", "->>>>>>> x", "+y"), ""},
		{"indented", change("a.go", "+  <<<<<<< HEAD", middle, "+\t>>>>>>> x"), ""},
		{"longer", change("a.go", "+<<<<<<<< HEAD", "+<<<<<<<x", middle, "+>>>>>>>> x"), ""},
		{"not closed, then another", change("a.go", ours, middle, ours, middle, theirs, middle), "a.go:3 high"},
		{"in two hunks", change("a.go", "@@1", ours, " x", "@@50", " y", middle, theirs), "a.go:1 high"},
		{"document", change("merging.md", ours, middle, theirs), ""},
		{"test", change("internal/resolve/conflict_test.go", ours, middle, theirs), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := run(t, "conflict-markers", &Input{Change: test.change})
			needs.Equal(t, test.want, strings.ReplaceAll(strings.Join(brief(r), ", "), " conflict-marker", ""))
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
		for _, l := range conflictsIn(&diff.File{Hunks: []diff.Hunk{{Lines: lines}}}) {
			if marker(l.Text) == 0 || l.Op != diff.Add {
				t.Errorf("%q is not an added marker", l.Text)
			}
		}
	})
}
