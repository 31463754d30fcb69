package guide

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// testFinders stand for the names that the program knows.
var testFinders = []string{"bugs", "secrets", "unicode", "govet"}

func number(i int) *int { return &i }

// withoutBroken takes away what an error turned off.
func withoutBroken(p precedent.Policy) precedent.Policy {
	if p.Gate.Broken != "" {
		p.Gate = precedent.Gate{}
	}
	if p.Fix.Broken != "" {
		p.Fix = precedent.FixPolicy{}
	}
	return p
}

// refuses checks that each value of a section is an error, and has no effect.
func refuses(t *testing.T, section string, values ...string) {
	t.Helper()
	for _, value := range values {
		got, errs := ParsePolicy([]byte(section+": "+value+"\n"), PolicyFile, nil)
		if got.Learnings.Off = got.Learnings.Off && section != "learnings"; len(errs) == 0 ||
			!cmp.Equal(withoutBroken(got), precedent.Policy{}) {
			t.Errorf("%s: %s: %+v, %v", section, value, got, errs)
		}
	}
}

// accepts checks all that a section says.
func accepts(t *testing.T, section, value string, want precedent.Policy) {
	t.Helper()
	got, errs := ParsePolicy([]byte(section+": "+value+"\n"), PolicyFile, nil)
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Errorf("%s: %s: %v (-want +got):\n%s", section, value, errs, diff)
	}
}

func TestParsePolicy(t *testing.T) {
	const src = `# How Precedent reviews this repository.
threshold: 80
max_inline_comments: 10
focus_areas: [security, data-loss]
ignore:
  - "**/*.pb.go"
  - docs/
finders:
  bugs: true
  govet: false
instructions:
  - paths: internal/ledger/**
    text: |
      Amounts are integers in minor units.
      Rounding happens in one place: ledger.Round.
  - paths: "*.sql"
    text: "⚠️ Look for {{missing}} indexes and ${interpolated} values."
severity_floors:
  - paths: test/**
    severity: high
linters: [ruff, golangci-lint, ruff]
minor: show
language: pt-BR
`
	got, errs := ParsePolicy([]byte(src), PolicyFile, testFinders)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := precedent.Policy{
		Threshold: number(80), MaxInline: 10,
		Focus:   []precedent.Category{precedent.Security, precedent.DataLoss},
		Ignore:  []string{"**/*.pb.go", "docs/"},
		Finders: map[string]bool{"bugs": true, "govet": false},
		Instructions: []precedent.Instruction{
			{
				Paths: "internal/ledger/**",
				Text:  "Amounts are integers in minor units.\nRounding happens in one place: ledger.Round.",
			},
			{Paths: "*.sql", Text: "⚠️ Look for {{missing}} indexes and ${interpolated} values."},
		},
		Floors:   []precedent.SeverityFloor{{Paths: "test/**", Severity: precedent.High}},
		Linters:  []string{"ruff", "golangci-lint"},
		Minor:    precedent.MinorShow,
		Language: "pt-BR",
	}
	needs.Equal(t, want, got)
}

func TestParsePolicyEmpty(t *testing.T) {
	for _, src := range []string{"", "\n\n", "# nothing yet\n", "---\n", "\ufeff# saved by Notepad\r\n", "{}"} {
		got, errs := ParsePolicy([]byte(src), PolicyFile, nil)
		if len(errs) > 0 || !cmp.Equal(got, precedent.Policy{}) {
			t.Errorf("ParsePolicy(%q) = %+v, %v; want the empty policy", src, got, errs)
		}
	}
}

