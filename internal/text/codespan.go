package text

import "strings"

// extent is a part of a text, from start to before end.
type extent struct{ start, end int }

// codeSpans returns the fenced blocks and the code spans of Markdown, whose text people see as it is written.
// Where a forge could read the text in another way, it returns fewer: a span must end on its line, a fence
// must not be indented, and nothing counts after a tag that may begin a block, a fence in a list, or a span
// that does not end. It takes linear time.
func codeSpans(s string) []extent {
	var found []extent
	for at := 0; at < len(s); {
		line, _, _ := strings.Cut(s[at:], "\n")
		if mark := FenceMark(line); mark != "" {
			end := at + fenceEnd(s[at:], mark)
			found = append(found, extent{at, end})
			at = end
			continue
		}
		spans, ok := lineSpans(line)
		for _, e := range spans {
			found = append(found, extent{at + e.start, at + e.end})
		}
		if !ok {
			break
		}
		at += len(line) + 1
	}
	return found
}

// FenceMark returns the backticks or tildes with which a line without indentation opens or closes
// a fenced block, or "".
func FenceMark(line string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		if n := len(line) - len(rest); n >= 3 && (c == "~" || !strings.Contains(rest, c)) {
			return line[:n]
		}
	}
	return ""
}

// fenceEnd returns the end of a fenced block that a text begins with. One that is not
// closed ends with the text.
func fenceEnd(s, mark string) int {
	end := 0
	for line := range strings.Lines(s) {
		end += len(line)
		closing := strings.TrimSpace(line)
		if end > len(line) && len(closing) >= len(mark) && strings.Trim(closing, mark[:1]) == "" &&
			len(line)-len(strings.TrimLeft(line, " ")) <= 3 {
			return end
		}
	}
	return len(s)
}

// lineSpans returns the code spans of a line, and whether the lines after it can be read on their own.
func lineSpans(line string) (found []extent, ok bool) {
	if inner := strings.TrimLeft(line, " \t>*+-.)0123456789"); strings.HasPrefix(inner, "```") ||
		strings.HasPrefix(inner, "~~~") {
		return nil, false
	}
	letters := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters = true
		case c == '<' && i+1 < len(line) && strings.IndexByte(" \t=-0123456789", line[i+1]) < 0:
			end := strings.IndexByte(line[i:], '>')
			if end < 0 || !letters || line[i+1] == '!' || strings.ContainsRune(line[i:i+end], '`') {
				return found, false
			}
			i += end
		case c == '`':
			run := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			end := ClosingRun(line[i+run:], run)
			if end < 0 {
				return found, false
			}
			found = append(found, extent{i, i + run + end})
			i += run + end - 1
		}
	}
	return found, true
}

// ClosingRun returns the end of the first run of exactly n backticks; -1 if there is none.
func ClosingRun(s string, n int) int {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		run := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		at += run
		if run == n {
			return at
		}
	}
}
