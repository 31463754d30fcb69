package guide

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
)

// TestMemoryFile: what is written is read as it was, and the same content is the same bytes.
func TestMemoryFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "plain", "a: b", "- x", "@dana", "true", "12", "2026-01-01", "# no", "a\nb", `"q"`, "'", "*x", "&y", "{}", "é 🙂", "!!str", "<<"})
		var m SharedMemory
		for i := range rapid.IntRange(0, 4).Draw(t, "dismissals") {
			id := strings.Repeat("f", i+1)
			m.Dismissals = append(m.Dismissals, precedent.Rejection{
				ID: id, Fingerprint: id, Claim: "claim " + text.Draw(t, "claim"), Reason: strings.TrimLeft(text.Draw(t, "reason"), "@"), Who: strings.TrimLeft(text.Draw(t, "who"), "@"),
				Path: "a.go", Severity: precedent.Low, At: time.Date(2026, 1, 1, 9, 0, i, 5e6, time.UTC),
			})
		}
		for i := range m.Dismissals {
			m.Dismissals[i].Claim = strings.TrimSpace(m.Dismissals[i].Claim)
		}
		file, left, err := WriteMemory(m)
		if err != nil || left != 0 {
			t.Fatalf("%v, %d left\n%s", err, left, file)
		}
		got, errs := ParseMemory(file, MemoryFile)
		if diff := cmp.Diff(m.Dismissals, got.Dismissals); len(errs) > 0 || diff != "" {
			t.Fatalf("%v\n%s\n%s", errs, diff, file)
		}
		if again, _, err := WriteMemory(got); err != nil || string(again) != string(file) {
			t.Fatalf("%v\n%s\n%s", err, file, again)
		}
	})
}

// TestMemoryFileWrong: a wrong row is left out with its line, and a file that hides something is
// left out as a whole.
func TestMemoryFileWrong(t *testing.T) {
	const row = "dismissals:\n  - {fingerprint: f1, claim: x, severity: low, at: \"2026-01-01T00:00:00Z\"}\n"
	for text, says := range map[string]string{
		row + "  - {fingerprint: f2}\n":                                   ":3:5: a row needs",
		row + "  - {fingerprint: ../f, claim: x}\n":                       "want an id",
		row + "  - {fingerprint: f2, claim: x, severity: none, at: \"\"}": ":3:",
		row + "  - [1]\n":   "want a mapping",
		row + "secret: 1\n": `unknown key "secret"`,
		row + "learnings:\n  - {kind: obey, directive: x}\n":                          ":4:",
		row + "learnings:\n  - {id: ../x, kind: do, directive: x}\n":                  "want an id",
		row + "  - {fingerprint: f2, claim: x, severity: low, at: yesterday}\n":       "want a time",
		row + "  - {fingerprint: f2, claim: x, severity: low, at: 2026, html: <b>}\n": ":3:",
	} {
		m, errs := ParseMemory([]byte(text), MemoryFile)
		if len(errs) == 0 || !strings.Contains(errs[0].Error(), says) || len(m.Dismissals) != 1 || len(m.Learnings) > 0 {
			t.Errorf("%s: %+v, %v, want %q", text, m, errs, says)
		}
	}
	for _, text := range []string{"a: &x [1]\nb: *x\n", strings.Repeat("x", MaxMemoryBytes+1), "- 1\n", "dismissals: {}\n\xff", row + "---\n" + row} {
		if m, errs := ParseMemory([]byte(text), MemoryFile); len(errs) == 0 || len(m.Dismissals) > 0 {
			t.Errorf("%.40q: %+v, %v", text, m, errs)
		}
	}
}
