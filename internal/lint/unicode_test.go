package lint

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestUnicode(t *testing.T) {
	for _, test := range []struct {
		name, path, line string
		want             string // rule and severity
		says             string // in title and body
	}{
		{"umlauts", "a.go", `s := "größer als ½ – “quoted” 日本語 Привет"`, "", ""},
		{"override", "a.go", "if access \u202e level {", "bidi high", "<U+202E>"},
		{"override in prose", "a.md", "turn \u202e around", "bidi medium", "<U+202E>"},
		{"tags", "a.go", "// hi \U000e0061\U000e0062", "invisible-text high", "<U+E0061>"},
		{"tags in prose", "AGENTS.md", "Be kind.\U000e0061", "invisible-text high", "<U+E0061>"},
		{"zero width", "a.js", "adm\u200bin", "zero-width medium", "<U+200B>"},
		{"zero width in prose", "a.md", "adm\u200bin", "zero-width low", "<U+200B>"},
		{
			"zero width in a comment", "a.cpp", " *  Copyright (C) 2017 Ada <\ufeffada@example.org>", "zero-width low",
			"<U+FEFF>",
		},
		{"override in a comment", "a.cpp", " * if admin \u202e {", "bidi high", "<U+202E>"},
		{"zero width beside a space of a text", "a.cs", "x = \"area of \u200b\u200bthe host\";", "zero-width low", "<U+200B>"},
		{"zero width within a string", "a.cs", "x = \"adm\u200bin\";", "zero-width medium", "<U+200B>"},
		{"zero width before a name", "a.c", "int \u200bx = 1; // a \u200btext", "zero-width medium", "<U+200B>"},
		{"grapheme joiner in a name", "a.js", "adm\u034fin", "zero-width medium", "<U+034F>"},
		{"joiner in a name", "a.js", "adm\u200din", "zero-width medium", "<U+200D>"},
		{"filler", "a.js", "const { timeout,\u3164} = req.query;", "invisible-letter high", "<U+3164>"},
		{"two kinds", "a.go", "a\u200b \u202e b", "bidi high", "<U+200B>"},
		{"homoglyph", "a.go", "func valid\u0430te() {}", "homoglyph high", "<U+0430>"},
		{"homoglyph in prose", "a.md", "pip install requ\u0435sts", "homoglyph medium", "requ<U+0435>sts"},
		{"scripts side by side", "a.go", "// API для входа, αMax, Δt, naïveПример", "", ""},
		{"a name in a record of games", "a.olv", "  1.Sс Kb8", "homoglyph medium", "S<U+0441>"},
		{"a control character in an image as text", "main.lrs", "'a\x7f'", "control low", "<U+007F>"},
		{"byte order mark", "a.cs", "\ufeffusing System;", "", ""},
		{"byte order mark within", "a.cs", "using\ufeff System;", "zero-width medium", "<U+FEFF>"},
		{"two byte order marks", "a.cs", "\ufeff\ufeffusing System;", "zero-width low", "<U+FEFF>"},
		{"emoji", "a.go", "// 👩\u200d💻 ❤\ufe0f 👍🏽 1\ufe0f\u20e3 👨\u200d👩\u200d👧 🏳\ufe0f\u200d🌈 ™\ufe0f", "", ""},
		{"flag of Scotland", "a.md", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "", ""},
		{
			"flag with more", "a.md", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e0061\U000e007f",
			"invisible-text high", "<U+E0067>",
		},
		{"selector within a name", "a.go", "a\ufe0fb := 1", "zero-width medium", "<U+FE0F>"},
		{"mark within a name", "a.go", "a\u200eb := 1", "zero-width medium", "<U+200E>"},
		{"selector on a letter", "a.go", "a\ufe0f := 1", "hidden low", "<U+FE0F>"},
		{"one selector again and again", "a.go", "\U0001f4bb\ufe0f\ufe0f\ufe0f\ufe0f", "hidden low", "<U+FE0F>"},
		{"bytes in selectors", "a.go", "a\ufe0f\U000e0110\U000e0120b", "invisible-text high", "<U+E0110>"},
		{"escape", "a.sh", "echo \x1b[2J", "control medium", "<U+001B>"},
		{"fullwidth letters", "a_test.go", `{"ｆｏｏbar", false},`, "", ""},
		{"fullwidth letters in Python", "bin/a", "ｅval(x)", "homoglyph high", "<U+FF45>"},
		{"fullwidth letters beside another alphabet", "a.go", "vаlidａte()", "homoglyph high", "<U+0430>"},
		{"mathematical letters", "a.js", "\U0001d5baadmin()", "homoglyph high", "<U+1D5BA>"},
		{"bell", "configure", "FS = \"\a\"", "control low", "<U+0007>"},
		{"name in a line that nobody reads", "a.js", "valid\u0430te()" + strings.Repeat(";", longestRead), "homoglyph low", "<U+0430>"},
		{"name beside spaces", "a.js", "valid\u0430te()" + strings.Repeat(" ", longestRead) + ";", "homoglyph high", "<U+0430>"},
		{"override in a long line of a bundle", "a.min.js", "\u202e" + strings.Repeat(";", longestRead), "bidi low", "<U+202E>"},
		{"tags in the corpus of a fuzzer", "tests/fuzz/a.testcase", "<\U000e0061>", "invisible-text low", "<U+E0061>"},
		{"tags in instructions for agents in fixtures", "fixtures/AGENTS.md", "<\U000e0061>", "invisible-text high", "<U+E0061>"},
		{"GB2312", "a.php", "$lang['Time'] = \"\xd0\xa1\xca\xb1\xc4\xda\";", "", ""},
		{"a name, also beside another encoding", "a.php", "/*\xffv\u0430lidate*/ v\u0430lidate();", "homoglyph high", "name v"},
		{"ranges of letters", "a.js", "/[A-Z\u0410-\u042f]+/", "", ""},
		{"form feed and tab", "a.c", "\f\tint x;", "", ""},
		{"icon font", "a.css", "a { content: '\ue001'; }", "", ""},
		{"private message", "a.js", "x = '\ue001\ue002\ue003\ue004'", "hidden low", "<U+E001>"},
		{"Persian", "fa.json", "\"می\u200cخواهم\"", "", ""},
		{"Hindi", "hi.po", "क्\u200dष", "", ""},
		{"mark in Hebrew prose", "he.md", "שלום\u200f!", "", ""},
		{"Japanese variant", "a.md", "葛\U000e0100飾", "", ""},
		{"Persian suffix", "fa.md", "API\u200cها و {n}\u200cها", "", ""},
		{"Persian, twice", "fa.md", "می\u200c\u200cخواهم", "zero-width low", "<U+200C>"},
		{"Khmer", "a.go", "// ភាសា\u200bខ្មែរ\u200b ។", "", ""},
		{"Khmer and a name", "a.go", "ខ្មែរ\u200badmin", "zero-width medium", "<U+200B>"},
		{"Bengali before a vowel sign", "bn.md", "র\u200d্যাম", "", ""},
		{"variant of an operator", "a.md", "a ∩\ufe00 b →\ufe0f c", "", ""},
		{"mark in a comment in Arabic", "a.go", "// عربي\u200f: (x)", "", ""},
		{"mark in a name beside Arabic", "a.go", "ab\u200fcd // عربي", "zero-width medium", "<U+200F>"},
		{"embedding in Hebrew prose", "he.md", "\u202bשלום (abc)\u202c", "", ""},
		{"open embedding in Hebrew prose", "he.md", "\u202bשלום (abc)", "bidi medium", "<U+202B>"},
		{"override in Hebrew prose", "he.md", "\u202eשלום\u202c", "bidi medium", "<U+202E>"},
		{"isolate in a page", "he.html", "<b>\u2067שלום\u2069</b>", "bidi medium", "<U+2067>"},
		{"isolate in a string", "a.go", `s := "` + "\u2067שלום\u2069" + `"`, "bidi high", "<U+2067>"},
		{"escapes", "a.go", `"\xd8сj \u0041а \nа"`, "", ""},
		{"homoglyph behind an escape", "a.go", `"\nvalidаte"`, "homoglyph high", "valid<U+0430>te"},
		{"letter of another keyboard in a translation", "lang/el/validation.php", "'alpha' => 'Tο :attribute μπορεί να περιλαμβάνει',", "", ""},
		{"a word of two alphabets in a translation", "js/i18n/elfinder.lv.js", "'Mar' : 'Маr',", "homoglyph low", "The word"},
		{"code between texts of a translation", "lang/el.js", "a = 'b'; v\u0430lidate = c; d = 'e';", "homoglyph high", "name v"},
		{"a domain in a translation", "lang/el/validation.php", "'a' => 'pаypal.com',", "homoglyph high", "p<U+0430>ypal"},
		{"such a name outside of quotes in a translation", "lang/el/validation.php", "Tο('μπορεί να περιλαμβάνει');", "homoglyph high", "T<U+03BF>"},
		{"such a name in quotes in a translation", "lang/el/validation.php", "'Tο' => 'μπορεί να περιλαμβάνει',", "homoglyph high", "T<U+03BF>"},
		{"such a text in code", "app/validation.php", "'alpha' => 'Tο :attribute μπορεί να περιλαμβάνει',", "homoglyph low", "The word T<U+03BF>"},
		{"a domain in such a text", "app/a.php", "'a' => 'Войдите на pаypal.com и введите пароль',", "homoglyph high", "name p<U+0430>ypal"},
		{"a name beside such a text", "app/a.php", "Tο('Tο όνομα μπορεί να περιλαμβάνει');", "homoglyph high", "name T<U+03BF>"},
		{"a key of such letters", "app/a.php", "'Tο' => 'μπορεί', 'b' => 'να περιλαμβάνει',", "homoglyph high", "name T<U+03BF>"},
		{"among Latin words", "app/a.php", "'pip install requ\u0435sts for the web и вот',", "homoglyph high", "name requ"},
		{"joiners in a translation", "resources/lang/fa/notifications.php", "'failed' => 'پاک\u200c\u200cسازی نسخه',", "", ""},
		{"joiners in code", "app/notifications.php", "'failed' => 'پاک\u200c\u200c\u200cسازی نسخه',", "zero-width low", "<U+200C>"},
		{"a message of joiners", "app/notifications.php", "'failed' => 'پاک" + strings.Repeat("\u200c", 8) + "سازی نسخه',", "zero-width medium", "<U+200C>"},
		{"at the end of a setting", "app.yml", "host: a.example\u200b", "zero-width medium", "<U+200B>"},
		{"a joiner after a space of Burmese", "a.dart", "'ဆက် \u200cထား',", "zero-width low", "<U+200C>"},
		{"two spaces in a name of Khmer", "a.dart", "ថត\u200b\u200bរុ = 1;", "zero-width medium", "<U+200B>"},
		{"a call between quotes", "a.js", "/'/; v\u0430lidate( мир, вот ); /'/", "homoglyph high", "name v<U+0430>lidate"},
		{"spaces that Russian does not need", "a.dart", "'При\u200b\u200bвет'", "zero-width medium", "<U+200B>"},
		{"a joiner that German does not need", "a.dart", "'Or\u200c\u200ct ក'", "zero-width medium", "<U+200C>"},
		{"joiners in texts of Android", "res/values-fa/02-strings.xml", "<string name=\"a\">کارت:\u200c بارگیری</string>", "", ""},
		{"spaces of no width in a translation to Khmer", "inc/lang/km/lang.php", "$lang['a'] = 'ប្រើ «បង្ហាញ»\u200b ទៅ\u200b\u200bកំណត់';", "", ""},
		{"a joiner in a translation to Kannada", "lib/l10n/messages_kn.dart", "\"a\": MessageLookup(\"ಆರ್\u200d ಡರ್\u200d\"),", "", ""},
		{"joiners in a translation to Persian", "messages/fa-IR/base.php", "'a' => 'چکیده\u200c\u200cی',", "", ""},
		{"a joiner between Latin letters", "lib/l10n/messages_kn.dart", "\"pay\u200dment\": \"ಆರ್\"", "zero-width medium", "<U+200D>"},
		{"such spaces in another one", "inc/lang/de/lang.php", "$lang['a'] = 'Ort\u200b\u200b ';", "zero-width low", "<U+200B>"},
		{"such spaces in a word", "inc/lang/de/lang.php", "$lang['a'] = 'O\u200b\u200brt\u200b';", "zero-width medium", "<U+200B>"},
		{"embedding in a catalogue", "po/he.po", "msgstr \"מיקום:\u202a\"", "", ""},
		{"embedding of a placeholder", "res/values-iw/a.xml", "<string>\u202a%s\u202c</string>", "", ""},
		{"override of a placeholder", "res/values-iw/a.xml", "<string>\u202d%s\u202c</string>", "bidi medium", "<U+202D>"},
		{"override in a catalogue", "po/he.po", "msgstr \"מיקום:\u202e\"", "bidi medium", "<U+202E>"},
		{"embedding in a catalogue of another language", "po/de.po", "msgstr \"Ort:\u202a\"", "bidi medium", "<U+202A>"},
		{"colors in the output of a test", "tests/highlighted/a.py", "\x1b[38;2;249;38;114mfrom\x1b[0m os", "", ""},
		{"concealed text in the output of a test", "tests/highlighted/a.py", "\x1b[0;8mfrom os", "control medium", "<U+001B>"},
		{"the screen in the output of a test", "tests/highlighted/a.py", "\x1b[2Jfrom os", "control low", "<U+001B>"},
		{"the cursor that is put back", "tests/a.py", "\x1b7m, hidden() #\x1b8m", "control medium", "<U+001B>"},
		{"a link in the output of a test", "tests/a.py", "\x1b]8;;https://x.org\x1b\\x", "control medium", "<U+001B>"},
		{"the screen and a backspace", "tests/highlighted/a.py", "\x1b[2Jfrom os\b", "control medium", "<U+001B>"},
		{"lost text", "docs/a.md", "Json \ufffdw\ufffd\ufffd\ufffd\u0443f", "lost-text medium", "U+FFFD"},
		{"lost text and a name", "a.js", "\u0430dmin() // \ufffd\ufffd\ufffd\ufffd", "homoglyph high", "U+0430"},
		{"lost text and a hidden character", "a.js", "'ad\u200bmin' // \ufffd\ufffd\ufffd\ufffd", "zero-width medium", "U+200B"},
		{"lost text in a page", "a.html", "<b>\ufffd\ufffd\ufffd\ufffd</b><script>valid\u0430te()", "homoglyph medium", "U+0430"},
		{"such characters in a fixture", "testdata/a.go", "s := \"\ufffd\ufffd\ufffd\ufffd\"", "", ""},
		{"lost text of a domain", "deploy/acme.test/a.yml", "a: \ufffd\ufffd\ufffd\ufffd", "lost-text medium", "U+FFFD"},
		{"lost text of a catalogue", "po/de.po", "msgstr \"\ufffd\ufffd\ufffd\ufffd\"", "lost-text medium", "U+FFFD"},
		{"such characters in a test", "tests/a.py", "want = '\ufffd\ufffd\ufffd\ufffd'", "", ""},
		{"such characters in a test of .NET", "src/App.UnitTests/a.cs", "var want = \"\ufffd\ufffd\ufffd\ufffd\";", "", ""},
		{"letters of words", "a.py", "GREETING = \"Gr\ufffd\ufffde aus der \ufffdberwachung\"", "lost-text medium", "U+FFFD"},
		{"a word about them", "a.py", "# caf\ufffd, \ufffd\ufffd", "", ""},
		{"Greek question mark", "a.cpp", "int limit = 0\u037e", "homoglyph high", "a semicolon"},
		{"Greek question mark in a comment", "a.cpp", "f(); // why\u037e", "", ""},
		{"Greek question mark in a string", "a.cpp", "if (c == '\u037e') {", "", ""},
		{"Greek question mark in Greek", "a.php", "<b>τι\u037e</b>", "", ""},
		{"some of them", "a.go", "return s == \"\ufffd\ufffd\ufffd\"", "", ""},
		{"colors that a script prints", "a.sh", "echo \x1b[0;1;31mno\x1b[m | sed 's/\x1b\\[[0-9;]*m//g'", "", ""},
		{"a color that hides what a script runs", "a.sh", ": \x1b[30;40m; rm -r ~", "control medium", "<U+001B>"},
		{"colors in code", "app/a.py", "\x1b[31mfrom os", "control medium", "<U+001B>"},
		{"a table of letters", "a.js", `c=[{base:"A",letters:"AⒶＡÀÁÂẦẤẪẨÃĀĂẰẮẴẲȦǠÄ"},{base:"B",letters:"BⒷＢḂḄḆɃƂƁ"}]`, "", ""},
		{"a table of letters in two cases", "a.cs", `{'c', "CÇçĆćĈĉĊċČčƇƈȻȼϲϹСсҪҫ"}`, "", ""},
		{"a name beside accented letters", "a.js", "ÀÉÎÕÜ_validаteUser_isAdministrator()", "homoglyph high", "<U+0430>"},
		{"soft hyphen in prose", "a.md", "Donau\u00addampfer", "", ""},
		{"soft hyphen in the text of a template", "a.blade.php", "<p>Wissens\u00addatenbank, neu</p>", "", ""},
		{"soft hyphen in the code of a template", "a.blade.php", "<p>{{ $ad\u00admin }}</p>", "zero-width medium", "<U+00AD>"},
		{"soft hyphen in an attribute of a template", "a.vue", "<p id=ad\u00admin>x</p>", "zero-width medium", "<U+00AD>"},
		{"soft hyphen in code", "a.php", "<p>Wissens\u00addatenbank</p>", "zero-width medium", "<U+00AD>"},
		{"override among bytes", "a.ai", "T\u202e1I\xc6&\xa2(\xfeL\x90a\xc7g$\xd0!", "", ""},
		{
			"override and a few bytes", "a.go", "if admin \u202e { // \xff\xfe\xfd\xfc " + strings.Repeat("x", 40), "bidi high",
			"<U+202E>",
		},
		{"broken bytes", "a.bin", "a\xff\xfe\x80b", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := change(test.path, "+"+test.line)
			if strings.HasSuffix(test.path, ".po") || strings.HasPrefix(test.path, "res/values-") {
				c.Files[0].Content = diff.Catalogue
			}
			if strings.HasSuffix(test.path, ".min.js") {
				c.Files[0].Skip, c.Files[0].Excused = diff.Minified, true
			}
			r := run(t, "unicode", &Input{Change: c})
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
					if d := (textKind{}).inspect(s, false); d.rule != "" {
						t.Errorf("the finding itself hides something: %q", s)
					}
				}
			}
		})
	}
}

