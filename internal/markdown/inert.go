package markdown

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/text"
)

var (
	// mention is an at sign before a name: a person, a team, a bot.
	mention = text.Pattern(`@+[^\s@]`)
	// reference is an issue or merge request: #1, GH-1, !1.
	reference = text.Pattern(`([#!]+)[0-9]|\b(?i:GH)(-)[0-9]`)
	// commit is what may be the id of a commit, or its beginning; a word of letters alone is not.
	commit = text.Pattern(`\b[0-9a-f]{7,64}\b`)
	// closing closes an issue of another tracker: "closes PROJ-1".
	closing = text.Pattern(`\b(?i:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|` +
		`implement(?:s|ed|ing)?):?\s+[A-Z][A-Z0-9]*(-)[0-9]`)
	// address is what forges turn into a link.
	address = text.Pattern(`(?i)(?:\b(?:https?|ftp|mailto|xmpp):|\bwww\.|//[a-z0-9-]+\.)[^\s<>"\x60|\[]*`)
	// urlScheme makes a text a URL.
	urlScheme = text.Pattern(`(?i)(:)//|(?:mailto|xmpp)(:)|www(\.)`)
	// command is a line that a bot may obey: a quick action, a known word, a trailer.
	command = text.Pattern(`^\s*(?:([/!])[A-Za-z]|(:):|(?i:([bhjr])(?:ors|omu|enkins|etest|echeck)\b)|` +
		`[A-Za-z]+(?:-[A-Za-z]+)+(:))`)
	// trigger is what CI systems take for a command anywhere in prose.
	trigger = text.Pattern(`(?i:(t)est\W+this\W+please|(o)k\W+to\W+test|(a)dd\W+to\W+(?:white|allow)list)\b`)
	// skipping prevents CI runs if it gets into a commit message.
	skipping = text.Pattern(`(?i)\[(?:skip|no|ci)[ -]`)
	// agent is a program that reacts to its name anywhere, also in code.
	agent = text.Pattern(`(?i)@(claude|codex|copilot|cursor|dependabot|renovate|mergify|mergifyio|` +
		`bors|homu|rust|rustbot|k8s|coderabbitai|gemini|sweep|devin|openhands|pre-commit|precedent)\b`)
	// escaper escapes the characters that Markdown interprets within a line.
	escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`,
		`<`, `\<`, `>`, `\>`, `~`, `\~`, `&`, `\&`, `$`, `\$`, `^`, `\^`, `|`, `&#124;`)
	// blockStart begins a list, a heading, a quote, a rule or a table at the start of a line.
	blockStart = text.Pattern(`^(?:[0-9]+([.)])|([-+#=:]))`)
)

// escapeLine renders untrusted text as one line of Markdown that shows only the text.
// If start is set, the line must not begin a block or a command either.
func escapeLine(s string, start bool) string {
	s = visibleLine(s)
	if start {
		s = strings.TrimLeft(s, " ")
	}
	broken := codeMask(s, start)
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && broken[j] == broken[i] {
			j++
		}
		switch part := s[i:j]; {
		case broken[i]:
			b.WriteString(span(part))
		case start && i == 0:
			b.WriteString(escapeStart(part))
		default:
			b.WriteString(escaper.Replace(part))
		}
		i = j
	}
	return b.String()
}

// codeMask marks the bytes of s that must be in code spans.
func codeMask(s string, start bool) []bool {
	broken := make([]bool, len(s)+1)
	mark := func(from, to int) {
		for i := max(from, 0); i < to; i++ {
			broken[i] = true
		}
	}
	group := func(m []int) {
		for i := 2; i < len(m); i += 2 {
			mark(m[i], m[i+1]) // -1, -1 for a group that took no part
		}
	}
	for _, m := range mention().FindAllStringIndex(s, -1) {
		_, last := utf8.DecodeLastRuneInString(s[m[0]:m[1]])
		mark(m[0], m[1]-last)
	}
	for _, pattern := range []*regexp.Regexp{reference(), trigger(), closing(), urlScheme()} {
		for _, m := range pattern.FindAllStringSubmatchIndex(s, -1) {
			group(m)
		}
	}
	for _, m := range commit().FindAllStringIndex(s, -1) {
		if strings.ContainsAny(s[m[0]:m[1]], "0123456789") {
			mark(m[0], m[1])
		}
	}
	for _, m := range address().FindAllStringIndex(s, -1) {
		url := strings.TrimRight(s[m[0]:m[1]], ".,;:!?)'*_~|]")
		// After an at sign, both would be in one span, before which Gitea finds an address of mail: "a`@www.b.c`".
		if !strings.Contains(url, "@") && !strings.HasSuffix(s[:m[0]], "@") {
			mark(m[0], m[0]+len(url))
		}
	}
	if start {
		group(command().FindStringSubmatchIndex(s))
	}
	return broken
}

func escapeStart(s string) string {
	if m := blockStart().FindStringSubmatchIndex(s); m != nil {
		i := max(m[2], m[4])
		return escaper.Replace(s[:i]) + `\` + escaper.Replace(s[i:])
	}
	return escaper.Replace(s)
}

// Code renders untrusted text as a code span if possible, within a line of the caller: at most 400 bytes.
func Code(s string) string {
	s = visibleLine(text.Head(s, maxCode))
	if !fitsSpan(s) {
		return escapeLine(s, true) // the caller may put it first, for example in an item of a list
	}
	return span(s)
}

// fitsSpan reports whether a text can be in a code span unchanged. It must not
// contain what a bot obeys even there, or what would break a table.
func fitsSpan(s string) bool {
	return !strings.Contains(s, "|") && !mention().MatchString(s) && !strings.Contains(s, "##[") &&
		!skipping().MatchString(s) &&
		!trigger().MatchString(s)
}

// span returns a code span. The text must not contain a pipe.
func span(s string) string {
	if s == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(s, '`', 0)+1)
	pad := ""
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' && strings.Trim(s, " ") != "" {
		pad = " "
	}
	return fence + pad + s + pad + fence
}

// Fenced renders untrusted lines of code as a code block. Each line begins with the mark, so that none begins
// like a command. The rest is unchanged, except that hidden characters are spelled out, as are names of
// programs that react to their name anywhere.
func Fenced(info string, mark func(i int) string, lines []string) []string {
	marked := make([]string, len(lines))
	longest := 0
	for i, line := range lines {
		line = agent().ReplaceAllString(text.VisibleLine(text.Head(strings.TrimSuffix(line, "\r"), maxLine)), "<U+0040>$1")
		line = trigger().ReplaceAllStringFunc(line, func(m string) string { return fmt.Sprintf("<U+%04X>%s", m[0], m[1:]) })
		marked[i] = mark(i) + strings.ReplaceAll(line, "##[", "##<U+005B>")
		longest = max(longest, longestRun(marked[i], '`', 2))
	}
	fence := strings.Repeat("`", longest+1)
	return append(append([]string{fence + info}, marked...), fence)
}

// longestRun returns the length of the longest run of c in s, or least if that is longer.
func longestRun(s string, c byte, least int) int {
	longest, n := least, 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}
