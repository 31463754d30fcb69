package gitea

import (
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// TestForgejosPositions: Forgejo counts the lines of the commit that wrote the
// line, and the hunk has the line of the review's commit.
func TestForgejosPositions(t *testing.T) {
	m := &wire.Comment{Path: "a.go", NewLine: 7, DiffHunk: "@@ -10,2 +12,3 @@\n context\n-gone\n+here\n+there"}
	if got, at := position(m, "c"); got.Start != 14 || got.End != 14 || got.Side != precedent.Right || at.new != 7 {
		t.Errorf("%+v, %+v", got, at)
	}
	m = &wire.Comment{Path: "a.go", OldLine: 3, DiffHunk: "@@ -10,2 +12,3 @@\n context\n-gone"}
	if got, at := position(m, "c"); got.End != 11 || got.Side != precedent.Left || at.old != 3 {
		t.Errorf("%+v, %+v", got, at)
	}
	for hunk, want := range map[string][2]int{ // on the old side and on the new one
		"@@ -10,3 +12,2 @@\n-one\n-two": {11, 0},
		"@@ -10,2 +12,2 @@\n-gone\n\\ No newline at end of file\n+here\n\\ No newline at end of file\n": {0, 12},
	} {
		if got := [2]int{lastLine(hunk, precedent.Left), lastLine(hunk, precedent.Right)}; got != want {
			t.Errorf("%q: %v, want %v", hunk, got, want)
		}
	}
	for _, hunk := range []string{
		"", "@@", "@@ -1 +1 @@", "@@ -1,2 +1,2 @@\n-gone", "@@ -99999999999 +1 @@\n+x", "x\n+y",
	} {
		m := &wire.Comment{Path: "a.go", NewLine: 5, DiffHunk: hunk}
		if got, _ := position(m, "c"); got.End != 5 {
			t.Errorf("%q: %+v", hunk, got)
		}
	}
}
