package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/git"
)

// bench is a folder with a real repository: till adds lines 3 and 4 to a file of
// twenty lines, and changes line 15.
type bench struct {
	*Forge
	t          *testing.T
	dir, clone string
}

var me = forge.Person{ID: "500", Login: "precedent-bot", Bot: true}

func newBench(t *testing.T) *bench {
	t.Helper()
	top := t.TempDir()
	b := &bench{t: t, dir: filepath.Join(top, "forge"), clone: filepath.Join(top, "clone")}
	b.git(top, "init", "-q", "--bare", "-b", "main", filepath.Join(b.dir, "shop.git"))
	b.git(top, "init", "-q", "-b", "main", b.clone)
	b.commit("main", b.lines(nil))
	b.commit("till", b.lines(map[int]string{2: "line 2\nadded 3\nadded 4", 13: "changed 13"}))
	b.file("repo.json", `{"owner": "acme", "name": "shop", "git": "shop.git",
		"me": {"id": 500, "login": "precedent-bot", "bot": true}, "members": [{"id": 1, "login": "ann", "permission": "write"}]}`)
	b.file("pulls/7.json", `{"title": "Add a till", "author": {"id": 1, "login": "ann"}, "base": {"branch": "main"}, "head": {"branch": "till"}}`)
	clock := forgetest.NewStage(t).Clock
	f, err := New(Options{Dir: b.dir, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	b.Forge = f
	return b
}

// lines is a file of twenty lines, of which some are others.
func (b *bench) lines(other map[int]string) string {
	var s strings.Builder
	for n := 1; n <= 20; n++ {
		line, ok := other[n]
		if !ok {
			line = fmt.Sprintf("line %d", n)
		}
		s.WriteString(line + "\n")
	}
	return s.String()
}

func (b *bench) git(dir string, args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=ann", "-c", "user.email=ann@example.com"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// commit pushes a version of the file on a branch, and returns the commit.
func (b *bench) commit(branch, content string) string {
	b.t.Helper()
	b.git(b.clone, "checkout", "-q", "-B", branch)
	if err := os.WriteFile(filepath.Join(b.clone, "till.go"), []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.git(b.clone, "add", "till.go")
	b.git(b.clone, "commit", "-q", "-m", "change")
	b.git(b.clone, "push", "-q", "-f", filepath.Join(b.dir, "shop.git"), branch)
	return strings.TrimSpace(b.git(b.clone, "rev-parse", "HEAD"))
}

func (b *bench) file(name, text string) {
	b.t.Helper()
	name = filepath.Join(b.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		b.t.Fatal(err)
	}
}

// pull reads the pull request.
func (b *bench) pull() forge.PullRequest {
	b.t.Helper()
	p, err := b.PullRequest(b.t.Context(), shop, 7)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func at(start, end int) precedent.Span {
	return precedent.Span{Path: "till.go", Side: precedent.Right, Start: start, End: end}
}

func kind(err error) forge.ErrorKind {
	var e *forge.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func TestAPushMovesTheHead(t *testing.T) {
	b := newBench(t)
	p := b.pull()
	if p.Ref != "refs/heads/till" || p.Files != 1 || p.State != forge.Open || p.Head.SHA == p.Base.SHA {
		t.Errorf("got %+v", p)
	}
	patch, _, err := b.Patch(t.Context(), shop, 7)
	want := strings.ReplaceAll(b.git(b.clone, "diff", "--full-index", "main...till"), "@@ line 9\n", "@@\n") // lines begin no function here
	if err != nil || string(patch) != want {
		t.Errorf("%v (-git +got):\n%s", err, cmp.Diff(want, string(patch)))
	}
	head := b.commit("till", b.lines(map[int]string{20: "pushed"}))
	if now := b.pull().Head.SHA; now != head {
		t.Errorf("the head is %s after a push of %s", now, head)
	}
	open, err := b.Open(t.Context(), shop)
	if err != nil || len(open) != 1 || open[0].Head.SHA != head || open[0].Files != 0 {
		t.Errorf("%+v, %v", open, err)
	}
	b.git(b.clone, "push", "-q", filepath.Join(b.dir, "shop.git"), ":till")
	if _, err := b.PullRequest(t.Context(), shop, 7); kind(err) != forge.KindAnswer || !strings.Contains(err.Error(), "till") {
		t.Errorf("without its branch: %v", err)
	}
}

func TestRemarksStandOnLinesOfTheDiff(t *testing.T) {
	b := newBench(t)
	draft := forge.Draft{Commit: b.pull().Head.SHA, Event: forge.RequestChanges, Body: "Two things.", Remarks: []forge.Remark{
		{Span: at(3, 4), Body: "added"},
		{Span: at(9, 9), Body: "far from every change"},
		{Span: at(4, 15), Body: "over two hunks"},
		{Span: precedent.Span{Path: "till.go", Side: precedent.Left, Start: 13, End: 13}, Body: "the old line"},
		{Span: precedent.Span{Path: "till.go", Side: precedent.Right}, Body: "the file"},
		{Span: precedent.Span{Path: "gone.go", Side: precedent.Right, Start: 1, End: 1}, Body: "no such file"},
		{Span: at(4, 3), Body: "backwards"},
		{Span: at(3, 3), Body: strings.Repeat("é", forge.MaxPost+1)},
	}}
	posted, err := b.Post(t.Context(), shop, 7, draft)
	if err != nil {
		t.Fatal(err)
	}
	var no []int
	for _, r := range posted.Rejected {
		no = append(no, r.Remark)
		if r.Why == "" || posted.Remarks[r.Remark] != "" {
			t.Errorf("remark %d is rejected because of %q, as %s", r.Remark, r.Why, posted.Remarks[r.Remark])
		}
	}
	if d := cmp.Diff([]int{1, 2, 5, 6, 7}, no); d != "" {
		t.Errorf("rejected (-want +got):\n%s", d)
	}
	all, err := b.Comments(t.Context(), shop, 7)
	if err != nil || len(all) != 4 || all[0].ID != posted.Review || all[1].ID != posted.Remarks[0] || all[1].Review != posted.Review {
		t.Errorf("%v, %+v after %+v", err, all, posted)
	}

	draft.Remarks = draft.Remarks[1:3]
	if posted, err := b.Post(t.Context(), shop, 7, draft); err != nil || posted.Review != "" || len(posted.Rejected) != 2 {
		t.Errorf("nothing to post: %+v, %v", posted, err)
	}
	draft.Commit = b.pull().Base.SHA
	if _, err := b.Post(t.Context(), shop, 7, draft); kind(err) != forge.KindInvalid {
		t.Errorf("on another commit than the head: %v", err)
	}
	if now, err := b.Comments(t.Context(), shop, 7); err != nil || len(now) != 4 {
		t.Errorf("%d comments, %v", len(now), err)
	}
}

func TestARemarkIsOutdatedOnceItsLinesChange(t *testing.T) {
	b := newBench(t)
	first := b.pull().Head.SHA
	_, err := b.Post(t.Context(), shop, 7, forge.Draft{Commit: first, Event: forge.Remarks, Body: "Look.", Remarks: []forge.Remark{
		{Span: at(3, 4), Body: "added"},
		{Span: at(15, 15), Body: "changed"},
		{Span: precedent.Span{Path: "till.go", Side: precedent.Left, Start: 13, End: 13}, Body: "old"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		lines map[int]string
		want  []bool
	}{
		{"nothing near them", map[int]string{1: "begin", 2: "line 2\nadded 3\nadded 4", 13: "changed 13"}, []bool{false, false, false}},
		{"a line between two", map[int]string{2: "line 2\nadded 3\nbetween\nadded 4", 13: "changed 13"}, []bool{true, false, false}},
		{"a line behind them", map[int]string{2: "line 2\nadded 3\nadded 4\nbehind", 13: "changed 13"}, []bool{false, false, false}},
		{"the last one", map[int]string{2: "line 2\nadded 3\nadded 4", 13: "fixed 13"}, []bool{false, true, false}},
		{"everything back", map[int]string{}, []bool{true, true, true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b.commit("till", b.lines(test.lines))
			threads, err := b.Threads(t.Context(), shop, 7)
			if err != nil {
				t.Fatal(err)
			}
			var got []bool
			for _, th := range threads {
				got = append(got, th.Outdated)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("outdated (-want +got):\n%s", d)
			}
		})
	}
}

func TestConversations(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	posted, err := b.Post(ctx, shop, 7, forge.Draft{Commit: b.pull().Head.SHA, Event: forge.Remarks, Body: "Look.", Remarks: []forge.Remark{{Span: at(3, 3), Body: "added"}}})
	if err != nil {
		t.Fatal(err)
	}
	root := posted.Remarks[0]
	reply, err := b.Reply(ctx, shop, 7, root, "Still there.")
	if err != nil || reply.ReplyTo != root || reply.Span != at(3, 3) || reply.Author != me {
		t.Errorf("%+v, %v", reply, err)
	}
	if _, err := b.Reply(ctx, shop, 7, reply.ID, "no"); kind(err) != forge.KindInvalid {
		t.Errorf("a reply to a reply: %v", err)
	}
	if _, err := b.Reply(ctx, shop, 7, "99", "no"); kind(err) != forge.KindNotFound {
		t.Errorf("a reply to nothing: %v", err)
	}
	threads := func() []forge.Thread {
		t.Helper()
		all, err := b.Threads(ctx, shop, 7)
		if err != nil || len(all) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		return all
	}
	th := threads()[0]
	for range 2 {
		if no, err := b.Resolve(ctx, shop, 7, th, true); no != "" || err != nil {
			t.Fatalf("%q, %v", no, err)
		}
	}
	if got := threads()[0]; !got.Closed || got.ClosedBy != me || !cmp.Equal(got.Comments, []precedent.ForgeID{root, reply.ID}) {
		t.Errorf("closed: %+v", got)
	}
	if _, err := b.Resolve(ctx, shop, 7, th, false); err != nil || threads()[0].Closed {
		t.Errorf("opened again: %+v, %v", threads(), err)
	}
	if _, err := b.Resolve(ctx, shop, 7, forge.Thread{ID: "99"}, true); kind(err) != forge.KindNotFound {
		t.Errorf("no such conversation: %v", err)
	}

	if err := b.Edit(ctx, shop, 7, forge.CommentRef{Kind: forge.OnLine, ID: root}, "changed"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if no, err := b.Delete(ctx, shop, 7, forge.CommentRef{Kind: forge.OnLine, ID: reply.ID}); no != "" || err != nil {
			t.Errorf("%q, %v", no, err)
		}
	}
	all, err := b.Comments(ctx, shop, 7)
	if err != nil || len(all) != 2 || all[1].Body != "changed" {
		t.Errorf("%+v, %v", all, err)
	}
	if said, err := b.Comment(ctx, shop, 7, "All in all."); err != nil || said.ID <= reply.ID || said.Kind != forge.OnThread {
		t.Errorf("a number is given again: %+v, %v", said, err)
	}
}

func TestOthersWordsStay(t *testing.T) {
	b := newBench(t)
	const talk = `{"comments": [{"id": 5, "kind": "issue", "author": {"id": 1, "login": "ann"}, "body": "Hi", "at": "2026-03-04T05:06:07Z"}],
		"reactions": [{"kind": "issue", "id": 5, "who": {"id": 1, "login": "ann"}, "content": "-1", "at": "2026-03-04T05:06:08Z"}]}`
	b.file("pulls/7/talk.json", talk)
	c := forge.CommentRef{Kind: forge.OnThread, ID: "5"}
	if err := b.Edit(t.Context(), shop, 7, c, "mine"); kind(err) != forge.KindAuth {
		t.Errorf("edit: %v", err)
	}
	if _, err := b.Delete(t.Context(), shop, 7, c); kind(err) != forge.KindAuth {
		t.Errorf("delete: %v", err)
	}
	got, err := b.Reactions(t.Context(), shop, 7, c)
	if err != nil || len(got) != 1 || got[0].Content != "-1" || got[0].Who.Login != "ann" {
		t.Errorf("%+v, %v", got, err)
	}
	if data, _ := os.ReadFile(filepath.Join(b.dir, "pulls/7/talk.json")); string(data) != talk {
		t.Errorf("it is now %s", data)
	}
}

func TestNothingIsSaidWhereNothingCanBe(t *testing.T) {
	for name, change := range map[string]func(*bench){
		"locked": func(b *bench) {
			b.file("pulls/7.json", `{"title": "x", "author": {"id": 1, "login": "ann"}, "locked": true, "base": {"branch": "main"}, "head": {"branch": "till"}}`)
		},
		"archived": func(b *bench) {
			b.file("repo.json", `{"owner": "acme", "name": "shop", "git": "shop.git", "archived": true, "me": {"id": 500, "login": "bot"}, "members": []}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			change(b)
			p := b.pull()
			if !p.Locked {
				t.Error("it is not shown as locked")
			}
			_, err1 := b.Post(t.Context(), shop, 7, forge.Draft{Commit: p.Head.SHA, Event: forge.Remarks, Body: "x"})
			_, err2 := b.Comment(t.Context(), shop, 7, "x")
			_, err3 := b.Resolve(t.Context(), shop, 7, forge.Thread{ID: "1"}, true)
			for i, err := range []error{err1, err2, err3} {
				if kind(err) != forge.KindClosed {
					t.Errorf("%d: %v", i+1, err)
				}
			}
		})
	}
}

func TestAnswersAboutOneselfAreRefused(t *testing.T) {
	b := newBench(t)
	b.file("pulls/7.json", `{"title": "x", "author": {"id": 500, "login": "precedent-bot"}, "base": {"branch": "main"}, "head": {"branch": "till"}}`)
	posted, err := b.Post(t.Context(), shop, 7, forge.Draft{Commit: b.pull().Head.SHA, Event: forge.RequestChanges, Body: "x"})
	if err != nil || posted.Review == "" || len(posted.Unsupported) != 1 {
		t.Errorf("%+v, %v", posted, err)
	}
}

func TestOneCheckACommit(t *testing.T) {
	b := newBench(t)
	c := forge.Check{Name: "precedent", Commit: b.pull().Head.SHA, Review: "r1", Result: forge.Neutral, Title: "Not everything was read"}
	for _, c.Result = range []forge.CheckResult{forge.Neutral, forge.Success} {
		if no, err := b.Check(t.Context(), shop, c); no != "" || err != nil {
			t.Fatalf("%q, %v", no, err)
		}
	}
	var all checks
	if err := b.read("checks.json", &all); err != nil || len(all.Checks) != 1 || all.Checks[0].Result != forge.Success {
		t.Errorf("%+v, %v", all, err)
	}
	c.Result = "approved"
	if _, err := b.Check(t.Context(), shop, c); kind(err) != forge.KindInvalid {
		t.Errorf("a result of no kind: %v", err)
	}
}

func TestFolderOfTheRepository(t *testing.T) {
	b := newBench(t)
	if got, err := b.Folder(); err != nil || got != filepath.Join(b.Forge.dir, "shop.git") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := New(Options{Dir: t.TempDir()}); kind(err) != forge.KindNotFound || !strings.Contains(err.Error(), "repo.json") {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestGitFetchesWhatIsAnnounced: the ref and the commits of a pull request are
// what a fetch from the folder takes, push after push.
func TestGitFetchesWhatIsAnnounced(t *testing.T) {
	b := newBench(t)
	folder, err := b.Folder()
	if err != nil {
		t.Fatal(err)
	}
	m, err := git.OpenMirror(t.Context(), t.TempDir(), "shop", git.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, other := range []string{"line 4", "pushed", "pushed by force"} {
		b.commit("till", b.lines(map[int]string{4: other, 9: "changed"}))
		p := b.pull()
		rg, err := m.FetchPull(t.Context(), git.Pull{Folder: folder, Ref: p.Ref, Base: p.Base.SHA, Head: p.Head.SHA})
		if err != nil || rg.Head != p.Head.SHA || rg.BaseCommit != p.Base.SHA {
			t.Errorf("%+v, %v", rg, err)
		}
	}
}
