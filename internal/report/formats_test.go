package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/golden"
	"github.com/precedent-dev/precedent/internal/markdown/markdowntest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/report"
)

// Programs that read our formats; scripts/testformats.sh installs both.
const (
	sarifVariable     = "PRECEDENT_TEST_SARIF"     // Microsoft's sarif-multitool, or "off"
	reviewdogVariable = "PRECEDENT_TEST_REVIEWDOG" // testdata/reviewdog, built, or "off"
)

// partial is a review of several files, of which not everything was read, with
// a finding on the old side, one on a whole file, a minor one, and names that need escaping.
func partial() *precedent.Review {
	r := full()
	r.Verdict, r.At = precedent.Partial, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r.Finders[0].Status, r.Finders[0].Error = precedent.StatusTimeout, "no answer within 30s, twice"
	r.Coverage.HunksRead = 12
	r.Coverage.Truncated = []precedent.TruncatedHunk{{Path: "big file.go", Hunk: 3, Reason: "diff larger than 4 MiB"}}
	left := r.Findings[0]
	left.ID, left.Fingerprint, left.Side, left.Start, left.End = "1eft000001", strings.Repeat("3", 32), precedent.Left, 40,
		40
	left.Title, left.Suggestion, left.Cites = "The error is lost", "", nil
	whole := left
	whole.ID, whole.Side, whole.Start, whole.End, whole.Path = "wh01e00001", precedent.Right, 0, 0, "a:b/c d%20,ü#?.go"
	whole.Fingerprint, whole.Title, whole.Quote, whole.Severity = strings.Repeat("4", 32), "50% of {this}, [that](0): all",
		"", precedent.Medium
	minor := precedent.Finding{
		ID: "min0000001", Fingerprint: strings.Repeat("5", 32), Finder: "bugs", Severity: precedent.Low, Category: precedent.Style,
		Confidence: 1, Verifier: precedent.Confirmed, Title: "n says <b>nothing</b>", Span: at(41, 41),
		Dropped: precedent.Minor, Placement: precedent.Collapsed,
	}
	r.Findings = append(r.Findings, left, whole, minor)
	return r
}

// samples are the reviews that every format is tested with.
func samples() map[string]*precedent.Review {
	return map[string]*precedent.Review{
		"full": full(), "analyzers": analyzersOnly(), "failed": broken(),
		"partial": partial(), "later": later(), "empty": {},
	}
}

func printed(t *testing.T, format string, r *precedent.Review, s report.Style) []byte {
	t.Helper()
	f, ok := report.FormatNamed(format)
	if !ok {
		t.Fatalf("no format %s", format)
	}
	var b bytes.Buffer
	needs.NoError(t, f.Write(&b, r, s))
	return b.Bytes()
}

// TestFormats compares what every format makes of the samples with its golden files.
func TestFormats(t *testing.T) {
	style := report.Style{Change: login(), Version: "v1.2.3"}
	for format, ending := range map[string]string{"markdown": ".md", "sarif": ".sarif", "github": ".github"} {
		for _, name := range []string{"full", "analyzers", "failed", "partial"} {
			t.Run(format+" "+name, func(t *testing.T) {
				out := printed(t, format, samples()[name], style)
				golden.Compare(t, filepath.Join("testdata", name+ending), string(out))
				if bytes.Contains(out, []byte("AKIA")) {
					t.Error("a secret is in the output")
				}
			})
		}
	}
	if got, want := report.FormatNames(), "text, json, markdown, sarif, agent or github"; got != want {
		t.Errorf("FormatNames() = %q, want %q", got, want)
	}
	if f, ok := report.FormatNamed("html"); ok {
		t.Errorf("there is a format %+v", f)
	}
	for _, f := range report.Formats {
		if err := f.Write(fullDisk{}, full(), report.Style{}); !errors.Is(err, errFull) {
			t.Errorf("%s to a full disk: %v", f.Name, err)
		}
	}
}

