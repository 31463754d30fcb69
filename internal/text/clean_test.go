package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	tags := ""
	for r := rune(0xe0000); r <= 0xe007f; r++ {
		tags += string(r)
	}
	for _, test := range []struct{ name, in, want string }{
		{"plain", "Use `a < b`, not \"c\".\n\tYes.", "Use `a < b`, not \"c\".\n\tYes."},
		{"line endings", "a\r\nb\rc\fd\u2028e\u2029f\u0085g", "a\nb\nc\nd\ne\nf\ng"},
		{"comment", "a<!-- hidden -->b", "ab"},
		{"empty comments", "a<!-->b<!--->c<!---->d", "abcd"},
		{"comment with another end", "a<!-- x --!>b", "ab"},
		{"comment in a code span", "The `<!-- x -->` and ``a ` &lt;!-- y --&gt;`` stay, <!-- this -->not this.", "The `<!-- x -->` and ``a ` &lt;!-- y --&gt;`` stay, not this."},
		{"comment in a fence", "a\n```html\n<!-- x -->\n```\n<!-- hidden -->b", "a\n```html\n<!-- x -->\n```\nb"},
		{"comment after a tag in a sentence", "The tag <b> before `<!-- x -->`", "The tag <b> before `<!-- x -->`"},
		{"backtick in a comment", "<!-- ` --> a <!-- hidden -->`", " a `"},
		{"escaped backtick", "a \\`<!-- hidden -->` b", "a \\`` b"},
		{"spelled backtick", "a &#96;<!-- hidden -->` b", "a `` b"},
		{"span over lines", "a ` b\nc `<!-- hidden --> d`", "a ` b\nc ` d`"},
		{"block of HTML", "<div>\n`<!-- hidden -->`\n</div>", "<div>\n``\n</div>"},
		{"fence in a list", "- a\n  ```\n<!-- hidden -->b", "- a\n  ```\nb"},
		{"fence within another", "  ~~~\n```\n  ~~~\n<!-- hidden -->b", "  ~~~\n```\n  ~~~\nb"},
		{"comment on lines", "a\n<!--\nhidden\n-->\nb", "a\n\nb"},
		{"unclosed block", "a\n  <!-- hidden\nto the end", "a\n  "},
		{"unclosed in a line", "a <!-- shown", "a  shown"},
		{"unclosed code", "a\n    <!-- shown", "a\n     shown"},
		{"nested comment", "a<!-<!-- x -->- hidden -->b", "ab"},
		{"entities", "&#60;!-- x --&#62;y", "y"},
		{"entities without semicolon", "&#60!-- x --&gty", "y"},
		{"double encoding", "&amp;#60;!-- x --&amp;#62;y", "y"},
		{"endless encoding", "a&" + strings.Repeat("amp;", 999) + "lt;!-- x -->y", "a" + strings.Repeat("amp;", 991) + "lt;!-- x -->y"},
		{"encoded bidi", "a&#x202e;b&rlm;c&ZeroWidthSpace;d", "abcd"},
		{"entity of two parts", "&&#35;60;!-- x -->y", "y"},
		{"ampersand", "R&D &amp; a&b", "R&D & a&b"},
		{"zero width", "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\u180eh", "abcdefgh"},
		{"tags", "a" + tags + "b", "ab"},
		{"variation selectors", "a\ufe00b\ufe0fc\U000e0100d\U000e01ef", "abcd"},
		{"private use", "a\ue000b\U000f0000c\U0010fffd", "abc"},
		{"noncharacters", "a\ufdd0b\ufffec\U0001ffff", "abc"},
		{"fillers", "a\u3164b\u115fc\uffa0d\u034f", "abcd"},
		{"controls", "a\x00b\x1b[31mc\x7fd\u009be", "ab[31mcde"},
		{"invalid", "a\xffb\xed\xa0\x80", "a\ufffdb\ufffd"},
		{"emoji family", "\U0001f469\u200d\U0001f469\u200d\U0001f467 ok", "\U0001f469\u200d\U0001f469\u200d\U0001f467 ok"},
		{"emoji with selector and colour", "\u2764\ufe0f\u200d\U0001f525 \U0001f469\U0001f3fd\u200d\U0001f4bb", "\u2764\u200d\U0001f525 \U0001f469\U0001f3fd\u200d\U0001f4bb"},
		{"joiners without emoji", "a\u200d\u200d\U0001f469\u200d", "a\U0001f469"},
		{"normal form", "cafe\u0301 \u212b \u037e", "caf\u00e9 \u00c5 ;"},
		{"normal form makes an entity", "a&ZeroWidthSpace\u037eb", "ab"},
		{"marks without end", "a" + strings.Repeat("\u0301", 100), "\u00e1" + strings.Repeat("\u0301", 7)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Clean(test.in); got != test.want {
				t.Errorf("Clean(%.80q)\n got %.200q\nwant %.200q", test.in, got, test.want)
			}
			checkClean(t, test.in)
		})
	}
}

