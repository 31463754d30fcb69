package search

// Frequency returns how many documents have a token of [text.WordTokens] in their text, and how many
// have a text with tokens.
func (x *Index) Frequency(token string) (with, all int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if term, ok := x.text.terms[token]; ok {
		with = int(x.text.counts[term])
	}
	return with, x.text.docs
}
