package lint

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// TestVendoredTranslations: those of libraries are not the team's.
func TestVendoredTranslations(t *testing.T) {
	for skip, want := range map[string][]string{"": {"po/de.po:2 unknown-placeholder medium"}, "vendored": nil} {
		c := skipAs(skip, change("po/de.po", ` msgid "%(a)s"`, `+msgstr "%(b)s"`))
		c.Files[0].Content = diff.Catalogue
		same(t, run(t, "translations", &Input{Change: c}), want...)
	}
}

func TestUnknownPlaceholder(t *testing.T) {
	for _, test := range []struct{ source, translated, want string }{
		{"Page %(page)s", "Página %(pages)s", "%(pages)s"},
		{"and {{count}} more", "a {{ počet }} více", "{{počet}}"},
		{"Message {recipient}", "செய்தி {பெறுநர்}", "{பெறுநர்}"},
		{"Delete '{name}'?", "{0}?", "{0}"},
		{"%{name} is late", "%{nom} est en retard", "%{nom}"},
		{"{price, number} a month", "{Preis, number} im Monat", "{Preis}"},
		{"Files in %1$s: %2$d", "%1$s: %3$d", "%3$d"},
		{"%d of %s", "%2$s: %1$d, %4$s", "%4$s"},
		{"Version %1$s of %2$d", "%2$d: %1$d", "%1$d"},
		{"Version %s", "Version %d", "value 1 (%d)"},
		{"%@", "%1$d", "%1$d"},
		{"%d files", "%@ Dateien", "value 1 (%@)"},
		{"%1$d", "%1$s", ""}, // a text of the number
		{"One of %s" + nextText + "%d of %s", "%d", ""},
		{"%d of %s", "100% de %d", ""},
		{"Words: {}", "Wörter: {count}", "{count}"},
		{"Words: {count}", "Wörter: {}", "{}"},
		{"{} of {}", "{1} von {0}", ""},
		{"Scene %1", "Szene %2", "%2"},
		{"%1x%2: %3 FPS", "在 %1 x %2 %3 中", ""},
		{"%1: a%20b", "%1: %3Cb %5d", ""},
		{"Welcome :name", "Velkommen :navn", ":navn"},
		{"Note: enter :name", "（注意）:请输入 :name", ""},
		{`Failed at :time: \n:error`, "Échec à :time : :error", ""},
		{":a @:general.name", ":a @:web.name", ""}, // another text
		{":count pages", ":počet stránok", ":počet"},
		{":number left", "queden :numbre", ":numbre"},
		{"%count% of %total%", "%count% von %summe%", "%summe%"},
		{"%F-Note-%H-%M", "%F-Notiz-%H-%M", ""}, // directives of strftime
		{"%s%d", "%d%s", "value 1 (%d)"},
		{"Crop: %@", "Zuschneiden: %@ (%d)", "value 2 (%d)"},
		{"(%d)" + nextText + "%d files", "(%d von %s)", "value 2 (%s)"},

		{"", "{name}", ""},
		{"The :attribute is wrong: :value", "Das :Attribute ist falsch :valuelar http://x 12:30", ""},
		{"Location of the feeds", "{slug}", ""}, // a word in braces
		{"Code: %d", "Kod: %1$d", ""},
		{"Saved 100%% of %s", "%2$s", "%2$s"},
		{"%1$s has %2$,d", "%2$,d, %1$s", ""},
		{"%d left", "%d übrig (100% de %%d)", ""},
		{"%s left", "%50si indirim %s", ""},
		{"Left", "%d übrig", ""},
		{"%1$d (%s)", "%d, %d, %d", ""},
		{"%5.1f at % d", "%f, %d", ""},
		{"{count} files of {name}", "{name}", ""},
		{"{n, plural, one {# file} other {# files}}", "{n, plural, one {# Datei} other {# Dateien}}", ""},
		{"{{- name}}", "{{name}}", ""},
		{"{1} one|]1,Inf] {more}", "<![CDATA[{1} jeden|{2,3,4} dva|]4,Inf] {more}]]>", ""}, // by number
	} {
		if got, _ := unknownPlaceholder(test.source, test.translated, false, true); got != test.want {
			t.Errorf("%q in %q: %q, want %q", test.translated, test.source, got, test.want)
		}
	}
}

