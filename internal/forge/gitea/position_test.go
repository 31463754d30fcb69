package gitea

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
)

// TestForgejosPositions: Forgejo counts the lines of the commit that wrote the
// line, and the hunk has the line of the review's commit.
func TestForgejosPositions(t *testing.T) {
	m := &comment{Path: "a.go", NewLine: 7, DiffHunk: "@@ -10,2 +12,3 @@\n context\n-gone\n+here\n+there"}
	if got, at := position(m, "c"); got.Start != 14 || got.End != 14 || got.Side != precedent.Right || at.new != 7 {
		t.Errorf("%+v, %+v", got, at)
	}
	m = &comment{Path: "a.go", OldLine: 3, DiffHunk: "@@ -10,2 +12,3 @@\n context\n-gone"}
	if got, at := position(m, "c"); got.End != 11 || got.Side != precedent.Left || at.old != 3 {
		t.Errorf("%+v, %+v", got, at)
	}
	for _, hunk := range []string{
		"", "@@", "@@ -1 +1 @@", "@@ -1,2 +1,2 @@\n-gone", "@@ -99999999999 +1 @@\n+x", "x\n+y",
	} {
		m := &comment{Path: "a.go", NewLine: 5, DiffHunk: hunk}
		if got, _ := position(m, "c"); got.End != 5 {
			t.Errorf("%q: %+v", hunk, got)
		}
	}
	if got, _ := position(&comment{NewLine: 1 << 60}, "c"); got.End != 0 {
		t.Errorf("%+v", got)
	}
}

// TestLastLine counts a hunk in another way: by the lines of each side.
func TestLastLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := rapid.IntRange(0, 1000).Draw(t, "before"), rapid.IntRange(0, 1000).Draw(t, "after")
		ops := rapid.SliceOfN(rapid.SampledFrom([]string{" ", "+", "-"}), 1, 30).Draw(t, "ops")
		var b strings.Builder
		fmt.Fprintf(&b, "@@ -%d,9 +%d,9 @@ func", before, after)
		for _, op := range ops {
			b.WriteString("\n" + op + rapid.SampledFrom([]string{"", "x", "@@ -1 +1 @@", "\\"}).Draw(t, "text"))
			if rapid.Bool().Draw(t, "end") {
				b.WriteString("\n\\ No newline at end of file")
			}
		}
		all, last := strings.Join(ops, ""), ops[len(ops)-1]
		left, right := before+len(all)-strings.Count(all, "+")-1, after+len(all)-strings.Count(all, "-")-1
		if last == "+" {
			left = 0
		}
		if last == "-" {
			right = 0
		}
		if got := lastLine(b.String(), precedent.Left); got != left {
			t.Errorf("left %d, want %d", got, left)
		}
		if got := lastLine(b.String(), precedent.Right); got != right {
			t.Errorf("right %d, want %d", got, right)
		}
	})
}
