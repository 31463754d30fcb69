package search

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzSearch indexes and searches any text. A text must be what is most like itself.
func FuzzSearch(f *testing.F) {
	for _, s := range []string{"", " ", "\x00", "a", "\xff\xfe\xfd", "İstanbul ẞ", "parseHTTPHeader_2 ids", "锁定互斥", strings.Repeat("ab ", 300), strings.Repeat("x", 300), "\u200d\u0301"} {
		f.Add(s, "other text")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x := New([]Doc{{ID: "a", Text: a, Lines: b, Path: a}, {ID: "b", Text: b, Lines: a, Path: b}})
		for _, h := range x.Search(Query{Text: a, Lines: a, Path: b, Fused: []List{TextWords, TextChars, LineWords, LineChars, PathWords}}) {
			if h.Cosine < 0 || h.Cosine > 1 || !(h.Score > 0) {
				t.Errorf("%+v", h)
			}
			if h.ID == "a" && len(grams(a)) > 0 && h.Cosine < 0.999999 {
				t.Errorf("a text has the cosine %v with itself", h.Cosine)
			}
		}
		x.Update([]Doc{{ID: "a", Text: b}}, []string{"b"})
		for g, n := range x.textChars.counts {
			if n > 1 {
				t.Fatalf("%d documents of one have the gram %d", n, g)
			}
		}
	})
}

func grams(s string) map[uint32]int {
	got := map[uint32]int{}
	for _, p := range new(gramCounter).count(s) {
		got[p.number()] = int(p.count())
	}
	return got
}

func FuzzGrams(f *testing.F) {
	for _, s := range []string{"", "a", "ab", "Hello,  World\n", "\xff \xfe", "İ", strings.Repeat("log ", 20)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := referenceGrams(s)
		got := grams(s)
		for g, n := range got {
			if want[g] != n {
				t.Errorf("gram %d: %d times, want %d", g, n, want[g])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d grams, want %d", len(got), len(want))
		}
	})
}

// TestHostile indexes texts that are made to be expensive.
func TestHostile(t *testing.T) {
	long := strings.Repeat("abc def_ghi ", 1<<20)
	random := make([]rune, 1<<17)
	for i := range random {
		random[i] = rune(0x4e00 + i*7919%20000)
	}
	x := New([]Doc{{ID: "long", Text: long, Lines: string(random)}, {ID: "a word", Text: strings.Repeat("x", 1<<20)}})
	if n := x.text.lengths[0]; n > 4*4096 {
		t.Errorf("%d tokens of one text", n)
	}
	if n := len(x.lineChars.forward.decode(0, nil)); n > 3*maxGramText {
		t.Errorf("%d grams of one text", n)
	}
	if got := ids(x.Search(Query{Text: long, Lines: string(random), Fused: []List{TextWords, LineChars}})); len(got) != 1 || got[0] != "long" {
		t.Errorf("got %q", got)
	}
	if !utf8.ValidString(string(random)) {
		t.Fatal("the test's text is invalid")
	}
}
