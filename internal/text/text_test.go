package text

import (
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCut(t *testing.T) {
	for _, test := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 5, "short"},
		{"one two three", 8, "one two…"},
		{"one two, three", 9, "one two…"},
		{"one (two three", 8, "one…"},
		{"a longwordwithoutblanks", 10, "a longwor…"},
		{"ab", 1, "…"},
		{"ab", -1, ""},
		{"cafe\u0301 x", 5, "caf…"},
		{"ab👩\u200d👩\u200d👧", 5, "ab…"},
		{"漢字漢字", 3, "漢字…"},
	} {
		if got := Cut(test.in, test.n); got != test.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", test.in, test.n, got, test.want)
		}
	}
}

// tokensOf are the tokens that count in a vector.
func tokensOf(s string) []string {
	var tokens []string
	eachWord(s, func(w word) bool {
		if w.whole != "" {
			tokens = append(tokens, w.whole)
		}
		tokens = append(tokens, w.parts...)
		return len(tokens) < maxTokens
	})
	return tokens
}

func similarity(a, b string) float64 { return Cosine(NewVector(a), NewVector(b)) }

func TestTokens(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{"running classes queries bus status", "run class query bus status"},
		{"getUserName get_user_name", "getusername get user nam getusername get user nam"},
		{"HTTPServer IDs getIDsOf IDsx x86_64", "httpserver http server id getidsof get id of idsx i dsx x8664 x 86 64"},
		{"isNotTheOne", "isnottheone is not th on"},
		{"__init__ _x", "init x"},
		{"don't it's user's O'Brien", "user obrien o brien"},
		{"naïve Größe größe", "naïv größ größ"},
		{"ПриветМир привет", "приветмир привет мир привет"},
		{"内存泄漏 bug", "内存 存泄 泄漏 bug"},
		{"fix内存", "fix 内存"},
		{"cafe\u0301", "cafe\u0301"},
		{strings.Repeat("x", 129) + " y", "y"},
		{strings.Repeat("ก", 43), strings.Repeat("กก ", 41) + "ก"},
	} {
		want := strings.Fields(test.want)
		if d := cmp.Diff(want, tokensOf(test.in), cmp.Transformer("nil", func(s []string) string { return strings.Join(s, " ") })); d != "" {
			t.Errorf("%q: %s", test.in, d)
		}
	}
	if n := countTokens(strings.Repeat("abcDef ", 9000), map[string]float64{}); n != maxTokens {
		t.Errorf("%d words of a long text", n)
	}
}

func TestSimilarity(t *testing.T) {
	a := "The error of `rows.Err()` is never checked after the loop, so a lost connection looks like the end of the rows."
	for _, test := range []struct {
		name, b  string
		low, top float64
	}{
		{"itself", a, 1, 1},
		{"other words", "rows.Err is not checked after the loop; a broken connection ends it silently", 0.45, 0.9},
		{"quoted", "> some other text altogether\n\n" + a, 1, 1},
		{"with a link", a + " See https://go.dev/doc/database/querying#multiple_rows", 0.95, 1},
		{"with code", a + "\n```suggestion\nif err := rows.Err(); err != nil {\n\treturn err\n}\n```\n", 1, 1},
		{"unrelated", "This name shadows the package that is imported above.", 0, 0.1},
	} {
		if got := similarity(a, test.b); got < test.low-1e-6 || got > test.top {
			t.Errorf("%s: %.3f, want %.2f to %.2f", test.name, got, test.low, test.top)
		}
	}
	if got := similarity("> use a constant here", "use a constant here"); got < 0.99 { // what is all a quote is compared as such
		t.Errorf("a quote: %.3f", got)
	}
	// One shared prefix does not make two remarks about different functions one.
	if got := similarity("`UserStore.DeleteCollection` ignores the context", "`UserStore.CreateCollection` leaks the transaction"); got > 0.55 {
		t.Errorf("sibling functions: %.3f", got)
	}
}

func TestRatio(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want float64
	}{
		{"", "", 1},
		{"if x == nil", "if y == nil", 6.0 / 8},
		{"a b", "b a", 0.5},
	} {
		if got := Ratio(strings.Fields(test.a), strings.Fields(test.b)); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("Ratio(%q, %q) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
	long := strings.Fields(strings.Repeat("a b ", 5000))
	if got := Ratio(long, long); got != 1 {
		t.Errorf("of long sequences: %v", got)
	}
}

// TestRatioTable compares the length that Ratio finds with that of the textbook's table.
func TestRatioTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letter := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		letters := rapid.SliceOfN(letter, 0, MaxRatio)
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		row := make([]int, len(b)+1)
		for i := range a {
			diagonal := 0
			for j := range b {
				up := row[j+1]
				if a[i] == b[j] {
					row[j+1] = diagonal + 1
				} else {
					row[j+1] = max(up, row[j])
				}
				diagonal = up
			}
		}
		if got := lcs(a, b); got != row[len(b)] {
			t.Errorf("length %d, want %d", got, row[len(b)])
		}
	})
}

