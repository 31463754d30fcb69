package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// vocabulary is made of syllables; its first words are the most frequent ones of a text.
func vocabulary(r *rand.Rand, n int) []string {
	syllables := strings.Fields("lo re con fi parse get set he a mu tex er ror li st in de buf fer un ck ti me out re ad wri te io no de map key va lue")
	var words []string
	for len(words) < n {
		w := ""
		for range 1 + r.IntN(4) {
			w += syllables[r.IntN(len(syllables))]
		}
		if r.IntN(4) == 0 {
			w = "get" + strings.ToUpper(w[:1]) + w[1:]
		}
		words = append(words, w)
	}
	return words
}

// sentence draws words, the frequent ones often (Zipf's law).
func sentence(r *rand.Rand, words []string, n int) string {
	var out []string
	for range n {
		out = append(out, words[int(math.Pow(float64(len(words)), r.Float64()))-1])
	}
	return strings.Join(out, " ")
}

func randomDocs(r *rand.Rand, words []string, first, n, length int) []Doc {
	var docs []Doc
	for i := range n {
		docs = append(docs, Doc{
			ID: fmt.Sprint(first + i), Text: sentence(r, words, 1+r.IntN(2*length)), Lines: sentence(r, words, r.IntN(length)),
			Path: sentence(r, words, 2), Group: r.IntN(50), At: time.Unix(int64(r.IntN(1000)), 0),
		})
	}
	return docs
}

// exhaustive scores every document by all its grams.
func exhaustive(x *Index, q *Query) []scored {
	grams := x.textChars.query(q.Text)
	defer grams.done()
	f := newFilter(x.entries, q)
	best := top{filter: &f, depth: q.Depth}
	var terms []posting
	for n := range x.entries {
		if f.has(uint32(n)) {
			best.add(uint32(n), x.textChars.cosine(grams, uint32(n), &terms))
		}
	}
	return best.sorted()
}

// TestBlocks has documents for two blocks and a tail, of which some are replaced and removed.
func TestBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := vocabulary(r, 3000)
	docs := randomDocs(r, words, 0, blockDocs+2000, 8)
	x := New(docs)
	check := func(what string, docs int) {
		t.Helper()
		if x.Len() != docs {
			t.Errorf("%s: %d documents, want %d", what, x.Len(), docs)
		}
		for range needs.Rounds(20, 5) {
			q := Query{Text: sentence(r, words, 20), Fused: []List{TextChars}, Depth: 1 + r.IntN(200), NotGroup: r.IntN(50), Before: time.Unix(int64(500+r.IntN(600)), 0)}
			q.Limit = q.Depth
			var got []scored
			for _, h := range x.Search(q) {
				if h.Cosine != h.Ranks[0].Score {
					t.Errorf("%s: cosine %v of a document with the score %v", what, h.Cosine, h.Ranks[0].Score)
				}
				got = append(got, scored{x.numbers[h.ID], h.Cosine})
			}
			if want := exhaustive(x, &q); !slices.Equal(got, want) {
				t.Errorf("%s: unlike exhaustive scores\ngot  %v\nwant %v", what, got, want)
			}
		}
	}
	check("new", len(docs))
	more := randomDocs(r, words, 100, 500, 8)
	x.Update(more, []string{"7", "8", "9", "none"})
	check("with a tail", len(docs)-3)
	x.Update(randomDocs(r, words, len(docs), blockDocs/2, 8), nil)
	check("with more blocks", len(docs)-3+blockDocs/2)
	var remove []string
	for i := range docs {
		remove = append(remove, fmt.Sprint(i))
	}
	before := len(x.entries)
	x.Update(nil, remove)
	if len(x.entries) >= before {
		t.Error("removed documents are kept")
	}
	check("after most were removed", blockDocs/2)
}

// TestLikeNew compares an index after updates with a new one of the same documents.
func TestLikeNew(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	words := vocabulary(r, 500)
	docs := map[string]Doc{}
	x := New(nil)
	for i := range 8 {
		add := randomDocs(r, words, 200*i, 700, 5)
		var remove []string
		for range 300 {
			remove = append(remove, fmt.Sprint(r.IntN(2000)))
		}
		x.Update(add, remove)
		for _, id := range remove {
			delete(docs, id)
		}
		for _, d := range add {
			docs[d.ID] = d
		}
		var all []Doc
		for _, d := range docs {
			all = append(all, d)
		}
		fresh := New(all)
		for range 10 {
			q := Query{Text: sentence(r, words, 12), Lines: sentence(r, words, 4), Path: words[r.IntN(9)], Fused: []List{TextWords, TextChars, LineWords, LineChars}, Lists: []List{PathWords}}
			if got, want := fmt.Sprint(x.Search(q)), fmt.Sprint(fresh.Search(q)); got != want {
				t.Fatalf("update %d: unlike a new index\ngot  %s\nwant %s", i, got, want)
			}
		}
	}
}

// TestConcurrent searches while the index changes. Every update replaces all documents, so a
// search must find those of one update only.
func TestConcurrent(t *testing.T) {
	generation := func(n int) []Doc {
		var docs []Doc
		for i := range 40 {
			docs = append(docs, Doc{ID: fmt.Sprint(i), Text: fmt.Sprintf("close the file of generation%d", n), Lines: "f.Close()", Group: n, Vector: []float32{1, float32(n)}})
		}
		return docs
	}
	x := New(generation(1))
	q := Query{Text: "close the file", Lines: "f.Close()", Vector: []float32{1, 1}, Fused: []List{TextWords, TextChars, LineWords, LineChars, TextVector}, Limit: 40}
	stop := make(chan struct{})
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				hits := x.Search(q)
				for _, h := range hits {
					if h.Cosine != hits[0].Cosine || len(h.Ranks) != 5 {
						t.Errorf("documents of two updates: %v and %v", hits[0], h)
						return
					}
				}
				if len(hits) != 40 || x.Len() != 40 {
					t.Errorf("%d hits", len(hits))
					return
				}
			}
		})
	}
	for n := 2; n < 80; n++ { // beyond minDead, so that removed documents are dropped
		x.Update(generation(n), nil)
	}
	close(stop)
	wait.Wait()
}

func TestVectors(t *testing.T) {
	nan := float32(math.NaN())
	x := New([]Doc{
		{ID: "near", Vector: []float32{3, 4}},
		{ID: "far", Vector: []float32{4, -3}},
		{ID: "opposite", Vector: []float32{-3, -4}},
		{ID: "wrong", Vector: []float32{1, 2, 3}},
		{ID: "nan", Vector: []float32{nan, 1}},
		{ID: "none"},
	})
	hits := x.Search(Query{Vector: []float32{1, 1}, Fused: []List{TextVector}})
	if got := ids(hits); !slices.Equal(got, []string{"near", "far"}) || math.Abs(hits[0].Ranks[0].Score-7/(5*math.Sqrt2)) > 1e-6 {
		t.Errorf("got %+v", hits)
	}
	for _, v := range [][]float32{nil, {1}, {1, 2, 3}, {nan, 1}, {float32(math.Inf(1)), 1}, {0, 0}} {
		if err := x.vectors.check(v); err == nil {
			t.Errorf("%v was not refused", v)
		}
		if hits := x.Search(Query{Vector: v, Fused: []List{TextVector}}); len(hits) > 0 {
			t.Errorf("%v found %v", v, hits)
		}
	}
	if err := x.vectors.check([]float32{0, 1e-20}); err != nil {
		t.Error(err)
	}
}
