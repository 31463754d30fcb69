package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestBlobs(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	needs.NoError(t, os.Symlink("../../etc/passwd", f.path("link")))
	f.write("sub/CLAUDE.md", "in sub\n", "empty", "", "no-newline", "x")
	id := f.commit("one", "a.txt", "hello\n")
	tree := f.id("HEAD^{tree}")
	r := f.open()
	b := r.Blobs(t.Context())
	for _, rev := range []string{id, tree} {
		for path, want := range map[string]string{
			"a.txt": "hello\n", "sub/CLAUDE.md": "in sub\n", "empty": "", "no-newline": "x", "link": "../../etc/passwd",
		} {
			wantRead(t, b, rev, path, want)
		}
		for _, path := range []string{
			"none", "sub", "sub/", "", ".", "./a.txt", "../a.txt", "/a.txt", "sub/../a.txt", "a.txt/x", "a\x00b", "new\nline", "\n", "\n\n", "a.txt\n",
			"link/passwd", strings.Repeat("x", longestPath+1), strings.Repeat("x/", 4000) + "x", "a.txt missing\n" + id + " blob 1000000",
		} {
			if data, err := b.Read(rev, path, 100); !errors.Is(err, ErrNotFound) {
				t.Errorf("Read(%s, %.40q) = %q, %v", rev, path, data, err)
			}
		}
	}
	if _, err := b.Read(id, "a.txt", 5); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "a.txt") {
		t.Errorf("error %v", err)
	}
	needs.Result(t, "ReadID", []byte("hello\n"))(b.ReadID(f.id("HEAD:a.txt"), 6))
	if _, err := b.ReadID(tree, 100); !errors.Is(err, ErrNotFound) {
		t.Errorf("a tree was read: %v", err)
	}
	// Revisions are ids; their text is never git's to interpret.
	for _, rev := range []string{"HEAD", "main", "--help", id[:10], id + "~1", id + "\x00contents " + id} {
		if _, err := b.Read(rev, "a.txt", 100); err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("Read(%q): %v", rev, err)
		}
		if _, err := b.ReadID(rev, 100); err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("ReadID(%q): %v", rev, err)
		}
	}
	wantRead(t, b, id, "a.txt", "hello\n")
}

func TestBlobsConcurrently(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	id := f.commit("one", "a", strings.Repeat("a", 100_000), "b", strings.Repeat("b", 70_000))
	b := f.open().Blobs(t.Context())
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				for _, path := range []string{"a", "b"} {
					data, err := b.Read(id, path, 1<<20)
					if err != nil || strings.Trim(string(data), path) != "" || len(data) < 70_000 {
						t.Errorf("read %d bytes of %s, %v", len(data), path, err)
					}
				}
			}
		})
	}
	wait.Wait()
}

func TestBlobsEnd(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	id := f.commit("one", "a.txt", "a\n")
	r := f.open()
	ctx, cancel := context.WithCancel(t.Context())
	b := r.Blobs(ctx)
	_, err := b.Read(id, "a.txt", 10)
	needs.NoError(t, err)
	cancel()
	for err == nil { // until the run has noticed
		_, err = b.Read(id, "a.txt", 10)
	}
	complaintOf(t, err)
	wantRead(t, r.Blobs(t.Context()), id, "a.txt", "a\n")
}

