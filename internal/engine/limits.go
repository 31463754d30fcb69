package engine

import (
	"fmt"

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