func TestUnicodeLaterLine(t *testing.T) {
	same(t, run(t, "unicode", &Input{Change: change("a.cs", "@@2", "+\ufeffusing System;", "-\u202e", " \u202e")}),
		"a.cs:2 zero-width low")
	for change, want := range map[*diff.Change]string{
		change("a.md", "-Grüße, Ada", "-Café", "+Gr\ufffd\ufffde, Ada", "+Cafe"): "a.md:1 lost-text medium",
		change("a.md", "-Gr\xfc\xdfe", "-\ufffd", "+Gr\ufffde", "+\ufffd"):       "a.md:1 lost-text medium",
		change("a.cs", "-x = \"a\u200bb\";", "+x = y + \"a\u200bb.\";"):          "a.cs:1 zero-width low",
		change("a.cs", "-x = \"a\u200bb\";", "+x = \"a\u200bb\u200b.\";"):        "a.cs:1 zero-width medium",
		change("a.cs", "-x = \"a\u200bb\";", "+x = ad\u200bmin;"):                "a.cs:1 zero-width medium",
		change("a.cs", "-// a\u200bb", "+x = a\u200bb;"):                         "a.cs:1 zero-width medium",
		change("a.cs", "-x = \"a\u200bb\";", "+x = a\u200bb;", "+y = a\u200bb;"): "a.cs:1 zero-width low, a.cs:2 zero-width medium",
		change("a.cs", "-x \u202e y", "+x \u202e y.", "+z"):                      "a.cs:1 bidi high",
		change("a.md", "-x \u202e y", "+x \u202e y.", "+z"):                      "a.md:1 bidi low",
		change("a.md", "-x \U000e0061 y", "+x \U000e0061 y.", "+z"):              "a.md:1 invisible-text high",
		change("a.cs", "-x = \"a\u200bb\";", "+x = \"a\u200bb\"; v\u0430lid()"):  "a.cs:1 homoglyph high",
	} {
		found(t, run(t, "unicode", &Input{Change: change}), want)
	}
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
			if d := (textKind{prose: true}).inspect(found.Title+found.Body, false); d.rule != "" {
				t.Errorf("the finding itself hides something: %q", found.Title+found.Body)
			}
		}
	})
}

