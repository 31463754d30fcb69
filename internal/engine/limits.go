package engine

import (
	"fmt"
	"strconv"

	"github.com/precedent-dev/precedent/internal/strict"
)

// The limits of an answer. A finder's answer has about a thousand values and a depth of four; the limits keep
// an answer that a hostile change inflates below some tens of MiB of memory.
const (
	// MaxReply is the largest output of one request that is read, in bytes.
	MaxReply = 16 << 20

	maxDepth  = 100
	maxValues = 100_000 // keys included
)

// Limits are those of the JSON in an answer.
var Limits = strict.Limits{Depth: maxDepth, Values: maxValues}

var errDeep = fmt.Errorf("nested deeper than %d", maxDepth)

// shown quotes a word of a model's answer for a message: short, and without terminal control characters.
func shown(s string) string {
	const most = 40
	return strconv.QuoteToASCII(shorten(s, most))
}

// shorten cuts s after n runes.
func shorten(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
