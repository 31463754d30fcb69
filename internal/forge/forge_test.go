package forge

import (
	"strings"
	"testing"
)

// TestNewestChecks: of each name and maker the newest counts, and only pages of the web are links.
func TestNewestChecks(t *testing.T) {
	report := func(name, maker string, n int64, state CheckState, page string) Report {
		return Report{CommitCheck: CommitCheck{Name: name, State: state, URL: page}, Maker: maker, Number: n}
	}
	got := NewestChecks([]Report{
		report("b", "x", 2, CheckPassed, "https://ci.example/2"), report("b", "x", 1, CheckFailed, ""),
		report("b", "y", 3, CheckPending, "javascript:x"), report("a", "", 1, CheckSkipped, "https://user@ci.example/"),
		report(strings.Repeat("é", 300), "", 1, CheckPassed, "http://[::1]/"),
	})
	if len(got) != 4 || got[0].Name != "a" || got[0].URL != "" || got[1].URL+got[2].URL != "https://ci.example/2" ||
		len([]rune(got[3].Name)) != MaxCheckName || got[3].URL == "" {
		t.Errorf("%+v", got)
	}
}

// TestCutBody: a text is cut between characters.
func TestCutBody(t *testing.T) {
	if got, cut := CutBody("a" + strings.Repeat("é", MaxBody)); !cut || len(got) != MaxBody-1 {
		t.Errorf("%d bytes, %v", len(got), cut)
	}
}
