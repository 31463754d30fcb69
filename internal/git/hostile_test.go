package git

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// trap is a program that leaves a marker when anything runs it.
type trap struct {
	t              *testing.T
	script, marker string
}

func newTrap(t *testing.T) trap {
	t.Helper()
	dir := scratch(t)
	p := trap{t, filepath.Join(dir, "script"), filepath.Join(dir, "marker")}
	needs.WriteProgram(t, p.script,
		"#!/bin/sh\necho \"$0 $*\" >> '"+p.marker+"'\ncase \"$*\" in *upload-pack*) exit 1; esac\ncat\n")
	return p
}

func (p trap) sprung() bool {
	_, err := os.Lstat(p.marker)
	return err == nil
}

// quiet fails the test if something ran the trap.
func (p trap) quiet() {
	p.t.Helper()
	if p.sprung() {
		ran, _ := os.ReadFile(p.marker)
		p.t.Errorf("something was run:\n%s", ran)
	}
}

// everything uses all that the package offers, in bounded time. Errors are allowed; they must be clear.
func everything(t *testing.T, dir string, o Options) {
	t.Helper()
	ctx := t.Context()
	o.TempDir = scratch(t)
	check := func(err error) {
		t.Helper()
		var e *Error
		if err != nil && !errors.As(err, &e) && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrTooLarge) &&
			!errors.Is(err, ErrMissing) {
			t.Errorf("unclear error %v", err)
		}
	}
	r, err := Open(ctx, dir, o)
	if check(err); err != nil {
		return
	}
	defer r.Close()
	_, err = r.Identity(ctx, precedent.ParseRepo)
	check(err)
	_, err = r.RootCommit(ctx)
	check(err)
	seen := map[string]bool{}
	for _, spec := range []Spec{
		{},
		{Staged: true},
		{Worktree: true},
		{Range: "HEAD"},
		{Range: "HEAD~1"},
		{Range: "HEAD~1..HEAD"},
		{Range: "nothing"},
		{Range: "@{upstream}"},
		{Range: "-oX"},
		{Range: "--output=" + filepath.Join(o.TempDir, "X")},
		{Range: "--upload-pack=touch " + filepath.Join(o.TempDir, "X")},
	} {
		rg, err := r.Resolve(ctx, spec)
		if check(err); err != nil {
			continue
		}
		check(r.Diff(ctx, rg, discard))
		b := r.Blobs(t.Context())
		for _, rev := range []string{rg.Base, rg.Head} {
			if seen[rev] {
				continue
			}
			seen[rev] = true
			entries, err := r.Tree(ctx, rev)
			check(err)
			for _, e := range entries[:min(len(entries), 50)] {
				_, err := b.Read(rev, e.Path, 1<<20)
				check(err)
			}
			_, err = r.Export(ctx, rev, scratch(t), ExportLimits{})
			check(err)
		}
	}
	_, err = r.WorkFile(".precedent.yaml", 1<<16)
	check(err)
	if left, _ := os.ReadDir(o.TempDir); len(left) != 1 {
		t.Errorf("the temporary folder holds %v", left)
	}
}

