package search

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent/internal/text"
)

// reference is what the index promises, written down plainly: it compares a query with every
// document. It adds in the same order as the index, so that documents that are equally good are
// that for both.
type reference map[string]Doc

func (ds reference) search(q Query) []Hit {
	var docs []Doc
	for _, d := range ds {
		docs = append(docs, d)
	}
	hits := map[string]*Hit{}
	for _, l := range slices.Concat(q.Fused, q.Lists) {
		scores := listScores(l, docs, q)
		var in []Rank
		var ids []string
		for id, s := range scores {
			d := ds[id]
			if s > 0 && (q.NotGroup == 0 || d.Group != q.NotGroup) && (q.Before.IsZero() || d.At.Before(q.Before)) {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), strings.Compare(a, b)) })
		for i, id := range ids[:min(len(ids), q.Depth)] {
			in = append(in, Rank{l, i + 1, scores[id]})
			fused := slices.Contains(q.Fused, l)
			if hits[id] == nil && !fused {
				continue
			}
			if hits[id] == nil {
				hits[id] = &Hit{ID: id}
			}
			hits[id].Ranks = append(hits[id].Ranks, in[i])
			if fused {
				hits[id].Score += 1 / float64(60+i+1)
			}
		}
	}
	cosines := listScores(TextChars, docs, q)
	out := []Hit{}
	for _, h := range hits {
		h.Cosine = cosines[h.ID]
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID)) })
	return out[:min(len(out), q.Limit)]
}

func listScores(l List, docs []Doc, q Query) map[string]float64 {
	switch l {
	case TextWords:
		return bm25(docs, func(d Doc) string { return d.Text }, q.Text)
	case LineWords:
		return bm25(docs, func(d Doc) string { return d.Lines }, q.Lines)
	case PathWords:
		return bm25(docs, func(d Doc) string { return d.Path }, q.Path)
	case TextChars:
		return tfidf(docs, func(d Doc) string { return d.Text }, q.Text)
	case LineChars:
		return tfidf(docs, func(d Doc) string { return d.Lines }, q.Lines)
	}
	scores := map[string]float64{}
	for _, d := range docs {
		if len(d.Vector) > 0 && len(q.Vector) > 0 {
			scores[d.ID] = float64(dot(unit(q.Vector), unit(d.Vector)))
		}
	}
	return scores
}

// counted is how often a text has each term, and the sum.
func counted[T comparable](terms []T) map[T]int {
	counts := map[T]int{}
	for _, t := range terms {
		counts[t]++
	}
	return counts
}

// frequencies counts the texts that have each term, and those that have any.
func frequencies[T comparable](texts []map[T]int) (map[T]float64, float64) {
	df, docs := map[T]float64{}, 0.0
	for _, counts := range texts {
		for t := range counts {
			df[t]++
		}
		docs += float64(min(len(counts), 1))
	}
	return df, docs
}

func bm25(docs []Doc, field func(Doc) string, query string) map[string]float64 {
	tokens := func(s string) []string { return slices.Collect(text.Tokens(s)) }
	var texts []map[string]int
	total := 0
	for _, d := range docs {
		texts = append(texts, counted(tokens(field(d))))
		total += len(tokens(field(d)))
	}
	df, n := frequencies(texts)
	scores := map[string]float64{}
	for i, d := range docs {
		length, mean := float64(len(tokens(field(d)))), float64(total)/n
		for _, t := range slices.Sorted(maps.Keys(counted(tokens(query)))) {
			if tf := float64(texts[i][t]); tf > 0 {
				weight := 2.2 * math.Log(1+(n-df[t]+0.5)/(df[t]+0.5))
				scores[d.ID] += weight * tf / (tf + 0.3 + 0.9/mean*length)
			}
		}
	}
	return scores
}

