package guide

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/text"
)

// statement is a list item, a heading or a sentence of a guide file.
type statement struct {
	text    string // on one line, without markup except code spans
	own     int    // where it begins in text, after the introduction of its list: "Avoid: "
	line    int    // from 1
	section string // the heading above it
	item    bool
}

// maxBlock is the length limit of a paragraph or list item that can be a rule, in
// bytes.
const maxBlock = 4 << 10

// reader collects the statements of one file, line by line.
type reader struct {
	section string
	leads   []lead
	block   []string // lines of the current paragraph or item
	line    int      // of its first line
	indent  int      // of an item; -1 for a paragraph
	out     []statement
}

// lead is a line that introduces the list items after it that are indented deeper.
type lead struct {
	indent int
	text   string
}

// statements parses a guide file as Markdown. Code, HTML, tables and metadata are
// ignored. In plain text each line is an item, unless it starts in lower case.
func statements(src string, plain bool) []statement {
	var r reader
	until, listed := "", false // until ends the skipped part; a space means a blank line
	for i, raw := range strings.Split(strings.TrimPrefix(src, "\ufeff"), "\n") {
		raw = strings.ReplaceAll(raw, "\t", "    ")
		line := strings.TrimSpace(raw)
		indent := len(raw) - len(strings.TrimLeft(raw, " "))
		body, item := cutMarker(line)
		switch {
		case until != "":
			if until == " " && line == "" || until != " " && strings.Contains(line, until) {
				until = ""
			}
		case line == "---" && i == 0, strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			r.end(0)
			until = line[:3]
		case strings.HasPrefix(line, "<!--") && !strings.Contains(line, "-->"):
			until = "-->"
		case len(r.block) == 0 && strings.HasPrefix(line, "<"):
			until = " "
		case line == "", strings.HasPrefix(line, "|"), indent >= 4 && !listed && len(r.block) == 0:
			r.end(0)
		case strings.HasPrefix(line, "#"):
			r.heading(line, i+1)
			listed = false
		case item || plain && !startsLower(line):
			r.end(i + 1)
			r.block, r.indent, listed = append(r.block, body), indent, true
		case len(r.block) == 0:
			r.end(i + 1)
			r.indent, listed = -1, listed && indent > 0
			fallthrough
		default:
			r.block = append(r.block, strings.TrimLeft(line, "> "))
		}
	}
	r.end(0)
	return r.out
}

// cutMarker removes the marker and the checkbox of a list item.
func cutMarker(line string) (body string, item bool) {
	mark, rest, _ := strings.Cut(line, " ")
	digits := strings.TrimRight(mark, ".)")
	if mark != "-" && mark != "*" && mark != "+" && (len(digits) == len(mark) ||
		strings.Trim(digits, "0123456789") != "") {
		return line, false
	}
	rest = strings.TrimSpace(rest)
	if len(rest) > 4 && rest[0] == '[' && rest[2:4] == "] " {
		rest = rest[4:]
	}
	return rest, true
}

// heading starts a section. It is also a statement: "Do not edit generated files".
func (r *reader) heading(line string, number int) {
	r.end(0)
	name, _ := cutMarker(plainText(strings.TrimLeft(line, "#")))
	r.section = name
	r.leads = nil
	if forbids(wordsOf(name)) {
		r.leads = []lead{{-2, name + ": "}}
	}
	if len(strings.Fields(name)) > 3 {
		r.out = append(r.out, statement{text: name, line: number})
	}
}

// end finishes the current block; a new one begins at the line.
func (r *reader) end(next int) {
	s, line := strings.Join(r.block, "\n"), r.line
	r.block, r.line = nil, next
	onlyLink := strings.HasPrefix(s, "[") && strings.HasSuffix(s, ")") && strings.Count(s, "](") == 1
	if s == "" || len(s) > maxBlock || onlyLink {
		return
	}
	for len(r.leads) > 0 && r.leads[len(r.leads)-1].indent >= r.indent {
		r.leads = r.leads[:len(r.leads)-1]
	}
	if strings.HasSuffix(s, ":") && len(s) <= 80 && len(r.leads) < 4 {
		r.leads = append(r.leads, lead{r.indent, plainText(s) + " "})
		return
	}
	if r.indent >= 0 {
		before := ""
		for _, l := range r.leads {
			before += l.text
		}
		r.out = append(r.out, statement{before + plainText(s), len(before), line, r.section, true})
		return
	}
	for _, one := range sentences(s) {
		r.out = append(r.out, statement{plainText(one), 0, line, r.section, false})
		line += strings.Count(one, "\n")
	}
}

// plainText returns text on one line without hidden text, and without markup except
// code spans: a link becomes its words, an image nothing.
func plainText(s string) string {
	s = text.Clean(s)
	var b strings.Builder
	code := false
	for i := 0; i < len(s); i++ {
		c, rest := s[i], s[i+1:]
		switch {
		case c == '`':
			code = !code
		case code:
		case c == '*' && !strings.HasPrefix(rest, " "), c == '*' && i > 0 && s[i-1] != ' ', c == '_' &&
			strings.HasPrefix(rest, "_"):
			continue
		case c == '[', c == '!' && strings.HasPrefix(rest, "["):
			middle, end := strings.Index(rest, "]("), strings.IndexByte(rest, ')')
			if middle < 0 || middle > end {
				break
			}
			if c == '[' {
				b.WriteString(rest[:middle])
			}
			i += 1 + end
			continue
		}
		b.WriteByte(c)
	}
	return text.Collapse(b.String())
}

// sentences splits text after . ! or ? before anything that can begin a sentence.
// Code spans are not split.
func sentences(s string) []string {
	var out []string
	start, code := 0, false
	for i := range len(s) {
		code = code != (s[i] == '`')
		if code || !strings.ContainsRune(".!?", rune(s[i])) || i+2 >= len(s) || s[i+1] != ' ' && s[i+1] != '\n' ||
			startsLower(s[i+2:]) {
			continue
		}
		if one := s[start : i+1]; !strings.HasSuffix(one, "e.g.") && !strings.HasSuffix(one, "i.e.") {
			out = append(out, s[start:i+2])
			start = i + 2
		}
	}
	return append(out, s[start:])
}

func startsLower(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(c) || unicode.IsDigit(c)
}
