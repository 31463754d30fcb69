package forgetest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// seen returns what came, as EVENT-TYPE/ACTION.
func seen(t *testing.T, l *Listener) (all []string) {
	for _, e := range l.Requests() {
		var p struct{ Action string }
		if err := json.Unmarshal(e.Body, &p); err != nil {
			t.Errorf("%v in %q", err, e.Body)
		}
		all = append(all, e.Header.Get("X-Gitea-Event-Type")+"/"+p.Action)
	}
	return all
}

// runGit runs git in a folder, with the token for the forge, and returns what it says.
func runGit(t *testing.T, dir, token string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x.invalid", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x.invalid",
	}
	if token != "" {
		cmd.Args = append([]string{"git", "-c", "http.extraHeader=" + basic(token)}, args...)
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func basic(token string) string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth("x-access-token", token)
	return "Authorization: " + r.Header.Get("Authorization")
}

// TestGitPush: a push moves the head of the pull request and sends events, and what a forge
// refuses changes nothing.
func TestGitPush(t *testing.T) {
	root, work := t.TempDir(), filepath.Join(t.TempDir(), "work")
	must := func(dir, token string, args ...string) string {
		t.Helper()
		out, err := runGit(t, dir, token, args...)
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return out
	}
	must(root, "", "init", "--quiet", "--bare", "--initial-branch=main", filepath.Join(root, "acme", "shop.git"))
	must(root, "", "init", "--quiet", "--initial-branch=main", work)
	commit := func(words string) string {
		if err := os.WriteFile(filepath.Join(work, "a.txt"), []byte(words+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		must(work, "", "add", ".")
		must(work, "", "commit", "--quiet", "-m", words)
		return must(work, "", "rev-parse", "HEAD")
	}
	commit("one")
	must(work, "", "push", "--quiet", filepath.Join(root, "acme", "shop.git"), "main", "main:till")

	s := NewStage(t)
	g := s.Gitea(t)
	git := g.Git(root)
	r := &Repo{ID: 1, Owner: "acme", Name: "shop", Pulls: map[int]*Pull{}, ProtectedBranches: []string{"main"}, Members: []Member{{Bot, forge.Write}}}
	s.World.Add(r)
	l := Listen(t)
	hook := g.Hook(l.URL, "s3cret", r)
	repo := precedent.Repo{Owner: "acme", Name: "shop"}
	p := &Pull{PullRequest: forge.PullRequest{
		Number: 3, Title: "Add a till", Author: Ann, Base: forge.Branch{Repo: repo, RepoID: "1", Name: "main"}, Head: forge.Branch{Repo: repo, RepoID: "1", Name: "till"},
	}}
	git.Open(r, p)
	at := git.URL + "/acme/shop.git"
	head := commit("two")
	must(work, Secret, "push", "--quiet", at, "HEAD:till")
	if got := must(work, Secret, "ls-remote", at, "refs/pull/3/head"); !strings.HasPrefix(got, head) || p.Head.SHA != head || !strings.Contains(p.Diff, "+two") {
		t.Errorf("the ref of the pull request is %q, its head %s and its diff %q, want %s", got, p.Head.SHA, p.Diff, head)
	}
	for _, test := range []struct{ name, token, refspec, want string }{
		{"wrong token", "ghp_wrong", "HEAD:till", "Authentication failed"},
		{"no token", "", "HEAD:till", "Authentication failed"},
		{"protected", Secret, "HEAD:main", "Protected branch update failed for refs/heads/main"},
		{"not a fast-forward", Secret, "+HEAD~1:till", "non-fast-forward"},
	} {
		if out, err := runGit(t, work, test.token, "push", at, test.refspec); err == nil || !strings.Contains(out, test.want) {
			t.Errorf("%s: %v\n%s", test.name, err, out)
		}
	}
	s.World.Change(func() { r.Members = []Member{{Bot, forge.Read}} })
	if out, err := runGit(t, work, Secret, "push", at, "HEAD:other"); err == nil || !strings.Contains(out, "403") {
		t.Errorf("without write access: %v\n%s", err, out)
	}
	if got := git.Pushes(); len(got) != 1 || got[0].New != head || got[0].Ref != "refs/heads/till" || got[0].By != Bot {
		t.Errorf("pushes are %v", got)
	}
	hook.Wait()
	if got := strings.Join(seen(t, l), " "); got != "pull_request/opened push/ pull_request_sync/synchronized" {
		t.Errorf("the events are %s", got)
	}
}

// TestHookDeliveries: a webhook is signed over the bytes that are sent, what fails is not sent
// again by itself, and only labels that change tell so.
func TestHookDeliveries(t *testing.T) {
	s := NewStage(t)
	s.World.Add(Shop())
	g := s.Gitea(t)
	l := Listen(t)
	hook := g.Hook(l.URL, "s3cret", nil)
	hook.Form = true
	p := s.World.Repo("acme", "shop").Pulls[1]
	l.Answer(http.StatusBadGateway)
	s.World.Label(p, Ann, "bot-review-needed")
	s.World.Label(p, Ann, "bot-review-needed")
	s.World.Unlabel(p, Ann, "missing")
	all := hook.Wait()
	if len(all) != 1 || !all[0].Failed() || all[0].Status != http.StatusBadGateway || len(l.Requests()) != 1 {
		t.Fatalf("deliveries are %+v", all)
	}
	e := l.Requests()[0]
	form, err := url.ParseQuery(string(e.Body))
	if err != nil || !bytes.Equal([]byte(form.Get("payload")), all[0].Body) || e.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Errorf("%v: the form is %q", err, e.Body)
	}
	if !hook.again(all[0].ID) || hook.again(7) {
		t.Error("a delivery is not sent again, or an unknown one is")
	}
	if all = hook.Wait(); len(all) != 2 || all[1].GUID != all[0].GUID || all[1].ID == all[0].ID || !all[1].Again {
		t.Errorf("deliveries are %+v", all)
	}
}
