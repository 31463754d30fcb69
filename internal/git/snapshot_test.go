package git

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent/internal/needs"
)

func TestStagedAndWorkTree(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.commit("one", "both.txt", "1\n", "staged.txt", "1\n", "unstaged.txt", "1\n", "same.txt", "1\n", "deleted.txt",
		"deleted\n", "removed.txt", "removed\n", "moved.txt", strings.Repeat("a long line\n", 20), "dir/x", "x\n",
		"run.sh", "#!/bin/sh\n")
	f.write("staged.txt", "2\n", "both.txt", "2\n", "added.txt", "1\n")
	f.git("add", "staged.txt", "both.txt", "added.txt")
	f.git("rm", "-q", "--cached", "removed.txt")
	f.git("mv", "moved.txt", "renamed.txt")
	f.write("planned.txt", "later\n")
	f.git("add", "-N", "planned.txt")
	f.write("both.txt", "3\n", "unstaged.txt", "2\n", "new/untracked.txt", "1\n", ".gitignore", "*.log\n", "noise.log",
		"x")
	needs.NoError(t, errors.Join(os.Remove(f.path("deleted.txt")), os.RemoveAll(f.path("dir")), os.Chmod(f.path("run.sh"), 0o755)))
	f.write("dir", "a file now\n")
	r := f.open()
	head := f.id("HEAD")
	f.untouched(r, func() {
		rg := resolve(t, r, Spec{Staged: true})
		wantEqual(t, "staged", changedPaths(t, r, rg), []string{
			"A added.txt", "M both.txt", "D removed.txt", "R moved.txt renamed.txt", "M staged.txt",
		})
		wantEqual(t, "staged names",
			[]string{string(rg.Kind), rg.Base, rg.BaseCommit, rg.BaseName, rg.HeadName, rg.Why, string(rg.Log)},
			[]string{"staged", head, head, "HEAD", "staged changes", "", ""})
		b := r.Blobs(t.Context())
		wantRead(t, b, rg.Head, "both.txt", "2\n")
		rg = resolve(t, r, Spec{Worktree: true})
		wantEqual(t, "work tree", changedPaths(t, r, rg), []string{
			"A .gitignore", "A added.txt", "M both.txt", "D deleted.txt", "A dir", "D dir/x", "A new/untracked.txt",
			"A planned.txt", "R moved.txt renamed.txt", "M run.sh", "M staged.txt", "M unstaged.txt",
		})
		wantEqual(t, "skipped", rg.Skipped, nil)
		wantRead(t, b, rg.Head, "both.txt", "3\n")
		if text := diffText(t, r, rg); !strings.Contains(text, "old mode 100644\nnew mode 100755\n") {
			t.Error("the mode of run.sh is lost")
		}
	})
	// The oracle: what git itself would commit. (removed.txt is still there, so -A adds it again.)
	f.git("add", "-A", ".")
	wantEqual(t, "tree", resolve(t, r, Spec{Worktree: true}).Head, f.git("write-tree"))
	wantEqual(t, "staged tree", resolve(t, r, Spec{Staged: true}).Head, f.git("write-tree"))
}

func TestSnapshotOfConflicts(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.commit("base", "a.txt", "1\n", "gone.txt", "1\n", "big.txt", "1\n", "fine.txt", "1\n")
	f.git("checkout", "-q", "-b", "theirs")
	f.commit("theirs", "a.txt", "theirs\n", "gone.txt", "theirs\n", "big.txt", "theirs\n", "added.txt", "theirs\n")
	f.git("checkout", "-q", "main")
	f.commit("ours", "a.txt", "ours\n", "big.txt", "ours\n", "added.txt", "ours\n")
	f.git("rm", "-q", "gone.txt")
	f.commit("ours too")
	if out, err := f.try("merge", "-q", "theirs"); err == nil {
		t.Fatalf("no conflict: %s", out)
	}
	f.write("big.txt", strings.Repeat("x", workFileBytes+1))
	r := f.open()
	f.untouched(r, func() {
		wantRefused(t, r, Spec{Staged: true}, "unresolved conflicts", "--worktree")
		rg := resolve(t, r, Spec{Worktree: true})
		wantEqual(t, "work tree", changedPaths(t, r, rg), []string{"M a.txt", "M added.txt", "A gone.txt"})
		wantEqual(t, "skipped", rg.Skipped, []skippedFile{{Path: "big.txt", Reason: "larger than 8 MiB"}})
		if text := diffText(t, r, rg); !strings.Contains(text, "+<<<<<<< HEAD") {
			t.Errorf("no conflict markers in\n%s", text)
		}
	})
}

