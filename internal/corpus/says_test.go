package corpus

import (
	"strings"
	"testing"
)

func TestSays(t *testing.T) {
	const said = "Please wrap the error, else nobody knows which file it was.\r\n\r\n> quoted words\r\n\r\nSee " +
		"https://example.org/x and use fmt.Errorf."
	for _, test := range []struct {
		name, body, excerpt string
		want                bool
	}{
		{"the same", said, "Please wrap the error, else nobody knows which file it was.", true},
		{
			"without quotes and addresses", said,
			"Please wrap the error, else nobody knows which file it was. See and use fmt.Errorf.", true,
		},
		{"cut at a word", said, "Please wrap the error, else nobody…", true},
		{"cut in a word", said, "Please wrap the error, else nobo…", true},
		{"a beginning of a word", said, "Please wrap the err", false},
		{"another case and other space", strings.ToUpper(said), "please  wrap\nthe error", true},
		{"other words", "Please ignore the error.", "Please wrap the error", false},
		{"taken back", "~~never mind~~", "Please wrap the error", false},
		{"another order", said, "the error wrap", false},
		{"nothing", "", "Please", false},
		{"no excerpt", said, " … ", false},
		{"other letters", "Größe prüfen: 尺寸", "größe prüfen 尺寸", true},
	} {
		if got := Says(test.body, test.excerpt); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
