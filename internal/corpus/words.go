package corpus

import (
	"math"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/search"
	"github.com/precedent-dev/precedent/internal/text"
)

// The parameters of comparing code or text with the words of comments. They were chosen on the
// files that docs/eval.md shows for eval precedents.
const (
	spanWeight = 1   // of a token of a code span, in addition to its own 1: it names what the comment is about
	rareness   = 1.5 // exponent of the inverse document frequency of the query's tokens
)

// codeSpan is text in single backticks.
var codeSpan = text.Pattern("`[^`\n]{1,200}`")

// bag is the weighted tokens of a query or a comment.
type bag map[string]float64

func (b bag) add(s string, weight float64) {
	for t := range text.Tokens(s) {
		b[t] += weight
	}
}

// weighted is a token with its weight.
type weighted struct {
	token  string
	weight float64
}

// sorted returns the tokens in order, so that sums are the same every time.
func (b bag) sorted() []weighted {
	out := make([]weighted, 0, len(b))
	for t, w := range b {
		out = append(out, weighted{t, w})
	}
	slices.SortFunc(out, func(a, b weighted) int { return strings.Compare(a.token, b.token) })
	return out
}

// rarity is the inverse document frequency of a token, above 0.
func rarity(x *search.Index, token string) float64 {
	with, all := x.Frequency(token)
	all = max(all, 1)
	return math.Log(1 + float64(all)/float64(max(with, 1)))
}

// query returns the weights of a query's tokens, as a vector with length 1.
func (b bag) query(x *search.Index) map[string]float64 {
	sum := 0.0
	out := make(map[string]float64, len(b))
	for _, t := range b.sorted() {
		w := math.Log1p(t.weight) * math.Pow(rarity(x, t.token), rareness)
		out[t.token] = w
		sum += w * w
	}
	if sum > 0 {
		for t := range out {
			out[t] /= math.Sqrt(sum)
		}
	}
	return out
}

// profile is what a chunk is compared by.
type profile struct {
	chunk *precedent.CorpusChunk
	words []weighted // with length 1
	chars grams
	line  grams // of the commented line
	shape grams
	fix   grams // of the suggested code
}

// profileOf returns the profile of a chunk in an index.
func (x *Index) profileOf(c *precedent.CorpusChunk) *profile {
	p := &profile{chunk: c, chars: textGrams(searchedText(c))}
	own := string(c.Words)
	b := bag{}
	b.add(own, 1)
	for _, span := range codeSpan().FindAllString(own, -1) {
		b.add(span, spanWeight)
	}
	p.words = b.sorted()
	sum := 0.0
	for i := range p.words {
		w := &p.words[i]
		r := rarity(x.terms, w.token)
		w.weight = (1 + math.Log(w.weight)) * r
		sum += w.weight * w.weight
	}
	if sum > 0 {
		for i := range p.words {
			p.words[i].weight /= math.Sqrt(sum)
		}
	}
	line := commentedLine(c)
	p.line, p.shape = lineGrams(line), lineGrams(shapeOf(line))
	p.fix = lineGrams(suggested(string(c.Body)))
	return p
}

// cosine compares a query with a chunk.
func (p *profile) cosine(q map[string]float64) float64 {
	sum := 0.0
	for _, w := range p.words {
		sum += w.weight * q[w.token]
	}
	return min(sum, 1)
}
