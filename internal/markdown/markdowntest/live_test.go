package markdowntest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRead shows that what forges act on is seen, and that code is left alone.
func TestRead(t *testing.T) {
	for page, want := range map[string]Live{
		"Hello @dana, see #12":               {Mentions: []string{"dana"}, References: []string{"#12"}},
		"(@org/team) GH-3":                   {Mentions: []string{"org/team"}, References: []string{"GH-3"}},
		"team/app#4 and !5":                  {References: []string{"team/app#4", "!5"}},
		"in deadbee1 or defaced":             {References: []string{"deadbee1"}},
		"[it](https://f.example/a/b/pull/7)": {References: []string{"https://f.example/a/b/pull/7"}},
		"<https://f.example/a/b/issues/7>":   {References: []string{"https://f.example/a/b/issues/7"}},
		"https://f.example/a/b/pulls/7#x":    {References: []string{"https://f.example/a/b/pulls/7#x"}},
		"`@dana` `#12` `GH-3` `deadbee1` `https://f.example/a/b/pull/7` `team/app#4`": {},
		"PR 12, dana, 2025-04-05 `@`dana `#`12":                                       {},
		"[line](https://f.example/a/b/blob/main/a.go#L3)":                             {},
	} {
		if d := cmp.Diff(want, Render(t, page).Read()); d != "" {
			t.Errorf("%s (-want +got):\n%s", page, d)
		}
	}
}
