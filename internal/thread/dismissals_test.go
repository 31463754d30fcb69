package thread

import (
	"testing"

	"github.com/precedent-dev/precedent"
)

// TestTheAuthorDismisses: the author of the pull request ends the thread of a finding that is
// neither severe nor in a protected category, with words that fixed rules recognize. Nobody else
// does without write permission.
func TestTheAuthorDismisses(t *testing.T) {
	for name, test := range map[string]struct {
		who      precedent.ForgeID
		mayWrite bool
		says     string
		severity precedent.Severity
		category precedent.Category
		want     bool
	}{
		"the author": {
			"11", false, "this is intentional because old clients need it", precedent.Medium,
			precedent.Bugs, true,
		},
		"in other words": {
			"11", false, "This is fine because the caller checks it.", precedent.Low,
			precedent.Style, true,
		},
		"won't fix": {"11", false, "won't fix: we prefer this", precedent.Nit, precedent.Tests, true},
		"a high finding": {
			"11", false, "this is intentional because old clients need it", precedent.High,
			precedent.Bugs, false,
		},
		"a finding about security": {
			"11", false, "this is intentional because old clients need it", precedent.Low,
			precedent.Security, false,
		},
		"of unknown severity": {
			"11", false, "this is intentional because old clients need it", "", precedent.Bugs,
			false,
		},
		"a stranger": {
			"13", false, "this is intentional because I say so", precedent.Low, precedent.Bugs,
			false,
		},
		"a maintainer": {
			"12", true, "this is fine because the caller checks it", precedent.Critical,
			precedent.Security, true,
		},
		"the author asks": {
			"11", false, "Is this intentional because of old clients?", precedent.Low,
			precedent.Bugs, false,
		},
		"the author quotes": {
			"11", false, "> this is intentional because\n\nWho says that?", precedent.Low,
			precedent.Bugs, false,
		},
		"the author takes it back": {
			"11", false, "This is a false positive. Scratch that, I'll fix it.", precedent.Low,
			precedent.Bugs, false,
		},
		"a person without an account": {
			"", false, "this is intentional because I say so", precedent.Low, precedent.Bugs,
			false,
		},
	} {
		th := precedent.Thread{
			Severity: test.severity, Category: test.category,
			Messages: []precedent.Message{{
				ID: "1", WhoID: test.who, MayWrite: test.mayWrite,
				Body: precedent.Untrusted(test.says),
			}},
		}
		if _, _, got := dismissedIn(th, dismissers(th, "11")); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
