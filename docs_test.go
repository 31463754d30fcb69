package precedent

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// named finds what a document claims to exist: paths of the repository, targets of its Makefile, and tests.
var (
	namedPath   = regexp.MustCompile("`((?:internal|cmd|docs|scripts|\\.ci)/[A-Za-z0-9_./-]*|[a-z_]+\\.go)`")
	namedLink   = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
	namedTarget = regexp.MustCompile("`make ([a-z]+)")
	namedTest   = regexp.MustCompile("(?:`|-run ')((?:Test|Fuzz)[A-Z][A-Za-z0-9]+)[`/$']")
	testFunc    = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// TestDocumentsNameWhatExists keeps the documents true.
func TestDocumentsNameWhatExists(t *testing.T) {
	makefile := "\n" + string(needs.Value(os.ReadFile("Makefile"))(t))
	tests := namesOfTests(t)
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

// namesOfTests returns the names of all tests.
func namesOfTests(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	eachFile(t, os.DirFS("."), ".go", func(_, source string) {
		for _, m := range testFunc.FindAllStringSubmatch(source, -1) {
			tests[m[1]] = true
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
