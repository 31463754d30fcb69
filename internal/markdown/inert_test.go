package markdown_test

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/markdown"
)

// TestCodeAtTheStart: what cannot be in a code span begins no block where an item of a list begins with it.
func TestCodeAtTheStart(t *testing.T) {
	for _, s := range []string{"# ##[", "- ##[", "1. ##[", "> ##["} {
		if got := markdown.Code(s); strings.HasPrefix(got, s[:2]) {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}
