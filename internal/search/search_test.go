package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/text"
)

// indexOf returns an index of documents, which are numbered from 10 on.
func indexOf(t testing.TB, docs ...Doc) *Index {
	t.Helper()
	x := &Index{}
	for i := range docs {
		needs.NoError(t, x.Add(int64(10+i), docs[i].Pack()))
	}
	return x
}

func all(*Filter) bool { return true }

// reference is BM25 as the literature has it, of all documents with a query.
func reference(docs []Doc, field Field, query string) []Rank {
	var counts []map[string]float64
	with, total, texts := map[string]float64{}, 0.0, 0.0
	for _, d := range docs {
		one := map[string]float64{}
		for token := range text.Tokens(d.Fields[field]) {
			one[token]++
			if d.Usable {
				total++
			}
		}
		counts = append(counts, one)
		if d.Usable && len(one) > 0 {
			texts++
		}
		for token := range one {
			if d.Usable {
				with[token]++
			}
		}
	}
	out := make([]Rank, len(docs))
	tokens := slices.Compact(slices.Sorted(text.Tokens(query)))
	for i, one := range counts {
		length := 0.0
		for _, n := range one {
			length += n
		}
		for _, token := range tokens {
			if n := one[token]; n > 0 {
				idf := math.Log(1 + max(0, texts-with[token]+.5)/(with[token]+.5))
				out[i].Score += idf * n * (1.2 + 1) / (n + 1.2*(1-.75+.75*length/(total/texts)))
			}
		}
	}
	return out
}

// TestSearch: a search returns the documents that comparing all with the query would, whatever the
// order in which their words are asked for.
func TestSearch(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	vocabulary := strings.Fields("error wrap context close file lock token query loopIndex cache_size retry buffer limit a.go 锁定")
	words := func(n int) string {
		drawn := make([]string, rng.IntN(n))
		for i := range drawn {
			drawn[i] = vocabulary[rng.IntN(len(vocabulary))]
		}
		return strings.Join(drawn, " ")
	}
	for range 20 {
		docs := make([]Doc, 1+rng.IntN(60))
		for i := range docs {
			docs[i] = Doc{Fields: [fields]string{words(12), words(4), words(3)}}
			docs[i].Filter = Filter{Group: rng.IntN(5), Usable: i == 0 || rng.IntN(4) > 0, At: time.Unix(rng.Int64N(100), 0)}
		}
		docs[0].Fields = [fields]string{"error", "error", "error"}
		x := indexOf(t, docs...)
		for range 5 {
			q := Query{Fields: [fields]string{words(6), words(6), words(3)}, Depth: 1 + rng.IntN(30)}
			q.May = func(f *Filter) bool { return f.Group != 3 && f.At.Unix() < 90 && f.Usable }
			if rng.IntN(2) == 0 {
				q.May = all
			}
			want := map[int64][fields]Rank{}
			for f := range q.Fields {
				scores := reference(docs, Field(f), q.Fields[f])
				var order []int
				for i := range docs {
					if scores[i].Score > 0 && q.May(&docs[i].Filter) {
						order = append(order, i)
					}
				}
				slices.SortFunc(order, func(a, b int) int {
					return cmp.Or(cmp.Compare(round(scores[b].Score), round(scores[a].Score)), cmp.Compare(a, b))
				})
				for place, i := range order[:min(len(order), q.Depth)] {
					ranks := want[int64(10+i)]
					ranks[f] = Rank{place + 1, scores[i].Score}
					want[int64(10+i)] = ranks
				}
			}
			got := x.Search(q)
			if len(got) != len(want) {
				t.Fatalf("%d hits, want %d", len(got), len(want))
			}
			for _, h := range got {
				for f, r := range h.Ranks {
					if w := want[h.Number][f]; round(w.Score) != round(r.Score) {
						t.Fatalf("document %d, field %d: %v, want %v", h.Number, f, r, w)
					}
				}
			}
		}
	}
}

// round makes sums in another order equal.
func round(f float64) int64 { return int64(math.Round(f * 1e6)) }

// TestAddDamaged: what Pack did not write is refused, or read without harm.
func TestAddDamaged(t *testing.T) {
	for _, packed := range [][]byte{nil, make([]byte, headerSize-1), make([]byte, headerSize+1), append(make([]byte, headerSize), 0, 0xff, 0xff, 0xff)} {
		if err := (&Index{}).Add(1, packed); err == nil {
			t.Errorf("%x was added", packed)
		}
	}
}
