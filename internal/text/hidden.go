package text

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	zwj  = '\u200d' // zero width joiner
	zwnj = '\u200c' // zero width non-joiner
	zwsp = '\u200b' // zero width space
)

// hiddenNames are the names of hidden characters that attacks use. The others are named by class.
var hiddenNames = map[rune]string{
	0x0000: "NULL", 0x0007: "BELL", 0x0008: "BACKSPACE", 0x001b: "ESCAPE", 0x007f: "DELETE", 0x0085: "NEXT LINE",
	0x009b: "CONTROL SEQUENCE INTRODUCER", 0x009d: "OPERATING SYSTEM COMMAND", 0x00ad: "SOFT HYPHEN",
	0x034f: "COMBINING GRAPHEME JOINER", 0x061c: "ARABIC LETTER MARK", 0x115f: "HANGUL CHOSEONG FILLER",
	0x1160: "HANGUL JUNGSEONG FILLER", 0x3164: "HANGUL FILLER", 0xffa0: "HALFWIDTH HANGUL FILLER",
	0x180e: "MONGOLIAN VOWEL SEPARATOR", 0x200b: "ZERO WIDTH SPACE", 0x200c: "ZERO WIDTH NON-JOINER",
	0x200d: "ZERO WIDTH JOINER", 0x200e: "LEFT-TO-RIGHT MARK", 0x200f: "RIGHT-TO-LEFT MARK", 0x2028: "LINE SEPARATOR",
	0x2029: "PARAGRAPH SEPARATOR", 0x202a: "LEFT-TO-RIGHT EMBEDDING", 0x202b: "RIGHT-TO-LEFT EMBEDDING",
	0x202c: "POP DIRECTIONAL FORMATTING", 0x202d: "LEFT-TO-RIGHT OVERRIDE", 0x202e: "RIGHT-TO-LEFT OVERRIDE",
	0x2060: "WORD JOINER", 0x2061: "FUNCTION APPLICATION", 0x2062: "INVISIBLE TIMES", 0x2063: "INVISIBLE SEPARATOR",
	0x2064: "INVISIBLE PLUS", 0x2066: "LEFT-TO-RIGHT ISOLATE", 0x2067: "RIGHT-TO-LEFT ISOLATE",
	0x2068: "FIRST STRONG ISOLATE", 0x2069: "POP DIRECTIONAL ISOLATE", 0xfeff: "BYTE ORDER MARK",
}

// Hidden reports whether a character is invisible or changes how others are displayed. These are control
// characters except tab, line feed, form feed and carriage return; line separators; and everything that
// Unicode calls a format character (bidirectional controls, zero width characters, tags), private use, a
// surrogate, a noncharacter, a variation selector or otherwise ignorable. The name is Unicode's, or that of
// the class.
//
// Whether the context needs a character, as an emoji needs its joiner, only [Spots] can tell.
func Hidden(r rune) (name string, bad bool) {
	switch {
	case ' ' <= r && r < 0x7f, r == '\t', r == '\n', r == '\f', r == '\r':
		return "", false
	case hiddenNames[r] != "":
		return hiddenNames[r], true
	case r >= 0xe0000 && r <= 0xe007f:
		return "TAG CHARACTER", true
	case unicode.IsControl(r):
		return "CONTROL CHARACTER", true
	case r < 0x300: // Latin, the common case
		return "", false
	case unicode.Is(unicode.Variation_Selector, r):
		return "VARIATION SELECTOR", true
	case unicode.Is(unicode.Cf, r):
		return "FORMAT CHARACTER", true
	case unicode.Is(unicode.Co, r):
		return "PRIVATE USE CHARACTER", true
	case r >= 0xd800 && r <= 0xdfff:
		return "SURROGATE", true
	case unicode.Is(unicode.Noncharacter_Code_Point, r):
		return "NONCHARACTER", true
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return "INVISIBLE CHARACTER", true
	}
	return "", false
}

