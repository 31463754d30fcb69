package thread

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
)

// TestTheAuthorDismisses: the author of the pull request ends the thread of a finding that is neither severe nor in a
// protected category, with words that fixed rules recognize. Nobody else does without write permission.
func TestTheAuthorDismisses(t *testing.T) {
	const author, stranger, maintainer = precedent.ForgeID("11"), precedent.ForgeID("13"), precedent.ForgeID("12")
	const fine = "This is fine because the caller checks it."
	const back = "This is a false positive. Scratch that, I'll fix it."
	const on, no = "this is intentional because old clients need it", "this is intentional because I say so"
	const bugs, security, low, medium = precedent.Bugs, precedent.Security, precedent.Low, precedent.Medium
	for name, test := range map[string]struct {
		who      precedent.ForgeID
		mayWrite bool
		says     string
		severity precedent.Severity
		category precedent.Category
		want     bool
	}{
		"the author":                  {author, false, on, medium, bugs, true},
		"in other words":              {author, false, fine, low, precedent.Style, true},
		"won't fix":                   {author, false, "won't fix: we prefer this", precedent.Nit, precedent.Tests, true},
		"a high finding":              {author, false, on, precedent.High, bugs, false},
		"a finding about security":    {author, false, on, low, security, false},
		"of unknown severity":         {author, false, on, "", bugs, false},
		"a stranger":                  {stranger, false, no, low, bugs, false},
		"a maintainer":                {maintainer, true, strings.ToLower(fine), precedent.Critical, security, true},
		"the author asks":             {author, false, "Is this intentional because of old clients?", low, bugs, false},
		"the author quotes":           {author, false, "> this is intentional because\n\nWho says that?", low, bugs, false},
		"the author takes it back":    {author, false, back, low, bugs, false},
		"a person without an account": {"", false, no, low, bugs, false},
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
