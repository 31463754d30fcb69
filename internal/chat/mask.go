package chat

import (
	"strings"

	"github.com/precedent-dev/precedent/internal/intent"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxLink limits the address of a link, in bytes.
const maxLink = 2 << 10

// inlineTag matches the tags of elements whose text is code, quoted, a link or struck.
var inlineTag = text.Pattern(`^<(code|kbd|samp|tt|var|del|s|strike|q|cite|a)\b[^>]*>`)

// masks tells for each byte of a text whether it belongs to a code span, a link, an image, or
// struck or quoted text.
func masks(s string) []bool {
	hidden := make([]bool, len(s))
	for from := 0; from < len(s); {
		to := len(s)
		if i := strings.Index(s[from:], "\n\n"); i >= 0 {
			to = from + i + 1
		}
		m := masker{s: intent.Lower(s[from:to]), hidden: hidden[from:to], none: map[string]bool{}}
		m.paragraph()
		from = to
	}
	return hidden
}

// masker masks a paragraph.
type masker struct {
	s      string
	hidden []bool
	none   map[string]bool // what does not occur in the rest of the paragraph
	opened []int           // where brackets opened
}

func (m *masker) paragraph() {
	for i := 0; i < len(m.s); i++ {
		end := i
		switch m.s[i] {
		case '\\':
			i++
			continue
		case '`':
			run := m.s[i : len(m.s)-len(strings.TrimLeft(m.s[i:], "`"))]
			end = m.after(run, i+len(run))
			if end == i+len(run) {
				i = end - 1
				continue
			}
		case '~':
			if strings.HasPrefix(m.s[i:], "~~") {
				end = m.after("~~", i+2)
			}
		case '<':
			if tag := inlineTag().FindStringSubmatch(m.s[i:min(len(m.s), i+maxLink)]); tag != nil {
				end = m.after("</"+tag[1]+">", i+len(tag[0]))
			}
		case '[':
			m.opened = append(m.opened, i)
		case ']':
			m.link(i)
		}
		if end > i+2 {
			m.hide(i, end)
			i = end - 1
		}
	}
}

// after returns the end of the next mark; from if there is none. A run of backticks ends only
// at one of the same length.
func (m *masker) after(mark string, from int) int {
	if m.none[mark] {
		return from
	}
	var at int
	if mark[0] == '`' {
		at = text.ClosingRun(m.s[from:], len(mark))
	} else if at = strings.Index(m.s[from:], mark); at >= 0 {
		at += len(mark)
	}
	if at < 0 {
		m.none[mark] = true
		return from
	}
	return from + at
}

// link masks a link or an image whose text ends at a bracket.
func (m *masker) link(end int) {
	if len(m.opened) == 0 {
		return
	}
	begin := m.opened[len(m.opened)-1]
	m.opened = m.opened[:len(m.opened)-1]
	if end+1 >= len(m.s) {
		return
	}
	closing := map[byte]byte{'(': ')', '[': ']'}[m.s[end+1]]
	if closing == 0 {
		return
	}
	if i := strings.IndexByte(m.s[end+1:min(len(m.s), end+1+maxLink)], closing); i > 0 {
		m.hide(begin, end+1+i+1)
		m.opened = nil // links do not nest
	}
}

func (m *masker) hide(from, to int) {
	for i := from; i < to; i++ {
		m.hidden[i] = true
	}
}
