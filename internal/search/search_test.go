package search

import (
	"slices"
	"testing"
	"time"
)

func ids(hits []Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func TestSearch(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	x := New([]Doc{
		{ID: "1", Text: "Please close the response body, or the connection leaks.", Lines: "resp, err := http.Get(u)", Path: "client/http.go", Group: 4, At: at},
		{ID: "2", Text: "The lock is not released when parseHTTPHeader fails.", Lines: "mu.Lock()", Path: "server/lock.go", Group: 5, At: at.Add(time.Hour)},
		{ID: "3", Text: "Typo: colour.", Lines: "// colour the answer", Path: "client/read.go", Group: 6, At: at.Add(2 * time.Hour)},
		{ID: "4", Text: "Typo: colour.", Lines: "// colour the answer", Path: "client/write.go", Group: 7, At: at.Add(3 * time.Hour)},
	})
	words := []List{TextWords}
	for _, test := range []struct {
		name string
		q    Query
		want []string
	}{
		{"words of an identifier", Query{Text: "parse_http_header", Fused: words}, []string{"2"}},
		{"ties are in the order of ids", Query{Text: "typo: colour", Fused: words}, []string{"3", "4"}},
		{"not the same pull request", Query{Text: "typo: colour", Fused: words, NotGroup: 3 + 3}, []string{"4"}},
		{"only older ones", Query{Text: "typo: colour", Fused: words, Before: at.Add(3 * time.Hour)}, []string{"3"}},
		{"lines", Query{Lines: "other, err := http.Get(v)", Fused: []List{LineWords}}, []string{"1"}},
		{"path", Query{Path: "lock.go", Fused: []List{PathWords}, Limit: 1}, []string{"2"}},
		{"lists that are not fused find nothing", Query{Text: "typo: colour", Path: "server/lock.go", Fused: words, Lists: []List{PathWords}}, []string{"3", "4"}},
		{"depth", Query{Text: "typo: colour", Fused: words, Depth: 1}, []string{"3"}},
		{"empty", Query{Fused: words}, nil},
	} {
		if got := ids(x.Search(test.q)); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestRanks(t *testing.T) {
	x := New([]Doc{{ID: "a", Text: "close the file", Path: "a.go"}, {ID: "b", Text: "open the window", Path: "b.go"}})
	hits := x.Search(Query{Text: "Close the file", Path: "a.go", Fused: []List{TextWords, TextChars}, Lists: []List{PathWords}})
	h := hits[0]
	if h.ID != "a" || h.Cosine < 0.999 || h.Score != 2.0/61 {
		t.Errorf("got %+v", h)
	}
	for i, want := range []List{TextWords, TextChars, PathWords} {
		if r := h.Ranks[i]; r.List != want || r.Rank != 1 || r.Score <= 0 {
			t.Errorf("rank in %s: %+v", want, r)
		}
	}
}
