package git

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

var forks template

// forked is a history with a fork: base - one - two (main), base - side (side).
func forked(t *testing.T) (f fixture, base, two, side string) {
	t.Helper()
	dir, ids := forks.copied(t, func(dir string) []string {
		f := newRepoIn(t, dir)
		base := f.commit("base", "a.txt", "1\n")
		f.commit("one", "a.txt", "2\n")
		two := f.commit("two\n\nwith a body", "a.txt", "3\n")
		f.git("tag", "-a", "-m", "release", "v1", "HEAD")
		f.git("checkout", "-q", "-b", "side", base)
		side := f.commit("side", "b.txt", "1\n")
		f.git("checkout", "-q", "main")
		return []string{base, two, side}
	})
	return fixture{t, filepath.Join(dir, "repo")}, ids[0], ids[1], ids[2]
}

func TestResolveRange(t *testing.T) {
	t.Parallel()
	f, base, two, side := forked(t)
	one := f.id("main~1")
	f.git("update-ref", "refs/heads/-oX", side)
	f.git("update-ref", "refs/heads/--upload-pack=touch", side)
	r := f.open()
	for _, test := range []struct{ spec, base, head, baseName, headName string }{
		{"main..side", two, side, "main", "side"},
		{"main...side", base, side, "main", "side"},
		{"side...main", base, two, "side", "main"},
		{"HEAD~2..HEAD", base, two, "HEAD~2", "HEAD"},
		{"HEAD~2..", base, two, "HEAD~2", "HEAD"},
		{"..side", two, side, "HEAD", "side"},
		{"HEAD~2", base, two, "HEAD~2", "HEAD"},
		{"HEAD~1", one, two, "HEAD~1", "HEAD"},
		{"side", base, two, "side", "HEAD"},
		{"v1..side", two, side, "v1", "side"},
		{two[:10] + ".." + side[:10], two, side, two[:10], side[:10]},
		{":/one..HEAD", one, two, ":/one", "HEAD"},
		{"main@{0}..side", two, side, "main@{0}", "side"},
		{"main..main", two, two, "main", "main"},
		{"-oX", base, two, "-oX", "HEAD"},
		{"-oX..--upload-pack=touch", side, side, "-oX", "--upload-pack=touch"},
	} {
		t.Run(test.spec, func(t *testing.T) {
			rg := resolve(t, r, Spec{Range: test.spec})
			log := rg.Log
			rg.Log = ""
			wantEqual(t, "range", rg, Range{
				Kind: Commits, Base: test.base, Head: test.head, BaseCommit: test.base, HeadCommit: test.head, BaseName: test.baseName, HeadName: test.headName,
			})
			if test.base == base && test.head == two {
				want := "commit " + two + "\ntwo\n\nwith a body\n\ncommit " + one + "\none\n\n"
				wantEqual(t, "log", string(log), want)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	f, _, _, _ := forked(t)
	f.git("checkout", "-q", "--orphan", "island")
	f.commit("island", "c.txt", "x\n")
	f.git("checkout", "-q", "main")
	r := f.open()
	for _, test := range []struct {
		spec      Spec
		msg, hint string
	}{
		{Spec{Range: "main~77"}, `unknown revision "main~77"`, ""},
		{Spec{Range: "zzzzzzzzzzzzz"}, `unknown revision "zzzzzzzzzzzzz"`, "git branch --all"},
		{Spec{Range: strings.Repeat("0", 40)}, "unknown revision", ""},
		{Spec{Range: "--output=X"}, `unknown revision "--output=X"`, ""},
		{Spec{Range: "--upload-pack=touch X"}, `unknown revision "--upload-pack=touch X"`, ""},
		{Spec{Range: "@{upstream}"}, "no upstream configured", ""},
		{Spec{Range: "main@{2000000}"}, `unknown revision`, ""},
		{Spec{Range: "main^{tree}"}, `"main^{tree}" is a tree, not a commit`, "A..B"},
		{Spec{Range: "main:a.txt"}, `"main:a.txt" is a blob, not a commit`, "A..B"},
		{Spec{Range: "main..a\nb"}, "not a revision", ""},
		{Spec{Range: "main..\x1b[31m"}, `unknown revision "\x1b[31m"`, ""},
		{Spec{Range: "main..a\x00b"}, "not a revision", ""},
		{Spec{Range: strings.Repeat("a", 2000)}, "not a revision", ""},
		{Spec{Range: " "}, "unknown revision", ""},
		{Spec{Range: "main...island"}, "main and island have no common ancestor", "main..island"},
		{Spec{Range: "main", Staged: true}, "cannot be combined", ""},
		{Spec{Staged: true, Worktree: true}, "cannot be combined", ""},
	} {
		wantRefused(t, r, test.spec, test.msg, test.hint)
	}
}

func TestResolveAmbiguous(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.commit("start")
	r := f.open()
	seen := map[string]string{}
	for i := 0; ; i++ {
		text := strconv.Itoa(i)
		short := r.blobID([]byte(text))[:4]
		if other, ok := seen[short]; ok {
			f.write("a", text, "b", other)
			f.git("hash-object", "-w", "a", "b")
			wantRefused(t, r, Spec{Range: short}, "is an ambiguous id", "more digits")
			return
		}
		seen[short] = text
	}
}

func TestResolveLogIsCapped(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.commit("base")
	for range 3 {
		f.commit("long\n\n" + strings.Repeat("word ", 5000))
	}
	f.write("message", "not \xff UTF-8")
	f.git("-c", "i18n.commitEncoding=none", "commit", "-q", "--allow-empty", "-F", "message")
	rg := resolve(t, f.open(), Spec{Range: "HEAD~4"})
	if n := len(rg.Log); n < logBytes || n > logBytes+16 {
		t.Errorf("%d bytes of log, want about %d", n, logBytes)
	}
	if s := string(rg.Log); strings.ToValidUTF8(s, "") != s {
		t.Error("the log is not valid UTF-8")
	}
}

func TestShallowClone(t *testing.T) {
	t.Parallel()
	f, base, _, _ := forked(t)
	c := f.clone("--depth", "1", "--no-single-branch")
	r := c.open()
	if !r.Shallow() {
		t.Error("not shallow")
	}
	wantRefused(t, r, Spec{Range: "main...origin/side"}, "no common ancestor in this shallow clone",
		"git fetch --unshallow origin (or, to fetch less: git fetch --deepen=200 origin)")
	for _, text := range []string{base, "HEAD~1", base + "..HEAD"} {
		wantRefused(t, r, Spec{Range: text}, "unknown revision",
			"the clone is shallow; fetch the missing history: git fetch --unshallow origin")
	}
	wantRefused(t, r, Spec{}, "the clone is shallow: it lacks the parent of the last commit", "git fetch --deepen=1 origin")
	if rg := resolve(t, r, Spec{Range: "main..origin/side"}); rg.Base == "" {
		t.Error("two dots need no ancestor")
	}
	c.git("checkout", "-q", "-b", "work", "origin/side", "--no-track")
	wantRefused(t, r, Spec{}, "origin/main and work have no common ancestor in this shallow clone",
		"git fetch --unshallow origin")
	c.git("checkout", "-q", "main")
	// The hint works.
	c.git("fetch", "-q", "--unshallow", "origin")
	r = c.open()
	if r.Shallow() {
		t.Error("still shallow")
	}
	resolve(t, r, Spec{Range: "main...origin/side"})
	wantEqual(t, "kind", resolve(t, r, Spec{}).Kind, LastCommit)
}

func TestSHA256(t *testing.T) {
	t.Parallel()
	f := newRepo(t, "--object-format=sha256")
	f.commit("one", "a.txt", "1\n")
	two := f.commit("two", "a.txt", "2\n")
	f.write("new.txt", "n\n")
	r := f.open()
	wantEqual(t, "head", resolve(t, r, Spec{Range: "HEAD~1"}).Head, two)
	wantChanged(t, r, Spec{}, "A new.txt")
	needs.NoError(t, os.Remove(f.path("new.txt")))
	f.git("checkout", "-q", "--orphan", "fresh")
	f.commit("root", "a.txt", "3\n")
	rg := resolve(t, r, Spec{})
	wantEqual(t, "base of the root", rg.Base, f.git("hash-object", "-t", "tree", os.DevNull))
	b := blobs(t, r)
	data, err := b.Read(rg.Head, "a.txt", 100)
	if err != nil || string(data) != "3\n" {
		t.Errorf("read %q, %v", data, err)
	}
}

// Refs that are kept in tables (git 2.45 and newer) are read like any others.
func TestReftable(t *testing.T) {
	t.Parallel()
	f := fixture{t, scratch(t)}
	if out, err := f.try("init", "-q", "-b", "main", "--ref-format=reftable"); err != nil {
		t.Skipf("needs git 2.45, which keeps refs in tables: %s", out)
	}
	f.commit("one", "a.txt", "1\n")
	f.git("checkout", "-q", "-b", "feature")
	two := f.commit("two", "a.txt", "2\n")
	r := f.open()
	rg := resolve(t, r, Spec{})
	wantEqual(t, "range", []string{rg.Head, rg.BaseName, rg.HeadName}, []string{two, "main", "feature"})
	f.write("a.txt", "3\n")
	wantChanged(t, r, Spec{Worktree: true}, "M a.txt")
}