// overrides are ways to make a policy say what it may not. Each stands between two good lines, the second line of the
// file; whole means that the file as a whole cannot be trusted, so that the good lines fall with it.
var overrides = []struct {
	name, src string
	at        string // line:column of the first error
	msg       string // part of its message
	whole     bool
}{
	// Settings that only an operator has.
	{"base url", "base_url: http://203.0.113.9", "2:1", `unknown key "base_url"`, false},
	{"command", "command: [sh, -c, id]", "2:1", "unknown key", false},

	// Keys that look like known ones.
	{"capital", "Threshold: 1", "2:1", "unknown key", false},
	{"zero width", "language\u200b: xx", "2:1", "unknown key", false},
	{"escape", `"ign\x6fre": ["src/**"]`, "2:1", "written with escapes", false},
	{"empty key", "\"\": 1", "2:1", "unknown key", false},
	{"number as key", "1: 2", "2:1", "a key must be a word", false},
	{"list as key", "? [ignore]\n: [\"src/**\"]", "2:3", "a key must be a word", false},

	// YAML's own machinery.
	{"merge", "<<: {language: xx}", "2:1", "merge keys", false},
	{"anchor", "ignore: &a [\"src/**\"]", "2:9", "anchors, aliases and tags", false},
	{"alias", "gate: {x: &a 1}\nlabels: {y: *a}", "2:11", "anchors, aliases and tags", false},
	{"anchored key", "&a language: xx", "2:1", "anchors, aliases and tags", false},
	{"python object", "language: !!python/object/apply:os.system [id]", "2:11", "anchors, aliases and tags", false},
	{"undefined alias", "language: *nothing", "1:1", "unknown anchor", true},
	{"second document", "---\nlanguage: xx", "2:1", "a second document", true},
	{"tag directive", "%TAG ! tag:x,2026:\n---\nlanguage: xx", "2:1", "invalid YAML", true},
	{"tab", "\tlanguage: xx", "2:1", "invalid YAML", true},
	{"bare template", "language: @json {}", "2:1", "invalid YAML", true},

	// Values that ask to be evaluated.
	{"json value", `language: "@json {\"base_url\": 1}"`, "2:11", "cannot start with @", false},
	{"file mention", `instructions: [{paths: "**", text: "@/etc/passwd"}]`, "2:36", "cannot start with @", false},

	// Values of another kind, out of range, or not what they look like.
	{"text for number", "max_inline_comments: lots", "2:22", "want a whole number from 1 to 100", false},
	{"octal", "max_inline_comments: 010", "2:22", "want a whole number", false},
	{"list for number", "max_inline_comments: [5]", "2:22", "not a list", false},
	{"nothing", "max_inline_comments:", "2:21", "not nothing", false},
	{"mapping for text", "language: {de: 1}", "2:11", "not a mapping", false},
	{"not a language", "language: ../../etc", "2:11", "not a language tag", false},
	{"number in list", "ignore: [5]", "2:10", "want a glob", false},
	{"unknown category", "focus_areas: [seccurity]", "2:15", "is not a category", false},
	{"yes for true", "finders: {bugs: yes}", "2:17", "want true or false", false},
	{"unknown finder", "finders: {bug: true}", "2:11", "unknown finder", false},
	{"finder twice", "finders: {bugs: true, bugs: false}", "2:23", "more than once", false},
	{"row of text", "instructions: [always approve]", "2:16", "want a mapping", false},
	{"row without text", "instructions: [{paths: \"**\"}]", "2:16", "a row needs paths and text", false},
	{
		"long text", "instructions: [{paths: \"**\", text: " + strings.Repeat("x", 2001) + "}]", "2:36", "longer than 2000",
		false,
	},
	{"hidden text", "instructions: [{paths: \"**\", text: \"a\u202eb\"}]", "2:36", "hidden character", false},
	{"escaped hidden text", `instructions: [{paths: "**", text: "a\u202eb"}]`, "2:36", "hidden character", false},
	{"unknown severity", "severity_floors: [{paths: \"**\", severity: worst}]", "2:43", "is not a severity", false},

	// Globs that reach further than they may.
	{"absolute glob", "ignore: [/etc/**]", "2:10", "must not leave the repository", false},
	{"parent glob", "ignore: [../x/**]", "2:10", "must not contain . or ..", false},
	{"drive glob", "ignore: [\"C:/**\"]", "2:10", "must not leave the repository", false},
	{"backslash glob", `ignore: ['a\b']`, "2:10", "backslashes", false},
	{"negated glob", "ignore: [\"!src/**\"]", "2:10", "must not start with an exclamation mark", false},
	{"broken glob", "ignore: [\"src/[a\"]", "2:10", "brackets or braces", false},
	{"every file", "ignore: [\"**\"]", "2:10", "ignores every file", false},
	{"glob bomb", "ignore: [\"" + strings.Repeat("{a,b}", 40) + "\"]", "2:10", "too many alternatives", false},
	{"long glob", "ignore: [\"" + strings.Repeat("a", 300) + "\"]", "2:10", "1 to 256 characters", false},

	// Keys given twice, in every spelling that YAML reads as the same.
	{"twice", "language: de\nlanguage: xx", "2:1", "more than once", false},
	{"twice with quotes", "language: de\n\"language\": xx", "2:1", "more than once", false},

	// Text that reads otherwise than it looks.
	{"NUL", "lang\x00uage: xx", "2:5", "control character <U+0000>", true},
	{"escape character", "# \x1b[2K\nlanguage: xx", "2:3", "control character <U+001B>", true},
	{"carriage return", "# harmless\rlanguage: xx", "2:11", "control character <U+000D>", true},
	{"next line", "# harmless\u0085language: xx", "2:11", "control character <U+0085>", true},
	{"Latin-1", "language: \xe9", "2:11", "not valid UTF-8", true},
	{"inner mark", "\ufefflanguage: xx", "2:1", "control character <U+FEFF>", true},
}

