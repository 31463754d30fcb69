package git

import "testing"

// TestSameName: every spelling that some file system takes for a name, and none besides.
func TestSameName(t *testing.T) {
	for want, names := range map[bool][]string{
		true: {
			".precedent", ".Precedent", ".PRECEDENT", ".precedent.", ".precedent. . ", ".precedent::$INDEX_ALLOCATION",
			".precedent:stream", "PRECED~1", "preced~2", ".PRECED~1", "PR7EBA~1", "pr0a1b~9", ".pre\u200ccedent",
			"\ufeff.precedent", ".precedent\u206f",
		},
		false: {
			"precedent", "precedent~1", "preced~", "preced~x", "prefix~1", ".precedent.yaml", ".precedents", "gi7eba~1", "",
		},
	} {
		for _, name := range names {
			if got := sameName(name, ".precedent"); got != want {
				t.Errorf("%q: %t", name, got)
			}
		}
	}
	for _, name := range []string{".git", "git~1", "GIT~2", ".gi\u200dt", "GI7EBA~1"} {
		if !sameName(name, ".git") {
			t.Errorf("%q is not taken for .git", name)
		}
	}
}