// checkClean holds Clean to its promise.
func checkClean(t rapid.TB, in string) {
	t.Helper()
	got := Clean(in)
	if again := Clean(got); again != got {
		t.Errorf("not a fixpoint: %q, then %q, then %q", in, got, again)
	}
	prose := got
	for _, code := range slices.Backward(codeSpans(got)) {
		prose = prose[:code.start] + " " + prose[code.end:]
	}
	if !utf8.ValidString(got) || !norm.NFC.IsNormalString(got) || strings.Contains(prose, "<!--") {
		t.Errorf("Clean(%q) = %q", in, got)
	}
	for i, r := range got {
		if _, bad := Hidden(r); (bad || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs)) && r != zwj {
			t.Errorf("%U stays at %d of %q", r, i, got)
		}
		if r == zwj {
			before, _ := utf8.DecodeLastRuneInString(got[:i])
			after, _ := utf8.DecodeRuneInString(got[i+3:])
			if !joinsEmoji(before, after) {
				t.Errorf("a joiner stays between %U and %U", before, after)
			}
		}
	}
}

// TestTrojanSource cleans the characters of the attack of that name
// (CVE-2021-42574), one by one, bare and encoded.
func TestTrojanSource(t *testing.T) {
	for _, r := range "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u202c\u2069\u200e\u200f\u061c" {
		for _, s := range []string{string(r), fmt.Sprintf("&#%d;", r), fmt.Sprintf("&#x%x", r), fmt.Sprintf("&amp;#%d;", r), fmt.Sprintf("&#38;amp;#x%X;", r)} {
			if got := Clean("a " + s + " b"); got != "a  b" {
				t.Errorf("Clean(%q) = %q", s, got)
			}
		}
		if name, bad := Hidden(r); !bad || name == "" {
			t.Errorf("%U is not hidden", r)
		}
	}
}

// hostileText draws text from the pieces that hide things.
func hostileText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"&", "&amp;", "&lt;", "&#60", "#", ";", "60;", "x3c;", "<", "`", "``", "\\", "~~~", "```\n", "<!", "<!--", "--", "-->", "--!>", ">", "!", "\n", "\r\n", "\r", " ",
			"\u200d", "\ufe0f", "\U0001f469", "\U0001f3fd", "\u2764", "\u202e", "\U000e0041", "\u0301", "\u0344", "\u0958", "e", "\u037e", "\u1fef", "\u226e", "\u0338",
			"\xff", "\xed\xa0\x80", "\u1100", "\u1161", "\u034f", "\u302e", "7", "\u20e3", "&nGt;", "&fjlig;",
		}),
		rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
	})
}

func TestCleanProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkClean(t, hostileText().Draw(t, "text")) })
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a<!-- x -->b", "&amp;#60;!-- x --&amp;#62;", "\u202e\U000e0041\u200d", "\U0001f469\u200d\U0001f467", "e\u0301\u0344\u0958", "&&#35;60;", "<!-<!---->-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkClean(t, s) })
}

