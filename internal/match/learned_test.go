package match

import (
	"testing"

	"github.com/precedent-dev/precedent"
)

// spoken are directives as people write them, with titles of findings that they speak of and
// titles that only share a word or a subject.
var spoken = []struct {
	directive     string
	covers, other []string
}{
	{"don't flag magic numbers in tests", []string{
		"Magic number 86400 in the test of the timer",
		"The number 42 has no name",
	}, []string{"The test number is never incremented", "Flag --count is ignored"}},
	{
		"ignore naming of short variables",
		[]string{"Variable n has a name that says nothing", "Name x is too short"},
		[]string{"Variable n is used after it was freed", "The name of the file is not escaped"},
	},
	{"missing context in queries is fine in migrations", []string{
		"Query runs without a context",
		"ExecContext is not used in the migration",
	}, []string{"The migration drops a column with data", "Query is built from user input"}},
	{
		"we do not care about unhandled errors of Close on files that are only read",
		[]string{"Error of Close is ignored", "The error returned by f.Close is not checked"},
		[]string{"The file is never closed", "Error of Write is ignored"},
	},
	{"be stricter about SQL built from strings", []string{
		"SQL is concatenated from the request",
		"Query string is built with Sprintf, which allows SQL injection",
	}, []string{"The string is not translated", "Rows are not closed"}},
	{"this retry without backoff is intentional, the server queues", []string{
		"Retry loop has no backoff",
		"Retries hammer the server without a delay",
	}, []string{"The queue of the server is never drained", "Timeout is zero"}},
	{
		"don't report TODO comments",
		[]string{"TODO comment left in the code", "A TODO says that the check is missing"},
		[]string{"Comment does not match the code", "The report has no total"},
	},
}

// TestDirectives measures by the words alone which findings a directive may speak of.
// LikeDirective only decides what a judge is asked, so it must lose little.
func TestDirectives(t *testing.T) {
	for _, threshold := range []float64{LikeDirective, LikeClaim, SameClaim} {
		var covered, found, others, wrong int
		for _, s := range spoken {
			words := NewClaim(s.directive)
			for _, title := range s.covers {
				covered++
				if words.Similarity(NewClaim(title)) >= threshold {
					found++
				}
			}
			for _, title := range s.other {
				others++
				if words.Similarity(NewClaim(title)) >= threshold {
					wrong++
				}
			}
		}
		t.Logf("from %.2f: %d of %d that it speaks of, %d of %d others", threshold, found, covered, wrong, others)
		switch {
		case threshold == LikeDirective && 10*found < 8*covered:
			t.Errorf("a judge is not asked about %d of %d findings", covered-found, covered)
		case threshold == SameClaim && wrong > 0:
			t.Errorf("without a judge %d of %d other findings count", wrong, others)
		}
	}
}

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
