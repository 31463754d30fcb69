package text

import (
	"fmt"
	"strings"
)

// Visible makes text safe to display on a terminal and to a model: control characters, hidden characters and
// invalid bytes are written as <U+202E> and <0x80>. Line feeds and tabs are kept, and CRLF becomes LF.
// Nothing else changes, so code can still be quoted.
func Visible(s string) string { return visible(s, true) }

// VisibleLine is Visible for text that must stay on one line: line feeds are escaped, too.
func VisibleLine(s string) string { return visible(s, false) }

func visible(s string, lines bool) string {
	i := 0
	for i < len(s) && (s[i] >= ' ' && s[i] < 0x7f || s[i] == '\t' || s[i] == '\n' && lines) {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	shown := 0
	for spot := range Spots(s) {
		show(&b, s[shown:spot.Start], lines)
		fmt.Fprintf(&b, "<U+%04X>", spot.Rune)
		shown = spot.End
	}
	show(&b, s[shown:], lines)
	return b.String()
}

// show writes text without hidden characters. Only line endings and invalid bytes are left to escape.
func show(b *strings.Builder, s string, lines bool) {
	done := 0
	for i, r := range s {
		spelled := ""
		switch {
		case r == '\r' && lines && strings.HasPrefix(s[i+1:], "\n"):
		case r == '\r', r == '\f', r == '\n' && !lines:
			spelled = fmt.Sprintf("<U+%04X>", r)
		case isInvalid(r, s[i:]):
			spelled = fmt.Sprintf("<0x%02X>", s[i])
		default:
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(spelled)
		done = i + 1
	}
	b.WriteString(s[done:])
}
