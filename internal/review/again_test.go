package review

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// decidesAgain checks that the decisions of a review, made again from what is stored with it, are the same.
func decidesAgain(tb testing.TB, r *precedent.Review) {
	tb.Helper()
	if len(r.Findings) == 0 {
		return
	}
	d := needs.Value(DecideAgain(r, r.Basis))(tb)
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

// pastTheEnd is a model that finds one defect, which its verifier confirms.
func pastTheEnd() *cast {
	const title = "The loop goes one past the end"
	return &cast{
		finder:   finds(inCart(loop, title, object{"severity": "medium"})),
		verifier: ruled(map[string]object{title: rules("confirmed", "It runs past.", loop)}),
	}
}

// dismissed is what dana dismissed an hour before the reviews of the tests.
func dismissed(id string, f precedent.Finding, reason string) precedent.Dismissal {
	now := time.Unix(1_700_000_000, 0)
	return precedent.Dismissal{
		ID: id, Finding: f.ID, Fingerprint: f.Fingerprint, Place: f.Place, Claim: f.Title, Path: f.Path, Symbol: f.Symbol,
		Category: f.Category, Severity: f.Severity, Reason: reason, Who: "dana",
		At: now.Add(-time.Hour), ExpiresAt: now.Add(time.Hour),
	}
}

// TestWithoutADismissal: a review that is decided again without a dismissal is like one that never had it, as far as
// that needs no engine. What a verifier never read is said to be unknown.
func TestWithoutADismissal(t *testing.T) {
	random := needs.Random(t)
	base, head := shopBase,
		shopHead.with(files{"cart/more.go": "package cart\n\nfunc more() {\n\tx := 1\n\tx = x\n}\n\n<<<<<<< " +
			"ours\n=======\n>>>>>>> theirs\n"})
	in := input(t, base, head)
	titles := []string{
		"The loop goes one past the end of the items", "Mean divides by zero for no items",
		"A negative total is silently zero", "The price is multiplied by the count",
	}
	in.Engine = &cast{
		finder: finds(
			inCart(loop, titles[0], object{"severity": "medium"}),
			inCart(mean, titles[1], object{"severity": "low", "category": "tests"}),
			inCart(neg, titles[2]),
			inCart(body, titles[3], object{"severity": "medium", "category": "architecture", "confidence": 60}),
		),
		verifier: ruled(map[string]object{
			titles[0]: rules("confirmed", "It runs past.", loop),
			titles[1]: rules("confirmed", "Zero.", mean),
			titles[2]: rules("uncertain", "Who knows."),
			titles[3]: rules("refuted", "No caller minds it.", body),
		}),
	}
	in.Policy.Focus = []precedent.Category{precedent.Architecture}
	in.Recall.Learned.Curve = lowering(6)
	plain := run(t, in)
	reasons := []string{"", "intended here", "never flag this", "not in this repository", "we don't do this here"}
	known, unknown, changed := 0, 0, 0
	for range needs.Rounds(60, 14) {
		in.Recall.Dismissals = nil
		for i := range 1 + random.IntN(5) {
			f := plain.Findings[random.IntN(len(plain.Findings))]
			j := dismissed(fmt.Sprintf("j%d", i), f, reasons[random.IntN(len(reasons))])
			j.At = in.Now().Add(-time.Duration(1+i) * time.Hour)
			if random.IntN(3) > 0 || slices.ContainsFunc(in.Recall.Dismissals,
				func(o precedent.Dismissal) bool { return o.Fingerprint == j.Fingerprint }) {
				j.Fingerprint = precedent.Fingerprint(f.Fingerprint, f.Category, 10+i)
			}
			in.Recall.Dismissals = append(in.Recall.Dismissals, j)
		}
		r := run(t, in)
		for i, out := range in.Recall.Dismissals {
			fresh := in
			fresh.Recall.Dismissals = slices.Delete(slices.Clone(in.Recall.Dismissals), i, i+1)
			want := run(t, fresh)
			for _, f := range store.Fold(want.Findings) {
				c := needs.Value(Without(r, f.Fingerprint, LeaveOut(r, []string{out.ID})))(t)
				if c.Before.Dropped != c.After.Dropped || c.Before.Confidence != c.After.Confidence {
					changed++
				}
				if c.Unknown != "" {
					unknown++
					continue
				}
				known++
				if diff := cmp.Diff(fateOf(f, want.Threshold), c.After); diff != "" {
					t.Errorf("%s without %+v (-fresh +again):\n%s", f.Title, out, diff)
				}
			}
		}
	}
	t.Logf("%d known, %d unknown, %d changed", known, unknown, changed)
	if known < 80 || unknown < 1 || changed < 4 {
		t.Error("too little was tried")
	}
}

// TestWithoutALearning: a learning that hid or moved a finding can be left out.
func TestWithoutALearning(t *testing.T) {
	in := input(t, shopBase, shopHead)
	in.Engine = pastTheEnd()
	f := byTitle(t, run(t, in), "The loop goes one past the end")
	l := precedent.Learning{
		ID: "m1", Kind: precedent.LearnLenient, State: precedent.LearningActive, Directive: f.Title, CreatedAt: in.Now(),
		About: &precedent.LearningAbout{
			Place: f.Place, Claim: f.Title, Path: f.Path, Symbol: f.Symbol, Category: f.Category,
			Severity: f.Severity,
		},
	}
	in.Recall.Learnings = []memory.Recalled{{Learning: l}}
	r := run(t, in)
	now := byTitle(t, r, f.Title)
	c2 := needs.Value(Without(r, f.Fingerprint, LeaveOut(r, []string{"m1"})))(t)
	if now.Confidence >= f.Confidence || c2.Before.Confidence != now.Confidence || c2.After.Confidence != f.Confidence ||
		c2.Unknown != "" || len(c2.Silent) > 0 || len(c2.Without) != 1 {
		t.Errorf("%d, then %d: %+v", f.Confidence, now.Confidence, c2)
	}
	if out := LeaveOut(r, []string{"nobody"}); len(out.Unknown) != 1 || len(out.Names) != 0 {
		t.Errorf("%+v", out)
	}
	r.Basis = nil
	if _, err := Without(r, f.Fingerprint, LeaveOut(r, nil)); !errors.Is(err, ErrNoBasis) {
		t.Errorf("without a basis: %v", err)
	}
}
