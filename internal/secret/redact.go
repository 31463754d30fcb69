package secret

import (
	"fmt"
	"strings"
)

// maxRounds limits how often Redact scans its own result. A marker could in theory
// form a new match with the text around it; two rounds are almost always enough.
const maxRounds = 8

// Redact replaces every secret in the text with [REDACTED:rule] and returns the
// number of replacements. The path is that of the file that the text is from. It is empty
// for text of people and models, which may quote any file: then the rules for every kind of
// file apply. The result has as many lines as the text, and no rule matches it. Text that is too
// expensive to scan is replaced completely, by one line, because unscanned text must not get out.
func Redact(path, s string) (string, int) {
	total := 0
	for range maxRounds {
		var sc Scanner
		lines := strings.Split(s, "\n")
		found, err := sc.Outgoing(path, lines)
		if err != nil {
			return marker("unscanned"), total + 1
		}
		if len(found) == 0 {
			return s, total
		}
		s = replace(lines, found)
		total += len(found)
	}
	return marker("unscanned"), total + 1
}

// RedactText is Redact for text of people and models, for those that need no number.
func RedactText(s string) string {
	s, _ = Redact("", s)
	return s
}

func marker(rule string) string { return fmt.Sprintf("[REDACTED:%s]", rule) }

// replace puts a marker in place of each match. Line endings within a secret are
// kept, so line numbers do not change.
func replace(lines []string, found []Match) string {
	var b strings.Builder
	line, at := 0, 0 // position: everything before byte at of the line is written
	for _, m := range found {
		for ; line < m.Line; line, at = line+1, 0 {
			b.WriteString(lines[line][at:])
			b.WriteByte('\n')
		}
		b.WriteString(lines[line][at:m.Start])
		b.WriteString(marker(m.Rule))
		b.WriteString(strings.Repeat("\n", m.EndLine-m.Line))
		line, at = m.EndLine, m.End
	}
	b.WriteString(lines[line][at:])
	for _, rest := range lines[line+1:] {
		b.WriteByte('\n')
		b.WriteString(rest)
	}
	return b.String()
}
