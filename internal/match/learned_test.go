package match

import (
	"testing"

	"github.com/precedent-dev/precedent"
)

// statements are pairs of directives: the second says the opposite of the first, or not.
var statements = []struct {
	a, b     precedent.LearningKind
	one, two string
	opposite bool
}{
	{
		"convention", "convention", "wrap every error with the verb and the object",
		"never wrap an error with the verb and the object", true,
	},
	{"do", "dont_flag", "check that every query has a context", "don't flag queries without a context", true},
	{"focus", "dont_flag", "focus on naming of exported types", "ignore naming of exported types", true},
	{"convention", "exception", "we use UTC for all times", "local times are fine, all times are not UTC here", true},
	{"do", "dont_flag", "flag magic numbers in handlers", "don't flag magic numbers", true},
	{
		"do", "dont_flag", "require a doc comment on exported functions",
		"missing doc comments on exported functions are fine", true,
	},
	{"do", "lenient", "check the error of every Close", "be lenient with unchecked errors of Close", true},

	{"do", "dont_flag", "check that every query has a context", "don't flag magic numbers", false},
	{"stricter", "lenient", "be stricter about SQL", "be more lenient about missing tests", false},
	{"do", "dont_flag", "check the error of every Close", "don't flag TODO comments", false},
	{
		"convention", "convention", "wrap every error with the verb and the object",
		"never return a nil error with a nil object", false,
	},
	{"focus", "dont_flag", "focus on concurrency in the cache", "don't flag the size of the cache", false},
}

// TestContradictions measures from which similarity two directives that pull in opposite
// directions are about one subject.
func TestContradictions(t *testing.T) {
	found, missed, wrong := 0, 0, 0
	for _, s := range statements {
		a, b := &precedent.Learning{Kind: s.a, Directive: s.one}, &precedent.Learning{Kind: s.b, Directive: s.two}
		similarity := NewClaim(s.one).Similarity(NewClaim(s.two))
		switch got := Contradict(a, b, similarity); {
		case got && s.opposite:
			found++
		case got:
			wrong++
			t.Logf("not opposite, %.2f: %q and %q", similarity, s.one, s.two)
		case s.opposite:
			missed++
			t.Logf("missed, %.2f: %q and %q", similarity, s.one, s.two)
		}
	}
	t.Logf("%d found, %d missed, %d wrong", found, missed, wrong)
	if 10*found < 8*(found+missed) || wrong > 1 {
		t.Errorf("%d of %d contradictions are found, and %d pairs of others count as one", found, found+missed, wrong)
	}
}