func TestTranslations(t *testing.T) {
	const json, android = `"hi": "Hello {name}",`, `  <string name="hi">Hello %1$s</string>`
	head := map[string]string{
		"locales/en.json": "{\n  " + json + "\n  \"files_one\": \"One file in {{folder}}\",\n  \"old\": \"{a}\",\r\n}\n", "lang/en-US/app.json": json, "lang/en-GB/app.json": `"hi": "Hello {first} {last}",`, "l10n/app_en.arb": json,
		"config/locales/en.yml": "en:\n  hi: Hello %{user}\n  lo: '%{name} %{user}'\n", "config/locales/a.en.yml": "en:\n  tree:\n    one: a %{tree}\n    other: '%{n} %{tree}'\n  hi:\n    other: \"%{n}\"",
		"res/values/strings.xml": android, "shared/moko-resources/base/strings.xml": android, "src/strings/en-us.json": json, "i18n/msg.properties": "hi=Hello {0}\ntwo={0} \\\n from {1}", "lang/en/mail.php": `'hi' => 'Hello :name',`, "App/en.lproj/A.strings": `"hi" = "Hello %1$@";`,
		"web/messages/en-US.json": json, "web/en-US.json": json, "Language/en-US.ini": "hi=\"Hello %1$s\"",
		"Texts.resx": `<data name="hi"> <value>Hello {0}</value>`, "x/v.en.xlf": `<source>by.id</source><target>Hello {{ a }}</target>`,
	}
	for _, test := range []struct {
		path string
		add  []string
		want string
	}{
		{"locales/de.json", []string{` {`, `+  "hi": "Hallo {Name}",`}, ":2"},
		{"locales/pt-BR.json", []string{`+  "hi": "Olá {nome}"`, `+  "old": "{b}"`}, ":1 :2"},
		{"lang/de/app.json", []string{`+"hi": "Hallo {Name}",`}, ":1"},
		{"locales/de.json", []string{`+"files_one": "{{menu.old}}",`, `+"files_one": "{{menu.none}}",`}, ":2"}, // another text
		{"l10n/app_de.arb", []string{`+"hi": "Hallo {Name}",`}, ":1"},
		{"res/values-de-rDE/strings.xml", []string{`+  <string name="hi">Hallo %2$s</string>`}, ":1"},
		{"i18n/msg_de.properties", []string{`+hi=Hallo {1}`}, ":1"},
		{"App/de.lproj/A.strings", []string{`+"hi" = "Hallo %2$@";`}, ":1"},
		{"lang/de/mail.php", []string{` return [`, `+  'hi' => 'Hallo :navn',`}, ":2"},
		{"Texts.de.resx", []string{` <data name="hi" xml:space="preserve">`, `+  <value>Hallo {1}</value>`}, ":2"},
		{"ui_de.ts", []string{` <source>%1 of %L2</source>`, `+<translation>%L1, %2</translation>`, `+<numerusform>%3</numerusform>`}, ":3"},
		{"x/v.de.xlf", []string{` <source>Hello {{ a }}</source>`, `+<target state="final">{{ b }}</target>`, `+<source>by.id</source>`, `+<target>{{ b }}</target>`}, ":2 :4"},
		{"po/de.po", []string{` #, python-format`, ` msgid ""`, ` "Page %(a)s"`, `-msgstr ""`, `+msgstr ""`, `+"Seite %(b)s"`, `+"x"`}, ":5"},
		{"po/de.po", []string{` msgid "%(n)s day"`, ` msgid_plural "%(m)s days"`, `+msgstr[0] "%(n)s"`, `+msgstr[1] "%(x)s"`}, ":4"},
		{"locales/de.json", []string{`-  "hello": "{Name}",`, `+  "hi": "{Name}",`}, ":1"}, // the text of another key
		{"po/de.po", []string{` msgid "A %(b)s"`, `-msgstr "%(b)s"`, `+msgstr "Ein %(b)s"`, ` `, ` msgid "B %(a)s"`, `+msgstr "%(b)s"`}, ":5"},

		{"po/de.po", []string{`-msgstr "Die Seite %(b)s"`, ` msgid "Page %(a)s"`, `+msgstr "Seite %(b)s"`}, ""},
		{"po/de.po", []string{`-msgid "Page %(a)s"`, `-msgstr "Seite %(b)s"`, ` msgid "x"`, `+msgid "Page %(a)s"`, `+msgstr "Seite %(b)s"`}, ""},
		{"po/de.po", []string{` msgid "Page %(a)s"`, `-msgstr "Die Seite %(b)s"`, `+msgstr "Seite %(b)s"`}, ""},
		{"locales/de.json", []string{`-  "hi": "{x}",`, `+  "hi": "{x}!",`}, ""},
		{"po/de.po", []string{` #, fuzzy`, ` msgid "Page %(a)s"`, `+msgstr "Seite %(b)s"`}, ""},
		{
			"po/de.po",
			[]string{` #, fuzzy`, `+#| msgid "%(b)s"`, ` msgctxt "menu"`, ` msgid "Page %(a)s"`, `+msgstr "Seite %(b)s"`},
			"",
		},
		{"po/de.po", []string{`+#, c-format`, `+msgid "%d"`, `+msgstr "%d (%s)"`, `+`, `+#, no-c-format`, `+msgid "%d"`, `+msgstr "%d %s"`}, ":3"},
		{"po/de.po", []string{`-msgid "%d"`, `-msgstr "%d %s"`, `+#, c-format`, `+msgid "%d"`, `+msgstr "%d (%s)"`}, ""},
		{"web/messages/de.json", []string{`+"hi": "{nane}",`}, ":1"},
		{"web/de-DE.json", []string{`+"hi": "{nane}",`}, ":1"},
		{"Language/de-DE.ini", []string{`+hi="Hallo %2$s"`}, ":1"},
		{"shared/moko-resources/de/strings.xml", []string{`+  <string name="hi">Hallo %2$s</string>`}, ":1"},
		{"src/strings/fr.json", []string{`+  "hi": "{nom}"`}, ":1"},
		{"config/locales/de.yml", []string{` de:`, `+  hi: "Hallo %{anzahl}"`, `+  lo: "%{model}"`}, ":2"},
		{"config/locales/a.de.yml", []string{` de:`, `   tree:`, `+    one: ein %{baum}`, `   hi:`, `+    one: ein %{tree}`}, ":3"},
		{"config/locales/de.yml", []string{`-  hi: "%{anzahl}"`, `+  hi: "Hallo %{anzahl}"`, `+  old: "%{anzahl}"`, `+  lo: "%{count}"`}, ""},
		{"po/de.po", []string{`+#, fuzzy`, `+msgid "a"`, `+msgstr "b"`, `+msgctxt "c"`, `+msgid "%(a)s"`, `+msgstr "%(b)s"`}, ":6"},
		{"po/de.po", []string{` msgid "Page %(a)s"`, ` msgstr "Seite %(b)s"`, `+#~ msgstr "%(b)s"`}, ""},
		{"po/de.po", []string{` #~ msgid "%(a)s"`, `+msgid "%(b)s"`, `+msgstr "%(b)s"`, `@@50`, `+msgstr "%(c)s"`}, ""},
		{"locales/de.json", []string{`+  "hi": "Hallo {name}",`, `+  "new": "{x}",`, `-  "hi": "{x}",`}, ""},
		{"ui_de.ts", []string{`+<source>One`, `+%1</source>`, `+<translation type="vanished">%2</translation>`, `+<translation>%3</translation>`}, ""},
		{"x/v.en.xlf", []string{` <source>Hello {{ a }}</source>`, `+<target>{{ b }}</target>`}, ""},
		{"locales/en-GB.json", []string{`+  "hi": "Hello {x}",`}, ""},
		{"lang/fr/app.json", []string{`+"hi": "{first}",`}, ""},
		{"locales/ru.json", []string{`+  "files_one": "{{count}} файл в {{folder}}",`}, ""},
		{"i18n/msg_fr.properties", []string{`+two={0} de {1}`}, ""},
		{"other/de.json", []string{`+"hi": "Hallo {Name}",`}, ""},
		{"missing/locales/de.json", []string{`+"hi": "Hallo {Name}",`}, ""},
	} {
		c := change(test.path, test.add...)
		c.Classify(diff.Trees{Base: func(string) ([]byte, error) { return []byte("<TS version"), nil }})
		r := run(t, "translations", &Input{Change: c, Read: func(path string) ([]byte, error) {
			if s, ok := head[path]; ok {
				return []byte(s), nil
			}
			return nil, fs.ErrNotExist
		}})
		var got []string
		for _, f := range r.Findings {
			got = append(got, strings.TrimPrefix(f.String(), f.Path))
			if f.Rule != "unknown-placeholder" || f.Severity != precedent.Medium {
				t.Error(f)
			}
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %q, want %q", test.path, got, test.want)
		}
	}
}

func FuzzTranslations(f *testing.F) {
	f.Add(`msgid "%(a)s"`, `msgstr "%(b)s"`, `"`)
	f.Add(`#, fuzzy`, `msgstr[0] "{{a}}%2$s"`, "\x80")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		change := change("po/de.po", " "+a, "+"+b, "+"+c, "-"+b, "+"+a, "+"+b)
		change.Classify(diff.Trees{})
		run(t, "translations", &Input{Change: change})
		unknownPlaceholder(a+c, b+a, c == "", b == "")
		sourcePaths(a)
	})
}