// TestNoFormatHidesTrouble holds every format to saying that a review is not
// complete, however few findings it has, and none to saying so of a complete one.
func TestNoFormatHidesTrouble(t *testing.T) {
	said := map[string]*regexp.Regexp{
		"text":     regexp.MustCompile(`(?m)^(partial: not everything was read|failed: the engine read nothing)`),
		"json":     regexp.MustCompile(`"verdict": "(partial|failed)"`),
		"markdown": regexp.MustCompile(`(?m)^## Precedent: (partial, not everything was read|failed, no model)[^\n]*\n(.*\n)*\*\*This review is incomplete`),
		"sarif":    regexp.MustCompile(`"executionSuccessful": false(.*\n)*.*"level": "error"`),
		"agent":    regexp.MustCompile(`^This review is incomplete`),
		"github":   regexp.MustCompile(`^::error title=Precedent%3A incomplete::This review is incomplete`),
	}
	for _, f := range report.Formats {
		for _, verdict := range []precedent.Verdict{
			precedent.Partial, precedent.Failed, precedent.Clean, precedent.Findings,
			precedent.NoFindings, precedent.Skipped,
		} {
			for _, r := range []*precedent.Review{{}, full(), broken()} {
				r.Verdict = verdict
				incomplete := verdict == precedent.Partial || verdict == precedent.Failed
				out := printed(t, f.Name, r, report.Style{})
				if said[f.Name].Match(out) != incomplete {
					t.Errorf("%s of a review that is %s:\n%s", f.Name, verdict, out)
				}
			}
		}
	}
	// A verdict that is not a verdict is not taken for a good one.
	for _, f := range report.Formats[2:] {
		if out := printed(t, f.Name, &precedent.Review{Verdict: "splendid"}, report.Style{}); !bytes.Contains(out,
			[]byte("incomplete")) && !bytes.Contains(out, []byte(`"executionSuccessful": false`)) {
			t.Errorf("%s believes in the verdict:\n%s", f.Name, out)
		}
	}
}

func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s := needs.Value(c.Compile("testdata/sarif-schema-2.1.0.json"))(t)
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, data []byte) {
	t.Helper()
	value := needs.Value(jsonschema.UnmarshalJSON(bytes.NewReader(data)))(t)
	if err := s.Validate(value); err != nil {
		t.Errorf("%v\n%s", err, data)
	}
}

// nasty are reviews of naughty strings and paths.
func nasty(t *testing.T) []*precedent.Review {
	t.Helper()
	var all []*precedent.Review
	for _, s := range markdowntest.Naughty(t) {
		r := everywhere(s)
		r.Repo = precedent.Repo{Host: "example.org", Owner: s, Name: s}
		all = append(all, r)
	}
	return all
}

// TestSARIFSchema checks against the schema of the standard.
func TestSARIFSchema(t *testing.T) {
	schema := sarifSchema(t)
	for name, r := range samples() {
		t.Run(name, func(t *testing.T) { validate(t, schema, printed(t, "sarif", r, report.Style{Version: "v1"})) })
	}
	for _, r := range nasty(t) {
		validate(t, schema, printed(t, "sarif", r, report.Style{Version: r.ID}))
	}
}

// TestSARIFPaths shows that a path comes back from its URI byte by byte and never leads out of the repository.
func TestSARIFPaths(t *testing.T) {
	for _, path := range append(markdowntest.Naughty(t), "a b/c", "a%20b", "x:y", "/abs", "//host/x", "ü", "\xff") {
		if path == "" {
			continue
		}
		r := &precedent.Review{Verdict: precedent.Findings, Findings: []precedent.Finding{{Span: precedent.Span{
			Path: path,
			Side: precedent.Right, Start: 1, End: 1,
		}, Title: "x"}}}
		at := regexp.MustCompile(`"artifactLocation": {\s+"uri": "(.*)",\s+"uriBaseId": "SRCROOT"`).
			FindSubmatch(printed(t, "sarif", r, report.Style{}))
		if at == nil {
			t.Fatalf("%q has no location", path)
		}
		u, err := url.Parse(string(at[1]))
		if err != nil || u.Path != path || u.Scheme != "" || u.Host != "" || u.RawQuery != "" || u.Fragment != "" {
			t.Errorf("%q became %q: %+v, %v", path, at[1], u, err)
		}
	}
}

