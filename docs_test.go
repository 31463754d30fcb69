package precedent

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named finds what a document claims to exist: paths of the repository, targets of
// its Makefile, and tests.
var (
	namedPath   = regexp.MustCompile("`((?:internal|cmd|docs|scripts|\\.ci)/[A-Za-z0-9_./-]*|[a-z_]+\\.go)`")
	namedLink   = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
	namedTarget = regexp.MustCompile("`make ([a-z]+)")
	namedTest   = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]+)`")
	testFunc    = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// TestDocumentsNameWhatExists keeps the documents true.
func TestDocumentsNameWhatExists(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	tests := testFuncs(t)
	for _, doc := range documents(t) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range namedPath.FindAllStringSubmatch(string(text), -1) {
			if !exists(m[1]) && !exists(filepath.Join(filepath.Dir(doc), m[1])) {
				t.Errorf("%s names %s, which does not exist", doc, m[1])
			}
		}
		for _, m := range namedLink.FindAllStringSubmatch(string(text), -1) {
			if !exists(filepath.Join(filepath.Dir(doc), m[1])) {
				t.Errorf("%s links to %s, which does not exist", doc, m[1])
			}
		}
		for _, m := range namedTest.FindAllStringSubmatch(string(text), -1) {
			if !tests[m[1]] {
				t.Errorf("%s names %s, which is not a test", doc, m[1])
			}
		}
		for _, m := range namedTarget.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains("\n"+string(makefile), "\n"+m[1]+":") {
				t.Errorf("%s names make %s, which is not a target", doc, m[1])
			}
		}
	}
}

// testFuncs returns the names of all tests.
func testFuncs(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	for _, dir := range []string{".", "cmd", "internal"} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && dir == "." && name != "." {
				return fs.SkipDir
			}
			if err != nil || !strings.HasSuffix(name, "_test.go") {
				return err
			}
			source, err := os.ReadFile(name)
			for _, m := range testFunc.FindAllStringSubmatch(string(source), -1) {
				tests[m[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return tests
}

func documents(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("docs", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			docs = append(docs, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func exists(name string) bool {
	_, err := os.Stat(strings.TrimSuffix(strings.TrimSuffix(name, "..."), "/"))
	return err == nil
}
