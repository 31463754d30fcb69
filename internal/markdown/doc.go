// Package markdown writes text from outside as Markdown that says what the text
// says and does nothing.
//
// Text from outside that lands in a comment is obeyed by more than its readers:
// forges turn @name into mail, "fixes #1" into a closed issue and a bare address
// into a link, and bots take commands from lines that begin with a slash. What
// is written here reads the same: hidden characters are spelled out, what
// Markdown would take is escaped, and the one character that makes a command of
// a word stands in a code span of its own, which breaks the word for programs
// that read the raw text as well. There are no images, no HTML, and no links but
// to hosts that the caller allows.
package markdown

import (
	"strings"

	"github.com/precedent-dev/precedent/internal/text"
)

// tab is what a tab within a line of prose is shown as.
const tab = "    "

// visibleLine spells out what is hidden in a text that must stay on one line.
func visibleLine(s string) string { return text.VisibleLine(strings.ReplaceAll(s, "\t", tab)) }
