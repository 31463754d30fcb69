package secret

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// view is what code makes of a text: escapes are resolved and adjacent literals joined.
// It has only the lines in which that changed something, and those beside them. Byte i
// comes from the bytes from[i] to to[i] of the text.
type view struct {
	text     string
	from, to []int
}

// viewer builds a view.
type viewer struct {
	s     string
	lists bool // whether the literals of lists are joined, too
	edits []edit
}

// edit replaces a part of a text.
type edit struct {
	start, end int
	text       string
}

// plain returns the view of a text; the zero view if it has neither escapes nor adjacent literals.
func plain(s string) view {
	v := viewer{s: s}
	for _, call := range []string{"join(", "concat(", "concat ", "implode(", ".reduce("} {
		v.lists = v.lists || strings.Contains(s, call)
	}
	for i := 0; i < len(s); {
		next, text := i, ""
		if c := s[i]; c >= 0x7f || c < '\t' || strings.IndexByte(`\%&"'[{(`+"`", c) >= 0 {
			next, text = v.at(i)
		}
		if next == i {
			i++
			continue
		}
		v.edits = append(v.edits, edit{i, next, text})
		i = next
	}
	return v.view()
}

// view applies the edits to their lines and those beside them.
func (v *viewer) view() view {
	var near view
	var b strings.Builder
	at := 0
	emit := func(text string, from, to, step int) {
		b.WriteString(text)
		for i := range len(text) {
			near.from, near.to = append(near.from, from+i*step), append(near.to, to+i*step)
		}
	}
	for i := 0; i < len(v.edits); {
		start := max(at, v.lineBefore(v.edits[i].start))
		if b.Len() > 0 && start > at {
			emit("\n;\n", at, at+1, 0) // so that no literal goes on in the next one
		}
		at = start
		for end := start; ; i++ {
			if i == len(v.edits) || v.lineBefore(v.edits[i].start) > end && i > 0 && end > start {
				emit(v.s[at:end], at, at+1, 1)
				at = end
				break
			}
			e := v.edits[i]
			emit(v.s[at:e.start], at, at+1, 1)
			emit(e.text, e.start, e.end, 0)
			at, end = e.end, v.lineAfter(e.end)
		}
	}
	near.text = b.String()
	return near
}

// lineBefore returns the start of the line before that of a position, or a position at
// most maxLine before it.
func (v *viewer) lineBefore(at int) int {
	from := max(0, at-maxLine)
	if i := strings.LastIndexByte(v.s[from:at], '\n'); i >= 0 {
		return from + max(0, strings.LastIndexByte(v.s[from:from+i], '\n')+1)
	}
	return from
}

// lineAfter returns the end of the line after that of a position, or a position at most maxLine after it.
func (v *viewer) lineAfter(at int) int {
	to := min(len(v.s), at+maxLine)
	if i := strings.IndexByte(v.s[at:to], '\n'); i >= 0 {
		if j := strings.IndexByte(v.s[at+i+1:to], '\n'); j >= 0 {
			return at + i + 1 + j
		}
	}
	return to
}

// maxLine bounds the lines that are shown beside an edit, in bytes.
const maxLine = 1024

// at returns where the escape or the joint at i ends, and what it stands for; i itself for an ordinary byte.
func (v *viewer) at(i int) (int, string) {
	s := v.s
	switch c := s[i]; {
	case c == '\\':
		if n, text := escape(s[i:]); n > 0 {
			return i + n, text
		}
	case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
		if b, err := hex.DecodeString(s[i+1 : i+3]); err == nil && b[0] > ' ' && b[0] < 0x7f {
			return i + 3, string(b)
		}
	case c == '&' && i+3 < len(s) && s[i+1] == '#':
		if n, text := reference(s[i:min(len(s), i+10)]); n > 0 {
			return i + n, text
		}
	case c == '"' || c == '\'' || c == '`':
		return v.joint(i), ""
	case (c == '[' || c == '{' || c == '(') && i+2 < len(s):
		if n, text := codes(s[i+1 : min(len(s), i+1+maxCodes)]); n > 0 && !strings.Contains(text, `"`) {
			return i + 1 + n, string(c) + `"` + text + `"`
		}
	case i > 0 && s[i-1] > ' ' && s[i-1] < 0x7f:
		return i + hidden(s[i:]), ""
	}
	return i, ""
}

// hidden returns the length of the hidden characters that a text begins with, if a visible one of ASCII follows.
func hidden(s string) int {
	end := strings.IndexFunc(s, func(r rune) bool {
		return r >= '\t' && r < 0x7f || (unicode.IsPrint(r) || unicode.IsSpace(r)) &&
			!unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
	})
	if end > 0 && s[end] > ' ' && s[end] < 0x7f {
		return end
	}
	return 0
}