func tfidf(docs []Doc, field func(Doc) string, query string) map[string]float64 {
	var texts []map[uint32]int
	for _, d := range docs {
		texts = append(texts, referenceGrams(field(d)))
	}
	df, n := frequencies(texts)
	idf := func(g uint32) float64 { return math.Log(1 + n/max(df[g], 1)) }
	// vector returns the weights of grams, and their length.
	vector := func(counts map[uint32]int) (map[uint32]float64, float64) {
		v := map[uint32]float64{}
		sum := 0.0
		for _, g := range slices.Sorted(maps.Keys(counts)) {
			v[g] = idf(g) * (1 + math.Log(float64(counts[g])))
			sum += v[g] * v[g]
		}
		return v, math.Sqrt(sum)
	}
	q, length := vector(referenceGrams(query))
	scores := map[string]float64{}
	for i, d := range docs {
		_, norm := vector(texts[i])
		for _, g := range slices.Sorted(maps.Keys(q)) {
			if texts[i][g] > 0 {
				scores[d.ID] += q[g] / length * idf(g) * (1 + math.Log(float64(texts[i][g])))
			}
		}
		if scores[d.ID] > 0 {
			scores[d.ID] = min(scores[d.ID]/norm, 1)
		}
	}
	return scores
}

func referenceGrams(s string) map[uint32]int {
	s = s[:min(len(s), 64<<10)]
	rs := []rune(" " + strings.Join(strings.FieldsFunc(strings.Map(unicode.ToLower, s), unicode.IsSpace), " ") + " ")
	counts := map[uint32]int{}
	for i := range rs {
		for size := 3; size <= 5 && i+size <= len(rs); size++ {
			h := uint32(2166136261)
			for _, r := range rs[i : i+size] {
				h = (h ^ uint32(r)) * 16777619
			}
			h = (h ^ h>>15) * 2654435769 >> 14
			counts[h] = min(counts[h]+1, 4)
		}
	}
	return counts
}

var near = gocmp.Options{gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })}

// words of random documents; few, so that documents have much in common.
var drawWords = []string{"lock", "unlock", "the", "mutex", "parseHTTPHeader", "parse", "header", "close", "file", "a_b", "Ünïcode", "锁定互斥", "\xff\xfe", "error", "errors", "return", "nil", "12", "x"}

func drawText(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(drawWords), 0, 12).Draw(t, name), rapid.SampledFrom([]string{" ", "  ", "\n", ".", ""}).Draw(t, "space"))
}

func drawDoc(t *rapid.T) Doc {
	d := Doc{
		ID: fmt.Sprint(rapid.IntRange(0, 60).Draw(t, "id")), Text: drawText(t, "text"), Lines: drawText(t, "lines"), Path: drawText(t, "path"),
		Group: rapid.IntRange(0, 3).Draw(t, "group"), At: time.Unix(int64(rapid.IntRange(0, 5).Draw(t, "at")), 0),
	}
	if rapid.Bool().Draw(t, "has a vector") {
		d.Vector = []float32{rapid.Float32Range(0.1, 1).Draw(t, "x"), rapid.Float32Range(-1, 1).Draw(t, "y")}
	}
	return d
}

func drawQuery(t *rapid.T) Query {
	lists := rapid.Permutation([]List{TextWords, TextChars, LineWords, LineChars, PathWords, TextVector}).Draw(t, "lists")
	n := rapid.IntRange(1, 6).Draw(t, "fused")
	d := drawDoc(t)
	q := Query{
		Text: d.Text, Lines: d.Lines, Path: d.Path, Vector: d.Vector, Fused: lists[:n], Lists: lists[n:], NotGroup: d.Group,
		Depth: rapid.IntRange(1, 30).Draw(t, "depth"), Limit: 10,
	}
	if rapid.Bool().Draw(t, "only older") {
		q.Before = d.At
	}
	return q
}

// TestExhaustive compares searches with the reference, after updates too, for indexes with and
// without blocks.
func TestExhaustive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, ref := New(nil), reference{}
		for range rapid.IntRange(1, 5).Draw(t, "updates") {
			var add []Doc
			for range rapid.IntRange(0, 30).Draw(t, "added") {
				add = append(add, drawDoc(t))
			}
			var remove []string
			for range rapid.IntRange(0, 5).Draw(t, "removed") {
				remove = append(remove, fmt.Sprint(rapid.IntRange(0, 60).Draw(t, "id")))
			}
			x.Update(add, remove)
			for _, id := range remove {
				delete(ref, id)
			}
			for _, d := range add {
				ref[d.ID] = d
			}
			if x.Len() != len(ref) {
				t.Fatalf("the index has %d documents, not %d", x.Len(), len(ref))
			}
			q := drawQuery(t)
			if diff := gocmp.Diff(ref.search(q), x.Search(q), near); diff != "" {
				t.Fatalf("unlike the reference (-want +got):\n%s", diff)
			}
		}
	})
}
