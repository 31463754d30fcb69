package secret

import "testing"

func TestBeginsWith(t *testing.T) {
	for pattern, want := range map[string]bool{
		`(?i)(?:api|key)[ =]{0,3}([a-z]+)`:   true,
		`(?i)passw(?:or)?d=`:                 false, // passwd is not among the words
		`(?i)key?=`:                          false,
		`\bkey`:                              false, // what stands in front matters
		`[a-z]{3}key`:                        false,
		`(key)?=`:                            false,
		``:                                   false,
		`(`:                                  false,
		`(?:a|b|c)(?:a|b|c)(?:a|b|c)[abcd]z`: false,
	} {
		if got := beginsWith(pattern, []string{"api", "key", "password"}); got != want {
			t.Errorf("beginsWith(%q) = %v", pattern, got)
		}
	}
}
