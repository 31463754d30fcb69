package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent/internal/needs"
)

func (r *remark) brief() string {
	return strings.TrimSuffix(fmt.Sprintf("%s:%d %s %d %s; %s", r.path, r.line, r.rule, r.level, r.message, r.turnedOff), "; ")
}

func briefs(all []remark) []string {
	var out []string
	for i := range all {
		out = append(out, all[i].brief())
	}
	return out
}

func anyRemark(*remark) bool { return true }

// TestOutputs reads what the linters write: recorded where the file's linter could be run, else from its manual.
func TestOutputs(t *testing.T) {
	want := map[string][]string{
		"golangci-lint": {"a.go:8 errcheck 2 Error return value of `os.Remove` is not checked"},
		"ruff": {
			"src/a b.py:3 E711 2 Comparison to `None` should be `cond is None`",
			"src/a b.py:1 F401 2 `os` imported but unused",
		},
		"hadolint": {"Dockerfile:1 DL3006 1 Always tag the version of an image explicitly"},
		"eslint": {
			"a.js:1 no-unused-vars 2 'addOne' is defined but never used",
			"a.js:3 semi 1 Missing semicolon",
			"lib/b.js:5 semi 1 Missing semicolon",
			"lib/b.js:7  2 Parsing error: Unexpected token }",
		},
		"markdownlint": {
			"a.md:3 MD012/no-multiple-blanks 2 Multiple consecutive blank lines [Expected: 1; Actual: 2]",
			"a.md:5 MD009/no-trailing-spaces 2 Trailing spaces [Expected: 0 or 2; Actual: 1]",
			`b.md:1 MD041/first-line-heading/first-line-h1 2 First line in a file should be a top-level heading [Context: "## Information"]`,
		},
		"tsc": {
			"a.ts:1 TS2322 2 Type 'string' is not assignable to type 'number'.",
			"src/b.ts:2 TS2552 2 Cannot find name 'strin'. Did you mean 'string'?",
		},
		"actionlint": {
			`.github/workflows/a.yml:6 expression 2 "github.event.head_commit.message" is potentially untrusted. avoid using it directly in inline scripts. instead, pass it through an environment variable. ` +
				"see https://docs.github.com/en/actions/reference/security/secure-use#good-practices-for-mitigating-script-injection-attacks for more details",
			`.github/workflows/a.yml:9 action 2 input "foo" is not defined in action "actions/checkout@v4"`,
		},
		"staticcheck": {"a.go:3 SA4009 1 argument err is overwritten before first use [assignment to err](1)"},
		"shellcheck": {
			"a.sh:3 SC2086 0 Double quote to prevent globbing and word splitting.",
			"a.sh:5 SC1035 2 You need a space after the [ and before the ].",
			"b.sh:2 SC2039 1 In POSIX sh, echo flags are undefined.",
		},
		"yamllint": {
			"file.yml:1 trailing-spaces 2 trailing spaces",
			"file.yml:6 comments-indentation 1 comment not indented like content",
		},
		"rubocop": {
			"lib/a.rb:1 Style/FrozenStringLiteralComment 0 Missing frozen string literal comment.",
			"lib/a.rb:4 Lint/UselessAssignment 1 Useless assignment to variable - `x`.",
		},
		"pylint": {"a.py:1 C0114 0 Missing module docstring", "a.py:2 E0602 2 Undefined variable 'x'"},
		"mypy":   {`a.py:3 return-value 2 Incompatible return value type (got "str", expected "int")`},
	}
	for _, l := range Presets() {
		t.Run(l.Name, func(t *testing.T) {
			data := needs.Value(os.ReadFile(filepath.Join("testdata", "outputs", l.Name+".out")))(t)
			out := Output{Dir: "/work", Exit: l.Exits[0], Stdout: data}
			if l.Stderr {
				out.Stdout, out.Stderr = nil, data
			}
			needs.Equal(t, want[l.Name], briefs(needs.Value(l.read(out, anyRemark))(t)))
			needs.NoError(t, l.Check())
			if len(l.Configs) == 0 || l.Category == "" {
				t.Errorf("the preset is incomplete: %+v", l)
			}
		})
	}
}