// Spot is a hidden character in a text.
type Spot struct {
	Start, End int // its bytes
	Rune       rune
	Name       string
}

// Spots yields the hidden characters of a text, except those that people need: joiners and variation
// selectors within emoji, joiners next to letters of scripts that use them, spaces without width in scripts
// that write no others, and variants of ideographs and symbols. A byte order mark at the beginning is
// included, because only the caller knows whether the text begins a file.
func Spots(s string) iter.Seq[Spot] {
	return func(yield func(Spot) bool) {
		before, selected := rune(0), false
		for i, r := range s {
			if r >= ' ' && r < 0x7f {
				before, selected = r, false
				continue
			}
			name, bad := Hidden(r)
			end := i + utf8.RuneLen(r)
			if bad && (selected && r != zwj || !mayBeNeeded(r) || !isNeeded(before, r, s[end:])) {
				if !yield(Spot{i, end, r, name}) {
					return
				}
				r, bad = 0, false // there is nothing to join to
			} else if isInvalid(r, s[i:]) {
				r = 0 // nor to an invalid byte
			}
			// An emoji with one selector is still an emoji.
			if selected = bad && r == variant16; !selected {
				before = r
			}
		}
	}
}

// isInvalid reports whether the first rune of a text stands for an invalid byte.
func isInvalid(r rune, s string) bool {
	return r == utf8.RuneError && !strings.HasPrefix(s, string(utf8.RuneError))
}

// Variation selectors that choose between the text and the emoji form.
const (
	variant15 = '\ufe0e'
	variant16 = '\ufe0f'
	keycap    = '\u20e3'
)

// mayBeNeeded reports whether any context needs the character.
func mayBeNeeded(r rune) bool {
	return r >= zwsp && r <= zwj || unicode.Is(unicode.Variation_Selector, r)
}

// isNeeded reports whether a joiner, a space or a variation selector is needed between
// a character and the text after it. Two hidden characters in a row are not.
//
// UAX #31 allows joiners in names only between letters that join, or after a virama. Text needs them in more
// places: before a suffix of a Latin word in Persian, or before a vowel sign in Bengali.
func isNeeded(before, r rune, rest string) bool {
	after, _ := utf8.DecodeRuneInString(rest)
	if _, bad := Hidden(before); bad {
		return false
	}
	switch {
	case r == zwsp:
		return (hasNoSpaces(before) || hasNoSpaces(after)) && !isWordASCII(before) && !isWordASCII(after)
	case r == variant15 || r == variant16:
		return isPictograph(before) || isSymbol(before) ||
			after == keycap && (before >= '0' && before <= '9' || before == '#' || before == '*')
	case r == zwj && joinsEmoji(before, after):
		return true
	case r == zwj || r == zwnj:
		return isJoining(before) || isJoining(after) && before > ' '
	case r == 0x180b || r == 0x180c || r == 0x180d || r == 0x180f:
		return unicode.Is(unicode.Mongolian, before)
	case r == variant1 && (isSymbol(before) || unicode.In(before, unicode.Myanmar, unicode.Phags_Pa, unicode.Manichaean)):
		return true
	}
	return unicode.Is(unicode.Han, before)
}

// variant1 chooses a variant of a mathematical operator or a letter.
const variant1 = '\ufe00'

// isSymbol reports whether a character outside ASCII is a symbol or punctuation, whose
// variants fonts may have.
func isSymbol(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.IsSymbol(r) || unicode.IsPunct(r))
}

// isWordASCII reports whether the character is part of a word in ASCII.
func isWordASCII(r rune) bool {
	return r == '_' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// hasNoSpaces reports whether the character belongs to a script that is written
// without spaces, so that a space without width shows where a line may break.
func hasNoSpaces(r rune) bool {
	return r >= 0xe00 && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
		unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet, unicode.Javanese, unicode.Balinese)
}

func joinsEmoji(before, after rune) bool {
	return (isPictograph(before) || isModifier(before)) && isPictograph(after)
}