// A broken object is an error and not an absent file.
func TestBlobsBroken(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	id := f.commit("one", "a.txt", strings.Repeat("a\n", 1000))
	blob := f.id("HEAD:a.txt")
	object := f.path(filepath.Join(".git/objects", blob[:2], blob[2:]))
	data, err := os.ReadFile(object)
	needs.NoError(t, err)
	needs.NoError(t, os.Chmod(object, 0o600))
	needs.NoError(t, os.WriteFile(object, data[:len(data)-6], 0o600))
	_, err = f.open().Blobs(t.Context()).Read(id, "a.txt", 10_000)
	if complaintOf(t, err); errors.Is(err, ErrNotFound) {
		t.Error("reported as absent")
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	needs.NoError(t, os.Symlink("a.txt", f.path("link")))
	id := f.commit("one", "a.txt", "1\n", "dir/sub/c.txt", "3\n")
	r := f.open()
	for _, rev := range []string{id, f.id("HEAD^{tree}")} {
		entries := needs.Value(r.Tree(t.Context(), rev))(t)
		got := needs.Each(entries, func(e Entry) string { return strings.Join([]string{e.Mode, e.Type, e.ID, e.Path}, " ") })
		wantEqual(t, "files", got, []string{
			"100644 blob " + f.id("HEAD:a.txt") + " a.txt", "100644 blob " + f.id("HEAD:dir/sub/c.txt") + " dir/sub/c.txt",
			"120000 blob " + f.id("HEAD:link") + " link",
		})
	}
	needs.Len(t, "of nothing", 0)(r.Tree(t.Context(), ""))
	for _, rev := range []string{"HEAD", "--output=x", strings.Repeat("1", 40)} {
		_, err := r.Tree(t.Context(), rev)
		complaintOf(t, err)
	}
	_, err := r.list(t.Context(), id, 2, false)
	wantError(t, err, "more than 2 files", "")
}

func TestLookup(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	id := f.commit("one", "a.txt", "1\n", "dir/b.txt", "2\n")
	found, err := f.open().Lookup(t.Context(), id, "dir/b.txt", strings.Repeat("y", 200_000), "dir", "none", "a.txt/x", "dir/none")
	if err != nil || len(found) != 2 || found["dir/b.txt"].ID != f.id("HEAD:dir/b.txt") || found["dir"].Type != "tree" {
		t.Errorf("%v, %v", found, err)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.commit("one", "a.go", "package a\n\nfunc F() {\n\ta := 1\n\tb := 2\n\tc := 3\n\td := 4\n\te := 5\n}\n",
		"old/name.txt", strings.Repeat("line\n", 30), "bin", "x\x00y")
	f.git("mv", "old/name.txt", "new näme")
	f.commit("two", "a.go", "package a\n\nfunc F() {\n\ta := 1\n\tb := 2\n\tc := 3\n\td := 4\n\te := 6\n}\n",
		"new näme", strings.Repeat("line\n", 30)+"more\n", "bin", "x\x00z")
	r := f.open()
	got := diffText(t, r, resolve(t, r, Spec{Range: "HEAD~1"}))
	want := strings.Join([]string{
		":100644 100644 A1 A2 M\x00a.go\x00:100644 100644 B1 B2 M\x00bin\x00:100644 100644 N1 N2 R096\x00old/name.txt\x00new näme\x00\x00diff --git a/a.go b/a.go",
		"index A1..A2 100644", "--- a/a.go", "+++ b/a.go", "@@ -5,5 +5,5 @@ func F() {", " \tb := 2", " \tc := 3", " \td := 4", "-\te := 5", "+\te := 6", " }",
		"diff --git a/bin b/bin", "index B1..B2 100644", "Binary files a/bin and b/bin differ",
		"diff --git a/old/name.txt b/new näme", "similarity index 96%", "rename from old/name.txt", "rename to new näme", "index N1..N2 100644",
		"--- a/old/name.txt", "+++ b/new näme\t", "@@ -28,3 +28,4 @@ line", " line", " line", " line", "+more", "",
	}, "\n")
	for name, revision := range map[string]string{
		"A1": "HEAD~1:a.go", "A2": "HEAD:a.go", "B1": "HEAD~1:bin", "B2": "HEAD:bin", "N1": "HEAD~1:old/name.txt", "N2": "HEAD:new näme",
	} {
		want = strings.ReplaceAll(want, name, f.id(revision))
	}
	wantEqual(t, "diff", got, want)
}

// Neither the head's attributes nor the configuration nor replaced objects shape what is read.
func TestDiffIsNotShaped(t *testing.T) {
	t.Parallel()
	f := repoOf(t, "a.txt", "1\n", "b.txt", "1\n")
	f.commit("two", "a.txt", "2\n", "b.txt", "2\n", ".gitattributes", "* -diff\n*.txt binary\n")
	f.write(".git/info/attributes", "* -diff\n")
	for key, value := range map[string]string{
		"diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.context": "0", "diff.algorithm": "minimal", "diff.renames": "false",
		"diff.orderFile": f.path("order"), "core.quotePath": "true", "color.ui": "always", "diff.submodule": "log", "diff.wsErrorHighlight": "all",
		"diff.ignoreSubmodules": "all", "diff.relative": "true", "diff.suppressBlankEmpty": "true", "core.bigFileThreshold": "1", "diff.wordRegex": ".",
	} {
		f.git("config", key, value)
	}
	f.write("order", "b.txt\na.txt\n", "c", "harmless\n")
	f.git("replace", f.id("HEAD:a.txt"), f.git("hash-object", "-w", "c"))
	r := f.open()
	text := diffText(t, r, resolve(t, r, Spec{Range: "HEAD~1..HEAD"}))
	for _, want := range []string{"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+2\n", "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-1\n+2\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Index(text, "b/a.txt") > strings.Index(text, "b/b.txt") {
		t.Error("the files are in another order")
	}
}

// discard reads a diff to its end.
func discard(in io.Reader) error {
	_, err := io.Copy(io.Discard, in)
	return err
}

// A reader that has enough stops git; one that fails is heard.
func TestDiffStops(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.commit("one")
	f.commit("two", "big.txt", strings.Repeat("a line of text\n", 1_000_000), "huge.txt",
		strings.Repeat("a line of text\n", 3_000_000))
	r := f.open()
	rg := resolve(t, r, Spec{Range: "HEAD~1"})
	needs.NoError(t, r.Diff(t.Context(), rg, func(in io.Reader) error {
		_, err := io.ReadFull(in, make([]byte, 1000))
		return err
	}))
	enough := errors.New("enough")
	if err := r.Diff(t.Context(), rg, func(io.Reader) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := r.Diff(ctx, rg, func(in io.Reader) error {
		cancel()
		return discard(in)
	})
	wantError(t, err, "stopped", "")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if text := diffText(t, r, rg); !strings.Contains(text, "Binary files /dev/null and b/huge.txt differ") {
		t.Error("a text of 45 MB is shown")
	}
	wantError(t, r.Diff(t.Context(), Range{Base: "--output=x", Head: "HEAD"}, nil), "not resolved", "")
	missing := Range{Base: strings.Repeat("1", 40), Head: rg.Head}
	wantError(t, r.Diff(t.Context(), missing, discard), "1111", "")
}

// TestDiffOfABomb: a few trees that stand for ten billion files (T21).
func TestDiffOfABomb(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.commit("one", "a.txt", "x\n")
	tree := f.git("rev-parse", "HEAD^{tree}")
	for range 10 {
		var entries strings.Builder
		for i := range 10 {
			fmt.Fprintf(&entries, "040000 tree %s\t%d\n", tree, i)
		}
		f.write("entries", entries.String())
		tree = f.git("-c", "alias.make=!git mktree < entries", "make")
	}
	rg := Range{Base: f.id("HEAD"), Head: f.git("commit-tree", "-p", "HEAD", "-m", "two", tree)}
	wantError(t, f.open().Diff(t.Context(), rg, discard), "more than 100000 files", "")
}

// Objects that a repository borrows from others are borrowed here, too.
func TestAlternates(t *testing.T) {
	t.Parallel()
	f := repoOf(t, "a.txt", "1\n")
	f.commit("two", "a.txt", "2\n")
	first := fixture{t, filepath.Join(filepath.Dir(f.dir), "first")}
	f.git("clone", "-q", "--shared", f.dir, first.dir)
	second := fixture{t, filepath.Join(filepath.Dir(f.dir), `sec"ond`+"\n")}
	f.git("clone", "-q", "--shared", first.dir, second.dir)
	second.write(".git/objects/info/alternates", "../../../first/.git/objects\n")
	r := second.open()
	if text := diffText(t, r, resolve(t, r, Spec{})); !strings.Contains(text, "-1\n+2\n") {
		t.Errorf("diff %q", text)
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	needs.NoError(t, os.Symlink("/etc/passwd", f.path("link")))
	f.write("run.sh", "#!/bin/sh\n", ".gitattributes", "*.txt eol=crlf ident export-subst\nhidden.txt export-ignore\n")
	needs.NoError(t, os.Chmod(f.path("run.sh"), 0o755))
	id := f.commit("one", "dir/sub/a.txt", "$Id$\n$Format:%H$\n", "hidden.txt", "h\n", "empty", "", "big",
		strings.Repeat("b", 1000), "huge", strings.Repeat("h", 5000))
	r := f.open()
	dir := scratch(t)
	needs.Result(t, "skipped", []skippedFile{{Path: "huge", Reason: "larger than 1000 bytes"}})(
		r.Export(t.Context(), id, dir, ExportLimits{FileBytes: 1000}))
	files := map[string]string{}
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		fi, err := d.Info()
		if err != nil || !fi.Mode().IsRegular() || fi.Mode().Perm()&0o222 != 0 {
			t.Errorf("%s: %v, %v", path, fi.Mode(), err)
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		if files[rel] = string(data); fi.Mode()&0o100 != 0 {
			files[rel] += " (executable)"
		}
		return err
	})
	wantEqual(t, "files", files, map[string]string{
		".gitattributes": "*.txt eol=crlf ident export-subst\nhidden.txt export-ignore\n", "link": "/etc/passwd", "run.sh": "#!/bin/sh\n (executable)",
		"dir/sub/a.txt": "$Id$\n$Format:%H$\n", "hidden.txt": "h\n", "empty": "", "big": strings.Repeat("b", 1000),
	})

	needs.Result(t, "skipped", []skippedFile{{Path: "huge", Reason: "more than 1500 bytes in total"}})(
		r.Export(t.Context(), id, scratch(t), ExportLimits{Bytes: 1500}))
	_, err := r.Export(t.Context(), id, scratch(t), ExportLimits{Files: 2})
	wantError(t, err, "more than 2 files", "")
	_, err = r.Export(t.Context(), "HEAD", scratch(t), ExportLimits{})
	wantError(t, err, "not a commit", "")
	// What is there already stays, and is said.
	needs.Len(t, "what is there", len(files))(r.Export(t.Context(), id, dir, ExportLimits{}))
}

// TestExportLinks: links below the folder become links, after all files; others stay files.
func TestExportLinks(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	for name, target := range map[string]string{"good": "dir/a.txt", "absolute": "/etc/passwd", "outside": "../x", "folder": "dir"} {
		needs.NoError(t, os.Symlink(target, f.path(name)))
	}
	f.commit("one", "dir/a.txt", "a\n", "dir/sub/b.txt", "b\n", "z.txt", "z\n")
	needs.NoError(t, os.Symlink("../../../x", f.path("dir/sub/up")))
	needs.NoError(t, os.Symlink("../a.txt", f.path("dir/sub/near")))
	id := f.commit("two", "y.txt", "y\n")
	dir := scratch(t)
	needs.Len(t, "export", 0)(f.open().Export(t.Context(), id, dir, ExportLimits{Links: true}))
	for name, want := range map[string]string{"good": "dir/a.txt", "folder": "dir", "dir/sub/near": "../a.txt"} {
		needs.Result(t, name, want)(os.Readlink(filepath.Join(dir, name)))
	}
	for name, want := range map[string]string{
		"absolute": "/etc/passwd", "outside": "../x", "dir/sub/up": "../../../x", "z.txt": "z\n", "y.txt": "y\n",
	} {
		wantContent(t, filepath.Join(dir, name), want)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	f := repoOf(t, ":(exclude)x", "1\n", "a.txt", "1\n")
	f.commit("two", "a.txt", "2\n")
	id := f.commit("three", ":(exclude)x", "2\n")
	r := f.open()
	for path, want := range map[string]string{
		":(exclude)x": "2024-01-02 A: three\n2024-01-02 A: one\n", "a.txt": "2024-01-02 A: two\n2024-01-02 A: one\n", "none": "", "--all": "",
	} {
		needs.Result(t, path, precedent.Untrusted(want))(r.History(t.Context(), id, path))
	}
	for _, revAndPath := range [][2]string{{"HEAD", "a.txt"}, {"--output=x", "a.txt"}, {id, "../a.txt"}, {id, ""}} {
		_, err := r.History(t.Context(), revAndPath[0], revAndPath[1])
		wantError(t, err, "not a commit", "")
	}
}

var filtered template

// partialClone makes a clone that has only the contents of its last commit.
func partialClone(t *testing.T, filter string) (origin, clone fixture) {
	t.Helper()
	dir, _ := filtered.copied(t, func(dir string) []string {
		f := newRepoIn(t, dir)
		appendFile(t, f.path(".git/config"), "[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n")
		f.commit("one", "a.txt", "1\n", "b.txt", "old\n", "gone.txt", "gone\n", "same.txt", "same\n")
		f.git("rm", "-q", "gone.txt")
		f.commit("two", "a.txt", "2\n", "b.txt", "new\n", "c.txt", "c\n")
		return nil
	})
	origin = fixture{t, filepath.Join(dir, "repo")}
	return origin, origin.clone("--filter=" + filter)
}

func TestPartialClone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		lazy, promisor bool
		relative       bool // the remote's address is a path
		want           int  // skipped files
	}{
		{"fetches", true, true, false, 0},
		{"fetches from a folder", true, true, true, 0},
		{"may not fetch", false, true, false, 3},
		{"the remote is gone", true, false, false, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			origin, f := partialClone(t, "blob:none")
			base, old := f.id("HEAD~1"), origin.id("HEAD~1:b.txt")
			if test.relative {
				f.git("config", "remote.origin.url", "../../"+filepath.Base(filepath.Dir(origin.dir))+"/repo")
			}
			if !test.promisor {
				needs.NoError(t, os.RemoveAll(origin.dir))
			}
			r := f.openAt(f.dir, Options{Lazy: test.lazy, LazyEnv: []string{"PATH=" + os.Getenv("PATH")}})
			f.untouched(r, func() {
				rg := resolve(t, r, Spec{Range: "HEAD~1"})
				var reasons []skippedFile
				text := diffText(t, r, rg)
				for _, path := range []string{"a.txt", "b.txt", "gone.txt"}[:test.want] {
					reasons = append(reasons, skippedFile{Path: path, Reason: missingReason})
				}
				wantEqual(t, "skipped", rg.Skipped, reasons)
				if fetched := strings.Contains(text, "-old"); fetched != (test.want == 0) ||
					!strings.Contains(text, "+c") {
					t.Errorf("diff %q", text)
				}
				wantEqual(t, "head", rg.Head, f.id("HEAD"))

				b := r.Blobs(t.Context())
				if test.want == 0 {
					wantRead(t, b, base, "b.txt", "old\n")
				} else if data, err := b.Read(base, "b.txt", 100); !errors.Is(err, ErrMissing) {
					t.Errorf("read %q, %v", data, err)
				}
				if _, err := b.Read(base, "never.txt", 100); !errors.Is(err, ErrNotFound) {
					t.Errorf("a file that never was: %v", err)
				}
				needs.Len(t, "export", test.want)(r.Export(t.Context(), base, scratch(t), ExportLimits{}))
			})
			if _, err := os.Stat(f.path(".git/objects/" + old[:2] + "/" + old[2:])); err == nil {
				t.Error("the clone was changed")
			}
		})
	}
}

// TestPartialCloneReadsBase: a file of the base that no range needs is fetched when it
// is read, and a failure is not repeated.
func TestPartialCloneReadsBase(t *testing.T) {
	t.Parallel()
	origin, f := partialClone(t, "blob:none")
	r := f.openAt(f.dir, Options{Lazy: true, LazyEnv: []string{"PATH=" + os.Getenv("PATH")}})
	b := r.Blobs(t.Context())
	base := f.id("HEAD~1")
	wantRead(t, b, base, "gone.txt", "gone\n")
	moved := origin.dir + ".moved"
	for _, step := range []struct{ from, to string }{{origin.dir, moved}, {moved, origin.dir}} {
		needs.NoError(t, os.Rename(step.from, step.to))
		if _, err := b.Read(base, "b.txt", 100); !errors.Is(err, ErrMissing) {
			t.Errorf("%v", err)
		}
	}
}

// TestTreelessClone: without trees there is nothing to compare.
func TestTreelessClone(t *testing.T) {
	t.Parallel()
	_, f := partialClone(t, "tree:0")
	wantRefused(t, f.open(), Spec{Range: "HEAD~1"}, "the clone is partial and does not have it",
		"git diff --stat "+f.id("HEAD~1")[:12])
}

// TestNamed: a name that is not UTF-8 is found again by what JSON has of it.
func TestNamed(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.load("blob\nmark :1\ndata 1\nx\ncommit refs/heads/main\ncommitter A <a@example.com> 1 +0000\ndata 1\nx\n" +
		"M 100644 :1 dir/caf\xe9\xff.txt\nM 100644 :1 a.txt\n")
	named := f.open().Named(t.Context(), f.id("main"))
	for stored, want := range map[string]string{
		"dir/caf\ufffd\ufffd.txt": "dir/caf\xe9\xff.txt", "a.txt": "a.txt", "gone\ufffd": "gone\ufffd",
	} {
		wantEqual(t, stored, named(stored), want)
	}
}
