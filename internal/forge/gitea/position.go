package gitea

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
)

// spot is the place of an inline comment in Gitea. Comments on one spot form a conversation.
type spot struct {
	path     string
	new, old int // the line, on one of the sides
	commit   string
}

// lineNumber converts a line number; 0 if it is not plausible.
func lineNumber(n uint64) int {
	if n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// position returns the lines of an inline comment, and its spot. In Gitea the position is the line in the
// commit of the review; in Forgejo it is the line in the commit that last changed it. Both return a hunk that
// ends with the line, which has the number in the commit of the review.
func position(m *comment, commit string) (precedent.Span, spot) {
	at := spot{path: m.Path, new: lineNumber(m.NewLine), old: lineNumber(m.OldLine), commit: commit}
	side, line := precedent.Right, at.new
	if at.old > 0 {
		side, line = precedent.Left, at.old
	}
	if shown := lastLine(m.DiffHunk, side); shown > 0 {
		line = shown
	}
	return precedent.Span{Path: m.Path, Side: side, Start: line, End: line}, at
}

var hunkHeader = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@`)
})

// lastLine returns the number of the last line of a hunk on a side; 0 if it is not on that side.
func lastLine(hunk string, side precedent.Side) int {
	header, body, _ := strings.Cut(strings.TrimRight(hunk, "\n"), "\n")
	found := hunkHeader().FindStringSubmatch(header)
	if found == nil || body == "" {
		return 0
	}
	before, _ := strconv.Atoi(found[1]) // nine digits are a number
	after, _ := strconv.Atoi(found[2])
	last := 0
	for line := range strings.SplitSeq(body, "\n") {
		old, added := 0, 0
		switch {
		case strings.HasPrefix(line, "\\"):
			continue // "No newline at end of file"
		case strings.HasPrefix(line, "-"):
			old = before
			before++
		case strings.HasPrefix(line, "+"):
			added = after
			after++
		default:
			old, added = before, after
			before++
			after++
		}
		if last = added; side == precedent.Left {
			last = old
		}
	}
	return last
}
