package review

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
)

// TestLinesOfTheForge: a line that is in our diff and not in the forge's gets no comment
// of its own, but one on the file.
func TestLinesOfTheForge(t *testing.T) {
	letters := func(s string) string { // one function for each letter, one statement for each dot
		var b strings.Builder
		for i, l := range s {
			switch {
			case l == '.':
				b.WriteString("\treturn nil\n")
			case l == '-':
				b.WriteString("x()\n")
			case l >= 'a':
				b.WriteString("func " + string(l) + s[i+1:i+2] + "() { run(" + s[i+1:i+2] + ") }\n")
			}
		}
		return b.String()
	}
	base := files{"a.go": letters("..c0c1a0a1a2a3a4a5a6a7a8-d0d1d2")}
	head := files{"a.go": letters("..a6a7a8-d0d1d2c0c1a5..a6a7a8-d0d1d2c0c1a5a6a7a8a0a1a2a3a4a5")}
	in := input(t, base, head)
	in.ForgeChange = parse(t, patchOf(t, base, head, "--full-index", "--diff-algorithm=myers"))
	ours, theirs := in.Change.File("a.go"), in.ForgeChange.File("a.go")
	if ours.HunkAt(precedent.Right, 18) < 0 || theirs.HunkAt(precedent.Right, 18) >= 0 {
		t.Fatal("line 18 is not in one of the diffs only")
	}
	lines := strings.Split(head["a.go"], "\n")
	in.Engine = answering(
		finding("a.go", 18, lines[17], "only the histogram has it", nil),
		finding("a.go", 3, lines[2], "both have it", object{"end": 40}),
	)
	r := run(t, in)
	if f := byTitle(t, r, "only the histogram has it"); f.Placement != precedent.WholeFile || f.Start != 18 {
		t.Errorf("%s at %s", f.Placement, f.Span)
	}
	f := byTitle(t, r, "both have it")
	if f.Placement != precedent.Inline || theirs.HunkAt(precedent.Right, f.End) != theirs.HunkAt(precedent.Right,
		f.Start) {
		t.Errorf("%s at %s", f.Placement, f.Span)
	}
	for _, f := range r.Live() {
		if f.Placement == precedent.Inline && theirs.HunkAt(f.Side, f.Start) < 0 {
			t.Errorf("%s is inline at %s, which the forge does not show", f.Title, f.Span)
		}
	}
}
