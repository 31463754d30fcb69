// Package markdown renders untrusted text as Markdown that reads the same and triggers nothing.
//
// Text in a comment is not only read by people. Forges turn @name into a notification, "fixes #1" into a
// closed issue and a bare URL into a link, and bots obey lines that begin with a slash. This package spells
// out hidden characters and escapes what Markdown would interpret. A character that makes a word a command is
// put in a code span, which breaks the word also for programs that read the raw text. There are no images and
// no HTML, and links lead only to hosts that the caller allows.
package markdown

import (
	"strings"

	"github.com/precedent-dev/precedent/internal/text"
)

// tab is what a tab within a line of prose is shown as.
const tab = "    "

// visibleLine spells out hidden characters, also line breaks.
func visibleLine(s string) string { return text.VisibleLine(strings.ReplaceAll(s, "\t", tab)) }
