package secret

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"html"
	"slices"
	"strconv"
	"strings"
)

// leakWindow is the number of consecutive bytes of a token that count as a leak.
const leakWindow = 8

// Own finds this process's secrets in outgoing text. The zero Own finds nothing.
type Own struct {
	exact  windows // of the secrets in base64, which has capitals
	folded windows // of the secrets and their other encodings, in lower case
}

// windows are the byte sequences to find, by their first 8 bytes as a number. likely
// quickly excludes most numbers.
type windows struct {
	begin  map[uint64][]string
	likely []bool
}

func (w *windows) add(s string) {
	if len(s) < leakWindow {
		return
	}
	if w.begin == nil {
		w.begin, w.likely = map[uint64][]string{}, make([]bool, 1<<14)
	}
	head := binary.BigEndian.Uint64([]byte(s))
	if slices.Contains(w.begin[head], s) {
		return
	}
	w.begin[head] = append(w.begin[head], s)
	w.likely[slot(head)] = true
}

// slot distributes numbers over likely (Knuth's multiplicative hash).
func slot(head uint64) uint64 { return head * 0x9e3779b97f4a7c15 >> (64 - 14) }

// in reports whether the text contains one of the windows.
func (w *windows) in(text string) bool {
	if w.begin == nil {
		return false
	}
	head := uint64(0)
	for i := range len(text) {
		head = head<<8 | uint64(text[i])
		if i < leakWindow-1 || !w.likely[slot(head)] {
			continue
		}
		for _, s := range w.begin[head] {
			if strings.HasPrefix(text[i-leakWindow+1:], s) {
				return true
			}
		}
	}
	return false
}

// NewOwn prepares a search for the secrets. It ignores a key's PEM armour, the words with
// which services begin their tokens, and windows with only one or two different bytes,
// which occur in any text.
func NewOwn(secrets ...string) Own {
	var o Own
	for _, s := range secrets {
		s = prefix().ReplaceAllString(armour().ReplaceAllString(s, ""), "")
		for w := range windowsOf(s) {
			o.folded.add(strings.ToLower(w))
			for _, coded := range inBase64s(w) {
				o.exact.add(coded)
				o.exact.add(squeeze(coded))
			}
			o.folded.add(hex.EncodeToString([]byte(w)))
		}
		for w := range windowsOf(squeeze(s)) {
			o.folded.add(strings.ToLower(w))
		}
	}
	return o
}

// prefix is how the tokens of services begin. "GitHub patches" must not look like a part of one.
var prefix = compile(`^(?:github_pat_|gh[a-z]_|glpat-|gitea[_-]|sk-(?:ant-|proj-|svcacct-)?(?:api\d\d-)?|xox[a-z]-|Bearer |Basic )`)

var armour = compile(`-----[A-Z0-9 ]+-----`)

// windowsOf returns the windows of a secret.
func windowsOf(s string) map[string]bool {
	found := map[string]bool{}
	for i := 0; i+leakWindow <= len(s); i++ {
		w := s[i : i+leakWindow]
		different := map[byte]bool{}
		for _, c := range []byte(w) {
			different[c] = true
		}
		if len(different) >= 3 {
			found[w] = true
		}
	}
	return found
}

// inBase64s returns a window in base64. It encodes three bytes as four characters, so a window can begin at
// three offsets. Characters at its ends depend on its neighbours and are left out.
func inBase64s(w string) []string {
	var all []string
	for offset := range 3 {
		coded := base64.RawStdEncoding.EncodeToString(append(make([]byte, offset), w...))
		all = append(all, coded[(offset*8+5)/6:(offset+leakWindow)*8/6])
	}
	return all
}

// In reports whether the text contains a part of a secret: a window of 8 bytes, plain, in hexadecimal or base64, in
// any case, also within the escapes of URLs, HTML and programming languages, and with signs or line ends between
// its characters: the forms in which models and tools write a value. It decodes nothing else.
func (o Own) In(text string) bool {
	if o.folded.begin == nil {
		return false
	}
	if o.in(text) {
		return true
	}
	plain := unescape(text)
	return plain != text && o.in(plain)
}

func (o Own) in(text string) bool {
	bare := squeeze(text)
	// Both alphabets of base64 are mapped to one.
	if o.exact.in(text) || o.exact.in(alphabet.Replace(text)) || o.exact.in(bare) {
		return true
	}
	low, small := strings.ToLower(text), strings.ToLower(bare)
	return o.folded.in(low) || o.folded.in(small)
}

// Leaks reports whether the text contains a part of the secret, as Own.In does.
func Leaks(text, secret string) bool { return NewOwn(secret).In(text) }

var (
	alphabet = strings.NewReplacer("-", "+", "_", "/")
	// spelledOut is a hidden character in escaped form.
	spelledOut = compile(`<(?:U\+[0-9A-F]{4,6}|0x[0-9A-F]{2})>`)
	percent    = compile(`%[0-9A-Fa-f]{2}`)
	// escaped is a character in a literal of a programming language.
	escaped = compile(`\\{1,4}(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|U[0-9A-Fa-f]{8}|[0-7]{3})`)
)

// unescape resolves escapes that could hide a character from the search. It runs
// twice, because escapes can be nested.
func unescape(s string) string {
	for range 2 {
		s = percent().ReplaceAllStringFunc(s, func(m string) string {
			b, err := hex.DecodeString(m[1:])
			if err != nil {
				return m
			}
			return string(b)
		})
		if strings.Contains(s, `\`) {
			s = escaped().ReplaceAllStringFunc(s, fromEscape)
		}
		s = html.UnescapeString(spelledOut().ReplaceAllString(s, ""))
	}
	return s
}

// fromEscape returns the character that an escape stands for.
func fromEscape(m string) string {
	digits, base := strings.Trim(m, `\xuU{}`), 16
	if digits == strings.Trim(m, `\`) {
		base = 8
	}
	if n, err := strconv.ParseUint(digits, base, 32); err == nil && n <= 0x10ffff {
		return string(rune(n))
	}
	return m
}

// squeeze keeps letters and digits only.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
}
