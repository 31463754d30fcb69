package review

import (
	"strings"
	"testing"
)

// TestSuggestions: what is offered replaces lines of the head as they are, and
// a Go file that parsed still parses.
func TestSuggestions(t *testing.T) {
	for _, test := range []struct {
		name, suggestion string
		more             map[string]any
		says             string // empty if it is kept
	}{
		{"fits", "\tfor n := range items {", nil, ""},
		{"indentation alone", "\t\tfor n := 0; n <= len(items); n++ {", nil, ""},
		{"no change", loop, nil, "says already"},
		{"breaks the file", "\tfor n := range items", nil, "not parse"},
		{"blackened", "\tuse(\"[REDACTED:aws-access-token]\")", nil, "in place of"},
		{"hidden", "\tuse(\"\u202e\")", nil, "hidden characters"},
		{"of a deleted line", "\tfor _, i := range list {", map[string]any{"side": "LEFT", "quote": "\tfor _, i := range items {"}, "no lines of the new file"},
		{"of the whole file", "package x", map[string]any{"quote": "", "start": 0, "evidence": []map[string]any{{"path": "cart/cart.go", "quote": loop}}}, "no lines of the new file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := input(t, shopBase, shopHead)
			more := map[string]any{"suggestion": test.suggestion}
			for k, v := range test.more {
				more[k] = v
			}
			in.Engine = answering(finding("cart/cart.go", 5, loop, "off by one", more))
			f := byTitle(t, run(t, in), "off by one")
			if kept := f.Suggestion == test.suggestion; kept != (test.says == "") || !strings.Contains(says(f), test.says) {
				t.Errorf("suggestion %q, trail: %s", f.Suggestion, says(f))
			}
		})
	}
}
