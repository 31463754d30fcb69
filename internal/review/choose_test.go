package review

import (
	"testing"

	"github.com/precedent-dev/precedent"
)

// TestLinesOfTheForge: a line that is in our diff and not in the forge's gets no comment of its own, but one on the
// file. A range is shortened to the forge's hunk.
func TestLinesOfTheForge(t *testing.T) {
	base, ten := files{"a.txt": long(60, nil)}, map[int]string{10: "ten\n"}
	in := input(t, base, files{"a.txt": long(60, map[int]string{10: "ten\n", 50: "fifty\n"})})
	in.ForgeChange = parse(t, patchOf(t, base, files{"a.txt": long(60, ten)}, "--unified=1"))
	in.Engine = answering(
		finding("a.txt", 50, "fifty", "only we have it", nil),
		finding("a.txt", 10, "ten", "both have it", object{"end": 13}),
	)
	r := run(t, in)
	if f := byTitle(t, r, "only we have it"); f.Placement != precedent.WholeFile || f.Start != 50 {
		t.Errorf("%s at %s", f.Placement, f.Span)
	}
	if f := byTitle(t, r, "both have it"); f.Placement != precedent.Inline || f.Start != 10 || f.End != 11 {
		t.Errorf("%s at %s", f.Placement, f.Span)
	}
}