// isModifier reports whether the character sets the skin colour of an emoji.
func isModifier(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// joiningScripts are the scripts whose letters join, and those with a virama.
var joiningScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Mongolian, unicode.Nko, unicode.Phags_Pa, unicode.Adlam,
	unicode.Hanifi_Rohingya, unicode.Manichaean, unicode.Sogdian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
	unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Javanese, unicode.Balinese, unicode.Sundanese,
	unicode.Meetei_Mayek, unicode.Tai_Tham, unicode.Chakma, unicode.Newa, unicode.Grantha, unicode.Tirhuta,
}

// isJoining reports whether the character is a letter, or a mark on one, of a script that uses joiners.
func isJoining(r rune) bool {
	if _, bad := Hidden(r); bad || r < 0x600 {
		return false
	}
	return unicode.In(r, joiningScripts...)
}

func isPictograph(r rune) bool {
	i, ends := slices.BinarySearch(pictographs, r)
	return ends || i%2 == 1
}

// pictographs is data: the first and the last character of each range of Unicode's property Extended_Pictographic
// (emoji-data.txt, 15.1).
var pictographs = []rune{
	0xa9, 0xa9, 0xae, 0xae, 0x203c, 0x203c, 0x2049, 0x2049, 0x2122, 0x2122, 0x2139, 0x2139, 0x2194, 0x2199,
	0x21a9, 0x21aa, 0x231a, 0x231b, 0x2328, 0x2328, 0x2388, 0x2388, 0x23cf, 0x23cf, 0x23e9, 0x23f3, 0x23f8, 0x23fa,
	0x24c2, 0x24c2, 0x25aa, 0x25ab, 0x25b6, 0x25b6, 0x25c0, 0x25c0, 0x25fb, 0x25fe, 0x2600, 0x2605, 0x2607, 0x2612,
	0x2614, 0x2685, 0x2690, 0x2705, 0x2708, 0x2712, 0x2714, 0x2714, 0x2716, 0x2716, 0x271d, 0x271d, 0x2721, 0x2721,
	0x2728, 0x2728, 0x2733, 0x2734, 0x2744, 0x2744, 0x2747, 0x2747, 0x274c, 0x274c, 0x274e, 0x274e, 0x2753, 0x2755,
	0x2757, 0x2757, 0x2763, 0x2767, 0x2795, 0x2797, 0x27a1, 0x27a1, 0x27b0, 0x27b0, 0x27bf, 0x27bf, 0x2934, 0x2935,
	0x2b05, 0x2b07, 0x2b1b, 0x2b1c, 0x2b50, 0x2b50, 0x2b55, 0x2b55, 0x3030, 0x3030, 0x303d, 0x303d, 0x3297, 0x3297,
	0x3299, 0x3299, 0x1f000, 0x1f0ff, 0x1f10d, 0x1f10f, 0x1f12f, 0x1f12f, 0x1f16c, 0x1f171, 0x1f17e, 0x1f17f,
	0x1f18e, 0x1f18e, 0x1f191, 0x1f19a, 0x1f1ad, 0x1f1e5, 0x1f201, 0x1f20f, 0x1f21a, 0x1f21a, 0x1f22f, 0x1f22f,
	0x1f232, 0x1f23a, 0x1f23c, 0x1f23f, 0x1f249, 0x1f3fa, 0x1f400, 0x1f53d, 0x1f546, 0x1f64f, 0x1f680, 0x1f6ff,
	0x1f774, 0x1f77f, 0x1f7d5, 0x1f7ff, 0x1f80c, 0x1f80f, 0x1f848, 0x1f84f, 0x1f85a, 0x1f85f, 0x1f888, 0x1f88f,
	0x1f8ae, 0x1f8ff, 0x1f90c, 0x1f93a, 0x1f93c, 0x1f945, 0x1f947, 0x1faff, 0x1fc00, 0x1fffd,
}
