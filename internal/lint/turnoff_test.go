package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestTurnOffs: which lines each kind of comment counts for.
func TestTurnOffs(t *testing.T) {
	vet := source{"govet", []string{"govet", "vet", "printf"}}
	static := source{"staticcheck", []string{"staticcheck", "megacheck", "SA4006"}}
	linter := func(tool, rule string) source { return source{tool, []string{tool, rule}} }
	const body = "package a\n\nfunc f() {\n\tg()\n}\n"
	for _, test := range []struct {
		name, path, text string
		from             source
		want             string // lines
	}{
		{"none", "a.go", body, vet, ""},
		{"bare", "a.go", "package a\n\nvar x = 1 //nolint\nvar y = 2", vet, "3"},
		{"with a space", "a.go", "package a\n\nvar x = 1 // nolint:govet", vet, "3"},
		{"all", "a.go", "package a\n\nvar x = 1 //nolint:all", vet, "3"},
		{"named", "a.go", "package a\n\nvar x = 1 //nolint:errcheck,govet // because", vet, "3"},
		{"another one", "a.go", "package a\n\nvar x = 1 //nolint:errcheck", vet, ""},
		{"the check", "a.go", "package a\n\nvar x = 1 //nolint:printf", vet, "3"},
		{"no directive", "a.go", "package a\n\nvar x = 1 //nolinting", vet, ""},
		{"in a string", "a.go", "package a\n\nvar x = `\n//nolint\n`", vet, ""},
		{"declaration", "a.go", "package a\n\n//nolint:govet\nfunc f() {\n\tg()\n}\n\nvar y = 1", vet, "3-6"},
		{"statement", "a.go", "package a\n\nfunc f() {\n\t//nolint:govet\n\tif x {\n\t\tg()\n\t}\n\tg()\n}", vet, "4-7"},
		{"another column", "a.go", "package a\n\nfunc f() {\n//nolint:govet\n\tif x {\n\t\tg()\n\t}\n}", vet, "4-5"},
		{"file", "a.go", "//nolint:govet\npackage a\n\nvar x = 1", vet, "1-4"},
		{"broken file", "a.go", "package a\n\nvar x = 1 //nolint\nfunc {", vet, "3"},
		{"ignore", "a.go", "package a\n\n//lint:ignore SA4006 because\nvar x = 1\nvar y = 1", static, "3-4"},
		{"ignore beside", "a.go", "package a\n\nvar x = 1 //lint:ignore SA4006 because\nvar y = 1", static, "3"},
		{"ignore without a reason", "a.go", "package a\n\n//lint:ignore SA4006\nvar x = 1", static, ""},
		{"ignore a group", "a.go", "package a\n\n//lint:ignore SA1000,SA4* because\nvar x = 1", static, "3-4"},
		{"ignore the file", "a.go", "package a\n\n//lint:file-ignore SA4006 because\n\nvar x = 1", static, "1-5"},
		{"ignore another", "a.go", "package a\n\n//lint:ignore SA1000 because\nvar x = 1", static, ""},
		{"nosec", "a.go", "package a\n\nvar x = 1 // #nosec G101 -- a test", linter("gosec", "G101"), "3"},
		{"nosec, another rule", "a.go", "package a\n\nvar x = 1 // #nosec G101", linter("gosec", "G102"), ""},
		{"nosec in golangci-lint", "a.go", "package a\n\nvar x = 1 //#nosec", linter("golangci-lint", "gosec"), "3"},
		{"nosec is not for vet", "a.go", "package a\n\nvar x = 1 //#nosec", vet, ""},
		{"bare, for an own linter", "a.go", "package a\n\nvar x = 1 //nolint", linter("house-rules", "H1"), ""},
		{"an own linter", "a.go", "package a\n\nvar x = 1 //nolint:house-rules", linter("house-rules", "H1"), "3"},

		{"noqa", "a.py", "import os  # noqa\nx", linter("ruff", "F401"), "1"},
		{"noqa with rules", "a.py", "import os  # noqa: F401, E501", linter("ruff", "E501"), "1"},
		{"noqa with a group", "a.py", "import os  # noqa: E5", linter("ruff", "E501"), "1"},
		{"noqa with another", "a.py", "import os  # noqa: F401", linter("ruff", "E501"), ""},
		{"noqa is not for mypy", "a.py", "import os  # noqa", linter("mypy", "import"), ""},
		{"noqa in another language", "a.rb", "x # noqa", linter("ruff", "F401"), ""},
		{"noqa for the file", "a.py", "# ruff: noqa: F401\nimport os", linter("ruff", "F401"), "1-2"},
		{"type", "a.py", "x = f()  # type: ignore[arg-type]", linter("mypy", "arg-type"), "1"},
		{"pylint", "a.py", "x\n# pylint: disable=unused-import\nimport os\n# pylint: enable=unused-import\nx", linter("pylint", "unused-import"), "2-4"},
		{"eslint", "a.ts", "x // eslint-disable-line no-eval -- because\ny", linter("eslint", "no-eval"), "1"},
		{"eslint, next line", "a.ts", "// eslint-disable-next-line\nx\ny", linter("eslint", "no-eval"), "1-2"},
		{"eslint, block", "a.js", "a\n/* eslint-disable no-eval */\nb\n/* eslint-enable no-eval */\nc", linter("eslint", "no-eval"), "2-4"},
		{"eslint, the rest", "a.js", "a\n/* eslint-disable */\nb", linter("eslint", "no-eval"), "2-3"},
		{"eslint, a plugin", "a.js", "x // eslint-disable-line @typescript-eslint/no-explicit-any", linter("eslint", "@typescript-eslint/no-explicit-any"), "1"},
		{"tsc", "a.ts", "// @ts-expect-error\nx\ny", linter("tsc", "TS2322"), "1-2"},
		{"shellcheck", "a.sh", "# shellcheck disable=SC2086,SC2034\n# a comment\necho $x\nls", linter("shellcheck", "SC2086"), "1-3"},
		{"clang-tidy", "a.cc", "int x; // NOLINT(readability-x)\nint y;", linter("clang-tidy", "readability-x"), "1"},
		{"clang-tidy, next line", "a.cc", "// NOLINTNEXTLINE\nint y;\nint z;", linter("clang-tidy", "readability-x"), "1-2"},
		{"clang-tidy, block", "a.cc", "// NOLINTBEGIN(a*)\nint y;\n// NOLINTEND(a*)\nint z;", linter("clang-tidy", "abc"), "1-3"},
		{"rubocop", "a.rb", "x # rubocop:disable Style/Foo\ny", linter("rubocop", "Style/Foo"), "1"},
		{"rubocop, block", "a.rb", "# rubocop:disable all\nx\n# rubocop:enable all\ny", linter("rubocop", "Style/Foo"), "1-3"},
		{"Java", "A.java", "class A {\n  @SuppressWarnings({\"unchecked\", \"PMD.Foo\"})\n  void f() {\n    if (x) { y(); }\n  }\n  int z;\n}", linter("pmd", "Foo"), "2-5"},
		{"Java field", "A.java", "  @SuppressWarnings(\"Foo\")\n  int z;\n  int y;", linter("pmd", "Foo"), "1-2"},
		{"Java, another", "A.java", "  @SuppressWarnings(\"unchecked\")\n  int z;", linter("pmd", "Foo"), ""},
		{"Dockerfile", "x/Dockerfile", "# hadolint ignore=DL3008\nRUN x\nRUN y", linter("hadolint", "DL3008"), "1-2"},
		{"yamllint", "a.yml", "x: y # yamllint disable-line rule:indentation\n", linter("yamllint", "indentation"), "1"},
		{"markdownlint", "a.md", "<!-- markdownlint-disable MD013 -->\nx\n<!-- markdownlint-enable MD013 -->\ny", linter("markdownlint", "MD013"), "1-3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var lines []int
			all := turnOffsIn(test.path, []byte(test.text))
			for n := range strings.Count(test.text, "\n") + 2 {
				if slices.ContainsFunc(all, func(c turnOff) bool { return c.counts(test.from, n+1) }) {
					lines = append(lines, n+1)
				}
			}
			got := ""
			if n := len(lines); n == 1 {
				got = fmt.Sprint(lines[0])
			} else if n > 1 {
				got = fmt.Sprintf("%d-%d", lines[0], lines[n-1])
			}
			if got != test.want {
				t.Errorf("counts for lines %s, want %s: %+v", got, test.want, all)
			}
		})
	}
}

