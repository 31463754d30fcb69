package precedent

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// named finds what a document claims to exist: paths of the repository, targets of its Makefile, and tests.
var (
	namedPath   = regexp.MustCompile("`((?:internal|cmd|docs|scripts|\\.ci)/[A-Za-z0-9_./-]*|[a-z_]+\\.go)`")
	namedLink   = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
	namedTarget = regexp.MustCompile("`make ([a-z]+)")
	namedTest   = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]+)`")
	testFunc    = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// TestDocumentsNameWhatExists keeps the documents true.
func TestDocumentsNameWhatExists(t *testing.T) {
	makefile := "\n" + string(needs.Value(os.ReadFile("Makefile"))(t))
	tests := testFuncs(t)
	for doc, text := range documents(t) {
		for _, m := range namedPath.FindAllStringSubmatch(text, -1) {
			if !exists(m[1]) && !exists(filepath.Join(filepath.Dir(doc), m[1])) {
				t.Errorf("%s names %s, which does not exist", doc, m[1])
			}
		}
		for _, m := range namedLink.FindAllStringSubmatch(text, -1) {
			if !exists(filepath.Join(filepath.Dir(doc), m[1])) {
				t.Errorf("%s links to %s, which does not exist", doc, m[1])
			}
		}
		for _, m := range namedTest.FindAllStringSubmatch(text, -1) {
			if !tests[m[1]] {
				t.Errorf("%s names %s, which is not a test", doc, m[1])
			}
		}
		for _, m := range namedTarget.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s names make %s, which is not a target", doc, m[1])
			}
		}
	}
}

// testFuncs returns the names of all tests.
func testFuncs(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	eachFile(t, os.DirFS("."), ".go", func(name, source string) {
		if strings.HasSuffix(name, "_test.go") {
			for _, m := range testFunc.FindAllStringSubmatch(source, -1) {
				tests[m[1]] = true
			}
		}
	})
	return tests
}

// documents returns the text of each document.
func documents(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	eachFile(t, os.DirFS("."), ".md", func(name, text string) {
		if path.Dir(name) == "." || strings.HasPrefix(name, "docs/") {
			docs[name] = text
		}
	})
	return docs
}

func exists(name string) bool {
	_, err := os.Stat(strings.TrimSuffix(strings.TrimSuffix(name, "..."), "/"))
	return err == nil
}

// Code in CONTRIBUTING.md: names, alone and with their package, variables of tests, and runs of single tests.
var (
	spanOfCode   = regexp.MustCompile("`([^`\n]+)`")
	goName       = regexp.MustCompile(`^(?:([a-z]+)\.)?([A-Za-z][A-Za-z0-9]*)$`)
	testVariable = regexp.MustCompile(`PRECEDENT_TEST_[A-Z]+`)
	singleTest   = regexp.MustCompile(`^go test \./(\S+) -run '(Test\w+)(?:/(\w+))?\$'$`)
)

// TestContributing: what the recipes of CONTRIBUTING.md name exists, and the tests that it runs do.
func TestContributing(t *testing.T) {
	text := string(needs.Value(os.ReadFile("CONTRIBUTING.md"))(t))
	_, recipes, found := strings.Cut(text, "\n## Add ")
	if !found {
		t.Fatal("there are no recipes")
	}
	declared, source := declarations(t)
	for _, m := range spanOfCode.FindAllStringSubmatch(recipes, -1) {
		name := goName.FindStringSubmatch(m[1])
		switch {
		case name == nil || m[1] == "err" || m[1] == "off" || m[1] == "cmd":
		case len(name[1]) > 1 && !declared[name[1]+"."+name[2]], // else a variable and its method
			len(name[1]) <= 1 && !declared[name[2]] && !exists("internal/"+name[2]):
			t.Errorf("a recipe names %s, which is not declared", m[1])
		}
	}
	for _, name := range testVariable.FindAllString(text, -1) {
		if !strings.Contains(source, name) {
			t.Errorf("no test reads %s", name)
		}
	}
	runs := 0
	for _, m := range spanOfCode.FindAllStringSubmatch(text, -1) {
		run := singleTest.FindStringSubmatch(m[1])
		if run == nil {
			continue
		}
		runs++
		if files, err := filepath.Glob(filepath.Join(run[1], "*_test.go")); err != nil || !anyContains(t, files, "\nfunc "+run[2]+"(") {
			t.Errorf("%s has no %s", run[1], run[2])
		}
		if run[3] != "" && !exists(filepath.Join(run[1], "testdata/script", run[3]+".txtar")) {
			t.Errorf("there is no story %s", run[3])
		}
	}
	if runs == 0 {
		t.Error("no single test is run")
	}
}

func anyContains(t *testing.T, files []string, part string) bool {
	t.Helper()
	return slices.ContainsFunc(files, func(file string) bool {
		return strings.Contains(string(needs.Value(os.ReadFile(file))(t)), part)
	})
}

// declarations returns the names that Go files declare, alone and after their package, and all of their source.
func declarations(t *testing.T) (declared map[string]bool, source string) {
	t.Helper()
	declared = map[string]bool{}
	var all strings.Builder
	eachFile(t, os.DirFS("."), ".go", func(name, text string) {
		all.WriteString(text)
		file := needs.Value(parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			var names []*ast.Ident
			switch n := n.(type) {
			case *ast.FuncDecl:
				names = []*ast.Ident{n.Name}
			case *ast.TypeSpec:
				names = []*ast.Ident{n.Name}
			case *ast.ValueSpec:
				names = n.Names
			case *ast.Field:
				names = n.Names
			}
			for _, ident := range names {
				declared[ident.Name], declared[file.Name.Name+"."+ident.Name] = true, true
			}
			return true
		})
	})
	return declared, all.String()
}
