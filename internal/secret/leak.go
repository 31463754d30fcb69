package secret

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"html"
	"slices"
	"strings"
)

// leakWindow is the number of consecutive bytes of a token that count as a leak.
const leakWindow = 8

// Own finds this process's secrets in outgoing text. The zero Own finds nothing.
type Own struct {
	windows windows // of the secrets and their encodings
	loose   windows // the same, letters and digits only
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

// NewOwn prepares a search for the secrets. It ignores a key's PEM armour, and
// windows with only one or two different bytes, which occur in any text.
func NewOwn(secrets ...string) Own {
	var o Own
	for _, s := range secrets {
		s = armour().ReplaceAllString(s, "")
		for w := range windowsOf(s) {
			o.windows.add(w)
			for _, coded := range codings(w) {
				o.windows.add(coded)
				o.loose.add(squeeze(coded))
			}
		}
		for w := range windowsOf(squeeze(s)) {
			o.loose.add(w)
		}
	}
	return o
}

var armour = compile(`-----[A-Z0-9 ]+-----`)

// windowsOf returns the windows of a secret, forward and backward, plain and in
// ROT13.
func windowsOf(s string) map[string]bool {
	found := map[string]bool{}
	for i := 0; i+leakWindow <= len(s); i++ {
		w := []byte(s[i : i+leakWindow])
		different := map[byte]bool{}
		for _, c := range w {
			different[c] = true
		}
		if len(different) < 3 {
			continue
		}
		for range 2 {
			found[string(w)] = true
			found[strings.Map(rot13, string(w))] = true
			slices.Reverse(w)
		}
	}
	return found
}

func rot13(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case 'A' <= r && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

// codings returns the encodings of a window: hexadecimal and base64. Base64 encodes
// three bytes as four characters, so a window can begin at three offsets. Characters
// at its ends depend on its neighbours and are left out.
func codings(w string) []string {
	hexed := hex.EncodeToString([]byte(w))
	all := []string{hexed, strings.ToUpper(hexed)}
	for offset := range 3 {
		coded := base64.RawStdEncoding.EncodeToString(append(make([]byte, offset), w...))
		all = append(all, coded[(offset*8+5)/6:(offset+leakWindow)*8/6])
	}
	return all
}

// In reports whether the text contains a part of a secret: a window of 8 bytes,
// plain, reversed, in ROT13, hexadecimal or base64, also within URL or HTML escapes,
// and also with other characters between its letters and digits.
func (o Own) In(text string) bool {
	if o.windows.begin == nil {
		return false
	}
	plain := unescape(text)
	for _, s := range []string{text, plain} {
		// Both base64 alphabets are mapped to one, and hexadecimal may be in any
		// case.
		if o.windows.in(s) || o.windows.in(alphabet.Replace(s)) || o.windows.in(strings.ToLower(s)) {
			return true
		}
	}
	return o.loose.in(squeeze(text)) || o.loose.in(squeeze(plain))
}

// Leaks reports whether the text contains a part of the secret, as Own.In does.
func Leaks(text, secret string) bool { return NewOwn(secret).In(text) }

var (
	alphabet = strings.NewReplacer("-", "+", "_", "/")
	// spelledOut is a hidden character in escaped form.
	spelledOut = compile(`<(?:U\+[0-9A-F]{4,6}|0x[0-9A-F]{2})>`)
	percent    = compile(`%[0-9A-Fa-f]{2}`)
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
		s = html.UnescapeString(spelledOut().ReplaceAllString(s, ""))
	}
	return s
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
