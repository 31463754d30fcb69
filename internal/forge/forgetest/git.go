package forgetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi" //nolint:gosec // CVE-2016-5386 was in Go before 1.6.3
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

// Git serves the repositories below a folder, owner/name.git, by git's own server program, and tells the
// world what was pushed. Every request needs a token. Set its fields before the first request.
type Git struct {
	// URL is where the handler is served; empty if it is part of another server.
	URL string
	// Force accepts pushes that are no fast-forward, as forges do on branches without protection.
	// Without it they are refused, as by a forge whose rules say so for all branches.
	Force bool
	// Whose returns the account of a token. Without it there is only Secret, which is World.Me's.
	Whose func(token string) (forge.Person, bool)
	// MayPush tells whether a token may push at all, whatever its account may; nil for every token.
	MayPush func(token string) bool
	// Fault returns the status to answer a request with, and adds headers; 0 serves it. It may be nil.
	Fault func(http.ResponseWriter, *http.Request) int
	// Before runs when a push has arrived and before git handles it. It may be nil.
	Before func()

	t       testing.TB
	world   *World
	root    string
	hooks   string // the folder of git's hooks
	backend string // git-http-backend

	pushing sync.Mutex // one push at a time
	mu      sync.Mutex
	pushes  []PushedRef
	fetches int
}

// PushedRef is a ref that a push changed.
type PushedRef struct {
	Repo     string // owner/name
	Ref      string
	Old, New string // commits; all zeros if there was or is none
	By       forge.Person
}

// maxPush bounds the body of a request of git, in bytes.
const maxPush = 256 << 20

// updateHook refuses what the environment lists, with the words of GitHub, and postReceive records what
// was accepted.
const (
	updateHook = `#!/bin/sh
case " $FORGE_PROTECTED " in
*" $1 "*)
	echo "error: GH006: Protected branch update failed for $1." >&2
	exit 1 ;;
esac
`
	postReceive = "#!/bin/sh\ncat >>\"$FORGE_PUSHED\"\n"
)

// Git serves the repositories below a folder until the test ends.
func (s *Stage) Git(t testing.TB, root string) *Git {
	t.Helper()
	folder, err := gitPrograms()
	needs.NoError(t, err)
	g := &Git{t: t, world: s.World, root: root, hooks: t.TempDir(), backend: filepath.Join(folder, "git-http-backend")}
	for name, script := range map[string]string{"update": updateHook, "post-receive": postReceive} {
		if err := os.WriteFile(filepath.Join(g.hooks, name), []byte(script), 0o700); err != nil { //nolint:gosec // git runs it
			t.Fatal(err)
		}
	}
	return g
}

// gitPrograms is the folder of git's own programs.
var gitPrograms = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("git", "--exec-path").Output()
	return strings.TrimSpace(string(out)), err
})

// Pushes returns what was pushed, oldest first.
func (g *Git) Pushes() []PushedRef {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]PushedRef(nil), g.pushes...)
}

// isGit reports whether a path is one of git's.
func isGit(path string) bool { return strings.Contains(path, ".git/") }

// ServeHTTP serves /owner/name.git/…
func (g *Git) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.Fault != nil {
		if status := g.Fault(w, r); status != 0 {
			w.WriteHeader(status)
			return
		}
	}
	who, ok := g.enter(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
	owner, short, _ := strings.Cut(name, "/")
	push := rest == "git-receive-pack" || r.URL.Query().Get("service") == "git-receive-pack"
	_, token, _ := r.BasicAuth()
	may := g.MayPush == nil || g.MayPush(token)
	var repo *Repo
	var protected []string
	g.world.Change(func() {
		if repo = g.world.Repo(owner, short); repo == nil {
			return
		}
		ok = !push || may && repo.mayWrite(who) && !repo.Archived
		for _, b := range repo.ProtectedBranches {
			protected = append(protected, "refs/heads/"+b)
		}
	})
	switch {
	case repo == nil && push:
		w.WriteHeader(http.StatusNotFound)
		return
	case !ok:
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "Write access to repository not granted.\n")
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPush))
	if err != nil {
		return // the client is gone
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	r.Header.Del("Authorization")
	if rest != "git-receive-pack" {
		g.mu.Lock()
		g.fetches++
		g.mu.Unlock()
		g.run("", nil).ServeHTTP(w, r)
		return
	}
	if g.Before != nil {
		g.Before()
	}
	g.pushing.Lock()
	defer g.pushing.Unlock()
	pushed := filepath.Join(g.hooks, "pushed")
	if err := os.WriteFile(pushed, nil, 0o600); err != nil {
		g.t.Error(err)
	}
	g.run(pushed, protected).ServeHTTP(w, r)
	g.record(repo, name, who, pushed) //nolint:contextcheck // what was pushed is recorded even if the client is gone
}

// enter finds the account of a request.
func (g *Git) enter(r *http.Request) (forge.Person, bool) {
	user, token, ok := r.BasicAuth()
	switch {
	case !ok || user == "":
		return forge.Person{}, false
	case g.Whose != nil:
		return g.Whose(token)
	}
	var me forge.Person
	g.world.Change(func() { me = g.world.Me })
	return me, token == Secret
}

