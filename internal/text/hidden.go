package text

import (
	"iter"
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

// isPictograph reports whether the character can be an emoji, or a part of one: it is in the blocks of pictographs, or is
// one of the older symbols. Those of mathematics are not: some languages have them in names.
func isPictograph(r rune) bool {
	if r >= 0x1f000 {
		return r <= 0x1fffd && !isModifier(r) && !unicode.Is(unicode.Regional_Indicator, r)
	}
	return r == '\u2139' || r == '\u2194' || r >= 0x2190 && r < 0x3300 && unicode.Is(unicode.So, r)
}
