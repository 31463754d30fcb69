package review

import (
	"maps"
	"strings"
	"testing"
)

// TestSuggestions: what is offered replaces lines of the head as they are, and
// a Go file that parsed still parses. What replaces other lines is a sketch.
func TestSuggestions(t *testing.T) {
	const ranges = "\tfor n := range items {"
	for _, test := range []struct {
		name, suggestion string
		more             object
		says             string // empty if it is kept
		sketched         bool
	}{
		{"fits", ranges, nil, "", false},
		{"indentation alone", "\t\tfor n := 0; n <= len(items); n++ {", nil, "", false},
		{"no change", loop, nil, "changes nothing", false},
		{"breaks the file", "\tfor n := range items", nil, "no longer parse", false},
		{"redacted", "\tuse(\"[REDACTED:aws-access-token]\")", nil, "placeholders", true},
		{"hidden", "\tuse(\"\u202e\")", nil, "hidden characters", false},
		{
			"of a deleted line", "\tfor _, i := range list {",
			object{"side": "LEFT", "quote": "\tfor _, i := range items {"},
			"no lines of the new file", true,
		},
		{"of a part of the line", ranges, object{"quote": strings.TrimSuffix(loop, " {")}, "differ from the file", true},
		{"of more than the diff has", ranges, object{"end": 400}, "beyond its hunk", true},
		{"of lines before the quote", ranges, object{"start": 4, "end": 5}, "do not begin at the quote", true},
		{
			"of lines without an end", ranges + "\n\t\tsum += items[n].Price",
			object{"quote": loop + "\n\t\tsum += items[n].Price * items[n].Count", "end": nil},
			"does not say which lines", true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := input(t, shopBase, shopHead)
			more := object{"suggestion": test.suggestion}
			maps.Copy(more, test.more)
			in.Engine = answering(inCart(loop, "off by one", more))
			f := byTitle(t, run(t, in), "off by one")
			if kept := f.Suggestion == test.suggestion; kept != (test.says == "") || !strings.Contains(says(f), test.says) {
				t.Errorf("suggestion %q, trail: %s", f.Suggestion, says(f))
			}
			if sketched := f.Sketch == test.suggestion; sketched != test.sketched || f.Sketch != "" && f.Suggestion != "" {
				t.Errorf("sketch %q, trail: %s", f.Sketch, says(f))
			}
		})
	}
}
