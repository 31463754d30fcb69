package git

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// pushes is a repository on a server whose branch topic is to be pushed to.
type pushes struct {
	origin     fixture
	server     *forgeServer
	repo       *Repo // a clone
	push       Push
	main, head string
}

var pushed template

func newPushes(t *testing.T) *pushes {
	t.Helper()
	dir, ids := pushed.copied(t, func(dir string) []string {
		origin := newRepoIn(t, dir)
		origin.commit("first", "a.txt", "one\n", "src/run.sh", "run\n", "same.txt", "same\n")
		origin.git("checkout", "-q", "-b", "topic")
		head := origin.commit("on the branch", "a.txt", "one\ntwo\n")
		origin.git("checkout", "-q", "main")
		return []string{origin.commit("second", "b.txt", "b\n"), head}
	})
	p := &pushes{origin: fixture{t, filepath.Join(dir, "repo")}, main: ids[0], head: ids[1]}
	p.server = serveForge(t, filepath.Dir(p.origin.dir), fetchToken)
	p.repo = p.origin.clone().open()
	p.push = Push{To: Pull{URL: p.server.URL + "/repo/.git", Token: fetchToken}, Branch: "topic", Expect: p.head}
	p.push.Commit = p.commit(t, "Fix it", []string{p.head},
		Edit{Path: "a.txt", Content: []byte("one\n2\n"), Mode: plainMode})
	return p
}

// commit makes a commit with the edits of its first parent's tree.
func (p *pushes) commit(t *testing.T, message string, parents []string, edits ...Edit) string {
	t.Helper()
	tree := needs.Value(p.repo.EditTree(t.Context(), parents[0], edits))(t)
	id, err := p.repo.WriteCommit(
		t.Context(),
		Commit{
			Tree: tree, Parents: parents, Name: "bot", Email: "bot@example.org", Message: message + "\n",
			At: time.Unix(1e9, 0),
		},
	)
	needs.NoError(t, err)
	return id
}

func TestPushCommit(t *testing.T) {
	p := newPushes(t)
	needs.NoError(t, p.repo.PushCommit(t.Context(), p.push))
	wantEqual(t, "the commit", p.origin.git("log", "-1", "--format=%an %ae %cn %at %s %P", "topic"),
		"bot bot@example.org bot 1000000000 Fix it "+p.head)
	wantEqual(t, "changed", p.origin.git("diff", "--name-only", p.head, "topic"), "a.txt")
	wantEqual(t, "refs", p.origin.git("for-each-ref", "--format=%(objectname) %(refname)"),
		p.main+" refs/heads/main\n"+p.push.Commit+" refs/heads/topic")
	c, err := p.repo.ReadCommit(t.Context(), p.push.Commit)
	if err != nil || c.Email != "bot@example.org" || c.Message != "Fix it\n" ||
		!slices.Equal(c.Parents, []string{p.head}) || c.At.Unix() != 1e9 {
		t.Errorf("read %+v, %v", c, err)
	}
	needs.NoError(t, p.repo.PushCommit(t.Context(), p.push)) // what is there already
}

// TestFault53PushNeverForces covers fault row 53: whatever happened to the branch meanwhile, it is not
// overwritten, brought back or created.
func TestFault53PushNeverForces(t *testing.T) {
	for _, test := range []struct {
		name    string
		prepare func(t *testing.T, p *pushes)
		want    error
		words   string
	}{
		{"somebody pushed", func(_ *testing.T, p *pushes) {
			p.origin.git("checkout", "-q", "topic")
			p.origin.commit("theirs", "c.txt", "c\n")
			p.origin.git("checkout", "-q", "main")
		}, ErrStale, "moved"},
		{"somebody reset it to an ancestor", func(_ *testing.T, p *pushes) { p.origin.git("branch", "-f", "topic", p.head+"~1") }, ErrStale, "moved"},
		{"somebody deleted it", func(_ *testing.T, p *pushes) { p.origin.git("branch", "-D", "topic") }, ErrStale, "moved"},
		{"a commit that does not follow", func(t *testing.T, p *pushes) {
			p.push.Commit = p.commit(t, "Elsewhere", []string{p.main})
		}, ErrRejected, "does not follow"},
		{"a hook of the server", func(t *testing.T, p *pushes) {
			hook := p.origin.path(".git/hooks/pre-receive")
			needs.NoError(t, os.MkdirAll(filepath.Dir(hook), 0o700))
			needs.WriteProgram(t, hook, "#!/bin/sh\necho Protected branch: ask ann. >&2\nexit 1\n")
		}, ErrRejected, "ask ann"},
		{"a protected branch", func(_ *testing.T, p *pushes) { p.origin.git("checkout", "-q", "topic") }, ErrRejected, "checked out"},
		{"no permission", func(_ *testing.T, p *pushes) { p.push.To.Token = "another" }, ErrRejected, "refused the push"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPushes(t)
			test.prepare(t, p)
			before := p.origin.git("for-each-ref")
			err := p.repo.PushCommit(t.Context(), p.push)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.words) {
				t.Errorf("%v, want %v (…%s…)", err, test.want, test.words)
			}
			if strings.Contains(err.Error(), fetchToken) {
				t.Errorf("%q holds the token", err)
			}
			needs.Equal(t, before, p.origin.git("for-each-ref"))
		})
	}
}

