package review

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
)

// commits is a repository with one commit of each tree, and the diff of the two.
// Everything is made by git at once, which for hundreds of files takes a fraction
// of a second.
func commits(tb testing.TB, base, head files) (dir, patch string) {
	tb.Helper()
	dir = tb.TempDir()
	git := gitIn(tb, dir)
	git("init", "-q")
	write(tb, dir, base)
	git("add", "-A")
	git("commit", "-q", "--allow-empty", "-m", "base")
	for path := range base {
		if err := os.Remove(filepath.Join(dir, path)); err != nil {
			tb.Fatal(err)
		}
	}
	write(tb, dir, head)
	git("add", "-A")
	git("commit", "-q", "--allow-empty", "-m", "head")
	return dir, git("diff", "--histogram", "-M", "HEAD~1", "HEAD")
}

// changed is the change from one tree to another as a review gets it, with its
// guide, and the text of the diff.
func changed(tb testing.TB, base, head files) (in Input, patch string) {
	tb.Helper()
	_, patch = commits(tb, base, head)
	return asInput(tb, base, head, patch), patch
}

func asInput(tb testing.TB, base, head files, patch string) Input {
	tb.Helper()
	read := func(side precedent.Side, path string) ([]byte, error) {
		tree := head
		if side == precedent.Left {
			tree = base
		}
		text, ok := tree[path]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
	change := parse(tb, patch)
	old := func(path string) ([]byte, error) { return read(precedent.Left, path) }
	change.Classify(old, nil)
	var paths []string
	for i := range change.Files {
		paths = append(paths, change.Files[i].Path)
	}
	g, failures := guide.Load(old, guide.Candidates(paths))
	return Input{
		Repo: theRepo, Base: "base", Head: "head", Change: change, Read: read, Guide: g, Failures: failures,
		Tree:  func(context.Context) (string, error) { return "", errors.New("no tree here") },
		Now:   func() time.Time { return time.Unix(1_700_000_000, 0) },
		NewID: func() string { return "id" },
	}
}

func write(tb testing.TB, dir string, tree files) {
	tb.Helper()
	for path, text := range tree {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}
