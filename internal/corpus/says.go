package corpus

import (
	"strings"
	"unicode"
)

// Says reports whether a comment still has the words of an excerpt, in their order: it may have
// been edited since. What an excerpt leaves out, such as quotes and addresses, may be between
// them.
func Says(body, excerpt string) bool {
	isBetween := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	excerpt, cut := strings.CutSuffix(strings.TrimSpace(excerpt), "…")
	wanted := strings.FieldsFunc(strings.ToLower(excerpt), isBetween)
	if len(wanted) == 0 {
		return false
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(cleanText(body, maxBody)), isBetween) {
		last := cut && len(wanted) == 1 // of a word that has no end
		if word != wanted[0] && (!last || !strings.HasPrefix(word, wanted[0])) {
			continue
		}
		if wanted = wanted[1:]; len(wanted) == 0 {
			return true
		}
	}
	return false
}
