package precedent

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// retired lists words that were replaced, with the word to use. The glossary in
// docs/architecture.md says what each new one means.
var retired = []struct {
	pattern *regexp.Regexp
	use     string
}{
	{regexp.MustCompile(`(?i)\bhush`), "suppress"},
	{regexp.MustCompile(`(?i)\bblacken`), "redact"},
	{regexp.MustCompile(`(?i)\bperson's no\b`), "dismissal"},
	{regexp.MustCompile(`(?i)\bstands? at\b`), "is at"},
	{regexp.MustCompile(`(?i)\bis no [a-z]`), "is not a"},
	{regexp.MustCompile(`(?i)\bthumbs? (?:up|down)\b`), "the name of the reaction: 👍 or 👎"},
	{regexp.MustCompile(`(?i)\bwhoever\b`), "who, or anyone who"},
	{regexp.MustCompile(`(?i)\bknobs?\b`), "setting"},
	{regexp.MustCompile(`(?i)\b(?:desk|errand|station|parcel)s?\b`), "workspace, purpose, connection, shard"},
}

// standard matches phrases that look like retired ones.
var standard = regexp.MustCompile(`(?i)\bthere is no\b|\bis no longer\b`)

// retiredName matches identifiers that hold a retired word.
var retiredName = regexp.MustCompile(`(?i)hush|blacken|knob|errand`)

// TestRetiredWords reads all that a person sees: the strings, comments and names
// of the product's code, its embedded texts, and the documentation.
func TestRetiredWords(t *testing.T) {
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
		if name == "words_test.go" || strings.HasSuffix(name, "_test.go") {
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
			for i, line := range strings.Split(string(text), "\n") {
				checkWords(t, name, i+1, line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkSource checks the comments, strings and names of a Go file.
func checkSource(t *testing.T, name string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Comments {
		checkWords(t, name, fset.Position(group.Pos()).Line, strings.ReplaceAll(group.Text(), "\n", " "))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				checkWords(t, name, fset.Position(n.Pos()).Line, n.Value)
			}
		case *ast.Ident:
			if word := retiredName.FindString(n.Name); word != "" {
				t.Errorf("%s:%d: the name %s holds the retired word %q", name, fset.Position(n.Pos()).Line, n.Name, word)
			}
		}
		return true
	})
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
