package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra/doc"

	"github.com/precedent-dev/precedent/internal/needs"
)

// manDir is where make man wants the pages. A test writes them, so that the
// program does not carry what makes them.
var manDir = flag.String("man", "", "write the manual pages into this `folder`")

func writeMan(t *testing.T, dir string) map[string]string {
	t.Helper()
	needs.NoError(t, os.MkdirAll(dir, 0o755))
	root := (&app{}).root()
	root.DisableAutoGenTag = true
	needs.NoError(t, doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Precedent", Manual: "Precedent"}, dir))
	files := needs.Value(filepath.Glob(filepath.Join(dir, "precedent*.1")))(t)
	pages := map[string]string{}
	for _, file := range files {
		pages[filepath.Base(file)] = read(t, file)
	}
	return pages
}

// TestManPages: a page for each command that people are shown, the same each time.
func TestManPages(t *testing.T) {
	if *manDir != "" {
		writeMan(t, *manDir)
		return
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1767604800") // https://reproducible-builds.org/specs/source-date-epoch
	pages := writeMan(t, t.TempDir())
	if diff := cmp.Diff(pages, writeMan(t, t.TempDir())); diff != "" {
		t.Errorf("the pages differ from one time to the next:\n%s", diff)
	}
	if all := commandsBelow((&app{}).root()); len(pages) != len(all) {
		t.Errorf("%d pages for %d commands", len(pages), len(all))
	}
}
