package precedent

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// retired matches words and phrases that are not used, with the words to use: those of the table in
// docs/glossary.md, and these.
var retired = []retiredWord{
	{"person's no", regexp.MustCompile(`(?i)\bperson's no\b`), "dismissal"},
	{"stand", regexp.MustCompile(`(?i)\bstands? at\b`), "is at"},
	{"is no ", regexp.MustCompile(`(?i)\bis no [a-z]`), "is not a"},
	{"thumb", regexp.MustCompile(`(?i)\bthumbs? (?:up|down)\b`), "the name of the reaction: 👍 or 👎"},
	{"whoever", regexp.MustCompile(`(?i)\bwhoever\b`), "who, or anyone who"},
}

type retiredWord struct {
	part    string // of what the pattern matches, in lower case: only text with it is matched, which is fast
	pattern *regexp.Regexp
	use     string
}

// glossary matches a row of the table: the words, what they mean, and words that are not used for it.
var glossary = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \| ([^|]*)\|$`)

// replaced matches the words of the glossary that are not used. Prose does without them, and code and names that
// programs read may have them.
var replaced []retiredWord

// code matches what is not prose: code of Markdown and targets of its links, statements of SQL, and strings of one word.
var code = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)|(?s:\".*(?:FROM|INTO|UPDATE|box:x).*\")|^[\"`][^ ]*[\"`]$|(?s)^`.*(?:SELECT|DELETE|json:|UPDATE).*`$")

// readGlossary reads the words that are not used, and returns those that are.
func readGlossary(t *testing.T) (used []string) {
	t.Helper()
	text := string(needs.Value(os.ReadFile(glossaryFile))(t))
	for _, row := range glossary.FindAllStringSubmatch(text, -1)[1:] {
		used = append(used, strings.Split(row[1], ", ")...)
		for word := range strings.SplitSeq(strings.TrimSpace(row[3]), ", ") {
			if word != "" {
				pattern := regexp.MustCompile(`(?i)\b` + word + `(?:s|ed)?\b`)
				replaced = append(replaced, retiredWord{strings.ToLower(word), pattern, row[1]})
				notNames = append(notNames, strings.ReplaceAll(word, " ", ""))
			}
		}
	}
	return used
}

const glossaryFile = "docs/glossary.md"

// standard matches phrases that look like retired ones.
var standard = regexp.MustCompile(`(?i)\bthere is no\b|\bis no longer\b`)

// notNames are the words of the glossary that names of the code do not have.
var notNames []string

// TestRetiredWords reads all that a person sees: the strings, comments and names
// of the product's code, its embedded texts, and the documentation.
func TestRetiredWords(t *testing.T) {
	used := readGlossary(t)
	eachFile(t, os.DirFS("."), ".go .md .yml .yaml .tmpl .sh", func(name, text string) {
		switch {
		case name == glossaryFile || strings.HasSuffix(name, "_test.go"):
			return
		case path.Ext(name) == ".go":
			checkSource(t, name, text)
			return
		}
		block := false
		for i, line := range strings.Split(text, "\n") {
			checkWords(t, name, i+1, line)
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				block = !block
			} else if !block && !strings.HasPrefix(name, "internal/") {
				checkProse(t, name, i+1, line)
			}
		}
	})
	var docs strings.Builder
	for name, text := range documents(t) {
		if name != glossaryFile {
			docs.WriteString(text)
		}
	}
	for _, word := range used {
		if !regexp.MustCompile(`(?i)\b` + word).MatchString(docs.String()) {
			t.Errorf("%s explains %q, which no document says", glossaryFile, word)
		}
	}
}

// wordsOf splits a name into its words, in lower case.
func wordsOf(name string) (words []string) {
	for _, m := range nameWord.FindAllString(name, -1) {
		words = append(words, strings.ToLower(m))
	}
	return words
}

var nameWord = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

// checkSource checks the comments, strings and names of a Go file.
func checkSource(t *testing.T, name, text string) {
	t.Helper()
	fset := token.NewFileSet()
	file := needs.Value(parser.ParseFile(fset, name, text, parser.ParseComments))(t)
	for _, group := range file.Comments {
		words := strings.ReplaceAll(group.Text(), "\n", " ")
		checkWords(t, name, fset.Position(group.Pos()).Line, words)
		checkProse(t, name, fset.Position(group.Pos()).Line, words)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				checkWords(t, name, fset.Position(n.Pos()).Line, n.Value)
				checkProse(t, name, fset.Position(n.Pos()).Line, n.Value)
			}
		case *ast.Ident:
			for _, word := range wordsOf(n.Name) {
				if n.IsExported() && slices.Contains(notNames, strings.TrimSuffix(word, "s")) {
					t.Errorf("%s:%d: the name %s has the word %q", name, fset.Position(n.Pos()).Line, n.Name, word)
				}
			}
		}
		return true
	})
}

// checkProse reports the words of one piece of text for which the glossary has others.
func checkProse(t *testing.T, file string, line int, text string) {
	t.Helper()
	for found, use := range find(replaced, code, text) {
		t.Errorf("%s:%d: %q: the glossary has %s", file, line, found, use)
	}
}

// checkWords reports the retired words in one piece of text.
func checkWords(t *testing.T, file string, line int, text string) {
	t.Helper()
	for found, use := range find(retired, standard, text) {
		t.Errorf("%s:%d: %q is retired, use %s", file, line, strings.TrimSpace(found), use)
	}
}

// find returns which of the words are in a text, but not in its parts that a pattern matches, and what to use.
func find(words []retiredWord, but *regexp.Regexp, text string) map[string]string {
	all, lower := map[string]string{}, strings.ToLower(text)
	for _, r := range words {
		if strings.Contains(lower, r.part) {
			if found := r.pattern.FindString(but.ReplaceAllString(text, "")); found != "" {
				all[found] = r.use
			}
		}
	}
	return all
}