// programs are the settings through which a configuration can name a program.
func programs(script string) string {
	var b strings.Builder
	for _, line := range []string{
		"core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy", "core.alternateRefsCommand",
		"credential.helper", "diff.external", "diff.evil.command", "diff.evil.textconv", "diff.default.command", "diff.golang.textconv",
		"diff.markdown.command", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "filter.lfs.clean", "filter.lfs.process",
		"merge.evil.driver", "gpg.program", "gpg.ssh.program", "sequence.editor", "interactive.diffFilter", "uploadpack.packObjectsHook",
		"receive.procReceiveRefs", "remote.origin.uploadpack", "remote.origin.receivepack", "remote.origin.vcs", "trailer.x.command",
		"pager.log", "pager.diff", "pager.config", "diff.guitool", "difftool.x.cmd", "submodule.module.update", "tar.x.command", "web.browser",
	} {
		i, j := strings.IndexByte(line, '.'), strings.LastIndexByte(line, '.')
		if i == j {
			fmt.Fprintf(&b, "[%s]\n\t%s = %s\n", line[:i], line[j+1:], script)
		} else {
			fmt.Fprintf(&b, "[%s %q]\n\t%s = %s\n", line[:i], line[i+1:j], line[j+1:], script)
		}
	}
	for _, command := range []string{"config", "cat-file", "diff-tree", "diff-files", "log", "ls-files", "ls-tree", "merge-base", "rev-list", "for-each-ref"} {
		fmt.Fprintf(&b, "[alias]\n\t%s = !%s\n", command, script)
	}
	marker := filepath.Join(filepath.Dir(script), "marker")
	b.WriteString("[filter \"evil\"]\n\trequired = true\n[log]\n\tshowSignature = true\n" +
		"[core]\n\thooksPath = " + filepath.Dir(script) + "\n\tuntrackedCache = true\n" +
		"[remote \"origin\"]\n\turl = ext::" + script + " %S\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\tpromisor = true\n" +
		"[protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always\n" +
		"[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n" +
		"[trace2]\n\tnormalTarget = " + marker + "\n\teventTarget = " + marker + "\n")
	return b.String()
}

// hooks are the names of programs in a hooks folder.
var hooks = []string{
	"post-index-change", "reference-transaction", "pre-commit", "post-checkout", "pre-auto-gc", "fsmonitor-watchman", "post-rewrite", "pre-push",
}

// armed is a repository with changes of every kind in which everything that can name a program names the trap.
func armed(t *testing.T, p trap) fixture {
	t.Helper()
	f := repoOf(t, "a.txt", "1\n", "b.go", "package b\n", "c.md", "# c\n", "d.evil", "1\n")
	f.commit(
		"two", "a.txt", "2\n", "b.go", "package c\n", "c.md", "# d\n", "d.evil", "2\n", ".gitattributes",
		"* filter=evil diff=evil merge=evil\n*.txt filter=lfs diff=lfs\n", ".gitmodules",
		"[submodule \"module\"]\n\tpath = module\n\turl = -u./payload\n\tupdate = !"+p.script+"\n[submodule \"../../x\"]\n\tpath = ../x\n\turl = ext::"+p.script+"\n",
	)
	f.write("a.txt", "3\n", "b.go", "package d\n", "new.evil", "new\n", "new.go", "package n\n")
	f.git("add", "b.go")
	f.write("b.go", "package e\n", ".git/info/attributes", "* filter=evil diff=evil\n*.go diff=golang\n")
	script := needs.Value(os.ReadFile(p.script))(t)
	for _, hook := range hooks {
		for _, name := range []string{f.path(".git/hooks/" + hook), filepath.Join(filepath.Dir(p.script), hook)} {
			needs.WriteProgram(t, name, string(script))
		}
	}
	return f
}

func appendFile(tb testing.TB, name, text string) {
	tb.Helper()
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		tb.Fatal(err)
	}
	needs.NoError(tb, os.WriteFile(name, append(data, text...), 0o600))
}

func TestHostileConfiguration(t *testing.T) {
	t.Parallel()
	p := newTrap(t)
	f := armed(t, p)
	home := scratch(t)
	fixture{t, home}.write(".gitconfig", programs(p.script), ".config/git/config", programs(p.script), ".config/git/attributes",
		"* filter=evil diff=evil\n")
	everything(t, f.dir, Options{Home: home})
	p.quiet()
	appendFile(t, f.path(".git/config"), programs(p.script))
	everything(t, f.dir, Options{})
	p.quiet()
	// The trap is armed: git alone springs it.
	if f.try("diff"); !p.sprung() {
		t.Error("the test is none: plain git diff runs nothing here")
	}
}

