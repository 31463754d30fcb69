package secret

import (
	"fmt"
	"strings"
)

// rounds bounds how often Redact looks again at what it made. A marker can in
// theory form a new match together with its surroundings; two rounds are
// nearly always enough.
const rounds = 8

// Redact replaces every secret in the text by [REDACTED:rule] and returns how
// many it replaced. The result has as many lines as the text, and nothing in
// it matches a rule. Text that costs too much to scan is replaced as a whole,
// by one line, because what was not looked at must not get out.
func Redact(s string) (string, int) {
	total := 0
	for range rounds {
		var sc Scanner
		lines := strings.Split(s, "\n")
		found, err := sc.Scan("", lines)
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

func marker(rule string) string { return fmt.Sprintf("[REDACTED:%s]", rule) }

// replace puts a marker in the place of each match. The line endings within a
// secret stay, so that lines keep their numbers.
func replace(lines []string, found []Match) string {
	var b strings.Builder
	line, at := 0, 0 // what is written: everything before byte at of the line
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
