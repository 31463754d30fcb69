package text

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// lookalikes are letters of other scripts that look like a Latin one in common
// fonts, by script. The letters are those of Unicode's confusables.txt that
// attacks were seen with.
var lookalikes = map[string]string{
	"Cyrillic": "аеорсухіјѕһԁԛԝѵӏү" + "АВЕКМНОРСТУХЅІЈӀԚԜҮԌ",
	"Greek":    "οϲϳ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ",
	"Armenian": "օոսհցզյ" + "ՕՍԼ",
	"Cherokee": "ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ",
}

// weakLookalikes are Greek letters that mathematics uses by themselves, as in
// αMax: they count inside a word only.
const weakLookalikes = "ανρικγτυχηω"

// lookalikeScript is the script of each letter that looks like a Latin one.
var lookalikeScript = func() map[rune]string {
	scripts := map[rune]string{}
	for script, letters := range lookalikes {
		for _, r := range letters {
			scripts[r] = script
		}
	}
	return scripts
}()

// Mixed tells whether an identifier is bad: made to be taken for another one.
// One of its words, split at underscores, digits and capitals, mixes Latin
// letters with letters that look like Latin ones and no others, or looks Latin
// as a whole beside a word that is. Scripts names the scripts of its letters in
// order: "Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Fullwidth",
// "Mathematical" or "other".
func Mixed(ident string) (scripts []string, bad bool) {
	names := map[string]bool{}
	ascii := true
	for _, r := range ident {
		ascii = ascii && r < 0x80
		if unicode.IsLetter(r) {
			names[scriptOf(r)] = true
		}
	}
	scripts = slices.Sorted(maps.Keys(names))
	if ascii || len(ident) > maxWord || !names["Latin"] {
		return scripts, false
	}
	for _, part := range splitExact(ident) {
		if fakes(part) {
			return scripts, true
		}
	}
	return scripts, false
}

func scriptOf(r rune) string {
	switch {
	case r >= 0xff21 && r <= 0xff5a:
		return "Fullwidth"
	case r >= 0x1d400 && r <= 0x1d7ff:
		return "Mathematical"
	case unicode.Is(unicode.Latin, r):
		return "Latin"
	case unicode.Is(unicode.Cyrillic, r):
		return "Cyrillic"
	case unicode.Is(unicode.Greek, r):
		return "Greek"
	case unicode.Is(unicode.Armenian, r):
		return "Armenian"
	case unicode.Is(unicode.Cherokee, r):
		return "Cherokee"
	}
	return "other"
}

// fakes tells whether all letters of a word look Latin and some are not.
func fakes(word string) bool {
	letters := []rune(word)
	foreign := false
	for i, r := range letters {
		switch {
		case !unicode.IsLetter(r) || scriptOf(r) == "Latin":
		case lookalikeScript[r] != "", scriptOf(r) == "Fullwidth", scriptOf(r) == "Mathematical":
			foreign = true
		case strings.ContainsRune(weakLookalikes, r) && isLatin(letters, i-1) && isLatin(letters, i+1):
			foreign = true
		default:
			return false
		}
	}
	return foreign
}

func isLatin(letters []rune, i int) bool {
	return i >= 0 && i < len(letters) && unicode.Is(unicode.Latin, letters[i])
}

// splitExact splits an identifier into words and keeps their case.
func splitExact(ident string) []string {
	var words []string
	for word := range strings.SplitSeq(ident, "_") {
		start, last := 0, noClass
		for i, r := range word {
			c := classOf(r)
			if last == lower && c == upper || last == digit && c != digit {
				words = append(words, word[start:i])
				start = i
			}
			last = c
		}
		words = append(words, word[start:])
	}
	return words
}
