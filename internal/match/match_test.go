package match

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
)

// TestFindingsIsSymmetric: whichever of two findings comes first, the decision is
// that of a set that holds both.
func TestFindingsIsSymmetric(t *testing.T) {
	draw := func(t *rapid.T, label string) precedent.Finding {
		start := rapid.IntRange(0, 60).Draw(t, label+" start")
		return precedent.Finding{
			Finder:   rapid.SampledFrom([]string{"bugs", "vet"}).Draw(t, label+" finder"),
			Analyzer: rapid.Bool().Draw(t, label+" analyzer"),
			Category: rapid.SampledFrom([]precedent.Category{precedent.Bugs, precedent.Style}).Draw(t, label+" category"),
			Span: precedent.Span{
				Path:  rapid.SampledFrom([]string{"a.go", "b.go"}).Draw(t, label+" path"),
				Side:  rapid.SampledFrom([]precedent.Side{precedent.Left, precedent.Right}).Draw(t, label+" side"),
				Start: start, End: start + rapid.IntRange(0, min(start, 5)).Draw(t, label+" lines"),
			},
			Title: rapid.SampledFrom([]string{
				"The error is ignored", "Error of Close is ignored", "Misspelled name", "",
			}).Draw(t, label+" title"),
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		got := Findings(&a, &b)
		if other := Findings(&b, &a); other != got {
			t.Fatalf("%s, and the other way round %s", got, other)
		}
		if b.Start < a.Start {
			a, b = b, a
		}
		s := NewSet([]*precedent.Finding{&a, &b})
		want := NotSame
		switch {
		case len(s.sure) > 0:
			want = SurelySame
		case len(s.alike) > 0:
			want = LikelySame
		case len(s.open) > 0:
			want = PerhapsSame
		}
		if got != want {
			t.Fatalf("%s, and the set has %s", got, want)
		}
	})
}

// TestAnswers: a judge is believed without a quote where nothing is hidden, and
// never with words that nobody wrote.
func TestAnswers(t *testing.T) {
	a := &precedent.Finding{Title: "It crashes", Body: "An empty list has no first element.", Quote: "return x[0]"}
	b := &precedent.Finding{Body: "Check the length."}
	shown := []string{a.Title, a.Body, a.Quote, b.Title, b.Body, b.Quote}
	for _, test := range []struct {
		quote         string
		same, covered bool // of yes
	}{
		{quote: "  ", same: true, covered: false},
		{quote: ".", same: false, covered: false},
		{quote: "[0]", same: false, covered: false},
		{quote: "", same: true, covered: false},
		{quote: "no  first\n element", same: true, covered: true},
		{quote: "`return x[0]`", same: true, covered: false},
		{quote: "“made up”", same: false, covered: false},
	} {
		yes, no := Answer{Same: true, Quote: test.quote}, Answer{Quote: test.quote}
		if got := yes.SameRemark(shown...); got != test.same {
			t.Errorf("%q: the same %v", test.quote, got)
		}
		if got := yes.Covered(a.Title, a.Body); got != test.covered {
			t.Errorf("%q: covered %v", test.quote, got)
		}
		if no.SameRemark(shown...) || no.Covered(a.Title, a.Body) {
			t.Errorf("%q: no is yes", test.quote)
		}
	}
	said, err := ReadAnswers([]byte(`{"pairs": [{"pair": "p2", "same": true}, {"pair": "p2"}, {"pair": "p9", "same": true}]}`), 3)
	if err != nil || len(said) != 1 || !said[1].Same {
		t.Errorf("%+v, %v", said, err)
	}
	if _, err := ReadAnswers([]byte(`[]`), 1); err == nil {
		t.Error("a list was read as an answer")
	}
}
