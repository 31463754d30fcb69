package guide

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
)

func TestParseLearnings(t *testing.T) {
	const src = `learnings:
  - kind: convention
    directive: wrap errors with the verb and the object
    why: so that a log says what failed
  - {kind: dont_flag, directive: do not flag magic numbers, paths: "testdata/**", category: style}
`
	got, errs := ParseLearnings([]byte(src), LearningsFile)
	if len(errs) > 0 || len(got) != 2 {
		t.Fatalf("%+v, %v", got, errs)
	}
	l := got[1]
	if l.State != precedent.LearningActive || l.Kind != precedent.LearnDontFlag || l.Glob != "testdata/**" ||
		l.Category != precedent.Style ||
		l.From.URL != ".precedent/learnings.yaml#L5" || len(l.ID) != precedent.FindingIDLen || got[0].ID == l.ID ||
		got[0].Rationale == "" {
		t.Errorf("%+v", l)
	}
}

// TestParseLearningsRefuses reads what is not a learning: each error has a line and, where that
// helps, a hint; other rows stay.
func TestParseLearningsRefuses(t *testing.T) {
	const fine = "\n  - {kind: do, directive: check errors}\n"
	for row, says := range map[string]string{
		`{kind: do}`:                                                     "a row needs a directive",
		`{kind: hide, directive: x}`:                                     `"hide" is not a kind of learning`,
		`{kind: do, directive: x, if: y}`:                                `unknown key "if"`,
		`just text`:                                                      "want a mapping",
		`{kind: do, directive: x, paths: ../y}`:                          "must not contain . or ..",
		`{kind: dont_flag, directive: x, paths: "**"}`:                   "the glob matches every file",
		`{kind: do, directive: x, category: all}`:                        "is not a category",
		"{kind: do, directive: \"hid\u200bden\"}":                        "hidden character",
		"{kind: do, directive: \"" + strings.Repeat("x", 20_001) + "\"}": "longer than 20000",
		`{kind: do, kind: do, directive: x}`:                             "more than once",
	} {
		got, errs := ParseLearnings([]byte("learnings:\n  - "+row+fine), "l.yaml")
		if len(errs) == 0 || !strings.Contains(errs[0].Error(), says) || !strings.HasPrefix(errs[0].Error(), "l.yaml:2:") {
			t.Errorf("%s: %v, want %q", row, errs, says)
		}
		if len(got) != 1 && !strings.Contains(says, "hidden") {
			t.Errorf("%s: %d rows are left, want the other one", row, len(got))
		}
	}
	for _, src := range []string{
		"learnings: &a [*a]\n", "a: &a [x,x]\nb: &b [*a,*a]\nlearnings: [*b,*b]\n", "- x\n", "learnings: !!python/object x\n",
		"learnings: [" + strings.Repeat("{kind: do, directive: x},", 300) + "]\n", "x: 1\n", "learnings: {}\n", "<<: {}\n",
		"learnings:\n\t- x\n",
		strings.Repeat("[", 100_000), fmt.Sprintf("learnings: [%s]\n", strings.Repeat(" ", 70<<10)),
	} {
		if got, errs := ParseLearnings([]byte(src), "l.yaml"); len(errs) == 0 || len(got) > 0 {
			t.Errorf("%.40s: %d rows, %v", src, len(got), errs)
		}
	}
	if got, errs := ParseLearnings(nil, "l.yaml"); len(got)+len(errs) > 0 {
		t.Errorf("an empty file: %v, %v", got, errs)
	}
}