// TestCleanBounded cleans what was made to take long: minutes, if the time
// grew with the square of the length.
func TestCleanBounded(t *testing.T) {
	const n = 30_000
	for name, s := range map[string]string{
		"backticks of all lengths": longRuns(300),
		"nested ampersands":        "&" + strings.Repeat("amp;", n),
		"nested numbers":           strings.Repeat("&", n) + strings.Repeat("#38;", n),
		"nested comments":          strings.Repeat("<!-", n) + strings.Repeat("<!-- -->- -->", n),
		"unclosed comments":        "x" + strings.Repeat("<!-- ", n),
		"marks":                    "a" + strings.Repeat("\u0301", n),
	} {
		t.Run(name, func(t *testing.T) {
			got := Clean(s)
			if again := Clean(got); again != got {
				t.Error("not a fixpoint")
			}
		})
	}
}

func TestHidden(t *testing.T) {
	for r := rune(0xe0000); r <= 0xe007f; r++ {
		if name, bad := Hidden(r); !bad || name != "TAG CHARACTER" {
			t.Errorf("%U is %q, %v", r, name, bad)
		}
	}
	for r, want := range map[rune]string{
		0x202e: "RIGHT-TO-LEFT OVERRIDE", 0x1b: "ESCAPE", 0x01: "CONTROL CHARACTER", 0x80: "CONTROL CHARACTER", 0xfe0f: "VARIATION SELECTOR",
		0x0600: "FORMAT CHARACTER", 0xe000: "PRIVATE USE CHARACTER", 0xd800: "SURROGATE", 0xffff: "NONCHARACTER", 0xe0fff: "INVISIBLE CHARACTER",
	} {
		if name, bad := Hidden(r); !bad || name != want {
			t.Errorf("%U is %q, %v; want %q", r, name, bad, want)
		}
	}
	for _, r := range "aZ09 \t\n\f\r~é\u00a0жλ漢한\u0301\U0001f469\u20e3\u3000\ufffd" {
		if name, bad := Hidden(r); bad || name != "" {
			t.Errorf("%U is %q", r, name)
		}
	}
}

func TestSpots(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"plain é 漢字 \t\n", ""},
		{"a\u202eb", "1-4 RIGHT-TO-LEFT OVERRIDE"},
		{"\ufeffpackage", "0-3 BYTE ORDER MARK"},
		{"\xff\u200b\xff", "1-4 ZERO WIDTH SPACE"},
		{"⚠\ufe0f warning, 1\ufe0f⃣, ❤\ufe0f\u200d🔥, 👩🏽\u200d💻", ""},
		{"∇\u200d∇ 🙂\u200d↔\ufe0f", "3-6 ZERO WIDTH JOINER"},
		{"©\ufe0f ‼\ufe0f ℹ\ufe0f 〰\ufe0f Ⓜ\ufe0f", ""},
		{"می\u200cخواهم क\u094d\u200dष", ""},
		{"辻\U000e0100", ""},
		{"a\u200db", "1-4 ZERO WIDTH JOINER"},
		{"1\ufe0f", "1-4 VARIATION SELECTOR"},
		{"👩\u200d", "4-7 ZERO WIDTH JOINER"},
		{"辻\U000e0100\U000e0101", "7-11 VARIATION SELECTOR"},
		{"漢\u180b", "3-6 VARIATION SELECTOR"},
		{"⚠\ufe0f\ufe0f", "6-9 VARIATION SELECTOR"},
	} {
		var got []string
		for s := range Spots(test.in) {
			got = append(got, fmt.Sprintf("%d-%d %s", s.Start, s.End, s.Name))
		}
		if s := strings.Join(got, ", "); s != test.want {
			t.Errorf("%q: %q, want %q", test.in, s, test.want)
		}
	}
}

