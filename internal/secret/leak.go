package secret

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"html"
	"slices"
	"strings"
)

// leakWindow is how many bytes of a token in a row give it away.
const leakWindow = 8

// Own finds secrets of this process in text that leaves it. The zero Own finds
// nothing.
type Own struct {
	windows windows // of a secret and of its codings
	loose   windows // the same, letters and digits alone
}

// windows are what is sought, by their first 8 bytes as a number. likely says
// cheaply of most numbers that nothing begins so.
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

// slot spreads numbers over likely (Knuth's multiplicative hash).
func slot(head uint64) uint64 { return head * 0x9e3779b97f4a7c15 >> (64 - 14) }

// in tells whether one of the windows stands in the text.
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

// NewOwn prepares the search for the secrets. Of a key in armour the armour does
// not count, and no window of one or two different bytes: all texts hold those.
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

// windowsOf yields the windows of a secret, forward and backward, as they are and
// with its letters turned by 13.
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
			found[strings.Map(turn, string(w))] = true
			slices.Reverse(w)
		}
	}
	return found
}

func turn(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case 'A' <= r && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

// codings of a window: hexadecimal, and what base64 makes of it. Three bytes make
// four characters there, so a window begins at one of three offsets; the
// characters at its ends depend on its neighbours and are left out.
func codings(w string) []string {
	hexed := hex.EncodeToString([]byte(w))
	all := []string{hexed, strings.ToUpper(hexed)}
	for offset := range 3 {
		coded := base64.RawStdEncoding.EncodeToString(append(make([]byte, offset), w...))
		all = append(all, coded[(offset*8+5)/6:(offset+leakWindow)*8/6])
	}
	return all
}

// In tells whether the text holds part of a secret: a window of 8 bytes, as it
// is, reversed, turned by 13 letters, in hexadecimal or in base64, also behind
// the escapes of addresses and of HTML, and also with other characters than
// letters and digits between its own.
func (o Own) In(text string) bool {
	if o.windows.begin == nil {
		return false
	}
	plain := unescape(text)
	for _, s := range []string{text, plain} {
		// Both alphabets of base64 are made one, and hexadecimal may be in any case.
		if o.windows.in(s) || o.windows.in(alphabet.Replace(s)) || o.windows.in(strings.ToLower(s)) {
			return true
		}
	}
	return o.loose.in(squeeze(text)) || o.loose.in(squeeze(plain))
}

// Leaks tells whether the text holds part of one secret of this process, the way
// Own.In does.
func Leaks(text, secret string) bool { return NewOwn(secret).In(text) }

var (
	alphabet = strings.NewReplacer("-", "+", "_", "/")
	// spelled is a hidden character that was spelled out.
	spelled = compile(`<(?:U\+[0-9A-F]{4,6}|0x[0-9A-F]{2})>`)
	percent = compile(`%[0-9A-Fa-f]{2}`)
)

// unescape resolves what may hide a character from a search: twice, because an
// escape can be escaped.
func unescape(s string) string {
	for range 2 {
		s = percent().ReplaceAllStringFunc(s, func(m string) string {
			b, err := hex.DecodeString(m[1:])
			if err != nil {
				return m
			}
			return string(b)
		})
		s = html.UnescapeString(spelled().ReplaceAllString(s, ""))
	}
	return s
}

// squeeze leaves letters and digits.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
}
