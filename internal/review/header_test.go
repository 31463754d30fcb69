package review

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestQuotesOfHunkHeaders: what stands after the second @@ is a line of the file, which the
// model was shown, though not of the diff.
func TestQuotesOfHunkHeaders(t *testing.T) {
	long := "func (s *Service) Transfer(ctx context.Context, from, to AccountID, cents int64, note string) error {"
	var b strings.Builder
	b.WriteString("package bank\n\nfunc Check(id AccountID) bool {\n" + strings.Repeat("\tx()\n", 8) + "}\n\n" + long +
		"\n" + strings.Repeat("\ty()\n", 8) + "\treturn nil\n}\n")
	old := b.String()
	head := strings.Replace(old, "\treturn nil\n", "\tsend(note)\n\treturn nil\n", 1)
	twice := strings.Replace(head, strings.Repeat("\tx()\n", 8), strings.Repeat("\tx()\n", 7)+"\tz()\n", 1)
	renamed := strings.Replace(twice, "func Check(id AccountID) bool {", "func Checked(id AccountID) (ok bool) {", 1)
	right := func(line int) precedent.Span {
		return precedent.Span{Path: "bank.go", Side: precedent.Right, Start: line, End: line}
	}
	for _, test := range []struct {
		name, head, quote string
		said              int
		want              precedent.Span // no path: dropped
	}{
		{"in the header, cut", head, long[:75], 22, right(14)},
		{"longer than the header shows", head, long, 22, right(14)},
		{"with the ranges", head, "@@ -20,6 +20,7 @@ " + long[:70], 22, right(14)},
		{"of the nearer hunk", twice, "func Check(id AccountID) bool {", 9, right(3)},
		{
			"in the diff as well", renamed, "func Check(id AccountID) bool {", 3,
			precedent.Span{Path: "bank.go", Side: precedent.Left, Start: 3, End: 3},
		},
		{"of the diff", head, "\tsend(note)", 22, right(23)},
		{"nowhere", head, "func Withdraw(id AccountID) bool {", 22, precedent.Span{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := between(t, files{"bank.go": old}, files{"bank.go": test.head})
			read := func(side precedent.Side, _ string) ([]byte, error) {
				if side == precedent.Left {
					return []byte(old), nil
				}
				return []byte(test.head), nil
			}
			evidence := []precedent.Evidence{{Path: "bank.go", Line: 23, Quote: "send(note)"}}
			fs := []precedent.Finding{{Span: right(test.said), Quote: test.quote, Evidence: evidence, Severity: precedent.Medium}}
			place(fs, NewPlacer(c), newSources(c, read))
			f := fs[0]
			if test.want.Path == "" {
				if f.Live() {
					t.Errorf("it is at %s", f.Span)
				}
				return
			}
			if d := cmp.Diff(test.want, f.Span); d != "" || !f.Live() || f.Inexact {
				t.Errorf("live %v, inexact %v (-want +got):\n%s", f.Live(), f.Inexact, d)
			}
			limit := 0
			in := &Input{Change: c, Threshold: &limit, MaxInline: 5}
			choose(fs, in, in.commentable)
			needs.Equal(t, c.File("bank.go").HunkAt(f.Side, f.Start) >= 0, fs[0].Placement == precedent.Inline)
		})
	}
	// Without the file, the line is not known.
	c := between(t, files{"bank.go": old}, files{"bank.go": head})
	f := []precedent.Finding{{Span: right(22), Quote: long[:75]}}
	place(f, NewPlacer(c), newSources(c, func(precedent.Side, string) ([]byte, error) { return nil, fs.ErrNotExist }))
	if f[0].Live() {
		t.Errorf("placed at %s", f[0].Span)
	}
}
