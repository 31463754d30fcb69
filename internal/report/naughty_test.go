package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown/markdowntest"
	"github.com/precedent-dev/precedent/internal/report"
)

func markdown(t markdowntest.T, r *precedent.Review, s report.Style) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Markdown(&b, r, s); err != nil {
		t.Fatalf("%v", err)
	}
	return b.String()
}

// TestMarkdownIsInert puts naughty strings into every text of a review.
func TestMarkdownIsInert(t *testing.T) {
	plain := markdowntest.Render(t, markdown(t, full(), report.Style{Change: login(), Version: "v1"}))
	for _, s := range markdowntest.Infamous(t) {
		p := markdowntest.Inert(t, markdown(t, everywhere(s), report.Style{
			Change: hostileChange(s), Version: s, Links: []string{"good.example"},
		}))
		for element, want := range map[string]int{
			"h2": 1, "h3": 3, "table": 1, "tr": plain.Count["tr"],
			"td": plain.Count["td"], "details": 1, "summary": 1,
		} {
			if p.Count[element] != want {
				t.Errorf("%q: %d elements %s, want %d\n%s", s, p.Count[element], element, want,
					markdown(t, everywhere(s), report.Style{}))
			}
		}
	}
}

// TestMarkdownIsBounded shows that whatever is in a review, its report fits into
// a comment and is whole, and still says what the review was.
func TestMarkdownIsBounded(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("|", 5000), strings.Repeat("`|*", 5000), strings.Repeat("> ", 5000),
		strings.Repeat("- ", 5000) + "a", strings.Repeat("[", 5000), "short",
	} {
		r := everywhere(s)
		r.Verdict = precedent.Partial
		for range 8 {
			r.Findings = append(r.Findings, r.Findings...)
			r.Finders = append(r.Finders, r.Finders...)
			r.Failures = append(r.Failures, r.Failures...)
			r.Coverage.Truncated = append(r.Coverage.Truncated, r.Coverage.Truncated...)
			r.Coverage.Skipped = append(r.Coverage.Skipped, r.Coverage.Skipped...)
			r.Memory.Suppressed = append(r.Memory.Suppressed, r.Memory.Suppressed...)
			r.Memory.Precedents = append(r.Memory.Precedents, r.Memory.Precedents...)
		}
		out := markdown(t, r, report.Style{Version: s})
		if markdowntest.Inert(t, out); len(out) > 65_536 {
			t.Errorf("%d bytes", len(out))
		}
		for _, want := range []string{
			"## Precedent: partial", "This review is incomplete", "| severity |",
			"to fit a comment", "is not an approval",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("%.20q: no %q", s, want)
			}
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for i, s := range markdowntest.Naughty(f) {
		if i%8 == 0 { // TestMarkdownIsInert takes them all
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		markdowntest.Inert(t, markdown(t, everywhere(s), report.Style{Links: []string{"good.example"}}))
	})
}
