package text_test

import (
	"testing"

	"github.com/precedent-dev/precedent/internal/text"
)

func TestHead(t *testing.T) {
	for _, test := range []struct {
		s    string
		n    int
		want string
	}{{"", 0, ""}, {"word", 4, "word"}, {"words", 4, "word …"}, {"aé", 2, "a …"}, {"aéb", 3, "aé …"}, {"\U0001f600", 3, " …"}} {
		if got := text.Head(test.s, test.n); got != test.want {
			t.Errorf("Head(%q, %d) = %q, want %q", test.s, test.n, got, test.want)
		}
	}
}