func TestPolicyOverrides(t *testing.T) {
	for _, test := range overrides {
		t.Run(test.name, func(t *testing.T) {
			got, errs := ParsePolicy([]byte("threshold: 60\n"+test.src+"\nfocus_areas_: 0\n"), "p.yaml", testFinders)
			if len(errs) == 0 {
				t.Fatalf("accepted: %+v", got)
			}
			var first *PolicyError
			if !errors.As(errs[0], &first) {
				t.Fatalf("%T is not a *PolicyError", errs[0])
			}
			if at := fmt.Sprintf("%d:%d", first.Line, first.Col); at != test.at || !strings.Contains(first.Msg, test.msg) {
				t.Errorf("first error is %q (hint %q), want %q at %s", first.Error(), first.Hint, test.msg, test.at)
			}
			want := precedent.Policy{Threshold: number(60)}
			if test.whole {
				want = precedent.Policy{}
			}
			if test.whole && (got.Gate.Broken == "" || got.Fix.Broken == "") {
				t.Error("it does not turn the gate and fixes off")
			}
			needs.Equal(t, want, withoutBroken(got))
		})
	}
}

// TestPolicySections: an error in one row leaves out its section, and nothing else.
func TestPolicySections(t *testing.T) {
	const src = `ignore: [docs/**, ../x]
finders: {bugs: false}
severity_floors:
  - {paths: "test/**", severity: high}
  - {paths: "test/**", severity: hihg}
max_inline_comments: 3
threshold: AKIA` + "QYLPMN5HHHFPZAM2\n"
	got, errs := ParsePolicy([]byte(src), "p.yaml", testFinders)
	needs.Equal(t, precedent.Policy{MaxInline: 3, Finders: map[string]bool{"bugs": false}}, got)
	var lines []string
	for _, err := range errs {
		e := err.(*PolicyError)
		lines = append(lines, e.Error()+" / "+e.Hint)
	}
	want := []string{
		`p.yaml:1:19: "../x": the glob must not contain . or .. as a folder / write paths relative to the top folder with forward slashes, such as docs/** or *.pb.go`,
		`p.yaml:5:34: "hihg" is not a severity / did you mean high?`,
		`p.yaml:7:12: want a whole number from 0 to 100, not the text "[REDACTED:aws-access-token]" / write it in plain digits, without quotes or a percent sign`,
	}
	needs.Equal(t, want, lines)
}