// TestUnicodeKinds: what nobody types by hand gets no remarks, except about what hides
// code, whatever the change says about its own files.
func TestUnicodeKinds(t *testing.T) {
	const (
		bidi, tag, name, width, rest = "x \u202e y", "x \U000e0061", "valid\u0430te", "ad\u200bmin", "'\u200b' \x01 \u00ad"
		head                         = "// Code generated by x. DO NOT EDIT.\n"
		qt                           = "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n"
	)
	all := strings.Join([]string{bidi, tag, name, width, rest}, "\n")
	always := "bidi invisible-text"
	for _, test := range []struct {
		name, path, text, attributes string
		want                         string
	}{
		{"code", "a.go", all, "", "bidi invisible-text homoglyph zero-width zero-width"},
		{"TypeScript", "a.ts", all, "", "bidi invisible-text homoglyph zero-width zero-width"},
		{"generated", "a.go", head + all, "", "bidi invisible-text homoglyph zero-width"},
		{"generated by attribute", "a.go", all, "*.go gitlab-generated", "bidi invisible-text homoglyph zero-width"},
		{"vendored", "vendor/x.org/a.go", all, "", "bidi invisible-text homoglyph zero-width"},
		{"lock file", "go.sum", all, "", "bidi invisible-text homoglyph zero-width"},
		{"minified", "a.min.js", all, "", ""},
		{"minified where the base has no such file", "lib/a.min.js", all, "", "bidi invisible-text homoglyph zero-width zero-width"},
		{"binary by attribute", "a.svg", all, "*.svg binary", always},
		{"without a diff", "a.svg", all, "*.svg -diff", always},
		{"catalogue of Qt", "a.ts", qt + all, "", always},
		{"gettext", "po/de.po", all, "", always},
		{"locale", "web/locales/de.json", all, "", always},
		{"bytes", "a.age", all + "\n\x01\x02\xff", "", always},
		{"data of tests", "tests/valid/control.toml", all, "", always},
		{"corpus of a fuzzer", "syntax/corpus/f4b52b99", all, "", always},
		{"expected output", "testoutput1", all, "", always},
		{"corpus by hash", "test/compression/text/0dbf553220bcd274", all, "", always},
		{"key of tests", "tests/data/a.keyfile", all, "", always},
		{"code beside the data of tests", "testdata/run.py", all, "", "bidi invisible-text homoglyph zero-width zero-width"},
		{"script of tests", "tests/run", all, "", "bidi invisible-text homoglyph zero-width zero-width"},
		{"document", "a.md", all, "", "bidi invisible-text homoglyph zero-width zero-width"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := added(test.path, test.text)
			c.Classify(diff.Trees{
				Attributes: []byte(test.attributes), // and files of the same kinds that the base has
				Base:       func(string) ([]byte, error) { return []byte(head), nil },
				List:       func() ([]string, error) { return []string{"generated.go", "old.min.js"}, nil },
			})
			got := needs.Each(run(t, "unicode", &Input{Change: c}).Findings,
				func(f precedent.Finding) string { return f.Rule })
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("got %s, want %s", s, test.want)
			}
		})
	}
}

// TestUnicodeCost: long lines of hostile characters take linear time.
func TestUnicodeCost(t *testing.T) {
	for _, s := range []string{
		"\u200e", "\u202b", "\U000e0061", "\ue001", "\u200b", "\ufe0f", "a\u0430 ", `\x`,
		"א\u200f", "a\u00ad",
	} {
		line := strings.Repeat(s, 64<<10/len(s))
		for _, name := range []string{"a.go", "lang/de/a.php", "a.vue"} {
			cost := needs.Busy(func() { run(t, "unicode", &Input{Change: added(name, line)}) })
			if cost > 2*time.Second {
				t.Errorf("%q takes %v in %s", s, cost, name)
			}
		}
	}
}
