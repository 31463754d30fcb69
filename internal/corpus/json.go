package corpus

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth limits how deep the values of a line may be nested.
const maxDepth = 64

// The ways in which a line is not a JSON object.
var (
	errNoObject = errors.New("not a JSON object")
	errSyntax   = errors.New("not valid JSON")
	errDepth    = errors.New("nested too deeply")
)

// jsonReader reads one JSON value. Most of a line are texts that are not needed, which it passes
// over: that is several times faster than decoding all.
type jsonReader struct {
	s     []byte
	at    int
	depth int
}

// object calls each for the fields of an object, with the raw value. The key is raw, too.
func (r *jsonReader) object(each func(key, value []byte)) error {
	r.space()
	if r.peek() != '{' {
		return errNoObject
	}
	r.at++
	if r.depth++; r.depth > maxDepth {
		return errDepth
	}
	defer func() { r.depth-- }()
	r.space()
	if r.peek() == '}' {
		r.at++
		return nil
	}
	for {
		r.space()
		from := r.at
		if err := r.text(); err != nil {
			return err
		}
		key := r.s[from:r.at]
		r.space()
		if r.peek() != ':' {
			return errSyntax
		}
		r.at++
		r.space()
		from = r.at
		if err := r.value(); err != nil {
			return err
		}
		if each != nil {
			each(key, r.s[from:r.at])
		}
		r.space()
		switch r.peek() {
		case ',':
			r.at++
		case '}':
			r.at++
			return nil
		default:
			return errSyntax
		}
	}
}

// end is an error unless nothing but space is left.
func (r *jsonReader) end() error {
	if r.space(); r.at < len(r.s) {
		return errSyntax
	}
	return nil
}

func (r *jsonReader) space() {
	for r.at < len(r.s) && (r.s[r.at] == ' ' || r.s[r.at] == '\t' || r.s[r.at] == '\r' || r.s[r.at] == '\n') {
		r.at++
	}
}

// peek returns the next byte; 0 at the end.
func (r *jsonReader) peek() byte {
	if r.at < len(r.s) {
		return r.s[r.at]
	}
	return 0
}

// value passes over a value.
func (r *jsonReader) value() error {
	switch r.peek() {
	case '"':
		return r.text()
	case '{':
		return r.object(nil)
	case '[':
		return r.array()
	case 't':
		return r.word("true")
	case 'f':
		return r.word("false")
	case 'n':
		return r.word("null")
	}
	return r.number()
}

func (r *jsonReader) array() error {
	r.at++
	if r.depth++; r.depth > maxDepth {
		return errDepth
	}
	defer func() { r.depth-- }()
	r.space()
	if r.peek() == ']' {
		r.at++
		return nil
	}
	for {
		r.space()
		if err := r.value(); err != nil {
			return err
		}
		r.space()
		switch r.peek() {
		case ',':
			r.at++
		case ']':
			r.at++
			return nil
		default:
			return errSyntax
		}
	}
}

func (r *jsonReader) word(w string) error {
	if !bytes.HasPrefix(r.s[r.at:], []byte(w)) {
		return errSyntax
	}
	r.at += len(w)
	return nil
}

func (r *jsonReader) digits() bool {
	from := r.at
	for r.at < len(r.s) && r.s[r.at] >= '0' && r.s[r.at] <= '9' {
		r.at++
	}
	return r.at > from
}

func (r *jsonReader) number() error {
	if r.peek() == '-' {
		r.at++
	}
	if r.peek() == '0' {
		r.at++
	} else if !r.digits() {
		return errSyntax
	}
	if r.peek() == '.' {
		r.at++
		if !r.digits() {
			return errSyntax
		}
	}
	if r.peek()|0x20 == 'e' {
		r.at++
		if c := r.peek(); c == '+' || c == '-' {
			r.at++
		}
		if !r.digits() {
			return errSyntax
		}
	}
	return nil
}

// text passes over a string.
func (r *jsonReader) text() error {
	if r.peek() != '"' {
		return errSyntax
	}
	s := r.s
	for i := r.at + 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			r.at = i + 1
			return nil
		case c < ' ':
			return errSyntax
		case c == '\\':
			if i++; i >= len(s) {
				return errSyntax
			}
			switch s[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if i+4 >= len(s) || hexCode(s[i+1:i+5]) < 0 {
					return errSyntax
				}
				i += 4
			default:
				return errSyntax
			}
		}
	}
	return errSyntax
}

// hexCode returns the number of four hexadecimal digits; -1 if they are none.
func hexCode(s []byte) rune {
	n := rune(0)
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return n
}

// jsonText returns what a raw string says; "" if the value is not a string. It replaces invalid
// UTF-8.
func jsonText(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(bytes.ToValidUTF8(raw, []byte("\ufffd")))
	}
	b := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			b = append(b, raw...)
			break
		}
		b = append(b, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			u := hexCode(raw[:4])
			raw = raw[4:]
			if utf16.IsSurrogate(u) {
				pair := rune(utf8.RuneError)
				if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
					pair = utf16.DecodeRune(u, hexCode(raw[2:6]))
				}
				if u = pair; u != utf8.RuneError {
					raw = raw[6:]
				}
			}
			b = utf8.AppendRune(b, u)
			continue
		}
		b = append(b, c)
	}
	return string(bytes.ToValidUTF8(b, []byte("\ufffd")))
}

// jsonInt returns a whole number; 0 if the value is none, or too large.
func jsonInt(raw []byte) int64 {
	if len(raw) == 0 || len(raw) > 20 || raw[0] == '"' {
		return 0
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func isNull(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }
