package wire

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestRemarksInsideOneHunk tries every span of a small file.
func TestRemarksInsideOneHunk(t *testing.T) {
	const patch = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n" +
		"@@ -2,3 +2,4 @@\n a\n-b\n+c\n+d\n e\n@@ -9,2 +10,1 @@\n f\n-g\n"
	change := needs.Value(diff.ParsePatch(strings.NewReader(patch), diff.DefaultLimits))(t)
	hunks := map[precedent.Side]string{precedent.Right: "0011110000200000", precedent.Left: "0011100002200000"} // by line
	for side, of := range hunks {
		for start := range of {
			for end := range of {
				inside := of[start] != '0' && start <= end && strings.Count(of[start:end+1], of[start:start+1]) == end+1-start
				if why := rejectReason(change, precedent.Span{
					Path: "a.go", Side: side, Start: start, End: end,
				}); (why == "") != inside {
					t.Errorf("%s %d to %d: %q", side, start, end, why)
				}
			}
		}
	}
}