// sarifOf makes a log of one result with a location and more members.
func sarifOf(uri, more string) string {
	if !strings.Contains(more, `"message"`) {
		more += `,"message":{"text":"bad thing"}`
	}
	return fmt.Sprintf(`{"version":"2.1.0","runs":[{"originalUriBaseIds":{"SRC":{"uri":"file:///work/"},"SUB":{"uri":"sub/","uriBaseId":"SRC"},"ELSE":{"uri":"file:///etc/"},"LOOP":{"uri":"x/","uriBaseId":"LOOP"}},
	"artifacts":[{"location":{"uri":"listed.go"}}],
	"tool":{"driver":{"rules":[{"id":"R1","shortDescription":{"text":"what it is"},"helpUri":"https://example.com/R1","defaultConfiguration":{"level":"error"},"messageStrings":{"m":{"text":"bad {0}"}},"properties":{"tags":["security"]}}]}},
	"results":[{"ruleId":"R1","locations":[{"physicalLocation":{"artifactLocation":%s,"region":{"startLine":2,"endLine":3}}}]%s}]}]}`, uri, more)
}

func TestSarifPaths(t *testing.T) {
	for _, test := range []struct{ uri, want string }{
		{`{"uri":"a.go"}`, "a.go"},
		{`{"uri":"a%20b%23.go"}`, "a b#.go"},
		{`{"uri":"file:///work/x/a.go"}`, "x/a.go"},
		{`{"uri":"file://localhost/work/a.go"}`, "a.go"},
		{`{"uri":"/work/a.go"}`, "a.go"},
		{`{"uri":"a.go","uriBaseId":"SRC"}`, "a.go"},
		{`{"uri":"a.go","uriBaseId":"SUB"}`, "sub/a.go"},
		{`{"uri":"a.go","uriBaseId":"%SRCROOT%"}`, "a.go"}, // not said where: the root
		{`{"index":0}`, "listed.go"},

		{`{"uri":"a.go","uriBaseId":"ELSE"}`, ""},
		{`{"uri":"../a.go"}`, ""},
		{`{"uri":"x/../../work/a.go"}`, ""},
		{`{"uri":"/etc/passwd"}`, ""},
		{`{"uri":"/workshop/a.go"}`, ""},
		{`{"uri":"file://host/work/a.go"}`, ""},
		{`{"uri":"https://example.com/a.go"}`, ""},
		{`{"uri":"a%00.go"}`, ""},
		{`{"uri":"a%0a.go"}`, ""},
		{`{"uri":"..%5ca.go"}`, ""},
		{`{"uri":"C:/a.go"}`, ""},
		{`{"index":7}`, ""},
		{`{}`, ""},
	} {
		got, err := readSarif("/work", []byte(sarifOf(test.uri, "")), anyRemark)
		if err != nil {
			t.Errorf("%s: %v", test.uri, err)
		}
		if have := len(got) > 0; have != (test.want != "") || have && got[0].path != test.want {
			t.Errorf("%s: %q, want %q", test.uri, briefs(got), test.want)
		}
	}
}

func TestSarifResults(t *testing.T) {
	got, err := readSarif("/work", []byte(sarifOf(`{"uri":"a.go"}`, "")), anyRemark)
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	want := remark{
		path: "a.go", line: 2, end: 3, rule: "R1", level: failure, message: "bad thing", help: "what it is",
		link: "https://example.com/R1", security: true,
	}
	needs.Equal(t, want, got[0], cmp.AllowUnexported(remark{}, fix{}))
	for _, test := range []struct{ more, want string }{
		{`,"level":"note"`, "a.go:2 R1 0 bad thing"},
		{`,"ruleId":"R1/sub"`, "a.go:2 R1/sub 2 bad thing"},
		{`,"ruleId":"","ruleIndex":0`, "a.go:2 R1 2 bad thing"},
		{`,"ruleId":"other"`, "a.go:2 other 1 bad thing"},
		{`,"message":{"id":"m","arguments":["luck"]}`, "a.go:2 R1 2 bad luck"},
		{`,"message":{"text":"a\u001b[31mb\u202e\nc"}`, "a.go:2 R1 2 a [31mb c"},
		{`,"message":{}`, "a.go:2 R1 2 what it is"},
		{`,"suppressions":[{"kind":"inSource"}]`, "a.go:2 R1 2 bad thing; the linter marks it as suppressed"},
		{`,"suppressions":[{"justification":"a\nb","status":"accepted"}]`, "a.go:2 R1 2 bad thing; the linter marks it as suppressed: a b"},
		{`,"suppressions":[{"kind":"external","status":"rejected"}]`, "a.go:2 R1 2 bad thing"},
		{`,"kind":"pass"`, ""},
		{`,"level":"none"`, ""},
		{`,"locations":[]`, ""},
	} {
		got, err := readSarif("/work", []byte(sarifOf(`{"uri":"a.go"}`, test.more)), anyRemark)
		if err != nil {
			t.Errorf("%s: %v", test.more, err)
		}
		if have := strings.Join(briefs(got), "\n"); have != test.want {
			t.Errorf("%s: %q, want %q", test.more, have, test.want)
		}
	}
}

