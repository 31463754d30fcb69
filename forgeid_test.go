package precedent

import (
	"math"
	"slices"
	"testing"
)

func TestForgeID(t *testing.T) {
	for _, n := range []int64{1, -2, math.MaxInt64, math.MinInt64} {
		if got := NumberID(n).Number(); got != n {
			t.Errorf("%d came back as %d", n, got)
		}
	}
	if NumberID(0) != "" {
		t.Error("0 is an id")
	}
	for _, id := range []ForgeID{"", "0", "007", "+7", "-0", "7 ", "1e3", "9223372036854775808", "6a9c1750b37d513a43987b574953fceb50b03ce7"} {
		if n := id.Number(); n != 0 {
			t.Errorf("%q is number %d", id, n)
		}
	}
	sorted := []ForgeID{"", "-2", "9", "10", "3000000000", "007", "6a9c1750", "b"}
	mixed := slices.Clone(sorted)
	slices.Reverse(mixed)
	slices.SortFunc(mixed, ForgeID.Compare)
	if !slices.Equal(mixed, sorted) {
		t.Errorf("sorted: %q", mixed)
	}
}