// Indexes in their rarer forms, and the index of a commit in the making.
func TestSnapshotOfOtherIndexes(t *testing.T) {
	t.Parallel()
	for name, setUp := range map[string]func(f fixture) Options{
		"split": func(f fixture) Options { f.git("update-index", "--split-index"); return Options{} },
		"sparse": func(f fixture) Options {
			f.git("sparse-checkout", "init", "--cone", "--sparse-index")
			f.git("sparse-checkout", "set", "in")
			return Options{}
		},
		"of a hook": func(f fixture) Options {
			needs.NoError(f.t, os.Rename(f.path(".git/index"), f.path(".git/next-index")))
			f.write(".git/index", "not an index")
			return Options{Index: ".git/next-index"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := repoOf(t, "in/a.txt", "1\n", "out/b.txt", "1\n", "top.txt", "1\n")
			r := f.openAt(f.dir, setUp(f))
			f.untouched(r, func() {
				wantEqual(t, "clean", resolve(t, r, Spec{Worktree: true}).Head, f.id("HEAD^{tree}"))
				wantEqual(t, "clean", resolve(t, r, Spec{Staged: true}).Head, f.id("HEAD^{tree}"))
			})
			f.write("in/a.txt", "2\n", "in/new.txt", "1\n")
			f.untouched(r, func() { wantChanged(t, r, Spec{Worktree: true}, "M in/a.txt", "A in/new.txt") })
		})
	}
}

func TestSnapshotOfABrokenIndex(t *testing.T) {
	t.Parallel()
	f := repoOf(t, "a.txt", "1\n")
	f.write(".git/index", "DIRC nonsense")
	r := f.open()
	for _, spec := range []Spec{{Staged: true}, {Worktree: true}, {}} {
		wantRefused(t, r, spec, "index file", "")
	}
	r = f.openAt(f.dir, Options{Index: "no/such/index"})
	wantRefused(t, r, Spec{Staged: true}, "no such file", "")
}

// A file that changes without a change of its size or time right after the
// index was written is still seen: git compares with the index's own time.
func TestSnapshotSeesRacyChanges(t *testing.T) {
	t.Parallel()
	f := repoOf(t, "a.txt", "1\n")
	fi := needs.Value(os.Stat(f.path("a.txt")))(t)
	f.write("a.txt", "2\n")
	f.git("config", "core.trustctime", "false")
	needs.NoError(t, os.Chtimes(f.path("a.txt"), time.Time{}, fi.ModTime()))
	needs.NoError(t, os.Chtimes(f.path(".git/index"), time.Time{}, fi.ModTime()))
	r := f.open()
	wantChanged(t, r, Spec{Worktree: true}, "M a.txt")
}

// What a snapshot says of paths is what git says, whatever they are called.
func TestOddPaths(t *testing.T) {
	t.Parallel()
	odd := []string{
		"new\nline", `quo"te`, "tab\there", "-leading", "--output=X", ":(exclude)*", ":/top", ":!x", "späce ünïcode 日本", "back`tick $(x)",
		"sp ace ", "*.go", "[a]", "#hash", "!bang", "esc\x1b[31m", "invalid\xff", "a/-b/\nc", "trailing\\slash", "dot./x", "...",
	}
	f := newRepo(t)
	f.commit("base", "plain", "x\n")
	for _, name := range odd {
		f.write(name, "before\n")
	}
	f.write("plain/../under", "x\n")
	r := f.open()
	rg := resolve(t, r, Spec{Worktree: true})
	f.git("add", "-A", ".")
	wantEqual(t, "untracked", rg.Head, f.git("write-tree"))
	wantEqual(t, "skipped", rg.Skipped, nil)
	f.git("commit", "-q", "-m", "odd")
	for _, name := range odd {
		f.write(name, "after\n")
	}
	rg = resolve(t, r, Spec{Worktree: true})
	needs.Equal(t, len(odd), len(changedPaths(t, r, rg)))
	b := r.Blobs(t.Context())
	for _, name := range odd {
		for rev, want := range map[string]string{rg.Base: "before\n", rg.Head: "after\n"} {
			wantRead(t, b, rev, name, want)
		}
		if _, err := b.Read(rg.Base, name+"\nx", 100); err == nil {
			t.Errorf("%q has a neighbour", name)
		}
		needs.Result(t, name, []byte("after\n"))(r.WorkFile(name, 100))
	}
	dir := scratch(t)
	needs.Len(t, "export", 0)(r.Export(t.Context(), rg.Head, dir, ExportLimits{}))
	for _, name := range odd {
		wantContent(t, filepath.Join(dir, name), "after\n")
	}
}

