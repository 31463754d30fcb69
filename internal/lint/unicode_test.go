package lint

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestUnicode(t *testing.T) {
	for _, test := range []struct {
		name, path, line string
		want             string // rule and severity
		says             string // in title and body
	}{
		{"ASCII", "a.go", "x := 1", "", ""},
		{"umlauts", "a.go", `s := "größer als ½ – “quoted” 日本語 Привет"`, "", ""},
		{"override", "a.go", "if access \u202e level {", "bidi high", "<U+202E>"},
		{"isolate", "a.py", "# \u2066 admin \u2069", "bidi high", "<U+2066>"},
		{"override in prose", "a.md", "turn \u202e around", "bidi medium", "<U+202E>"},
		{"tags", "a.go", "// hi \U000e0061\U000e0062", "invisible-text high", "<U+E0061>"},
		{"tags in prose", "AGENTS.md", "Be kind.\U000e0061", "invisible-text high", "<U+E0061>"},
		{"zero width", "a.js", "adm\u200bin", "zero-width medium", "<U+200B>"},
		{"zero width in prose", "a.md", "adm\u200bin", "zero-width low", "<U+200B>"},
		{"joiner in a name", "a.js", "adm\u200din", "zero-width medium", "<U+200D>"},
		{"filler", "a.js", "const { timeout,\u3164} = req.query;", "invisible-letter high", "<U+3164>"},
		{"choseong filler", "a.go", "\u115f := 1", "invisible-letter high", "<U+115F>"},
		{"two kinds", "a.go", "a\u200b \u202e b", "bidi high", "<U+200B>"},
		{"homoglyph", "a.go", "func valid\u0430te() {}", "homoglyph high", "<U+0430>"},
		{"homoglyph in prose", "a.md", "pip install requ\u0435sts", "homoglyph medium", "requ<U+0435>sts"},
		{"scripts side by side", "a.go", "// API для входа, αMax, Δt, naïveПример", "", ""},
		{"byte order mark", "a.cs", "\ufeffusing System;", "", ""},
		{"byte order mark within", "a.cs", "using\ufeff System;", "zero-width medium", "<U+FEFF>"},
		{"emoji", "a.go", "// 👩\u200d💻 ❤\ufe0f 👍🏽 1\ufe0f\u20e3 👨\u200d👩\u200d👧 🏳\ufe0f\u200d🌈 ™\ufe0f", "", ""},
		{"flag of Scotland", "a.md", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "", ""},
		{"flag with more", "a.md", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e0061\U000e007f", "invisible-text high", "<U+E0067>"},
		{"selector on a letter", "a.go", "a\ufe0fb := 1", "hidden low", "<U+FE0F>"},
		{"bytes in selectors", "a.go", "a\ufe0f\U000e0110\U000e0120b", "invisible-text high", "<U+E0110>"},
		{"escape", "a.sh", "echo \x1b[2J", "control medium", "<U+001B>"},
		{"form feed and tab", "a.c", "\f\tint x;", "", ""},
		{"icon font", "a.css", "a { content: '\ue001'; }", "hidden low", "<U+E001>"},
		{"Persian", "fa.json", "\"می\u200cخواهم\"", "", ""},
		{"Hindi", "hi.po", "क्\u200dष", "", ""},
		{"mark in Hebrew prose", "he.md", "שלום\u200f!", "", ""},
		{"Japanese variant", "a.md", "葛\U000e0100飾", "", ""},
		{"soft hyphen in prose", "a.md", "Donau\u00addampfer", "", ""},
		{"broken bytes", "a.bin", "a\xff\xfe\x80b", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := run(t, "unicode", &Input{Change: change(test.path, "+"+test.line)})
			if test.want == "" {
				same(t, r)
				return
			}
			same(t, r, test.path+":1 "+test.want)
			for _, f := range r.Findings {
				if !strings.Contains(f.Title+f.Body, test.says) {
					t.Errorf("%q is not in %q, %q", test.says, f.Title, f.Body)
				}
				for _, s := range []string{f.Title, f.Body} {
					if d := inspect(s, false, false); d.rule != "" {
						t.Errorf("the finding itself hides something: %q", s)
					}
				}
			}
		})
	}
}

func TestUnicodeLaterLine(t *testing.T) {
	same(t, run(t, "unicode", &Input{Change: change("a.cs", "@@2", "+\ufeffusing System;", "-\u202e", " \u202e")}), "a.cs:2 zero-width medium")
}

func FuzzUnicode(f *testing.F) {
	f.Add("a\u202eb", "a.go")
	f.Add("\ufeff👩\u200d💻\U000e0061🏴\U000e0067", "a.md")
	f.Add("valid\u0430te \u3164 \xff", "a.js")
	f.Fuzz(func(t *testing.T, s, path string) {
		if strings.ContainsAny(s, "\n\r") || strings.HasPrefix(path, "@@") {
			return
		}
		for _, found := range run(t, "unicode", &Input{Change: change(path, "+"+s)}).Findings {
			if !utf8.ValidString(found.Title) || !utf8.ValidString(found.Body) {
				t.Errorf("invalid text %q, %q", found.Title, found.Body)
			}
			if d := inspect(found.Title+found.Body, false, true); d.rule != "" {
				t.Errorf("the finding itself hides something: %q", found.Title+found.Body)
			}
		}
	})
}
