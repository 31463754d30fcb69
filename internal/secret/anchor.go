package secret

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// beginsWith reports whether every match of an expression begins with one of the lower-case words.
func beginsWith(pattern string, words []string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return false
	}
	begins, _ := beginnings(re)
	return !slices.ContainsFunc(begins, func(b string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(b, w) })
	})
}

// maxBeginnings limits how many beginnings are tracked.
const maxBeginnings = 256

// beginnings returns lower-case texts, one of which begins every match. whole is set
// if each match is just one of them.
func beginnings(re *syntax.Regexp) (texts []string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}, true
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if s := strings.ToLower(string(r)); !slices.Contains(texts, s) {
					texts = append(texts, s)
				}
				if len(texts) > 4 {
					return []string{""}, false
				}
			}
		}
		return texts, true
	case syntax.OpCapture:
		return beginnings(re.Sub[0])
	case syntax.OpQuest:
		texts, whole = beginnings(re.Sub[0])
		return append(slices.Clone(texts), ""), whole
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			t, w := beginnings(sub)
			texts, whole = append(texts, t...), whole && w
		}
		if len(texts) > maxBeginnings {
			return []string{""}, false
		}
		return texts, whole
	case syntax.OpConcat:
		texts = []string{""}
		for _, sub := range re.Sub {
			next, w := beginnings(sub)
			if len(texts)*len(next) > maxBeginnings {
				return texts, false
			}
			var longer []string
			for _, t := range texts {
				for _, n := range next {
					longer = append(longer, t+n)
				}
			}
			if texts = longer; !w {
				return texts, false
			}
		}
		return texts, true
	}
	return []string{""}, false
}