func TestHostileBareRepositoryInside(t *testing.T) {
	t.Parallel()
	p := newTrap(t)
	f := repoOf(t, "a.txt", "1\n")
	f.write("sub/HEAD", "ref: refs/heads/main\n", "sub/objects/keep", "", "sub/refs/keep", "", "sub/a.txt", "1\n",
		"sub/config",
		"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = worktree\n\tfsmonitor = "+p.script+"\n",
		"sub/worktree/keep", "")
	f.commit("two", "a.txt", "2\n")
	c := f.clone()
	c.write("sub/new.txt", "x\n", "sub/a.txt", "2\n")
	sub := c.path("sub")
	everything(t, sub, Options{})
	everything(t, filepath.Join(sub, "worktree"), Options{})
	p.quiet()
	r := fixture{t, sub}.open()
	wantEqual(t, "Top", r.Top(), c.dir)
	wantChanged(t, r, Spec{}, "M sub/a.txt", "A sub/new.txt")
	// The trap is armed.
	fixture{t, sub}.try("-c", "safe.bareRepository=all", "status")
	if !p.sprung() {
		t.Error("the test is none: plain git status runs nothing here")
	}
}

// A partial clone runs no program to fetch what it lacks, even if it may fetch.
func TestHostilePartialClone(t *testing.T) {
	t.Parallel()
	p := newTrap(t)
	for name, lines := range map[string]string{
		"ext": "[remote \"origin\"]\n\turl = ext::" + p.script + " %S\n",
		"ssh": "[remote \"origin\"]\n\turl = ssh://example.invalid/x\n[core]\n\tsshCommand = " + p.script + "\n",
		"vcs": "[remote \"origin\"]\n\turl = x\n\tvcs = ext\n", "file": "[remote \"origin\"]\n\turl = /\n\tuploadpack = " + p.script + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			f := repoOf(t, "a.txt", "1\n")
			f.commit("two", "a.txt", "2\n")
			blob := f.id("HEAD~1:a.txt")
			needs.NoError(t, os.Remove(f.path(".git/objects/"+blob[:2]+"/"+blob[2:])))
			appendFile(
				t, f.path(".git/config"),
				"[extensions]\n\tpartialClone = origin\n[protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always\n"+
					"[core]\n\trepositoryformatversion = 1\n"+lines+"\tpromisor = true\n",
			)
			for _, lazy := range []bool{false, true} {
				o := Options{Lazy: lazy, LazyEnv: []string{"PATH=" + os.Getenv("PATH")}}
				everything(t, f.dir, o)
				p.quiet()
				r := f.openAt(f.dir, o)
				rg := resolve(t, r, Spec{Range: "HEAD~1"})
				wantEqual(t, "skipped", rg.Skipped, []precedent.SkippedFile{skipped("a.txt", missingReason)})
				wantEqual(t, "diff", diffText(t, r, rg), "")
			}
			if name == "ext" {
				f.tryAllowing("ext", "diff", "HEAD~1")
				if !p.sprung() {
					t.Error("the test is none: plain git diff fetches nothing here")
				}
				os.Remove(p.marker)
			}
		})
	}
}

func TestHostileSubmodule(t *testing.T) {
	t.Parallel()
	p := newTrap(t)
	inner := newRepo(t)
	inner.commit("inner", "i.txt", "1\n")
	f := newRepo(t)
	f.git("submodule", "add", "-q", "file://"+inner.dir, "module")
	f.commit("one", "a.txt", "1\n")
	f.commit("two", "a.txt", "2\n")
	// The submodule's own configuration runs something when it is looked into.
	appendFile(t, f.path(".git/modules/module/config"), programs(p.script))
	f.git("config", "-f", ".gitmodules", "submodule.module.ignore", "none")
	f.write("module/i.txt", "2\n", "module/.gitattributes", "* filter=evil\n", "a.txt", "3\n")
	everything(t, f.dir, Options{})
	p.quiet()
	if f.try("status"); !p.sprung() {
		t.Error("the test is none: plain git status runs nothing here")
	}
}

