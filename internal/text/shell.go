package text

import "strings"

// ShellWord returns an argument for a POSIX shell, quoted if it needs to be: in double quotes, which people read more
// easily, unless a shell expands something in it. A model may have written it.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-./_", r)
	}
	switch {
	case strings.ContainsAny(s, "\"$`\\!*"):
		return ShellQuoted(s)
	case s == "", strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }):
		return "\"" + s + "\""
	}
	return s
}

// ShellQuoted returns an argument for a POSIX shell in single quotes.
func ShellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
