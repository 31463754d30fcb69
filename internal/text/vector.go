package text

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strings"
)

// Vector is the sparse vector of a text's tokens, with length 1, or zero for a text
// without tokens. It is small and immutable: create it once, compare it often.
type Vector struct{ terms []term }

// term is a token's hash and its share.
type term struct {
	hash   uint64
	weight float32
}

// The weights of tokens. An identifier counts mainly as a whole, and each of its parts counts as half a word;
// otherwise one shared prefix would outweigh a sentence. Tested on 235 pairs of review comments that share
// words and were labelled by people, the weights give an area under the curve of .81, against .54 with all
// weights at 1 and with quotes and links.
const (
	wholeWeight  = 0.7
	partWeight   = 0.5
	commonWeight = 0.6 // of a common word; other words have 1
	repeatWeight = 0.5 // of the logarithm of a token's count
)

// NewVector returns the vector of a remark. Links, quoted lines and fenced code do
// not count if enough other text is left.
func NewVector(s string) Vector {
	counts := map[string]float64{}
	for _, form := range []func(string) string{ownWords, withoutLinks, func(s string) string { return s }} {
		clear(counts)
		if countTokens(form(s), counts) >= minOwnWords {
			break
		}
	}
	v, common := Vector{make([]term, 0, len(counts))}, commonWords()
	sum := 0.0
	for token, n := range counts {
		w := n
		if n > 1 {
			w = 1 + repeatWeight*math.Log(n)
		}
		if common[token] {
			w *= commonWeight
		}
		v.terms = append(v.terms, term{hash(token), float32(w)})
	}
	slices.SortFunc(v.terms, func(a, b term) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.weight, b.weight))
	})
	for _, t := range v.terms { // in order, so that the sum is the same every time
		sum += float64(t.weight) * float64(t.weight)
	}
	if sum > 0 {
		norm := float32(1 / math.Sqrt(sum))
		for i := range v.terms {
			v.terms[i].weight *= norm
		}
	}
	return v
}

// minOwnWords is the smallest number of words that a remark needs without its quotes.
const minOwnWords = 3

// countTokens counts weighted tokens and returns the number of words.
func countTokens(s string, counts map[string]float64) int {
	words := 0
	eachWord(s, func(w word) bool {
		words++
		weight := 1.0
		if w.whole != "" {
			counts[w.whole] += wholeWeight
			weight = partWeight
		}
		for _, p := range w.parts {
			counts[p] += weight
		}
		return words < maxTokens
	})
	return words
}

var (
	link  = Pattern(`(?i)\b(https?|ftp)://[^\s<>()\]]+|\bwww\.[^\s<>()\]]+`)
	fence = Pattern("(?s)```.*?(```|$)")
)

func withoutLinks(s string) string { return link().ReplaceAllString(s, " ") }

// ownWords removes links, fenced code and quoted lines.
func ownWords(s string) string {
	s = fence().ReplaceAllString(withoutLinks(s), " ")
	if !strings.Contains(s, ">") {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		if !strings.HasPrefix(strings.TrimLeft(line, " \t"), ">") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Cosine is the cosine of two vectors, 0 to 1; 0 if one is zero. Remarks that make
// the same point are mostly above 0.5, unrelated ones below 0.25.
func Cosine(a, b Vector) float64 {
	x, y := a.terms, b.terms
	sum := 0.0
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i].hash < y[j].hash:
			i++
		case x[i].hash > y[j].hash:
			j++
		default:
			sum += float64(x[i].weight) * float64(y[j].weight)
			i++
			j++
		}
	}
	return min(sum, 1)
}

// hash is FNV-1a, which is the same in every process: reviews must be reproducible.
func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}