func TestVisible(t *testing.T) {
	for _, test := range []struct{ in, all, line string }{
		{"", "", ""},
		{"a\tb", "a\tb", "a\tb"},
		{"a\r\nb\rc", "a\nb<U+000D>c", "a<U+000D><U+000A>b<U+000D>c"},
		{"\x1b[31mred\x1b]0;title\a", "<U+001B>[31mred<U+001B>]0;title<U+0007>", "<U+001B>[31mred<U+001B>]0;title<U+0007>"},
		{"\u009b31m\u0085\f\v", "<U+009B>31m<U+0085><U+000C><U+000B>", "<U+009B>31m<U+0085><U+000C><U+000B>"},
		{"a\u202eb\u200b\U000e0041", "a<U+202E>b<U+200B><U+E0041>", "a<U+202E>b<U+200B><U+E0041>"},
		{"a\x80\xffb", "a<0x80><0xFF>b", "a<0x80><0xFF>b"},
		{"héllo ⚠\ufe0f 漢 \ufffd", "héllo ⚠\ufe0f 漢 \ufffd", "héllo ⚠\ufe0f 漢 \ufffd"},
		{"\xff\ufe0f\xef\ufe0f", "<0xFF><U+FE0F><0xEF><U+FE0F>", "<0xFF><U+FE0F><0xEF><U+FE0F>"}, // there is no symbol to choose a variant of
		{"a &lt; <!-- b -->", "a &lt; <!-- b -->", "a &lt; <!-- b -->"},
	} {
		if got := Visible(test.in); got != test.all {
			t.Errorf("Visible(%q) = %q, want %q", test.in, got, test.all)
		}
		if got := VisibleLine(test.in); got != test.line {
			t.Errorf("VisibleLine(%q) = %q, want %q", test.in, got, test.line)
		}
		checkVisible(t, test.in)
	}
}

// checkVisible holds Visible and VisibleLine to their promise.
func checkVisible(t rapid.TB, in string) {
	t.Helper()
	for _, f := range []func(string) string{Visible, VisibleLine} {
		got := f(in)
		if !utf8.ValidString(got) || f(got) != got {
			t.Errorf("%q became %q, then %q", in, got, f(got))
		}
		for r := range Spots(got) {
			t.Errorf("%U stays in %q", r.Rune, got)
		}
		for i, r := range got {
			if unicode.IsControl(r) && r != '\t' && r != '\n' {
				t.Errorf("control character %U at %d of %q", r, i, got)
			}
		}
		for i := range len(got) {
			if c := got[i]; c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
				t.Errorf("control byte %#x at %d of %q", c, i, got)
			}
		}
	}
	if strings.Contains(VisibleLine(in), "\n") {
		t.Errorf("VisibleLine(%q) has two lines", in)
	}
}

func TestVisibleProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkVisible(t, hostileText().Draw(t, "text")) })
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "a\r\n\x1b[0m\u009b", "\xff\u202e\U000e0041", "⚠\ufe0f 👩🏽\u200d💻\u200d", "\u200d\xf0\x9f", "\u061c\u200d", "ا\u200c\u061c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkVisible(t, s) })
}

// longRuns returns runs of backticks, none as long as another.
func longRuns(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("`", i+1) + " ")
	}
	return b.String()
}

func TestAlike(t *testing.T) {
	for _, same := range [][2]string{
		{".GITHUB/Workflows", ".github/workflows"},
		{"ma\u212aefile", "makefile"},
		{"\uff23ODEOWNERS", "codeowners"},
		{"cafe\u0301", "caf\u00e9"},
		{"\ufb01x.go", "fix.go"},
		{".g\u0131thub", ".github"},
	} {
		if a, b := Alike(same[0]), Alike(same[1]); a != b {
			t.Errorf("%q is %q, and %q is %q", same[0], a, same[1], b)
		}
	}
	if Alike("a.go") == Alike("b.go") || Alike("till.js") != "till.js" {
		t.Error("other names are alike")
	}
}