// run is git's server program.
func (g *Git) run(pushed string, protected []string) *cgi.Handler {
	config := [][2]string{
		{"safe.directory", "*"},
		{"core.hooksPath", g.hooks},
		{"http.receivepack", "true"},
		{"receive.denyNonFastForwards", fmt.Sprint(!g.Force)},
		{"receive.fsckObjects", "true"},
	}
	env := []string{
		"GIT_PROJECT_ROOT=" + g.root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + os.DevNull,
		"FORGE_PUSHED=" + pushed, "FORGE_PROTECTED=" + strings.Join(protected, " "),
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(config)),
	}
	for i, c := range config {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, c[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, c[1]))
	}
	return &cgi.Handler{Path: g.backend, InheritEnv: []string{"PATH"}, Env: env, Stderr: io.Discard}
}

// record tells the world what a push changed.
func (g *Git) record(repo *Repo, name string, who forge.Person, file string) {
	lines, err := os.ReadFile(file)
	if err != nil {
		g.t.Error(err)
	}
	for line := range strings.Lines(string(lines)) {
		part := strings.Fields(line)
		if len(part) != 3 {
			continue
		}
		p := PushedRef{Repo: name, Old: part[0], New: part[1], Ref: part[2], By: who}
		g.mu.Lock()
		g.pushes = append(g.pushes, p)
		g.mu.Unlock()
		g.moved(repo, p)
	}
}

// moved moves the pull requests from and to a branch that was pushed.
func (g *Git) moved(repo *Repo, pushed PushedRef) {
	branch, ok := strings.CutPrefix(pushed.Ref, "refs/heads/")
	if !ok {
		return
	}
	type change struct {
		base *Repo
		pull *Pull
		diff string
	}
	var heads []change
	g.world.Change(func() {
		for _, r := range g.world.all() {
			for _, p := range r.Pulls {
				if p.State != forge.Open {
					continue
				}
				if r == repo && p.Base.Name == branch {
					p.Base.SHA = pushed.New
				}
				if p.Head.Repo.Owner == repo.Owner && p.Head.Repo.Name == repo.Name && p.Head.Name == branch &&
					strings.Trim(pushed.New, "0") != "" {
					heads = append(heads, change{base: r, pull: p})
				}
			}
		}
	})
	for i, c := range heads {
		heads[i].diff = g.follow(c.base, c.pull, pushed)
	}
	g.world.Change(func() {
		g.world.happen(happening{
			kind: "push", repo: repo, by: pushed.By, branch: branch, before: pushed.Old, after: pushed.New,
		})
		for _, c := range heads {
			before := c.pull.Head.SHA
			g.world.push(c.pull, pushed.New, c.diff)
			g.world.happen(happening{
				kind: "pull", action: "synchronize", repo: c.base, pull: c.pull, by: pushed.By,
				before: before, after: pushed.New,
			})
		}
	})
}

// follow moves the ref of a pull request in the base repository, and returns the new diff.
func (g *Git) follow(base *Repo, p *Pull, pushed PushedRef) string {
	dir := g.Dir(base)
	g.git(dir, "fetch", "--quiet", filepath.Join(g.root, filepath.FromSlash(pushed.Repo)+".git"),
		fmt.Sprintf("+%s:refs/pull/%d/head", pushed.Ref, p.Number))
	from := strings.TrimSpace(g.git(dir, "merge-base", p.Base.SHA, pushed.New))
	return g.git(dir, "diff", "--no-color", "--no-ext-diff", from, pushed.New)
}

// Dir is the folder of a repository.
func (g *Git) Dir(r *Repo) string { return filepath.Join(g.root, r.Owner, r.Name+".git") }

// git runs git in a repository.
func (g *Git) git(dir string, args ...string) string {
	cmd := exec.CommandContext(context.WithoutCancel(g.t.Context()), "git",
		append([]string{"--git-dir", dir, "-c", "safe.directory=*"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "HOME=" + os.DevNull} //nolint:forbidigo // only tests call this
	out, err := cmd.Output()
	if err != nil {
		g.t.Errorf("git %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// Open adds an open pull request to a repository, from a branch of one that Git serves, and its
// ref. Its base and head have names; the commits are looked up.
func (g *Git) Open(r *Repo, p *Pull) {
	g.t.Helper()
	from := filepath.Join(g.root, p.Head.Repo.Owner, p.Head.Repo.Name+".git")
	p.Base.SHA = strings.TrimSpace(g.git(g.Dir(r), "rev-parse", "--verify", "refs/heads/"+p.Base.Name))
	p.Head.SHA = strings.TrimSpace(g.git(from, "rev-parse", "--verify", "refs/heads/"+p.Head.Name))
	p.Base.Repo = precedent.Repo{Host: p.Base.Repo.Host, Owner: r.Owner, Name: r.Name}
	p.State = forge.Open
	p.Diff = g.follow(r, p, PushedRef{
		Repo: p.Head.Repo.Owner + "/" + p.Head.Repo.Name, Ref: "refs/heads/" + p.Head.Name, New: p.Head.SHA,
	})
	p.Files = strings.Count("\n"+p.Diff, "\ndiff --git ")
	g.world.Open(r, p, p.Author)
}