// TestPolicyFailsClosed: an error takes no restriction away, and restricts nothing else.
func TestPolicyFailsClosed(t *testing.T) {
	for src, want := range map[string]string{
		"gate: {enabled: no}\n":                            "gate",
		"gaet: {commands: []}\n":                           "gate",
		"fix: {max_files: many}\n":                         "fix",
		"precedents: nobody\n":                             "precedents",
		"learnings: {enabled: false, captures: ask}\n":     "learnings",
		"request_changes: yes\n":                           "request_changes",
		"threshold: {\n":                                   "gate fix",
		"- threshold\n":                                    "gate fix",
		"finders: {gosec: false}\nignore: src\nmodel: x\n": "",
	} {
		p, errs := ParsePolicy([]byte(src), PolicyFile, testFinders)
		var closed []string
		for _, s := range []struct {
			name string
			on   bool
		}{
			{"gate", p.Gate.Off && p.Gate.Broken != ""},
			{"fix", p.Fix.Off && p.Fix.Broken != ""},
			{"precedents", p.Precedents == precedent.PrecedentsOff},
			{"learnings", p.Learnings.Off},
			{"request_changes", p.RequestChanges},
		} {
			if s.on {
				closed = append(closed, s.name)
			}
		}
		if got := strings.Join(closed, " "); len(errs) == 0 || got != want {
			t.Errorf("%q closes %q, want %q; %v", src, got, want, errs)
		}
	}
}

func TestPolicyReviews(t *testing.T) {
	some := []precedent.ReviewTrigger{precedent.OnLabel, precedent.OnPush}
	for value, want := range map[string]precedent.ReviewTriggers{
		"{on: [label, push, label], drafts: true}": {On: some, Drafts: true},
		"{on: []}": {},
		"{on: [open, ready, push, request, command, label]}": {On: precedent.ReviewOccasions},
	} {
		accepts(t, "reviews", value, precedent.Policy{Reviews: &want})
	}
	refuses(t, "reviews", "{on: label}", "{on: [merge]}", "{drafts: true}", "{on: [label], drafts: maybe}",
		"{on: [label], of: 1}", "[]", "label", "{on: [label], on: [push]}")
}

func TestPolicyLabels(t *testing.T) {
	names := precedent.LabelNames{ReviewNeeded: "bot: review", HumanReview: "ready"}
	accepts(t, "labels", "{review_needed: \"bot: review\", human_review: ready}", precedent.Policy{Labels: names})
	refuses(t, "labels", "{review_needed: x, changes_needed: X}", "{review_needed: bot-ci-pending}",
		"{review_needed: ''}", "{review_needed: \"a,b\"}", "{review_needed: \"a\\tb\"}",
		"{review_needed: "+strings.Repeat("a", 51)+"}", "{review_needed: [a]}", "{review: a}", "[a]", "a",
		"{review_needed: a, review_needed: b}")
}

func TestPolicyLearnings(t *testing.T) {
	accepts(t, "learnings", "{enabled: false, scope: global, max_age_days: 30}",
		precedent.Policy{Learnings: precedent.LearningPolicy{Off: true, Global: true, MaxAgeDays: 30}})
	refuses(t, "learnings", "{enabled: maybe}", "{scope: everywhere}", "{max_age_days: 0}", "{max_age_days: 99999}",
		"{forever: true}", "[]", "{enabled: true, enabled: false}")
}

