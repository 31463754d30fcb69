package text

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent/internal/needs"
)

func TestCodeLines(t *testing.T) {
	for _, test := range []struct {
		name, source string
		want         string
	}{
		{"a.go", "\tx := f( a ) // fixed\n\n// all of it\ny()", "x:=f(a)|||y()"},
		{"a.go", "a /* one\ntwo */ b /* three */ c", "a|bc"},
		{"a.go", "a(\"http://x // y\", 'c', `q // r\ns // t`) // u", "a(\"http://x//y\",'c',`q//r|s//t`)"},
		{"a.go", `a("\"//") //`, `a("\"//")`},
		{"a.rs", "fn f<'a>(x: &'a str) {} // x", "fnf<'a>(x:&'astr){}"},
		{"a.js", "a(`x\n${y} // z`) // w", "a(`x|${y}//z`)"},
		{"a.py", "x = 1 # one\n\"\"\"All\nof it.\"\"\"\ny = \"\"\"a\n# b\"\"\"#c", "x=1|||y=\"\"\"a|#b\"\"\""},
		{"a.sh", "echo ${#x} $# # n", "echo${#x}$#"},
		{"ci.yml", "run: a#b # c", "run:a#b"},
		{"Makefile", "all: # x\n\techo", "all:|echo"},
		{"build/Dockerfile.dev", "RUN x # y", "RUNx"},
		{"a.php", "a(); # x\nb(); // y\n/* z */", "a();|b();|"},
		{"a.sql", "SELECT '--' -- x", "SELECT'--'"},
		{"a.html", "<p> <!-- x\ny --> </p>", "<p>|</p>"},
		{"a.c", "#define A 1 // x", "#defineA1"},
		{"a.tex", "x % y", "x"},
		{"unknown", "a // b\nc # d\ne; f -- g\nh://i", "a|c|e;f|h://i"},
	} {
		got := CodeLines(test.name, strings.Split(test.source, "\n"))
		if diff := cmp.Diff(test.want, Squeeze(strings.Join(got, "|"))); diff != "" {
			t.Errorf("%s: %q (-want +got):\n%s", test.name, test.source, diff)
		}
	}
}

func TestNames(t *testing.T) {
	for code, want := range map[string]string{
		"\tif given == user.Token || given == \"empty\" {": "given user Token given",
		"return true":                        "",
		"for n := 0; n <= len(items); n++ {": "n n len items n",
		"f('don t', x1, 0x2, _y, ß)":         "f x1 _y ß",
		"it's = 'a":                          "it's a",
	} {
		if got := strings.Join(Names(code), " "); got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
}

func TestBareLines(t *testing.T) {
	for name, lines := range map[string][2]string{
		"a.js":  {"a('b // c', `d\ne` + \"f\")/* g\nh */ // i", "a('',`|+\"\")|"},
		"a.rb":  {"it 'a, b', c: <<~RUBY, d: x << y\n  it 'e'\nRUBY\nf # g", "it'',c:<<~RUBY,d:x<<y|||f"},
		"a.ex":  {"@doc \"\"\"\nx |> dbg()\n\"\"\"\nß", "@doc\"\"\"|||ß"},
		"a.ts":  {"a(/`/, /[/*]'/g) / b(`\n\\``) / 'c' // d", "a(//,//g)/b(`|)/''"},
		"b.php": {"a(<<<EOT\nb\nEOT, 5);\nc()", "a(<<<EOT|||c()"},
		"a.php": {"$a = <<<'EOT'\nit('b')->only();\n  EOT;\nc()", "$a=<<<'EOT'|||c()"},
	} {
		got := BareLines(name, strings.Split(lines[0], "\n"))
		if diff := cmp.Diff(lines[1], Squeeze(strings.Join(got, "|"))); diff != "" {
			t.Errorf("%s: %q (-want +got):\n%s", name, lines[0], diff)
		}
	}
}

// TestCodeLinesLinear: quotes and marks that never end cost no more than others.
func TestCodeLinesLinear(t *testing.T) {
	for _, part := range []string{`\"`, `"'`, "/*", "`\\", `"""`, "<!--", "/**/", "=/[", "=/x/", " "} {
		line := strings.Repeat(part, 1<<20/len(part))
		if took := needs.Busy(func() { CodeLines("a.html", []string{line}); CodeLines("a.py", []string{line}); Names(line) }); took > time.Second {
			t.Errorf("%q: %s", part, took)
		}
	}
}
