package precedent

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named finds what a document claims to exist: paths of the repository, and
// targets of its Makefile.
var (
	namedPath   = regexp.MustCompile("`((?:internal|cmd|docs|scripts|\\.ci)/[A-Za-z0-9_./-]*|[a-z_]+\\.go)`")
	namedLink   = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
	namedTarget = regexp.MustCompile("`make ([a-z]+)")
)

// TestDocumentsNameWhatExists keeps the documents true.
func TestDocumentsNameWhatExists(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
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
		for _, m := range namedTarget.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains("\n"+string(makefile), "\n"+m[1]+":") {
				t.Errorf("%s names make %s, which is no target", doc, m[1])
			}
		}
	}
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