// TestBranchTip: the server tells where exactly this branch is.
func TestBranchTip(t *testing.T) {
	p := newPushes(t)
	p.origin.git("update-ref", "refs/x/refs/heads/absent", p.main)
	for branch, want := range map[string]string{"topic": p.head, "main": p.main, "absent": "", "top": ""} {
		needs.Result(t, branch, want)(p.repo.BranchTip(t.Context(), p.push.To, branch))
	}
	to := p.push.To
	to.Token = "another"
	if got, err := p.repo.BranchTip(t.Context(), to, "topic"); got != "" || err == nil ||
		strings.Contains(err.Error(), "another") {
		t.Errorf("another token: %q, %v", got, err)
	}
	if _, err := p.repo.BranchTip(t.Context(), p.push.To, "--upload-pack=x"); !errors.Is(err, ErrRejected) {
		t.Errorf("an option as a name: %v", err)
	}
}

// TestPushBranchNames: a name from a forge is one branch or nothing.
func TestPushBranchNames(t *testing.T) {
	p := newPushes(t)
	before := p.origin.git("for-each-ref")
	for _, name := range []string{
		"", "-f", "--force", "+topic", "topic:refs/heads/main", "../heads/main", "a..b", "topic^", "topic~1", "top*", "a b", "a\nb", "@", "@{u}", "a@{1}",
		"x.lock", "x.lock/y", ".x", "a//b", "/topic", "topic/", "a.", "a\\b", "HEAD", "[a]", "a?b", "\x7f", "\xff", "a\u202eb", strings.Repeat("a", 2000),
	} {
		p.push.Branch = name
		if err := p.repo.PushCommit(t.Context(), p.push); err == nil {
			t.Errorf("pushed to %q", name)
		}
		if name != "+topic" && IsBranch(name) {
			t.Errorf("%q is taken for a branch", name)
		}
	}
	needs.Equal(t, before, p.origin.git("for-each-ref"))
	for _, name := range []string{"topic", "feature/x", "a-b_c.d", "fix/äöü", "a'b", "x#1"} {
		if !IsBranch(name) {
			t.Errorf("%q is not taken for a branch", name)
		}
	}
}

// TestThreat14PushKeepsTheToken looks for the token in all command lines and in every file that fetches and a push
// leave, and checks that it does not follow a redirect (row 20 of the fault matrix).
func TestThreat14PushKeepsTheToken(t *testing.T) {
	p := newPushes(t)
	folder := scratch(t)
	m := openMirror(t, folder)
	pull := Pull{URL: p.push.To.URL, Token: fetchToken, Ref: "refs/heads/topic", Base: p.main, Head: p.head}
	watchToken(t, p.server, func() {
		for _, into := range []puller{p.repo, m} {
			needs.Value(into.FetchPull(t.Context(), pull))(t)
		}
		needs.NoError(t, p.repo.PushCommit(t.Context(), p.push))
	})
	checkFiles(t, p.repo.place.top, p.repo.shadow, p.origin.dir, folder, m.shadow)

	url, met := redirects(t)
	pull.URL = url + "/repo/.git"
	if _, err := p.repo.FetchPull(t.Context(), pull); err == nil || met.Load() != 0 {
		t.Errorf("%v, and %d requests reached the other host", err, met.Load())
	}
	p.push.To.URL, p.push.Expect = url+"/repo/.git", p.push.Commit
	p.push.Commit = p.commit(t, "Again", []string{p.push.Expect})
	if err := p.repo.PushCommit(t.Context(), p.push); err == nil || met.Load() != 0 {
		t.Errorf("%v, and %d requests reached the other host", err, met.Load())
	}
}

