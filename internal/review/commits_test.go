package review

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
)

// patches are what patchOf has said, by what it was asked.
var patches sync.Map

// patchOf is the diff from one tree to another, as git prints it with the options of a review and more. Nothing is
// written but git's own database, and equal trees are compared once.
func patchOf(tb testing.TB, base, head files, more ...string) string {
	tb.Helper()
	in := history(base, head)
	asked := strings.Join(more, " ") + "\n" + in
	if said, ok := patches.Load(asked); ok {
		return said.(string)
	}
	git := gitIn(tb, tb.TempDir(), in)
	git("init", "-q", "--bare", "-b", "main", "--template=")
	git("fast-import", "--quiet")
	patch := git(append(append([]string{"diff", "--histogram", "-M"}, more...), "main~1", "main")...)
	patches.Store(asked, patch)
	return patch
}

// history is one commit of each tree, for fast-import.
func history(trees ...files) string {
	var in strings.Builder
	for _, tree := range trees {
		in.WriteString("commit refs/heads/main\ncommitter T <t@example.com> 1700000000 +0000\ndata 0\ndeleteall\n")
		for _, path := range slices.Sorted(maps.Keys(tree)) {
			fmt.Fprintf(&in, "M 100644 inline \"%s\"\ndata %d\n%s\n", cString.Replace(path), len(tree[path]), tree[path])
		}
	}
	return in.String()
}

// cString quotes a path for fast-import.
var cString = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// commits is a repository with one commit of each tree, the second one checked out.
func commits(tb testing.TB, base, head files) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	git := gitIn(tb, dir, history(base, head))
	git("init", "-q", "-b", "main")
	git("fast-import", "--quiet")
	git("reset", "-q", "--hard")
	return dir
}

// guided is the input of a review of the change from one tree to another, with its guide.
func guided(tb testing.TB, base, head files) Input {
	tb.Helper()
	in := inputOf(tb, base, head)
	var paths []string
	for i := range in.Change.Files {
		paths = append(paths, in.Change.Files[i].Path)
	}
	old := func(path string) ([]byte, error) { return in.Read(precedent.Left, path) }
	in.Guide, in.Failures = guide.Load(old, guide.Candidates(paths))
	return in
}
