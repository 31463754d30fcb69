package precedent

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// retired matches words and phrases that are not used, with the words to use: those of the table in
// docs/glossary.md, and these.
var retired = []retiredWord{
	{regexp.MustCompile(`(?i)\bperson's no\b`), "dismissal"},
	{regexp.MustCompile(`(?i)\bstands? at\b`), "is at"},
	{regexp.MustCompile(`(?i)\bis no [a-z]`), "is not a"},
	{regexp.MustCompile(`(?i)\bthumbs? (?:up|down)\b`), "the name of the reaction: 👍 or 👎"},
	{regexp.MustCompile(`(?i)\bwhoever\b`), "who, or anyone who"},
}

type retiredWord struct {
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
	text, err := os.ReadFile(glossaryFile)
	must(t, err)
	for _, row := range glossary.FindAllStringSubmatch(string(text), -1)[1:] {
		used = append(used, strings.Split(row[1], ", ")...)
		for word := range strings.SplitSeq(strings.TrimSpace(row[3]), ", ") {
			if word != "" {
				replaced = append(replaced, retiredWord{regexp.MustCompile(`(?i)\b` + word + `(?:s|ed)?\b`), row[1]})
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
	root := os.DirFS(".")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name != "." && (base == "testdata" || base == "node_modules" || base == "bin" || base == "dist" || strings.HasPrefix(base, ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if name == glossaryFile || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		switch path.Ext(name) {
		case ".go":
			checkSource(t, name)
		case ".md", ".yml", ".yaml", ".tmpl", ".sh":
			text, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			block := false
			for i, line := range strings.Split(string(text), "\n") {
				checkWords(t, name, i+1, line)
				if strings.HasPrefix(strings.TrimSpace(line), "```") {
					block = !block
				} else if !block && !strings.HasPrefix(name, "internal/") {
					checkProse(t, name, i+1, line)
				}
			}
		}
		return nil
	})
	must(t, err)
	var docs strings.Builder
	for _, name := range documents(t) {
		if name != filepath.FromSlash(glossaryFile) {
			text, err := os.ReadFile(name)
			must(t, err)
			docs.Write(text)
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
func checkSource(t *testing.T, name string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
	must(t, err)
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
	text = code.ReplaceAllString(text, "")
	for _, r := range replaced {
		if found := r.pattern.FindString(text); found != "" {
			t.Errorf("%s:%d: %q: the glossary has %s", file, line, found, r.use)
		}
	}
}

// checkWords reports the retired words in one piece of text.
func checkWords(t *testing.T, file string, line int, text string) {
	t.Helper()
	text = standard.ReplaceAllString(text, "")
	for _, r := range retired {
		if found := r.pattern.FindString(text); found != "" {
			t.Errorf("%s:%d: %q is retired, use %s", file, line, strings.TrimSpace(found), r.use)
		}
	}
}
