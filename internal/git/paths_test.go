package git

import "testing"

// TestSameName: every spelling that some file system takes for a name, and none besides.
func TestSameName(t *testing.T) {
	for _, test := range []struct {
		name string
		want bool
	}{
		{".precedent", true},
		{".Precedent", true},
		{".PRECEDENT", true},
		{".precedent.", true},
		{".precedent. . ", true},
		{".precedent::$INDEX_ALLOCATION", true},
		{".precedent:stream", true},
		{"PRECED~1", true},
		{"preced~2", true},
		{".PRECED~1", true},
		{"PR7EBA~1", true},
		{"pr0a1b~9", true},
		{".pre\u200ccedent", true},
		{"\ufeff.precedent", true},
		{".precedent\u206f", true},
		{"precedent", false},
		{"precedent~1", false},
		{"preced~", false},
		{"preced~x", false},
		{"prefix~1", false},
		{".precedent.yaml", false},
		{".precedents", false},
		{"gi7eba~1", false},
		{"", false},
	} {
		if got := sameName(test.name, ".precedent"); got != test.want {
			t.Errorf("%q: %t", test.name, got)
		}
	}
	for _, name := range []string{".git", "git~1", "GIT~2", ".gi\u200dt", "GI7EBA~1"} {
		if !sameName(name, ".git") {
			t.Errorf("%q is not taken for .git", name)
		}
	}
}
