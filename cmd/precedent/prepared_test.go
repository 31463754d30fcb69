package main

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// prepared are folders that tests copy: to make one takes twenty processes of git.
var prepared struct {
	sync.Mutex
	root string              // withChildren makes and deletes it
	said map[string][]string // by the folder
}

// copyPrepared fills the empty folder home with what prepare makes in such a folder, and returns
// what it says. Prepare runs once for a name; it makes repositories, whose configuration may name
// their folder.
func copyPrepared(t testing.TB, home, name string, prepare func(home string) []string) []string {
	t.Helper()
	from := filepath.Join(prepared.root, name, filepath.Base(home)) // a remote has the last part in its name
	prepared.Lock()
	defer prepared.Unlock()
	said, ok := prepared.said[from]
	if !ok {
		needs.NoError(t, os.MkdirAll(from, 0o755))
		said = prepare(from)
		prepared.said[from] = said
	}
	needs.NoError(t, os.CopyFS(home, os.DirFS(from)))
	for _, file := range []string{filepath.Join(home, "work", ".git", "config"), filepath.Join(pullOrigin(home), "config")} {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, bytes.ReplaceAll(text, []byte(from), []byte(home)), 0o644)
		}
		needs.NoError(t, err)
	}
	return said
}

// pullOrigin is the repository of the forge in a prepared folder.
func pullOrigin(home string) string { return filepath.Join(home, "forge", "octo", "app.git") }

// preparePull makes the repository of defectiveRepository and that of its forge, and says main, the
// pull request's head and its diff.
func preparePull(t testing.TB, home string) []string {
	t.Helper()
	work, origin := defectiveRepository(t, home, "work"), pullOrigin(home)
	runGit(t, home, work, "clone", "-q", "--mirror", work, origin)
	runGit(t, home, origin, "update-ref", "refs/pull/7/head", "refs/heads/feature")
	return []string{
		runGit(t, home, origin, "rev-parse", "main"), runGit(t, home, origin, "rev-parse", "feature"),
		runGit(t, home, origin, "diff", "main...feature"),
	}
}

// prepareShop is preparePull after a push of the file with the flaws, and says its head and diff, too.
func prepareShop(t testing.TB, home string) []string {
	t.Helper()
	said, work, origin := preparePull(t, home), filepath.Join(home, "work"), pullOrigin(home)
	runGit(t, home, work, "checkout", "-q", "-B", "feature", "main")
	till := filepath.Join(work, "src", "till.js")
	writeFile(t, till, tillFile, 0o644)
	runGit(t, home, work, "add", "-A")
	runGit(t, home, work, "commit", "-q", "-m", "Add a till")
	runGit(t, home, work, "push", "-q", "-f", origin, "feature", "main")
	runGit(t, home, origin, "update-ref", "refs/pull/7/head", "refs/heads/feature")
	return append(said, runGit(t, home, origin, "rev-parse", "feature"), runGit(t, home, origin, "diff", "main...feature"))
}
