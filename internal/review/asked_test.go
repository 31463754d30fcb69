package review

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// TestAskedFinders: every change is read by the generalist, and by second readers if it is an occasion for them, one
// if it is small; a deep review and the policy ask more, and the policy has the last word.
func TestAskedFinders(t *testing.T) {
	const deep = "general bugs security types performance architecture tests"
	small := files{"a.go": "package a\n"}
	long := func(line string) string { return "package a\n" + strings.Repeat("\n"+line, 30) + "\n" }
	ruled := guide.Guide{Rules: []precedent.Rule{{ID: "aaaaaaaa", Text: "Wrap errors."}}, Docs: []precedent.GuideDoc{{Path: "AGENTS.md"}}}
	for _, test := range []struct {
		name string
		head files
		set  func(*Input)
		want string
	}{
		{"plain code", files{"sum.go": long("var n = 1")}, nil, "general"},
		{"tests", files{"sum_test.go": long("var n = 1")}, nil, "general tests"},
		{"no test", files{"latest.go": long("var n = 1")}, nil, "general"},
		{"trust in a line", files{"a.go": long("if user.IsAdmin() { }")}, nil, "general security"},
		{"trust in a name", files{"login/session.go": long("var n = 1")}, nil, "general security"},
		{"CI", files{".github/workflows/a.yaml": long("on: push")}, nil, "general security"},
		{"rules", files{"a.go": long("var n = 1")}, func(in *Input) { in.Guide = ruled }, "general guidelines"},
		{"a small change", files{"login_test.go": "package a\n"}, func(in *Input) { in.Guide = ruled }, "general security"},
		{"twenty lines", files{"auth/login_test.go": strings.Repeat("token\n", 20)}, nil, "general security"},
		{"a small change, deep", small, func(in *Input) { in.Deep = true }, deep + " style"},
		{"deep, with a guide", small, func(in *Input) { in.Deep, in.Guide = true, ruled }, deep + " style guidelines"},
		{"by the policy", files{"a_test.go": long("var n = 1")}, func(in *Input) {
			in.Policy.Finders = map[string]bool{"performance": true, "tests": false, "general": false}
		}, "performance"},
		{"off in a deep review", small, func(in *Input) {
			in.Deep, in.Policy.Finders = true, map[string]bool{"style": false}
		}, deep},
	} {
		in := input(t, files{}, test.head)
		in.Policy.Finders, in.Engine = nil, answering()
		if test.set != nil {
			test.set(&in)
		}
		got := needs.Each(in.askedFinders(), func(spec prompt.Spec) string { return spec.Name })
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %s are asked, want %s", test.name, got, test.want)
		}
	}
}

// TestDeletedFileIsVerified: a finding on a file that no request shows is verified all the same.
func TestDeletedFileIsVerified(t *testing.T) {
	base := shopBase.with(files{"api/go.mod": "module api\n\ngo 1.26\n", "api/a.go": "package api\n"})
	in := input(t, base, shopHead.with(files{"api/a.go": "package api\n"}))
	const title = "The module is gone, its packages stay"
	in.Engine = &cast{
		finder:   finds(finding("api/go.mod", 1, "module api", title, object{"side": "LEFT", "confidence": 85})),
		verifier: ruled(map[string]object{title: rules("confirmed", "Nothing else declares it.", loop)}),
	}
	f := byTitle(t, run(t, in), title)
	if f.Verifier != precedent.Confirmed || !f.Live() {
		t.Errorf("verifier %s, dropped %q: %s", f.Verifier, f.Dropped, says(f))
	}
}
