package intent

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
)

// phrasings are directives by their kind. "X" is what they are about.
var phrasings = map[precedent.LearningKind]string{
	precedent.LearnDontFlag: `
		do not flag X
		Do not flag X.
		don't flag X
		don’t flag X
		dont flag X
		never flag X
		stop flagging X
		avoid flagging X
		no need to flag X
		refrain from flagging X
		no longer flag X
		quit nagging about X
		don't warn us, do not mention X
		don't complain about X
		do not bother to flag X
		do not raise issues about X
		never complain about X again
		don't ask for X
		do not review X
		you do not need to flag X
		you don't have to report X
		not to flag X
		that you should not flag X
		in the future, do not flag X
		from now on please don't flag X
		I want you to stop flagging X
		ignore X
		feel free to skip X
		skip X
		tolerate X
		allow X
		leave X alone
		X is fine here
		X are ok in tests
		X is intentional
		X is by design
		X is not a problem here
		X is allowed because we log in scripts
		X is not worth flagging
		it is fine to use X
		we don't care about X
		nobody cares about X
		we are not interested in X
		we don't want comments about X
		X should not be flagged
		X need not be reported
		X does not need to be flagged
		no comments on X
		no need for comments on X`,
	precedent.LearnDo: `
		always flag X
		flag X
		do flag X
		do not merge without X
		do not ignore X
		never ignore X
		stop ignoring X
		never tolerate X
		do not stop flagging X
		do not allow X
		never approve X
		X is not fine
		X are not allowed here
		X must be flagged
		X should always be reported
		allow only X
		do not use X
		avoid X
		make sure that X holds
		require X
		do not show X in logs
		X is expected to return an error
		X is only allowed in scripts
		no X in production code
		no errors in X
		wrap errors with X`,
	precedent.LearnStricter: "be stricter about X\nplease be more careful with X\nbe less lenient with X",
	precedent.LearnLenient: "be more lenient with X\nbe less strict about X\ngo easy on X\nfocus less on X\npay " +
		"less attention to X",
	precedent.LearnFocus:      "focus more on X\nfocus on X\npay attention to X\nprioritize X\nlook closely at X",
	precedent.LearnConvention: "we use X\nour convention is X\nall handlers have X\nthis repo uses X",
}

func TestOf(t *testing.T) {
	n := 0
	for kind, all := range phrasings {
		for line := range strings.Lines(all) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			n++
			for _, about := range []string{"fixture duplication", "`console.log`", "magic numbers in `a/**`"} {
				directive := strings.Replace(line, "X", about, 1)
				got := Of(directive)
				if got.Kind != kind {
					t.Errorf("%q is %s, want %s", directive, got.Kind, kind)
				}
				if kind != precedent.LearnDo && !strings.Contains(got.Subject, about) {
					t.Errorf("%q is about %q", directive, got.Subject)
				}
			}
		}
	}
	if n < 80 {
		t.Errorf("%d phrasings, want at least 80", n)
	}
}

func TestSubject(t *testing.T) {
	for directive, want := range map[string]string{
		"do not flag fixture duplication in test/**/*.test.ts": "fixture duplication in test/**/*.test.ts",
		"Please stop flagging long functions.":                 "long functions",
		"TODO comments are fine in tests":                      "TODO comments",
		"never merge without a migration":                      "never merge without a migration",
	} {
		if got := Of(directive).Subject; got != want {
			t.Errorf("%q is about %q, want %q", directive, got, want)
		}
	}
}

func TestGlob(t *testing.T) {
	for words, want := range map[string]string{
		"do not flag fixture duplication in test/**/*.test.ts": "test/**/*.test.ts",
		"don't flag console.log in `scripts/**`":               "scripts/**",
		"naming for files under pkg/api":                       "pkg/api/**",
		"long lines in `a.go` and `b.go`":                      "{a.go,b.go}",
		"style issues in client/server code":                   "",
	} {
		if got, ok := Glob(words, false); got != want || !ok {
			t.Errorf("%q: %q, %t, want %q", words, got, ok, want)
		}
	}
	if got, ok := Glob("secrets in `../other/**`", false); ok {
		t.Errorf("a path outside of the repository is %q", got)
	}
	if got, _ := Glob("tests live in `test/**`", true); got != "" {
		t.Errorf("where tests live limits a rule to %q", got)
	}
}

// FuzzOf: any text has a kind, and what it is about is part of it.
func FuzzOf(f *testing.F) {
	f.Add("please don’t ever flag magic numbers in `a/**`!")
	f.Fuzz(func(t *testing.T, directive string) {
		got := Of(directive)
		if got.Kind == "" || !strings.Contains(strings.Join(strings.Fields(apostrophes.Replace(directive)), " "),
			got.Subject) {
			t.Errorf("%q is %+v", directive, got)
		}
	})
}