// The forms that a file can have in a work tree and in the repository, drawn
// at random: the snapshot is the tree that git add -A makes.
func TestSnapshotEqualsGitAdd(t *testing.T) {
	t.Parallel()
	line := rapid.SampledFrom([]string{
		"a", "b\t", "$Id$", "$Id: x $", "$Id: x", "nul\x00", "bell\a\a\a", "\r", "é", strings.Repeat("w", 200), "\x1a",
	})
	end := rapid.SampledFrom([]string{"\n", "\r\n", "\n", "\r\n", ""})
	content := rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 5).Draw(t, "lines") {
			b.WriteString(line.Draw(t, "line") + end.Draw(t, "end"))
		}
		return b.String()
	})
	rule := rapid.SampledFrom([]string{
		"text", "-text", "text=auto", "text=input", "!text", "eol=lf", "eol=crlf", "text=auto eol=lf", "text=auto eol=crlf", "crlf", "-crlf",
		"crlf=input", "ident", "binary", "-text eol=lf", "text=strange", "filter", "ident text",
	})
	if err := flag.Set("rapid.checks", strconv.Itoa(needs.Rounds(100, 20))); err != nil { // each runs git several times
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		f := fixture{t, filepath.Join(scratch(t), "repo")}
		f.write(".git/HEAD", "ref: refs/heads/main\n", ".git/objects/x/x", "", ".git/refs/x/x", "")
		config := "[core]\n\trepositoryformatversion = 0\n\tsafecrlf = false\n"
		for _, path := range []string{".gitattributes", ".git/info/attributes"} {
			var rules strings.Builder
			for _, glob := range []string{"*", "a*", "*.txt"} {
				if rapid.Bool().Draw(rt, "has rule") {
					rules.WriteString(glob + " " + rule.Draw(rt, "rule") + "\n")
				}
			}
			f.write(path, rules.String())
		}
		names := []string{"a.txt", "ab", "dir/c.txt", "dir/d"}
		for _, name := range names {
			if rapid.Bool().Draw(rt, "committed") {
				f.write(name, content.Draw(rt, "content"))
			}
		}
		f.git("add", "-A", ".")
		if value := rapid.SampledFrom([]string{"", "true", "input", "false"}).Draw(rt, "autocrlf"); value != "" {
			config += "\tautocrlf = " + value + "\n"
		}
		f.write(".git/config", config)
		for _, name := range names {
			switch rapid.IntRange(0, 3).Draw(rt, "edit") {
			case 0, 1:
				f.write(name, content.Draw(rt, "content"))
			case 2:
				os.Remove(f.path(name))
			}
		}
		rg := resolve(t, f.open(), Spec{Worktree: true})
		f.git("add", "-A", ".")
		if want := f.git("write-tree"); rg.Head != want {
			rt.Fatalf("tree %s, want %s:\n%s", rg.Head, want, f.git("status", "--short"))
		}
	})
}

// Only the user's own choices and the repository's say what line ends mean.
func TestLineEnds(t *testing.T) {
	t.Parallel()
	home := scratch(t)
	fixture{t, home}.write(".gitconfig", "[core]\n\tautocrlf = true\n\texcludesFile = ~/ignored\n", "ignored", "*.bak\n")
	f := repoOf(t, "lf.txt", "1\n2\n", "crlf.txt", "1\r\n2\r\n")
	f.write("lf.txt", "1\r\n2\r\n3\r\n", "crlf.txt", "1\r\n2\r\n3\r\n", "x.bak", "x")
	r := f.openAt(f.dir, Options{Home: home})
	rg := resolve(t, r, Spec{Worktree: true})
	wantEqual(t, "work tree", changedPaths(t, r, rg), []string{"M crlf.txt", "M lf.txt"})
	if text := diffText(t, r, rg); strings.Count(text, "\n+") != 4 { // a "+++" and a line each
		t.Errorf("line ends that did not change are in\n%q", text)
	}
	// Without that home the same files differ in every line, and nothing is ignored.
	r = f.open()
	rg = resolve(t, r, Spec{Worktree: true})
	wantEqual(t, "work tree", changedPaths(t, r, rg), []string{"M crlf.txt", "M lf.txt", "A x.bak"})
	if text := diffText(t, r, rg); !strings.Contains(text, "-1\n-2\n+1\r\n+2\r\n+3\r\n") {
		t.Errorf("changed line ends are not in\n%q", text)
	}
}

func TestUserIgnores(t *testing.T) {
	t.Parallel()
	home := scratch(t)
	fixture{t, home}.write(".config/git/ignore", "*.bak\n", "elsewhere/git/ignore", "*.tmp\n")
	f := repoOf(t, "a.txt", "1\n")
	f.write("x.bak", "x", "x.tmp", "x")
	wantChanged(t, f.open(), Spec{Worktree: true}, "A x.bak", "A x.tmp")
	wantChanged(t, f.openAt(f.dir, Options{Home: home}), Spec{Worktree: true}, "A x.tmp")
	elsewhere := Options{Home: home, ConfigHome: filepath.Join(home, "elsewhere")}
	wantChanged(t, f.openAt(f.dir, elsewhere), Spec{Worktree: true}, "A x.bak")
}

