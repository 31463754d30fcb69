package text

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// lookalikes are letters of other scripts that look like a Latin letter in common fonts, by script. They are
// the letters in Unicode's confusables.txt that real attacks used.
var lookalikes = map[string]string{
	"Cyrillic": "аеорсухіјѕһԁԛԝѵӏү" + "АВЕКМНОРСТУХЅІЈӀԚԜҮԌ",
	"Greek":    "οϲϳ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ",
	"Armenian": "օոսհցզյ" + "ՕՍԼ",
	"Cherokee": "ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ",
}

// weakLookalikes are Greek letters that mathematics uses alone, as in αMax: they count only inside a word.
const weakLookalikes = "ανρικγτυχηω"

// lookalikeScript is the script of each letter that looks like a Latin one.
var lookalikeScript = sync.OnceValue(func() map[rune]string {
	scripts := map[rune]string{}
	for script, letters := range lookalikes {
		for _, r := range letters {
			scripts[r] = script
		}
	}
	return scripts
})

// Mixed reports whether an identifier imitates another one. That is so if one of its words, split at
// underscores, digits and capitals, mixes Latin letters only with letters that look Latin, or looks Latin as
// a whole next to a Latin word. Scripts are the scripts of its letters in order: "Latin", "Cyrillic",
// "Greek", "Armenian", "Cherokee", "Fullwidth", "Mathematical" or "other".
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
	if ascii || len(ident) > maxWord || !names["Latin"] || isTable([]rune(ident)) {
		return scripts, false
	}
	return scripts, slices.ContainsFunc(splitExact(ident), looksFake)
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

// looksFake reports whether all letters of a word look Latin and some are not.
func looksFake(word string) bool {
	letters := []rune(word)
	foreign := false
	for i, r := range letters {
		switch {
		case !unicode.IsLetter(r) || scriptOf(r) == "Latin":
		case lookalikeScript()[r] != "", scriptOf(r) == "Fullwidth", scriptOf(r) == "Mathematical":
			foreign = true
		case strings.ContainsRune(weakLookalikes, r) && isLatin(letters, i-1) && isLatin(letters, i+1):
			foreign = true
		default:
			return false
		}
	}
	return foreign
}

// mostAccented is how many different accented Latin letters a name has. One with more, which has few others, is a table of
// letters, as for the removal of accents.
const mostAccented = 4

func isTable(letters []rune) bool {
	accented := map[rune]bool{}
	for _, r := range letters {
		if r >= 0x80 && unicode.Is(unicode.Latin, r) {
			accented[r] = true
		}
	}
	return len(accented) > mostAccented && 3*len(accented) > len(letters)
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
