package fixround

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/git"
)

// merging is a merge with conflicts.
type merging struct {
	*shop
	ours, theirs string
	merge        git.Merge
}

// newMerging merges a change of files into another change of them; an empty text deletes.
func newMerging(t *testing.T, before, ours, theirs map[string]string) *merging {
	t.Helper()
	m := &merging{shop: &shop{t: t, dir: t.TempDir()}}
	run(t, m.dir, "init", "-q", "-b", "main")
	commit := func(files map[string]string) string {
		for name, text := range files {
			if text == "" {
				m.must(os.Remove(m.dir + "/" + name))
			} else {
				put(t, m.dir, name, text)
			}
		}
		run(t, m.dir, "add", "-A", "-f")
		run(t, m.dir, "commit", "-q", "--allow-empty", "-m", "x")
		return run(t, m.dir, "rev-parse", "HEAD")
	}
	first := commit(before)
	m.theirs = commit(theirs)
	run(t, m.dir, "checkout", "-q", "-b", "topic", first)
	m.ours = commit(ours)
	var err error
	m.repo, err = git.Open(t.Context(), m.dir, git.Options{TempDir: t.TempDir()})
	m.must(err)
	t.Cleanup(func() { _ = m.repo.Close() })
	m.merge, err = m.repo.MergeCommits(t.Context(), m.ours, m.theirs)
	m.must(err)
	m.copied = m.open(m.merge.Tree)
	return m
}

// lines3 is a text of three parts with rules that look like marks between them.
func lines3(a, b string) string {
	return "Title\n=======\n\n<<<<<<< not a mark\n" + a + "\nmiddle\n" + strings.Repeat("same\n", 10) + b +
		"\nend\n>>>>>>> neither\n"
}

func TestResolved(t *testing.T) {
	files := func(a, b string) map[string]string { return map[string]string{"a.md": lines3(a, b), "b.txt": "b\n"} }
	origin := newMerging(t, files("one", "two"), files("our one", "our two"), files("their one", "their two"))
	paths, err := Conflicts(origin.merge, limits)
	if err != nil || len(paths) != 1 || paths[0] != "a.md" {
		t.Fatalf("%q, %v", paths, err)
	}
	merged := lines3("one", "two")
	const (
		mark      = "a mark of a conflict is left"
		elsewhere = "lines outside of the conflict were changed"
	)
	for _, test := range []struct {
		name, text string // of a.md; empty for what git wrote
		do         func(*shop)
		want       string // empty if it is resolved
	}{
		{"resolved", lines3("our one\ntheir one", "two"), nil, ""},
		{"both dropped", strings.ReplaceAll(strings.ReplaceAll(lines3("X", "Y"), "X\n", ""), "Y\n", ""), nil, ""},
		{"not at all", "", nil, "a.md: its conflict is not resolved"},
		{"rule left", lines3("our one\n=======\ntheir one", "two"), nil, mark + ": ======="},
		{"mark left", lines3("our one\n>>>>>>> "+origin.theirs, "two"), nil, mark},
		{
			"lines of a side again and again", lines3(strings.Repeat("our one\n", 600)+"their one", "our two"), nil,
			"the resolution has 599 lines that no side has",
		},
		{"hidden characters", lines3("our \u202eone", "two"), nil, "a character that is not shown: U+202E"},
		{"elsewhere", strings.Replace(merged, "middle", "MIDDLE", 1), nil, elsewhere},
		{"at the beginning", "more\n" + merged, nil, elsewhere},
		{"another file", merged, edit("b.txt", "changed\n"), "b.txt has no conflict, or was deleted"},
		{"a new file", merged, edit("c.txt", "new\n"), "c.txt has no conflict, or was deleted"},
		{"a workflow", merged, edit(".github/workflows/x.yml", "on: push\n"), "it is a pipeline of CI"},
		{"deleted", "", remove("a.md"), "a.md has no conflict, or was deleted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := origin.another(t)
			if test.text != "" {
				s.put("a.md", test.text)
			}
			if test.do != nil {
				test.do(s)
			}
			tree, err := s.copied.Resolved(t.Context(), paths, origin.ours, origin.theirs, limits)
			var no *RefusalError
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want == "":
				if text, err := s.repo.Blobs(t.Context()).Read(tree, "a.md", 10_000); err != nil || string(text) != test.text {
					t.Errorf("%q, %v", text, err)
				}
			case !errors.As(err, &no) || !strings.Contains(err.Error(), test.want):
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestConflictsForPeople: an engine gets no conflict that is not one of lines, and none in a file that
// it may not change.
func TestConflictsForPeople(t *testing.T) {
	for name, want := range map[string]string{
		".github/workflows/a.yml": "it is a pipeline", ".precedent.yaml": "it steers reviews",
		"go.sum": "it is a lock file", "deleted by one side": "both sides did not keep it",
	} {
		t.Run(name, func(t *testing.T) {
			file := func(text string) map[string]string { return map[string]string{name: text} }
			ours := file("2\n")
			if strings.HasPrefix(name, "deleted") {
				ours = file("")
			}
			m := newMerging(t, file("1\n"), ours, file("3\n"))
			_, err := Conflicts(m.merge, limits)
			var no *RefusalError
			if !errors.As(err, &no) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// TestUnresolvedAttacks: texts that look like marks do not hide a conflict.
func TestUnresolvedAttacks(t *testing.T) {
	const ours, theirs = "aaaa", "bbbb"
	mark := "<<<<<<< aaaa\nx\n=======\ny\n>>>>>>> bbbb\n"
	for name, test := range map[string]struct{ before, after string }{
		"no marks":      {"a\n", "b\n"},
		"no rule":       {"<<<<<<< aaaa\nx\n>>>>>>> bbbb\n", "x\n"},
		"windows lines": {"<<<<<<< aaaa\r\nx\r\n=======\r\ny\r\n>>>>>>> bbbb\r\n", "x\r\n=======\r\n"},
		"joined lines":  {"a\n" + mark + "b\n", "a\nxb\n"},
		"lost line":     {"a\n" + mark + "b\n" + mark + "c\n", "a\nx\ny\nc\n"},
	} {
		if _, why := unresolved(test.before, test.after, ours, theirs); why == "" {
			t.Errorf("%s: it counts as resolved", name)
		}
	}
	if _, why := unresolved("a\r\n<<<<<<< aaaa\r\nx\r\n=======\r\ny\r\n>>>>>>> bbbb\r\nb\r\n", "a\r\ny\r\nb\r\n", ours,
		theirs); why != "" {
		t.Errorf("windows lines: %s", why)
	}
}