func TestFixes(t *testing.T) {
	for _, test := range []struct {
		name, line, want string
		fix              fix
	}{
		{"to the end", "a;", "a", fix{from: 2, to: 3}},
		{"16-bit units", "é🦊x", "é🦊y", fix{from: 4, to: 5, text: "y", utf16: true}},
		{"within a character", "🦊x", "", fix{from: 2, to: 3, text: "y", utf16: true}},
		{"behind the end", "a", "", fix{from: 3, to: 4, text: "y"}},
		{"backwards", "abc", "", fix{from: 3, to: 2}},
		{"nothing changes", "abc", "", fix{from: 1, to: 2, text: "a"}},
		{"nothing is left", "abc", "", fix{from: 1, to: 4}},
		{"more lines", "abc", "", fix{from: 1, to: 2, text: "x\ny"}},
	} {
		if got, ok := test.fix.apply(test.line); ok != (test.want != "") || ok && got != test.want {
			t.Errorf("%s: %q, %t, want %q", test.name, got, ok, test.want)
		}
	}
	replace := func(region string) string {
		return `,"fixes":[{"artifactChanges":[{"artifactLocation":{"uri":"a.go"},"replacements":[{"deletedRegion":` + region +
			`,"insertedContent":{"text":"x"}}]}]}]`
	}
	for region, exact := range map[string]bool{
		`{"startLine":2,"startColumn":1,"endColumn":3}`:             true,
		`{"startLine":2,"endLine":2,"startColumn":1,"endColumn":3}`: true,
		`{"startLine":2,"endLine":3,"startColumn":1,"endColumn":3}`: false,
		`{"startLine":2}`: false,
		`{"startColumn":-1,"endColumn":9,"startLine":2}`: false,
		`{}`: false,
	} {
		got, err := readSarif("/work", []byte(sarifOf(`{"uri":"a.go"}`, replace(region))), anyRemark)
		if err != nil || len(got) != 1 || (got[0].fix != nil) != exact {
			t.Errorf("%s: %+v, %v", region, got, err)
		}
	}
}

// TestHostileSarif: whatever is in it ends in an error or in a few remarks, soon and in little memory.
func TestHostileSarif(t *testing.T) {
	size := needs.Rounds(1<<20, 1<<17)
	for _, test := range []struct{ name, log, says string }{
		{"empty", "", "not SARIF"},
		{"cut", sarifOf(`{"uri":"a.go"}`, "")[:300], "read SARIF"},
		{"other version", `{"version":"1.0.0"}`, "version"},
		{"wrong types", `{"version":"2.1.0","runs":{"a":1}}`, "read SARIF"},
		{"deep", `{"version":` + strings.Repeat("[", size), "read SARIF"},
		{"deep in a result", `{"version":"2.1.0","runs":[{"results":` + strings.Repeat(`[`, size) + `}]}`, "read SARIF"},
		{"many runs", `{"version":"2.1.0","runs":[` + strings.Repeat(`{},`, size) + `{}]}`, "first 16 runs"},
		{"many results", `{"version":"2.1.0","runs":[{"results":[` + strings.Repeat(`{},`, size) + `{}]}]}`, errMany.Error()},
		{
			"growing message", `{"version":"2.1.0","runs":[{"results":[{"message":{"text":"` + strings.Repeat("{0}", 900) +
				`","arguments":["` + strings.Repeat("{1}", 900) + `","` + strings.Repeat("{0}", 900) + `"]},"locations":[{}]}]}]}`,
			"",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []remark
			var err error
			took := needs.Busy(func() { got, err = readSarif("/work", []byte(test.log), anyRemark) })
			if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("%v, want %q", err, test.says)
			}
			if len(got) > maxRemarks {
				t.Errorf("%d remarks", len(got))
			}
			if took > 10*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

// manyRules repeats a line with a number.
func manyRules(line string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line, i)
	}
	return b.String()
}