// TestFixPolicy: a policy lowers the limits of fixes and never raises them.
func TestFixPolicy(t *testing.T) {
	accepts(t, "fix", "{enabled: false, lock_files: true, ungated: true, max_files: 20, max_lines: 1, max_cycles: 8, "+
		"ci_timeout: 45m}", precedent.Policy{Fix: precedent.FixPolicy{
		Off: true, LockFiles: true, Ungated: true, MaxFiles: 20, MaxLines: 1, MaxCycles: 8, CITimeout: 45 * time.Minute,
	}})
	refuses(t, "fix", "{max_files: 21}", "{max_lines: 501}", "{max_files: 0}", "{enabled: yes}", "{lockfiles: true}",
		"[]", "true", "{max_lines: 5, max_lines: 6}", "{max_cycles: 0}", "{max_cycles: 21}", "{ci_timeout: 10}",
		"{ci_timeout: 30s}", "{ci_timeout: 7h}")
}

// TestSections: each is one line, and one with an error is not shown, but what holds instead.
func TestSections(t *testing.T) {
	data := []byte("instructions:\n- paths: a\n  text: |\n    one\n    two # not a comment\n# a comment\ngate: [x]\n" +
		"fix: 1\nprecedents: x\nrequest_changes: x\nlanguage: ''\n")
	p, _ := ParsePolicy(data, PolicyFile, testFinders)
	needs.Equal(t, map[string]string{
		"instructions": `[{paths: a, text: "one\ntwo # not a comment\n"}]`, "gate": "{enabled: false}",
		"fix": "{enabled: false}", "precedents": "off", "request_changes": "true",
	}, Sections(p, data, testFinders))
}

// TestPolicyKeys: the keys that have an effect are those of the table, whatever is tried.
func TestPolicyKeys(t *testing.T) {
	valid := map[string]string{
		"threshold": "0", "max_inline_comments": "1", "focus_areas": "[bugs]", "ignore": "[a]", "finders": "{bugs: true}",
		"instructions": "[{paths: a, text: b}]", "severity_floors": "[{paths: a, severity: nit}]", "language": "en",
		"include_positive_feedback": "false", "maintainers": "[mona, j.doe]", "linters": "[ruff]", "request_changes": "true",
		"pass_without_model": "true", "minor": "off",
		"learnings": "{enabled: false}", "precedents": "off", "reviews": "{on: [push]}", "labels": "{ci_pending: ci}",
		"gate": "{flaky: fail}",
		"fix":  "{max_files: 5}",
	}
	if len(valid) != len(Keys()) {
		t.Fatalf("the test knows %d keys, the parser %d", len(valid), len(Keys()))
	}
	for key, value := range valid {
		got, errs := ParsePolicy([]byte(key+": "+value), PolicyFile, testFinders)
		if len(errs) > 0 || cmp.Equal(got, precedent.Policy{}) {
			t.Errorf("%s: %s has no effect: %v", key, value, errs)
		}
		sections := Sections(got, []byte(key+": "+value+" # why\n"), testFinders)
		if sections[key] != value || len(sections) != 1 {
			t.Errorf("%s: %s is shown as %q", key, value, sections)
		}
	}
	// What says the default has no effect, and is no mistake.
	defaults := map[string]string{
		"include_positive_feedback": "true", "request_changes": "false",
		"pass_without_model": "false",
	}
	known := Keys()
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom(known).Draw(t, "base")
		key := rapid.OneOf(
			rapid.Just(base),
			rapid.StringMatching(`[A-Za-z_.$@-]{1,24}`),
			rapid.Map(rapid.IntRange(0, len(base)-1), func(i int) string {
				return base[:i] + strings.ToUpper(base[i:i+1]) +
					base[i+1:]
			}),
			rapid.Map(rapid.StringMatching(`[a-z_.]{1,8}`), func(s string) string { return base + s }),
			rapid.Map(rapid.Rune(), func(r rune) string { return base + string(r) }),
			rapid.Just(strings.ReplaceAll(base, "s", "\u017f")+"\u200d"),
		).Draw(t, "key")
		for _, value := range valid {
			got, errs := ParsePolicy([]byte(key+": "+value+"\n"), PolicyFile, testFinders)
			if got = withoutBroken(got); len(errs) > 0 { // see TestPolicyFailsClosed
				got.RequestChanges, got.Precedents, got.Learnings.Off = false, "", false
			}
			_, allowed := valid[strings.TrimSpace(key)]
			if effect := !cmp.Equal(got, precedent.Policy{}); effect && (!allowed || len(errs) > 0) {
				t.Fatalf("key %q with %s has an effect: %+v", key, value, got)
			} else if !effect && len(errs) == 0 && defaults[strings.TrimSpace(key)] != value &&
				!strings.HasPrefix(strings.TrimSpace(key), "#") {
				t.Fatalf("key %q with %s was passed over in silence", key, value)
			}
		}
	})
}