// TestServerRunsNothing: a hostile clone's configuration, hooks and URL aliases have no say in what is fetched and
// pushed.
func TestServerRunsNothing(t *testing.T) {
	p := newPushes(t)
	trap := newTrap(t)
	f := armed(t, trap)
	appendFile(t, f.path(".git/config"), programs(trap.script)+
		"\n[url \"ext::touch x\"]\n\tinsteadOf = http://\n\tpushInsteadOf = http://\n"+
		"[http]\n\tproxy = http://127.0.0.1:1\n\textraHeader = X: y\n[push]\n\tfollowTags = true\n"+
		"[remote \"origin\"]\n\treceivepack = "+trap.script+"\n[core]\n\talternateRefsCommand = "+trap.script+"\n")
	p.repo = f.open()
	_, err := p.repo.FetchPull(t.Context(),
		Pull{URL: p.push.To.URL, Token: fetchToken, Ref: "refs/heads/topic", Base: p.main, Head: p.head})
	needs.NoError(t, err)
	p.push.Commit = p.commit(t, "Fix it", []string{p.head})
	needs.NoError(t, p.repo.PushCommit(t.Context(), p.push))
	trap.quiet()
}

func TestMergeCommits(t *testing.T) {
	f := newRepo(t)
	f.commit("first", "a.txt", "1\n2\n3\n", "gone.txt", "x\n", "b.txt", "b\n")
	f.git("checkout", "-q", "-b", "topic")
	f.write("c.txt", "c\n")
	clean := f.commit("clean", "b.txt", "b\nb\n")
	ours := f.commit("ours", "a.txt", "1\nours\n3\n", "gone.txt", "x\ny\n")
	f.git("checkout", "-q", "main")
	f.git("rm", "-q", "gone.txt")
	theirs := f.commit("theirs", "a.txt", "1\ntheirs\n3\n", "d.txt", "d\n")
	r := f.open()
	m := needs.Value(r.MergeCommits(t.Context(), clean, theirs))(t)
	needs.Equal(t, 0, len(m.Conflicts))
	entries := needs.Value(r.Tree(t.Context(), m.Tree))(t)
	names := needs.Each(entries, func(e Entry) string { return e.Path })
	wantEqual(t, "merged", strings.Join(names, " "), "a.txt b.txt c.txt d.txt")
	m = needs.Value(r.MergeCommits(t.Context(), ours, theirs))(t)
	stages := needs.Each(m.Conflicts,
		func(s Stage) string { return s.Path + " " + s.Mode + " " + string(rune('0'+s.Stage)) })
	wantEqual(t, "conflicts", strings.Join(stages, ", "),
		"a.txt 100644 1, a.txt 100644 2, a.txt 100644 3, gone.txt 100644 1, gone.txt 100644 2")
	b := r.Blobs(t.Context())
	wantRead(t, b, m.Tree, "a.txt", "1\n<<<<<<< "+ours+"\nours\n=======\ntheirs\n>>>>>>> "+theirs+"\n3\n")
	for _, test := range []struct {
		commit, ancestor string
		want             bool
	}{{ours, clean, true}, {ours, ours, true}, {ours, theirs, false}, {clean, ours, false}} {
		needs.Result(t, test.commit+" contains "+test.ancestor, test.want)(r.Contains(t.Context(), test.commit, test.ancestor))
	}
}

// TestEditTree: modes and everything that is not edited stay, and no path leads elsewhere.
func TestEditTree(t *testing.T) {
	f := newRepo(t)
	f.write("run.sh", "x\n")
	needs.NoError(t, os.Symlink("run.sh", f.path("link")))
	f.git("add", "-A")
	f.git("update-index", "--chmod=+x", "run.sh")
	head := f.commit("first", "a/b.txt", "b\n", "a/c.txt", "c\n")
	f.git("update-index", "--chmod=+x", "run.sh")
	r := f.open()
	tree, err := r.EditTree(t.Context(), head, []Edit{
		{Path: "a/b.txt", Delete: true},
		{Path: "a/new \"name\".txt", Content: []byte("new"), Mode: plainMode},
		{Path: "run.sh", Content: []byte("y\n"), Mode: executableMode},
	})
	needs.NoError(t, err)
	entries := needs.Value(r.Tree(t.Context(), tree))(t)
	got := needs.Each(entries, func(e Entry) string { return e.Mode + " " + e.Path })
	wantEqual(t, "tree", strings.Join(got, ", "), `100644 a/c.txt, 100644 a/new "name".txt, 120000 link, 100755 run.sh`)
	for _, bad := range []Edit{
		{Path: "../x", Mode: plainMode},
		{Path: ".git/config", Mode: plainMode},
		{Path: "a/.GIT/hooks/x", Mode: plainMode},
		{Path: "/etc/x", Mode: plainMode},
		{Path: "x", Mode: "120000"},
		{Path: "x", Mode: "160000"},
		{Path: "a/c.txt/d", Mode: plainMode},
		{Path: "a", Mode: plainMode, Content: []byte("a file in place of a folder")},
	} {
		if _, err := r.EditTree(t.Context(), head, []Edit{bad}); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}
