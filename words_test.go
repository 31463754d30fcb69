package precedent

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// phrases are words that are not used, with the words to use; the table in docs/glossary.md has more.
var phrases = []retired{
	{"person's no", regexp.MustCompile(`(?i)\bperson's no\b`), "dismissal"},
	{"stand", regexp.MustCompile(`(?i)\bstands? at\b`), "is at"},
	{"is no ", regexp.MustCompile(`(?i)\bis no [a-z]`), "is not a"},
	{"thumb", regexp.MustCompile(`(?i)\bthumbs? (?:up|down)\b`), "the name of the reaction: 👍 or 👎"},
	{"whoever", regexp.MustCompile(`(?i)\bwhoever\b`), "who, or anyone who"},
}

type retired struct {
	part    string // of what the pattern matches, in lower case: only text with it is matched, which is fast
	pattern *regexp.Regexp
	use     string
}

// glossary matches a row of the table: the words, what they mean, and words that are not used for it.
var glossary = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \| ([^|]*)\|$`)

// standard matches what looks like one of the phrases.
var standard = regexp.MustCompile(`(?i)\bthere is no\b|\bis no longer\b`)

// code matches what is not prose: code of Markdown and targets of its links, statements of SQL, and strings of one word.
var code = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)|(?s:\".*(?:FROM|INTO|UPDATE|box:x).*\")|^[\"`][^ ]*[\"`]$|(?s)^`.*(?:SELECT|DELETE|json:|UPDATE).*`$")

const glossaryFile = "docs/glossary.md"

// readGlossary reads the words that prose does without; code and names that programs read may have them.
func readGlossary(t *testing.T) (replaced []retired) {
	t.Helper()
	text := string(needs.Value(os.ReadFile(glossaryFile))(t))
	for _, row := range glossary.FindAllStringSubmatch(text, -1)[1:] {
		for word := range strings.SplitSeq(strings.TrimSpace(row[3]), ", ") {
			if word != "" {
				pattern := regexp.MustCompile(`(?i)\b` + word + `(?:s|ed)?\b`)
				replaced = append(replaced, retired{strings.ToLower(word), pattern, row[1]})
			}
		}
	}
	return replaced
}

// TestRetiredWords reads all that a person sees: the strings and comments of the product's code, its embedded texts, and
// the documentation.
func TestRetiredWords(t *testing.T) {
	replaced := readGlossary(t)
	check := func(file string, line int, text string, prose bool) {
		t.Helper()
		report(t, file, line, phrases, standard, text)
		if prose {
			report(t, file, line, replaced, code, text)
		}
	}
	eachFile(t, os.DirFS("."), ".go .md .yml .yaml .tmpl .sh", func(name, text string) {
		switch {
		case name == glossaryFile || strings.HasSuffix(name, "_test.go"):
			return
		case path.Ext(name) == ".go":
			eachWords(t, name, text, func(line int, words string) { check(name, line, words, true) })
			return
		}
		block := false
		for i, line := range strings.Split(text, "\n") {
			fence := strings.HasPrefix(strings.TrimSpace(line), "```")
			block = block != fence
			check(name, i+1, line, !block && !fence && !strings.HasPrefix(name, "internal/"))
		}
	})
}

// eachWords calls visit for the comments and strings of a Go file.
func eachWords(t *testing.T, name, text string, visit func(line int, words string)) {
	t.Helper()
	fset := token.NewFileSet()
	file := needs.Value(parser.ParseFile(fset, name, text, parser.ParseComments))(t)
	for _, group := range file.Comments {
		visit(fset.Position(group.Pos()).Line, strings.ReplaceAll(group.Text(), "\n", " "))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
			visit(fset.Position(s.Pos()).Line, s.Value)
		}
		return true
	})
}

// report names the retired words in one piece of text, but not in its parts that a pattern matches.
func report(t *testing.T, file string, line int, words []retired, but *regexp.Regexp, text string) {
	t.Helper()
	lower := strings.ToLower(text)
	for _, r := range words {
		if strings.Contains(lower, r.part) {
			if found := r.pattern.FindString(but.ReplaceAllString(text, "")); found != "" {
				t.Errorf("%s:%d: %q is not used here: %s", file, line, strings.TrimSpace(found), r.use)
			}
		}
	}
}
