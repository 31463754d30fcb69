package review

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
)

// TestAlikeIsSymmetric: whichever of two findings comes first, the decision is
// that of the merge stage.
func TestAlikeIsSymmetric(t *testing.T) {
	draw := func(t *rapid.T, label string) precedent.Finding {
		start := rapid.IntRange(0, 60).Draw(t, label+" start")
		return precedent.Finding{
			Finder: rapid.SampledFrom([]string{"bugs", "vet"}).Draw(t, label+" finder"), Analyzer: rapid.Bool().Draw(t, label+" analyzer"),
			Category: rapid.SampledFrom([]precedent.Category{precedent.Bugs, precedent.Style}).Draw(t, label+" category"),
			Span: precedent.Span{
				Path: rapid.SampledFrom([]string{"a.go", "b.go"}).Draw(t, label+" path"), Side: rapid.SampledFrom([]precedent.Side{precedent.Left, precedent.Right}).Draw(t, label+" side"),
				Start: start, End: start + rapid.IntRange(0, min(start, 5)).Draw(t, label+" lines"),
			},
			Title: rapid.SampledFrom([]string{"The error is ignored", "Error of Close is ignored", "Misspelled name", ""}).Draw(t, label+" title"),
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		got := Alike(&a, &b)
		if other := Alike(&b, &a); other != got {
			t.Fatalf("%s, and the other way round %s", got, other)
		}
		m := newMatcher([]precedent.Finding{a, b})
		m.match()
		want := NotSame
		switch {
		case len(m.edges) > 0:
			want = SurelySame
		case len(m.grey) > 0:
			want = PerhapsSame
		}
		if got != want {
			t.Fatalf("%s, and the merge stage has %s", got, want)
		}
	})
}
