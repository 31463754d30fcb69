package corpus

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
)

// The grams of a line: 2 to 5 characters with their white space, and the marks of its ends,
// because people comment on spaces, too.
const (
	shortGram   = 2
	longGram    = 5
	gramBits    = 18
	maxCodeLine = 400 // bytes of a line; the rest is not compared
)

// lineCounts counts in how many commented lines a gram is.
type lineCounts struct {
	lines, shapes []int32
	total         int
}

// gram is a hashed gram with its weight.
type gram struct {
	hash   uint32
	weight float64
}

// grams is a vector with length 1, by hash.
type grams []gram

// add counts the line of a chunk, or takes it back with -1.
func (l *lineCounts) add(c *precedent.CorpusChunk, n int32) {
	line := commentedLine(c)
	if line == "" {
		return
	}
	if l.lines == nil {
		l.lines, l.shapes = make([]int32, 1<<gramBits), make([]int32, 1<<gramBits)
	}
	l.total += int(n)
	for _, g := range countGrams(line) {
		l.lines[g.hash] += n
	}
	for _, g := range countGrams(shapeOf(line)) {
		l.shapes[g.hash] += n
	}
}

func (l *lineCounts) line(s string) grams  { return weigh(countGrams(s), l.lines, l.total) }
func (l *lineCounts) shape(s string) grams { return weigh(countGrams(shapeOf(s)), l.shapes, l.total) }

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

// countGrams returns the grams of a line with their counts, by hash; none for an empty line.
func countGrams(line string) grams {
	if line == "" {
		return nil
	}
	line = "\x02" + line[:min(len(line), maxCodeLine)] + "\x03"
	hashes := make([]uint32, 0, 4*len(line))
	for i := range line {
		hash := uint32(2166136261)
		rest := line[i:]
		for n := 1; n <= longGram && rest != ""; n++ {
			r, size := utf8.DecodeRuneInString(rest)
			rest = rest[size:]
			hash = (hash ^ uint32(r)) * 16777619
			if n >= shortGram {
				hashes = append(hashes, (hash^hash>>15)*2654435769>>(32-gramBits))
			}
		}
	}
	slices.Sort(hashes)
	var out grams
	for _, h := range hashes {
		if n := len(out); n > 0 && out[n-1].hash == h {
			out[n-1].weight++
		} else {
			out = append(out, gram{h, 1})
		}
	}
	return out
}

// weigh turns counts into a vector of length 1.
func weigh(all grams, counts []int32, total int) grams {
	sum := 0.0
	for i := range all {
		n := int32(1)
		if counts != nil {
			n = max(n, counts[all[i].hash])
		}
		all[i].weight = (1 + math.Log(all[i].weight)) * math.Log(1+float64(total)/float64(n))
		sum += all[i].weight * all[i].weight
	}
	if sum > 0 {
		for i := range all {
			all[i].weight /= math.Sqrt(sum)
		}
	}
	return all
}

// cosine compares two lines.
func (a grams) cosine(b grams) float64 {
	sum := 0.0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch cmp.Compare(a[i].hash, b[j].hash) {
		case -1:
			i++
		case 1:
			j++
		default:
			sum += a[i].weight * b[j].weight
			i++
			j++
		}
	}
	return min(sum, 1)
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