// TestTurnedOff: a finding that a comment turns off is kept, with the reason, and says
// whether the change adds the comment.
func TestTurnedOff(t *testing.T) {
	r := vetTree(t, raceEnv(t), `
-- go.mod --
module example.com/m

go 1.22
-- a.go --
package m

import "fmt"

func F() {
	fmt.Printf("%d\n", "x") //nolint:govet // because
	fmt.Printf("%d\n", "y")
}
`)
	if len(r.Findings) != 2 || r.Status != precedent.StatusOK {
		t.Fatalf("%v, %s %s", brief(r), r.Status, r.Error)
	}
	off, on := r.Findings[0], r.Findings[1]
	if want := `the comment "//nolint:govet" on line 6 turns it off, and the change adds this comment`; off.Dropped != precedent.TurnedOff || off.DroppedWhy != want {
		t.Errorf("dropped %q: %s, want %s", off.Dropped, off.DroppedWhy, want)
	}
	if !on.Live() {
		t.Errorf("dropped %q: %s", on.Dropped, on.DroppedWhy)
	}
}

// TestNotTurnedOff: no comment silences the analyzers that guard a repository.
func TestNotTurnedOff(t *testing.T) {
	for _, a := range All() {
		if guards := slices.Contains([]string{"secrets", "unicode", "conflict-markers", "policy-edit"}, a.Name); guards == a.Comments {
			t.Errorf("%s: comments turn it off: %v", a.Name, a.Comments)
		}
	}
	key := awsKey(1)
	for name, text := range map[string]string{
		"secrets":          `k := "` + key + `" //nolint // #nosec G101 gitleaks:allow noqa`,
		"unicode":          "valid\u0430te() //nolint //lint:ignore all because",
		"conflict-markers": "<<<<<<< HEAD //nolint",
	} {
		r := run(t, name, &Input{Change: added("a.go", "//nolint:all\npackage a\n"+text)})
		if len(r.Findings) != 1 || !r.Findings[0].Live() {
			t.Errorf("%s: %v", name, brief(r))
		}
	}
}

// TestTurnOffsCost: a file made of comments takes little time.
func TestTurnOffsCost(t *testing.T) {
	needs.WithoutRace(t, "starts no goroutine")
	for path, line := range map[string]string{
		"a.go": "var x = 1 //nolint:a,b,c\n", "b.go": "//lint:ignore A b\n", "c.go": "((((((((", "a.py": "x # noqa: E5 # pylint: disable=a\n", "a.js": "/* eslint-disable a */\n",
		"A.java": "@SuppressWarnings(\"a\")\n", "a.sh": "# shellcheck disable=SC1\n", "b.sh": "# shellcheck a ",
	} {
		text := strings.Repeat(line, 1<<20/len(line))
		if took := needs.Busy(func() {
			f := added(path, "x").Files[0]
			t := turnOffs{files: map[string][]turnOff{path: turnOffsIn(path, []byte("package a\n"+text))}}
			for n := range 1000 {
				t.of(&f, source{"x", []string{"x", "y"}}, n)
			}
		}); took > 5*time.Second {
			t.Errorf("%s takes %v", path, took)
		}
	}
}
