package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits on untrusted text: anything beyond them is not compared.
const (
	maxTokenText = 64 << 10 // bytes of a text
	maxTokens    = 4096
	maxWord      = 128 // bytes of a word; longer ones are data
)

// word is one word of a text, as tokens: in lower case and lightly stemmed. An identifier of several parts
// (camelCase, snake_case, letters and digits) has a whole, without underscores, and its parts, including stop
// words. Other words have one part. A run of a script without spaces between words is split into pairs of
// characters.
type word struct {
	whole string // an identifier of several parts, "" for a plain word
	parts []string
}

// eachWord calls f with the words of the first 64 KiB of a text, of up to 128 bytes and without stop words, until f
// returns false. The word is valid until the next call.
func eachWord(s string, f func(word) bool) {
	s = s[:min(len(s), maxTokenText)]
	var parts []string
	for len(s) > 0 {
		n := wordLen(s)
		if n == 0 {
			_, size := utf8.DecodeRuneInString(s)
			s = s[size:]
			continue
		}
		if n <= maxWord {
			w, ok := newWord(parts[:0], s[:n])
			if ok && !f(w) {
				return
			}
			parts = w.parts
		}
		s = s[n:]
	}
}

// newWord splits a run. It appends to parts, and reports false for a stop word.
func newWord(parts []string, run string) (word, bool) {
	parts = split(parts, run)
	w := word{parts: parts}
	if len(parts) > 1 {
		w.whole = strings.Join(parts, "")
	} else if len(parts) == 0 || stopWords[parts[0]] {
		return w, false
	}
	if r, _ := utf8.DecodeRuneInString(run); withoutSpaces(r) {
		return word{parts: pairs(run)}, true
	}
	for i := range parts {
		parts[i] = stem(parts[i])
	}
	return w, true
}

// Tokens yields the tokens of the first 4,096 words of a text.
func Tokens(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		n := 0
		eachWord(s, func(w word) bool {
			for _, t := range w.parts {
				if !yield(t) {
					return false
				}
			}
			n++
			return (w.whole == "" || yield(w.whole)) && n < maxTokens
		})
	}
}

// wordLen returns the length of the word at the start of s, 0 if there is none. An
// apostrophe between letters is part of the word. A sentence without spaces is several.
func wordLen(s string) int {
	n := 0
	first := rune(0)
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch {
		case inWord(r):
			if n == 0 {
				first = r
			} else if withoutSpaces(r) != withoutSpaces(first) || withoutSpaces(r) && n+size > maxWord {
				return n
			}
		case n > 0 && isApostrophe(r):
			next, _ := utf8.DecodeRuneInString(s[n+size:])
			if !unicode.IsLetter(next) {
				return n
			}
		default:
			return n
		}
		n += size
	}
	return n
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.M, r))
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

// withoutSpaces reports whether the script of a letter puts no spaces between words.
func withoutSpaces(r rune) bool {
	return r > 0x0e00 &&
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
			unicode.Myanmar)
}

// pairs returns the overlapping pairs of characters of a run.
func pairs(run string) []string {
	var out []string
	runes := []rune(run)
	for i := 0; i+1 < len(runes); i++ {
		out = append(out, string(runes[i:i+2]))
	}
	if len(runes) == 1 {
		out = append(out, run)
	}
	return out
}

// class is the kind of a character, for splitting identifiers.
type class byte

const (
	noClass class = iota
	lower
	upper
	digit
)

func classOf(r rune) class {
	switch {
	case 'a' <= r && r <= 'z':
		return lower
	case 'A' <= r && r <= 'Z':
		return upper
	case '0' <= r && r <= '9':
		return digit
	case r < utf8.RuneSelf:
		return noClass
	case unicode.IsUpper(r):
		return upper
	case unicode.IsNumber(r):
		return digit
	}
	return lower
}

// split appends the parts of a word in lower case: parseHTTPRequest2 is parse, http, request, 2.
func split(parts []string, run string) []string {
	start, last := 0, noClass
	cut := func(end int) {
		if p := strings.Trim(run[start:end], "_'’"); p != "" {
			parts = append(parts, strings.ToLower(withoutApostrophes(p)))
		}
		start = end
	}
	for i, r := range run {
		if isApostrophe(r) {
			continue
		}
		c := classOf(r)
		switch {
		case unicode.Is(unicode.M, r):
			continue // part of the letter before it
		case c == last || last == noClass:
		case c == lower && last == upper && isPlural(run[start:i], run[i:]): // IDs
		case c == lower && last == upper:
			// The last capital of a run begins the next part: HTTPRequest.
			if _, size := utf8.DecodeLastRuneInString(run[:i]); start < i-size {
				cut(i - size)
			}
		default:
			cut(i)
		}
		if r == '_' {
			start = i + 1
		}
		last = c
	}
	cut(len(run))
	return parts
}

// isPlural reports whether capitals are followed by only an s.
func isPlural(capitals, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest[1:])
	return rest[0] == 's' && len(capitals) > 1 && (len(rest) == 1 || classOf(next) != lower)
}

func withoutApostrophes(s string) string {
	if !strings.ContainsAny(s, "'’") {
		return s
	}
	return strings.NewReplacer("'", "", "’", "").Replace(s)
}

// stem removes common endings of English words, so that use, uses, used and using are the same token. It has
// no exceptions, because both sides of a comparison are stemmed.
func stem(w string) string {
	if len(w) <= 2 || w[0] < 'a' || w[0] > 'z' || w[len(w)-1] >= utf8.RuneSelf {
		return w
	}
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		w = w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"):
		w = w[:len(w)-2]
	case w[len(w)-1] == 's' && !strings.Contains("sui", w[len(w)-2:len(w)-1]):
		w = w[:len(w)-1]
	}
	for _, suffix := range []string{"ing", "ed"} {
		rest, ok := strings.CutSuffix(w, suffix)
		if !ok {
			continue
		}
		if len(rest) >= 2 && strings.ContainsAny(rest, "aeiouy") {
			w = rest
			if n := len(w); n > 2 && w[n-1] == w[n-2] && !strings.ContainsRune("lsz", rune(w[n-1])) {
				w = w[:n-1]
			}
		}
		break
	}
	if len(w) > 2 && w[len(w)-1] == 'e' {
		w = w[:len(w)-1]
	}
	return w
}
