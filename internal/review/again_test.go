package review

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

// decidesAgain checks that the decisions of a review, made again from what is stored with it,
// are the same.
func decidesAgain(tb testing.TB, r *precedent.Review) {
	tb.Helper()
	if len(r.Findings) == 0 {
		return
	}
	d, err := DecideAgain(r, r.Basis)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range d.Findings {
		want, got := r.Findings[i], d.Findings[i]
		want.Basis, want.Balance, got.Balance = nil, 0, 0
		want.Thread = got.Thread // a local review removes it at its end
		if diff := cmp.Diff(want, got); diff != "" {
			tb.Errorf("%s: decided differently from the same basis (-review +again):\n%s", want.Title, diff)
		}
	}
	if len(d.Unverified) > 0 {
		tb.Errorf("unverified: %v", d.Unverified)
	}
}
