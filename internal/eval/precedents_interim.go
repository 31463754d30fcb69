package eval

import (
	"regexp"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

var suggestionRE = regexp.MustCompile("(?s)```suggestion.*?(```|$)")
var urlRE = regexp.MustCompile(`https?://\S+`)

func chunkOf(c precedent.CorpusComment) precedent.CorpusChunk {
	s := suggestionRE.ReplaceAllString(string(c.Body), " ")
	s = urlRE.ReplaceAllString(s, " ")
	s = unquotedOnly(s)
	n := 0
	for range text.Tokens(s) {
		n++
	}
	k := precedent.CorpusChunk{CorpusComment: c, Words: precedent.Untrusted(strings.TrimSpace(s)), Text: c.Body}
	if n < 4 {
		k.Unusable = "short"
	}
	return k
}
func unquotedOnly(s string) string {
	var b strings.Builder
	for l := range strings.Lines(s) {
		if !strings.HasPrefix(strings.TrimSpace(l), ">") {
			b.WriteString(l)
		}
	}
	return b.String()
}