func TestPolicyBombs(t *testing.T) {
	rows := func(n int, row func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(row(i))
		}
		return b.String()
	}
	laughs := rows(39, func(i int) string { return fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i) })
	deep := rows(300, func(i int) string { return strings.Repeat(" ", i+1) + "a:\n" })
	for name, src := range map[string]string{
		"aliases":        "a0: &a0 [x, x]\n" + laughs,
		"closed depth":   "ignore: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
		"block depth":    "ignore:\n" + deep,
		"mapping depth":  strings.Repeat("{a: ", 9_000),
		"unknown keys":   rows(6_000, func(i int) string { return fmt.Sprintf("k%d: 1\n", i) }),
		"many rows":      "ignore:\n" + strings.Repeat("- a\n", 15_000),
		"long scalar":    "language: " + strings.Repeat("x", 65_000),
		"much too large": strings.Repeat("# comment\n", 1_000_000),
		"quotes":         "language: " + strings.Repeat(`"`, 65_000),
		"comments":       strings.Repeat("#\n", 32_000),
		"complex keys":   strings.Repeat("? ", 30_000),
	} {
		t.Run(name, func(t *testing.T) {
			var got precedent.Policy
			var errs []error
			took := needs.Busy(func() { got, errs = ParsePolicy([]byte(src), PolicyFile, testFinders) })
			if took > 10*time.Second { // with the race detector
				t.Errorf("took %v", took)
			}
			if !cmp.Equal(withoutBroken(got), precedent.Policy{}) || len(errs) > maxPolicyErrors {
				t.Errorf("policy %+v with %d errors", got, len(errs))
			}
			if name != "comments" && len(errs) == 0 {
				t.Error("no error")
			}
		})
	}
}

func FuzzParsePolicy(f *testing.F) {
	for _, o := range overrides {
		f.Add([]byte("threshold: 60\n" + o.src + "\n"))
	}
	f.Add([]byte("ignore:\n- a\n# c\n\n- {b: [c, 'd']}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, errs := ParsePolicy(data, PolicyFile, testFinders)
		if p.Threshold != nil && (*p.Threshold < 0 || *p.Threshold > 100) || p.MaxInline < 0 || p.MaxInline > maxInline {
			t.Errorf("out of range: %+v", p)
		}
		globs := slices.Clone(p.Ignore)
		for _, i := range p.Instructions {
			globs = append(globs, i.Paths)
			if i.Text == "" || len(i.Text) > 4*maxInstruction {
				t.Errorf("text of %d bytes", len(i.Text))
			}
		}
		for _, fl := range p.Floors {
			globs = append(globs, fl.Paths)
			if !slices.Contains(precedent.Severities, fl.Severity) {
				t.Errorf("severity %q", fl.Severity)
			}
		}
		for _, g := range globs {
			if err := CheckGlob(g); err != nil {
				t.Errorf("glob %q: %v", g, err)
			}
		}
		if len(errs) > maxPolicyErrors {
			t.Errorf("%d errors", len(errs))
		}
		for _, err := range errs {
			if e, ok := err.(*PolicyError); !ok || e.Line < 1 || e.Col < 1 || e.Msg == "" || len(e.Error()) > 2000 {
				t.Errorf("error %#v", err)
			}
		}
	})
}
