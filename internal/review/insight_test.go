package review

import (
	"testing"

	"github.com/precedent-dev/precedent"
)

// TestCiteInsights: a finding names an insight that it was given. It gains nothing by it, and
// an id that was not given cites nothing.
func TestCiteInsights(t *testing.T) {
	insights := []precedent.Insight{
		{ID: "k7m2q0v5xa", Text: "Owners are not checked"},
		{ID: "p3c8w1n6te", Text: "Rows stay open"},
	}
	fs := []precedent.Finding{
		{ID: "names it", Rule: "k7m2q0v5xa", Confidence: 60},
		{ID: "too", Rule: "[k7m2q0v5xa]", Confidence: 60},
		{ID: "made up", Rule: "zzzzzzzzzz", Confidence: 60},
		{ID: "of an analyzer", Rule: "p3c8w1n6te", Analyzer: true},
		{ID: "hidden", Rule: "p3c8w1n6te", Dropped: precedent.Refuted},
	}
	used := citeInsights(fs, insights)
	cite(fs, nil, nil)
	want := precedent.Cite{Kind: "insight", ID: "k7m2q0v5xa", Text: "Owners are not checked"}
	if len(used) != 1 || used[0] != want {
		t.Errorf("used %+v", used)
	}
	for i, n := range []int{1, 1, 0, 0, 0} {
		f := fs[i]
		if len(f.Cites) != n || n == 1 && (f.Cites[0] != want || f.Rule != "" || f.Trail[0].Delta != 0) {
			t.Errorf("%s: %+v", f.ID, f)
		}
	}
}