// TestMultitool has Microsoft's validator read the logs. It ends with 0 whatever it finds: its lines decide.
func TestMultitool(t *testing.T) {
	program := needs.Program(t, sarifVariable, "sarif/node_modules/.bin/sarif-multitool", "Microsoft's SARIF Multitool")
	dir := t.TempDir()
	files := 0
	write := func(name string, data []byte) {
		files++
		needs.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	for name, r := range samples() {
		if name != "empty" {
			write(name+".sarif", printed(t, "sarif", r, report.Style{Version: "1.2.3"}))
		}
	}
	for i, r := range nasty(t) {
		if i%17 == 0 {
			r.Repo = full().Repo
			write("nasty"+string(rune('a'+i/17))+".sarif", printed(t, "sarif", r, report.Style{Version: "1.2.3"}))
		}
	}
	write("wrong.sarif",
		[]byte(`{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"bogus": 1}]}]}`))
	cmd := exec.CommandContext(t.Context(), program, "validate", filepath.Join(dir, "*.sarif"), "--rule-kind", "Sarif")
	cmd.Env = append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1",
		"DOTNET_BUNDLE_EXTRACT_BASE_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	caught := false
	for line := range strings.Lines(string(out)) {
		switch {
		case strings.Contains(line, "wrong.sarif"):
			caught = caught || strings.Contains(line, ": error ")
		case strings.Contains(line, "warning SARIF2017"):
			// A finding on a whole file, or on the old side, has no region in the file: none is made up.
		case strings.Contains(line, ": error ") || strings.Contains(line, ": warning "):
			t.Error(strings.TrimSpace(strings.ReplaceAll(line, dir, "")))
		}
	}
	if !caught || !strings.Contains(string(out), "Analysis completed successfully") || files != 17 {
		t.Errorf("%d files, the wrong one was caught: %v\n%s", files, caught, out)
	}
}

// dog has reviewdog's parser read a report.
func dog(t *testing.T, program, format string, data []byte) []map[string]any {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, format)
	cmd.Stdin = bytes.NewReader(data)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, stderr.String(), data)
	}
	var found []map[string]any
	needs.NoError(t, json.Unmarshal(out, &found))
	for _, d := range found {
		delete(d, "original_output")
	}
	return found
}

// TestReviewdog has reviewdog's own parser read SARIF.
func TestReviewdog(t *testing.T) {
	program := needs.Program(t, reviewdogVariable, "reviewdog", "reviewdog's parser")
	got := dog(t, program, "sarif", printed(t, "sarif", full(), report.Style{}))
	if len(got) == 0 {
		t.Fatal("no diagnostics")
	}
	line := map[string]any{"start": map[string]any{"line": 42.0}}
	want := map[string]any{
		"message": full().Findings[0].Title + "\n\n" + full().Findings[0].Body +
			"\n\nReviewers have previously flagged this pattern (PR 12).",
		"severity": 1.0, "code": map[string]any{
			"value": "bugs/security",
			"url":   "https://github.com/precedent-dev/precedent",
		},
		"source":   map[string]any{"name": "precedent", "url": "https://github.com/precedent-dev/precedent"},
		"location": map[string]any{"path": "auth/token.go", "range": line},
		"suggestions": []any{map[string]any{
			"range": line, "text": "\treturn subtle.ConstantTimeCompare([]byte(tok), []byte(want)) == 1",
		}},
	}
	needs.Equal(t, want, got[0])
	for name, r := range samples() {
		t.Run(name, func(t *testing.T) { dog(t, program, "sarif", printed(t, "sarif", r, report.Style{})) })
	}
}

// command is a workflow command with the properties that annotations have, as GitHub's runner reads it: the name up to
// the first space, properties at commas.
var command = regexp.MustCompile(`^::(?:error|warning|notice)(?: (?:,?(?:file|line|endLine|title)=[^,:]*)+)?::[^\n]*$`)

// TestAnnotations: no text of a review adds a property or a command; the golden files have the escapes.
func TestAnnotations(t *testing.T) {
	for _, s := range markdowntest.Infamous(t) {
		for line := range strings.Lines(string(printed(t, "github", everywhere(s), report.Style{}))) {
			line = strings.TrimSuffix(line, "\n")
			if !command.MatchString(line) || unsafe.MatchString(strings.ReplaceAll(line, joiner, "")) {
				t.Errorf("%q: %q", s, line)
			}
		}
	}
}