func TestMixed(t *testing.T) {
	for _, test := range []struct {
		ident   string
		scripts string
		bad     bool
	}{
		{"b\u0430sh", "Cyrillic Latin", true},
		{"is\u0410dmin", "Cyrillic Latin", true},
		{"get_\u0441\u043e\u0440\u0443", "Cyrillic Latin", true},
		{"p\u03b1ssword", "Greek Latin", true},
		{"us\u0435r2", "Cyrillic Latin", true},
		{"\u0391dmin", "Greek Latin", true},
		{"\u0585pen", "Armenian Latin", true},
		{"\u13aaPI", "Cherokee Latin", true},
		{"\U0001d41exec", "Latin Mathematical", true},
		{"e\uff56al", "Fullwidth Latin", true},
		{"сору", "Cyrillic", false},
		{"test_привет", "Cyrillic Latin", false},
		{"testПривет", "Cyrillic Latin", false},
		{"httpшный", "Cyrillic Latin", false},
		{"αMax", "Greek Latin", false},
		{"Δx", "Greek Latin", false},
		{"σ2", "Greek", false},
		{"x_ρ", "Greek Latin", false},
		{"größe", "Latin", false},
		{"漢字x", "Latin other", false},
		{"", "", false},
		{"a" + strings.Repeat("а", 100), "Cyrillic Latin", false}, // data
	} {
		scripts, bad := Mixed(test.ident)
		if strings.Join(scripts, " ") != test.scripts || bad != test.bad {
			t.Errorf("Mixed(%q) = %q, %v", test.ident, scripts, bad)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("getUserName don't 漢字 \xff", "a_b\u0301C")
	f.Add(strings.Repeat("x", 200), "'’_9")
	f.Add("Größe __init__ (two", "x := y.(T) // IDs")
	f.Fuzz(func(t *testing.T, a, b string) {
		va, vb := NewVector(a), NewVector(b)
		if s := Cosine(va, vb); s < 0 || s > 1 || s != Cosine(vb, va) {
			t.Errorf("similarity %v, and %v the other way", s, Cosine(vb, va))
		}
		if s := Cosine(va, va); len(va.terms) > 0 && math.Abs(s-1) > 1e-5 {
			t.Errorf("similarity with itself %v", s)
		}
		tokens := tokensOf(a)
		if r := Ratio(tokens, tokensOf(b)); r < 0 || r > 1 {
			t.Errorf("ratio %v", r)
		}
		for _, token := range tokens {
			if token == "" || token != strings.ToLower(token) || strings.ContainsFunc(token, unicode.IsSpace) {
				t.Errorf("token %q of %q", token, a)
			}
		}
		n := len(b)
		if got := Cut(a, n); utf8.RuneCountInString(got) > n || !strings.HasPrefix(a, strings.TrimSuffix(got, ellipsis)) {
			t.Errorf("Cut(%q, %d) = %q", a, n, got)
		}
		Mixed(a)
		Squeeze(Collapse(b))
	})
}

// TestCutTitle: a title ends at a word, whatever its length, and not in code.
func TestCutTitle(t *testing.T) {
	for in, want := range map[string]string{
		"The rows of the second query stay open":   "The rows of the second query…",
		"Call of com.example.a.very.long.name":     "Call of…",
		"An error of `db.Query the rows` is lost":  "An error of…",
		"Onlyoneveryverylongwordthatneverendshere": "Onlyoneveryverylongwordthatn…",
	} {
		if got := CutTitle(in, 29); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestProves: brackets and keywords that end a block prove nothing.
func TestProves(t *testing.T) {
	for quote, want := range map[string]bool{"": false, "})": false, "\t}\n\t}\n": false, "end": false, "fi;": false, "return": true, "x += 10": false, "n = 1024": true, "範囲": true} {
		if Proves(quote) != want {
			t.Errorf("%q: %v", quote, !want)
		}
	}
}

func TestHead(t *testing.T) {
	for _, test := range []struct {
		s    string
		n    int
		want string
	}{{"", 0, ""}, {"word", 4, "word"}, {"words", 4, "word …"}, {"aé", 2, "a …"}, {"aéb", 3, "aé …"}, {"\U0001f600", 3, " …"}} {
		if got := Head(test.s, test.n); got != test.want {
			t.Errorf("Head(%q, %d) = %q, want %q", test.s, test.n, got, test.want)
		}
	}
}
