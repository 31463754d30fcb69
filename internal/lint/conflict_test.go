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
		{"a half", change("a.go", "+x", middle, "+y", "+>>>>>>> 1a2b3c4 (subject)"), "a.go:4 high"},
		{"a half of a quoted mail", change("a.txt", "+>>>>>>> he wrote"), ""},
		{"unchanged", change("a.go", " <<<<<<< HEAD", " =======", " >>>>>>> x", "+y"), ""},
		{"resolved", change("a.go", "-<<<<<<< HEAD", "-=======", "->>>>>>> x", "+y"), ""},
		{"indented", change("a.go", "+  <<<<<<< HEAD", middle, "+\t>>>>>>> x"), ""},
		{"longer", change("a.go", "+<<<<<<<< HEAD", "+<<<<<<<x", middle, "+>>>>>>>> x"), ""},
		{"not closed, then another", change("a.go", ours, middle, ours, middle, theirs, middle), "a.go:1 high, a.go:3 high"},
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
