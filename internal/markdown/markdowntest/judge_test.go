package markdowntest

import (
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestBigList is here to be skipped by name where Infamous is Naughty alone.
func TestBigList(t *testing.T) {
	if len(bigList(t)) == 0 {
		needs.Missing(t, stringsVariable, "the Big List of Naughty Strings")
	}
}