// TestFloodOfResults: one rule with thousands of results in a file does not hide the results after it.
func TestFloodOfResults(t *testing.T) {
	f := needs.Value(newFormat([]string{"%f:%l: %m"}))(t)
	got, _, err := readLines(f, "/work", []byte(manyRules("a.sh:%d: X\n", 3*maxRemarks)+"b.sh:1: Y\n"), anyRemark)
	if n := len(got); err != nil || n != maxOfRule+1 || got[n-1].path != "b.sh" {
		t.Errorf("%d remarks, %v", n, err)
	}
	one := `{"ruleId":"R","message":{"text":"x"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"},"region":{"startLine":1}}}]},`
	log := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[` + strings.Repeat(one, maxRemarks+9) +
		strings.TrimSuffix(strings.Replace(one, "a.go", "b.go", 1), ",") + `]}]}`
	got, err = readSarif("/work", []byte(log), anyRemark)
	if n := len(got); err != nil || n != maxOfRule+1 || got[n-1].path != "b.go" {
		t.Errorf("%d remarks of SARIF, %v", n, err)
	}
}

func TestLines(t *testing.T) {
	for _, test := range []struct {
		name, output string
		want         []string
		says         string
		patterns     []string // "%f:%l: %m" if there are none
	}{
		{
			"paths", "a.sh:1: x\n../a.sh:1: x\n/etc/passwd:1: x\n/work/b.sh:2: y\nx/../../a:1: z\n/work:1: z\n",
			[]string{"a.sh:1  2 x", "b.sh:2  2 y"},
			"", nil,
		},
		{"no line", "a.sh:0: x\na.sh:99999999999999999999: x\n", nil, "", nil},
		{
			"control characters", "a.sh:1: \x1b[31mred\x1b[0m \x00\u202edone\n",
			[]string{"a.sh:1  2 [31mred[0m done"},
			"", nil,
		},
		{
			"long line", "a.sh:1: " + strings.Repeat("x", 1<<20) + "\nb.sh:2: y\n",
			[]string{"a.sh:1  2 " + strings.Repeat("x", maxMessage-1) + "…", "b.sh:2  2 y"},
			"", nil,
		},
		{"many lines", manyRules("a%d.sh:1: R1: x\n", maxRemarks+5), nil, errMany.Error(), nil},
		{"continued", "a.sh:1: x\n  more\n\n", []string{"a.sh:1  2 x more"}, "", []string{"%E%f:%l: %m", "%C  %m", "%Z"}},
		{"continuation of nothing", "start\nx\n", nil, "not in the order", []string{"%-Astart", "%Z%m"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.patterns == nil {
				test.patterns = []string{"%f:%l: %m"}
			}
			f := needs.Value(newFormat(test.patterns))(t)
			got, _, err := readLines(f, "/work", []byte(test.output), anyRemark)
			if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("%v, want %q", err, test.says)
			}
			if diff := cmp.Diff(test.want, briefs(got)); diff != "" && test.says == "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	for _, broken := range []string{"%", "%f:%*", "%*[a", "%y", "%f:%l: (%m", `%\`, "%-"} {
		if f, err := newFormat([]string{broken}); err == nil {
			_, _, _ = readLines(f, "/work", []byte("a:1: (x\n"), anyRemark)
		}
	}
}

func FuzzReadSarif(f *testing.F) {
	for _, name := range []string{"ruff", "hadolint", "golangci-lint"} {
		f.Add(needs.Value(os.ReadFile(filepath.Join("testdata", "outputs", name+".out")))(f))
	}
	f.Add([]byte(sarifOf(`{"uri":"a","uriBaseId":"LOOP"}`, `,"message":{"id":"m","arguments":["{1}","{0}"]}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _ := readSarif("/work", data, anyRemark)
		checkRemarks(t, got)
	})
}

func FuzzReadLines(f *testing.F) {
	f.Add("%f:%l:%c: %m", "a.sh:1:2: x [SC1]\n")
	f.Add(`%-P/%f`, "/work/a\n")
	f.Add("%E%f:%l: %m", "a:1: x\n")
	f.Fuzz(func(t *testing.T, pattern, output string) {
		format, err := newFormat([]string{pattern, "%C%m", `%\s%#%l:%c%\s%#%trror%\s%#%m`})
		if err != nil {
			return
		}
		got, _, _ := readLines(format, "/work", []byte(output), anyRemark)
		checkRemarks(t, got)
	})
}

// checkRemarks checks what the rest of the program relies on.
func checkRemarks(t *testing.T, all []remark) {
	if len(all) > maxRemarks {
		t.Errorf("%d remarks", len(all))
	}
	for _, r := range all {
		if !filepath.IsLocal(r.path) || filepath.Clean(r.path) != r.path || strings.ContainsFunc(r.path, control) {
			t.Errorf("path %q", r.path)
		}
		for _, s := range []string{r.message, r.rule, r.help} {
			if strings.ContainsFunc(s, control) || len([]rune(s)) > maxMessage {
				t.Errorf("text %q", s)
			}
		}
		if r.message == "" || r.line < 0 || r.end < r.line {
			t.Errorf("%+v", r)
		}
	}
}
