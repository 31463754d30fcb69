package engine

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/precedent-dev/precedent/internal/strict"
)

var (
	errBreaksOff = errors.New("the JSON is incomplete")
	errNoJSON    = errors.New("it has no JSON object")
	errLarge     = fmt.Errorf("it is larger than %d MiB", MaxReply>>20)
)

// repairer reads one value that is almost JSON and writes it as JSON. It is a
// recursive descent parser that reads every byte once.
type repairer struct {
	in    []byte
	pos   int
	out   []byte
	depth int
	// firm is set once a key and its colon were read: the text is an object and not a
	// brace in prose or code.
	firm bool
}

func (m *repairer) value() error {
	switch c := m.next(); {
	case c == '{':
		return m.object()
	case c == '[':
		return m.array()
	case c == '"' || c == '\'':
		return m.text(c)
	case c == '-' || isDigit(c):
		return m.number()
	default:
		return m.literal()
	}
}

// next skips white space and returns the byte after it, 0 at the end.
func (m *repairer) next() byte {
	m.pos = skipSpace(m.in, m.pos)
	return m.at(m.pos)
}

func (m *repairer) at(i int) byte {
	if i < len(m.in) {
		return m.in[i]
	}
	return 0
}

// fail returns an error at the position. If nothing was firm, it omits the place,
// because counting lines for every brace of a text is too slow.
func (m *repairer) fail(format string, args ...any) error {
	if m.pos >= len(m.in) {
		return errBreaksOff
	}
	if !m.firm {
		return errNoJSON
	}
	return fmt.Errorf("%s: %s", strict.Where(m.in, m.pos), fmt.Sprintf(format, args...))
}

func (m *repairer) object() error {
	return m.members('}', func() error {
		quote := m.next()
		if quote != '"' && quote != '\'' {
			return m.fail("a key in quotes is missing")
		}
		if err := m.text(quote); err != nil {
			return err
		}
		if m.next() != ':' {
			return m.fail("a colon is missing after a key")
		}
		m.pos++
		m.out = append(m.out, ':')
		m.firm = true
		return m.value()
	})
}

func (m *repairer) array() error {
	return m.members(']', m.value)
}

// members reads from the opening bracket at the position to its end. A comma
// before the end is dropped.
func (m *repairer) members(end byte, member func() error) error {
	if m.depth++; m.depth > maxDepth {
		return errDeep
	}
	m.out = append(m.out, m.in[m.pos])
	m.pos++
	for first := true; m.next() != end; first = false {
		if !first {
			m.out = append(m.out, ',')
		}
		if err := member(); err != nil {
			return err
		}
		switch m.next() {
		case ',':
			m.pos++
		case end:
		default:
			return m.fail("a comma or %q is missing", end)
		}
	}
	m.out = append(m.out, end)
	m.pos++
	m.depth--
	return nil
}

// text reads a string in the given quotes. Control characters, which JSON requires to
// be escaped, are taken as they are.
func (m *repairer) text(quote byte) error {
	m.pos++
	m.out = append(m.out, '"')
	for m.pos < len(m.in) {
		c := m.in[m.pos]
		switch {
		case c == '\\':
			if err := m.escape(); err != nil {
				return err
			}
			continue
		case c == quote:
			m.pos++
			if quote == '\'' && !m.closes() {
				return m.fail("a single quote inside a string in single quotes")
			}
			m.out = append(m.out, '"')
			return nil
		case c == '"':
			m.out = append(m.out, '\\', '"')
		case c < ' ':
			if len(m.out) > MaxReply { // it takes six bytes for one
				return errLarge
			}
			m.out = appendControl(m.out, c)
		default:
			m.out = append(m.out, c)
		}
		m.pos++
	}
	return errBreaksOff
}

// closes tells whether a single quote just read can only be the end of its
// string: an apostrophe is followed by something else.
func (m *repairer) closes() bool {
	switch m.at(skipSpace(m.in, m.pos)) {
	case ',', ':', '}', ']', 0:
		return true
	}
	return false
}

func (m *repairer) escape() error {
	switch c := m.at(m.pos + 1); c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		m.out = append(m.out, '\\', c)
		m.pos += 2
	case '\'':
		m.out = append(m.out, c)
		m.pos += 2
	case 'u':
		if m.pos+6 > len(m.in) {
			return errBreaksOff
		}
		digits := m.in[m.pos+2 : m.pos+6]
		for _, d := range digits {
			if !isDigit(d) && (d|0x20 < 'a' || d|0x20 > 'f') {
				return m.fail(`\u without four hexadecimal digits`)
			}
		}
		m.out = append(append(m.out, '\\', 'u'), digits...)
		m.pos += 6
	default:
		if m.pos+1 >= len(m.in) {
			return errBreaksOff
		}
		return m.fail("an invalid escape: write the backslash twice")
	}
	return nil
}

func appendControl(out []byte, c byte) []byte {
	switch c {
	case '\n':
		return append(out, `\n`...)
	case '\t':
		return append(out, `\t`...)
	case '\r':
		return append(out, `\r`...)
	}
	const digits = "0123456789abcdef"
	return append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

func (m *repairer) number() error {
	start := m.pos
	if m.at(m.pos) == '-' {
		m.pos++
	}
	if c := m.at(m.pos); c == 'I' || c == 'N' {
		return m.literal()
	}
	ok := m.digits()
	if lead := m.in[start:m.pos]; len(bytes.TrimPrefix(lead, []byte("-"))) > 1 {
		ok = ok && bytes.TrimPrefix(lead, []byte("-"))[0] != '0'
	}
	if m.at(m.pos) == '.' {
		m.pos++
		ok = m.digits() && ok
	}
	if m.at(m.pos)|0x20 == 'e' {
		m.pos++
		if c := m.at(m.pos); c == '+' || c == '-' {
			m.pos++
		}
		ok = m.digits() && ok
	}
	if !ok || isWord(m.at(m.pos)) {
		return m.fail("a number is not valid JSON")
	}
	m.out = append(m.out, m.in[start:m.pos]...)
	return nil
}

func (m *repairer) digits() bool {
	start := m.pos
	for isDigit(m.at(m.pos)) {
		m.pos++
	}
	return m.pos > start
}

func (m *repairer) literal() error {
	const longest = len("Infinity")
	end := m.pos
	for end < len(m.in) && end-m.pos <= longest && isWord(m.in[end]) {
		end++
	}
	switch word := string(m.in[m.pos:end]); word {
	case "true", "false", "null":
		m.out = append(m.out, word...)
		m.pos = end
		return nil
	case "NaN", "Infinity":
		return m.fail("JSON has no %s", word)
	}
	return m.fail("a value is missing")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWord tells whether c would run on a literal or a number before it.
func isWord(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '.' || c == '+' || c == '-' || c >= 0x80
}
