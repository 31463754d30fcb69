package corpus

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/text"
)

// The grams of a line are 2 to 5 characters with their white space and the marks of its ends,
// because people comment on spaces, too. Those of a text are 3 to 5 characters in lower case.
const (
	gramBits    = 18
	maxCodeLine = 400     // bytes of a line; the rest is not compared
	maxGramText = 8 << 10 // bytes of a text; the rest is not compared
)

// gram is a hashed gram with 1 + ln of its count.
type gram struct {
	hash   uint32
	weight float32
}

// grams are those of a text, by hash.
type grams []gram

// lineGrams returns the grams of a line of code; none for an empty one.
func lineGrams(line string) grams {
	if line == "" {
		return nil
	}
	return gramsOf("\x02"+line[:min(len(line), maxCodeLine)]+"\x03", 2, 5)
}

// textGrams returns the grams of a text; none for one without words.
func textGrams(s string) grams {
	s = text.Collapse(strings.ToLower(text.Head(s, maxGramText)))
	if s == "" {
		return nil
	}
	return gramsOf(" "+s+" ", 3, 5)
}

// shapeOf is a line with each word replaced by one letter that says how it begins.
func shapeOf(line string) string {
	var b strings.Builder
	inside := false
	for _, r := range line {
		word := r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case !word:
			b.WriteRune(r)
		case inside:
		case unicode.IsDigit(r):
			b.WriteByte('0')
		case unicode.IsUpper(r):
			b.WriteByte('A')
		default:
			b.WriteByte('a')
		}
		inside = word
	}
	return b.String()
}

// gramsOf returns the grams with so many characters.
func gramsOf(s string, shortest, longest int) grams {
	hashes := make([]uint32, 0, (longest-shortest+1)*len(s))
	for i := range s {
		hash := uint32(2166136261)
		rest := s[i:]
		for n := 1; n <= longest && rest != ""; n++ {
			r, size := utf8.DecodeRuneInString(rest)
			rest = rest[size:]
			hash = (hash ^ uint32(r)) * 16777619
			if n >= shortest {
				hashes = append(hashes, (hash^hash>>15)*2654435769>>(32-gramBits))
			}
		}
	}
	slices.Sort(hashes)
	var out grams
	for i := 0; i < len(hashes); {
		from := i
		for i < len(hashes) && hashes[i] == hashes[from] {
			i++
		}
		out = append(out, gram{hashes[from], float32(1 + math.Log(float64(i-from)))})
	}
	return out
}

// rarities are the weights of grams: the inverse frequencies among some texts. A nil one weighs all
// grams alike.
type rarities []float32

// raritiesAmong returns the weights of grams among texts.
func raritiesAmong(all []grams) rarities {
	r := make(rarities, 1<<gramBits)
	for _, one := range all {
		for _, g := range one {
			r[g.hash]++
		}
	}
	for i, n := range r {
		r[i] = float32(math.Log(1 + float64(len(all))/float64(max(n, 1))))
	}
	return r
}

func (r rarities) of(g gram) float64 {
	if r == nil {
		return float64(g.weight)
	}
	return float64(g.weight) * float64(r[g.hash])
}

// cosine compares two texts.
func (r rarities) cosine(a, b grams) float64 {
	sum, ofA, ofB := 0.0, 0.0, 0.0
	for _, g := range a {
		ofA += r.of(g) * r.of(g)
	}
	for _, g := range b {
		ofB += r.of(g) * r.of(g)
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch cmp.Compare(a[i].hash, b[j].hash) {
		case -1:
			i++
		case 1:
			j++
		default:
			sum += r.of(a[i]) * r.of(b[j])
			i++
			j++
		}
	}
	if sum == 0 {
		return 0
	}
	return min(sum/math.Sqrt(ofA*ofB), 1)
}

// suggested is the code that a comment suggests instead of the commented lines.
func suggested(body string) string {
	const mark = "```suggestion"
	_, rest, ok := strings.Cut(body, mark)
	if !ok {
		return ""
	}
	code, _, _ := strings.Cut(rest, "```")
	return strings.Trim(code, "\r\n")
}