// Tree entries that no checkout may write.
func TestHostileTree(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.write("evil", "evil\n")
	blob := f.git("hash-object", "-w", "evil")
	object := func(kind, content string) string {
		f.write("object", content)
		return f.git("hash-object", "-t", kind, "--literally", "-w", "object")
	}
	entry := func(mode, name, id string) string {
		raw := needs.Value(hex.DecodeString(id))(t)
		return mode + " " + name + "\x00" + string(raw)
	}
	inner := object("tree", entry("100755", "config", blob))
	link := object("blob", "/etc")
	var top string
	evil := []string{
		".", "..", ".git", ".GIT", ".Git ", ".git.", ".git...", "git~1", "GIT~1", ".git::$INDEX_ALLOCATION", ".g\u200cit", ".git\u200d", "..\\x", "a\\.git\\b",
		".git\\config", "\ufeff.git", ".. ",
	}
	for _, name := range evil {
		top += entry("40000", name, inner)
	}
	for _, name := range evil[2:] {
		top += entry("100644", name, blob)
	}
	top += entry("120000", "escape", link) + entry("40000", "escape", inner) +
		entry("160000", "module", strings.Repeat("1", 40)) + entry("100644", "fine", blob) + entry("100644", "fine", blob) +
		entry("100644", strings.Repeat("n", 300), blob) + entry("100644", ".gitignore", blob)
	commit := object("commit",
		"tree "+object("tree", top)+"\nauthor A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n\nevil\n")
	f.git("update-ref", "refs/heads/main", commit)
	everything(t, f.dir, Options{})

	parent := scratch(t)
	dir := filepath.Join(parent, "export")
	needs.NoError(t, os.Mkdir(dir, 0o755))
	left := needs.Value(f.open().Export(t.Context(), commit, dir, ExportLimits{}))(t)
	var found []string
	filepath.WalkDir(parent, func(path string, d os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(parent, path); err != nil || !d.Type().IsRegular() && !d.IsDir() {
			t.Errorf("%s: %v, %v", rel, d.Type(), err)
		} else if rel != "." {
			found = append(found, rel)
		}
		return nil
	})
	wantEqual(t, "files", found, []string{"export", "export/.gitignore", "export/escape", "export/fine"})
	reasons := map[string]int{}
	for _, s := range left {
		reasons[s.Reason]++
	}
	if len(left) != len(evil)+len(evil[2:])+4 || reasons["a submodule"] != 1 ||
		reasons["its path leads into a git folder"] == 0 || reasons["its path leads out of the tree"] == 0 {
		t.Errorf("skipped %v", reasons)
	}
}

// bounded runs do, which must end: a wait for a FIFO has no end.
func bounded(t *testing.T, do func()) {
	t.Helper()
	const most = 5 * time.Minute // on the busiest machine
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(most):
		t.Fatalf("did not end within %v", most)
	}
}

// A program that never ends, never stops talking, or leaves children behind.
func TestHostileProgram(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	const soon, late = 500 * time.Millisecond, time.Minute
	for name, test := range map[string]struct {
		script  string
		timeout time.Duration
		msg     string
		hint    string
	}{
		"talks":     {"yes", late, "git's output is too large", ""},
		"complains": {"yes >&2", soon, "git took longer than 500ms", ""},
		"hangs":     {"sleep 1000", soon, "git took longer than 500ms", ".gitignore"}, // which may be a FIFO
		"children":  {"sleep 1000 & sleep 1000 & wait", soon, "git took longer than 500ms", ""},
		"orphan":    {"sleep 1000 & exit 3", soon, "git took longer than 500ms", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(scratch(t), "git")
			needs.WriteProgram(t, program, "#!/bin/sh\n"+test.script+"\n")
			bounded(t, func() {
				_, err := Open(t.Context(), f.dir, Options{Exec: program, TempDir: scratch(t), Timeout: test.timeout})
				wantError(t, err, test.msg, test.hint)
			})
		})
	}
}

// TestSameName: every spelling that some file system takes for a name, and none besides.
func TestSameName(t *testing.T) {
	for want, names := range map[bool][]string{
		true: {
			".precedent", ".Precedent", ".PRECEDENT", ".precedent.", ".precedent. . ", ".precedent::$INDEX_ALLOCATION",
			".precedent:stream", "PRECED~1", "preced~2", ".PRECED~1", "PR7EBA~1", "pr0a1b~9", ".pre\u200ccedent",
			"\ufeff.precedent", ".precedent\u206f",
		},
		false: {
			"precedent", "precedent~1", "preced~", "preced~x", "prefix~1", ".precedent.yaml", ".precedents", "gi7eba~1", "",
		},
	} {
		for _, name := range names {
			wantEqual(t, name, sameName(name, ".precedent"), want)
		}
	}
}