// escape returns the length and the meaning of an escape of a character in the literals
// of most languages: \x41, \u0041, \u{41}, \U00000041, \101 and \/.
func escape(s string) (int, string) {
	if strings.HasPrefix(s, `\/`) {
		return 2, "/"
	}
	s = s[:min(len(s), longestEscape)]
	// The expression is slow where it does not match, and most backslashes are before another character.
	if next := strings.TrimLeft(s[:min(len(s), 5)], `\`); next == "" || strings.IndexByte("xuU01234567", next[0]) < 0 {
		return 0, ""
	}
	if at := escaped().FindStringIndex(s); at != nil && at[0] == 0 {
		if text := fromEscape(s[:at[1]]); isVisible(text) {
			return at[1], text
		}
	}
	return 0, ""
}

// longestEscape is the length of an escape with four backslashes, in bytes.
const longestEscape = len(`\\\\u{10ffff}`)

func isVisible(s string) bool { return len(s) == 1 && (s[0] > ' ' && s[0] < 0x7f || s[0] == '\n') }

// reference returns the length and the meaning of a numeric reference of HTML.
func reference(s string) (int, string) {
	n := strings.IndexByte(s, ';') + 1
	if text := html.UnescapeString(s[:n]); isVisible(text) {
		return n, text
	}
	return 0, ""
}

const (
	// maxJoint limits the white space between two literals, in bytes.
	maxJoint = 120
	// maxCodes limits a list of character codes, in bytes, and minCodes is the least number of them.
	maxCodes, minCodes = 4096, 8
)

// joint returns where a literal goes on that the quote at i ends, or i if none does.
func (v *viewer) joint(i int) int {
	s, end := v.s, min(len(v.s), i+maxJoint)
	blank := func(k int) int {
		for k < end && (strings.IndexByte(" \t\r\n", s[k]) >= 0 ||
			s[k] == '\\' && k+1 < end && (s[k+1] == '\n' || s[k+1] == '\r')) {
			k++
		}
		return k
	}
	k := blank(i + 1)
	if k < end && (s[k] == '+' || s[k] == '.' || s[k] == '&' || s[k] == '~' || v.lists && s[k] == ',') {
		for k < end && (s[k] == '+' || s[k] == '.' || s[k] == '&' || s[k] == '~' || s[k] == ',') {
			k++
		}
		k = blank(k)
		for k < end && strings.IndexByte("+->| \t", s[k]) >= 0 && k > i+1 && s[k-1] == '\n' { // the signs of a diff
			k++
		}
		k = blank(k)
	}
	for n := 0; n < 2 && k < end && strings.IndexByte("bBfFrRuUL@$", s[k]) >= 0; n++ {
		k++
	}
	if k < end && (s[k] == '"' || s[k] == '\'' || s[k] == '`') {
		return k + 1
	}
	return i
}

// codes returns the length of a list of the codes of visible characters, and its text.
func codes(s string) (int, string) {
	var text []byte
	i, end := 0, 0
	for i < len(s) {
		for i < len(s) && strings.IndexByte(" \t\r\n,;", s[i]) >= 0 {
			i++
		}
		start := i
		for i < len(s) && (isHex(s[i]) || s[i] == 'x' || s[i] == 'X') && i-start < 5 {
			i++
		}
		n, err := strconv.ParseUint(s[start:i], 0, 8)
		if err != nil || n < ' ' || n >= 0x7f {
			break
		}
		text, end = append(text, byte(n)), i
	}
	if len(text) < minCodes {
		return 0, ""
	}
	return end, string(text)
}

// encodedRun is a part of a text that encodes another one.
type encodedRun struct {
	start, end int
	text       string
}

// minRun is the least length of an encoded text, in characters.
const minRun = 16

// encodedRuns returns the parts of a text that are printable text in base64, base32 or hexadecimal.
func encodedRuns(s string) []encodedRun {
	var runs []encodedRun
	for i := 0; i < len(s); {
		if !inBase64(s[i]) {
			i++
			continue
		}
		start, end, lineStart := i, i, i
		for i < len(s) {
			for i < len(s) && inBase64(s[i]) {
				i++
			}
			end = i
			if i-lineStart < minWrapped {
				break
			}
			// Base64 is wrapped: it may go on in the next line.
			next := i
			for next < len(s) && next < i+40 && strings.IndexByte("\r\n \t", s[next]) >= 0 {
				next++
			}
			if next == i || next >= len(s) || !inBase64(s[next]) || strings.IndexByte(s[i:next], '\n') < 0 {
				break
			}
			i, lineStart = next, next
		}
		for end < len(s) && s[end] == '=' && end < i+6 {
			end++
		}
		if end-start >= minRun {
			if text := decodedRun(s[start:end]); text != "" {
				runs = append(runs, encodedRun{start, end, text})
			}
		}
		i = max(end, start+1)
	}
	return runs
}

// minWrapped is the least length of a line of base64 that goes on in the next one.
const minWrapped = 60

func inBase64(c byte) bool {
	return isLower(c) || isUpper(c) || isDigit(c) || c == '+' || c == '/' || c == '-' || c == '_'
}

// decodedRun returns what a run encodes, or "" if that is not text.
func decodedRun(s string) string {
	bare := strings.TrimRight(s, "=")
	if head := bare[:min(len(bare), 64)]; strings.Trim(head, "0123456789abcdefABCDEF") == "" && len(bare)%2 == 0 {
		if b, err := hex.DecodeString(bare); err == nil && isText(b) {
			return string(b)
		}
	}
	if strings.Trim(bare[:min(len(bare), 64)], "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == "" {
		if b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(bare); err == nil && isText(b) {
			return string(b)
		}
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(bare, "-_") {
		encoding = base64.RawURLEncoding
	}
	if head, err := encoding.DecodeString(bare[:min(len(bare), minRun)/4*4]); err != nil || !isText(head) {
		return ""
	}
	bare = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\r\n \t", r) {
			return -1
		}
		return r
	}, bare)
	if len(bare)%4 == 1 {
		bare = bare[:len(bare)-1]
	}
	b, err := encoding.DecodeString(bare)
	if err != nil || !isText(b) {
		return ""
	}
	return strings.ReplaceAll(string(b), "\x00", "")
}

// isText reports whether bytes are visible text, in UTF-8 or, if ASCII, in UTF-16.
func isText(b []byte) bool {
	if len(b) > 3 && b[1] == 0 && b[3] == 0 && b[0] != 0 {
		for i := range b {
			if i%2 == 1 && b[i] != 0 || i%2 == 0 && !isPrintable(b[i:i+1]) {
				return false
			}
		}
		return true
	}
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(b) && beyondASCII(string(b))*8 <= len(b) // few bytes only happen to be valid UTF-8
}
