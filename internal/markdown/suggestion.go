package markdown

import (
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/text"
)

// Suggestion renders lines of code as a block that a forge offers to commit. The
// lines must be unchanged, so ok is false if one of them could be a command, mentions
// somebody, or contains hidden characters; show those in a plain code block.
func Suggestion(lines []string) (block []string, ok bool) {
	longest := 2
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		if text.VisibleLine(line) != line || command().MatchString(strings.TrimLeft(line, "> ")) ||
			!fitsSpan(strings.ReplaceAll(line, "|", "")) {
			return nil, false
		}
		if i == 0 {
			lines = slices.Clone(lines)
		}
		lines[i] = line
		longest = max(longest, longestRun(line, '`', 0))
	}
	fence := strings.Repeat("`", longest+1)
	return append(append([]string{fence + "suggestion"}, lines...), fence), true
}