// Snapshots of linked work trees and submodules are of their own index.
func TestSnapshotOfOtherWorkTrees(t *testing.T) {
	t.Parallel()
	f := repoOf(t, "a.txt", "1\n")
	linked := fixture{t, filepath.Join(scratch(t), "linked")}
	f.git("worktree", "add", "-q", "-b", "side", linked.dir)
	super := newRepo(t)
	super.git("submodule", "add", "-q", "file://"+f.dir, "module")
	super.commit("with a module")
	module := fixture{t, super.path("module")}
	f.write("a.txt", "main\n")
	for _, g := range []fixture{linked, module} {
		g.write("a.txt", "here\n", "new.txt", "n\n")
		g.git("add", "new.txt")
		r := g.open()
		g.untouched(r, func() {
			wantChanged(t, r, Spec{Staged: true}, "A new.txt")
			wantEqual(t, "work tree", changedPaths(t, r, resolve(t, r, Spec{Worktree: true})),
				[]string{"M a.txt", "A new.txt"})
		})
	}
	// From outside a submodule is its commit; what is not committed in it is its own affair.
	r := super.open()
	wantChanged(t, r, Spec{Worktree: true})
	module.commit("more")
	super.git("add", "module")
	wantChanged(t, r, Spec{Staged: true}, "M module")
	wantChanged(t, r, Spec{Worktree: true}, "M module")
}

// TestSnapshotCaps: a large file, and a folder with many files that nothing ignores. Those with two names are skipped.
func TestSnapshotCaps(t *testing.T) {
	t.Parallel()
	f := repoOf(t, "a.txt", "1\n", "big.bin", "small\n")
	// Names of few files are made faster than files.
	files, names := needs.Rounds(200_000, untrackedFiles+7), 20_000
	for i := range files {
		if name := fmt.Sprintf("many/%06d", i); i%names == 0 {
			f.write(name, "x\n")
		} else {
			needs.NoError(t, os.Link(f.path(fmt.Sprintf("many/%06d", i-i%names)), f.path(name)))
		}
	}
	f.write("big.bin", strings.Repeat("x", workFileBytes+1), "a.txt", "2\n")
	r := f.open()
	rg := resolve(t, r, Spec{Worktree: true})
	last := len(rg.Skipped) - 1
	needs.Equal(t, untrackedFiles+1, last)
	wantEqual(t, "skipped", []skippedFile{rg.Skipped[0], rg.Skipped[last]}, []skippedFile{
		{Path: "big.bin", Reason: "larger than 8 MiB"},
		{
			Path: ".",
			Reason: fmt.Sprint(files-untrackedFiles) + " more untracked files: only 5000 are read; add folders with " +
				"generated files to .gitignore",
		},
	})
	wantEqual(t, "changed", changedPaths(t, r, rg), []string{"M a.txt"})
}

func TestSnapshotTotalIsCapped(t *testing.T) {
	t.Parallel()
	f := repoOf(t, "a.txt", "1\n")
	const files = workTotalBytes/workFileBytes + 2
	for i := range files {
		name := fmt.Sprintf("big%02d", i)
		f.write(name, "")
		needs.NoError(t, os.Truncate(f.path(name), workFileBytes))
	}
	rg := resolve(t, f.open(), Spec{Worktree: true})
	if len(rg.Skipped) != 2 || rg.Skipped[0].Reason != "changed files of more than 128 MiB in total" {
		t.Errorf("skipped %v", rg.Skipped)
	}
}

func TestWorkFile(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.write("dir/a.txt", "abc")
	needs.NoError(t, os.Symlink("a.txt", f.path("dir/link")))
	needs.NoError(t, os.Symlink("dir", f.path("linked")))
	r := f.open()
	needs.Result(t, "WorkFile", []byte("abc"))(r.WorkFile("dir/a.txt", 3))
	if _, err := r.WorkFile("dir/a.txt", 2); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	for _, path := range []string{"", ".", "dir", "dir/none", "dir/link", "linked/a.txt", "../repo/dir/a.txt", "/etc/passwd", "dir/a.txt/", "dir//a.txt", "dir/a.txt/x", "a\x00b", strings.Repeat("x", 300)} {
		if data, err := r.WorkFile(path, 100); !errors.Is(err, ErrNotFound) {
			t.Errorf("WorkFile(%q) = %q, %v", path, data, err)
		}
	}
}
