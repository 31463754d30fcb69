package git

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

const fetchToken = "ghs" + "_q7Zk2XvB9LmTn4Rw8YpC" // it opens nothing

// forgeServer serves repositories the way a forge does: git's own server program, which wants the token.
type forgeServer struct {
	*httptest.Server
	asked atomic.Int64 // requests with the right token
	bare  atomic.Int64 // requests without any
	// watched, if it is set, is closed when a watcher has seen the process that asks. Answers wait for it.
	watched atomic.Pointer[chan struct{}]
}

func serveForge(t *testing.T, root, token string) *forgeServer {
	t.Helper()
	out := needs.Value(exec.Command("git", "--exec-path").Output())(t)
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip("needs git-http-backend")
	}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token))
	h := &cgi.Handler{Path: backend, Env: []string{
		"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*", "GIT_CONFIG_KEY_1=http.receivepack", "GIT_CONFIG_VALUE_1=true",
	}, InheritEnv: []string{"PATH"}}
	s := &forgeServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Authorization") {
		case want:
			s.asked.Add(1)
			if watched := s.watched.Load(); watched != nil {
				<-*watched
			}
		case "":
			s.bare.Add(1)
			fallthrough
		default:
			if token != "" {
				w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
		}
		r.Header.Del("Authorization")
		r.Header.Set("Git-Protocol", r.Header.Get("Git-Protocol"))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// pulls is a repository with a pull request from a fork, on a server.
type pulls struct {
	origin fixture
	server *forgeServer
	pull   Pull
}

var pulled template

// newPulls makes main with two commits, and pull request 7, which left main at
// the first one and whose branch in the fork is called main, too.
func newPulls(t *testing.T) pulls {
	t.Helper()
	dir, ids := pulled.copied(t, func(dir string) []string {
		origin := newRepoIn(t, dir)
		first := origin.commit("first", "a.txt", "one\n", "big.txt", strings.Repeat("line\n", 1000))
		origin.git("checkout", "-q", "--detach", first)
		head := origin.commit("from the fork", "a.txt", "one\ntwo\n")
		origin.git("update-ref", "refs/pull/7/head", head)
		origin.git("checkout", "-q", "main")
		return []string{origin.commit("second", "b.txt", "b\n"), head}
	})
	server := serveForge(t, dir, fetchToken)
	return pulls{fixture{t, filepath.Join(dir, "repo")}, server, Pull{
		URL: server.URL + "/repo/.git", Token: fetchToken, Ref: "refs/pull/7/head", Base: ids[0], Head: ids[1],
	}}
}

func openMirror(t *testing.T, folder string) *Mirror {
	t.Helper()
	m := needs.Value(OpenMirror(t.Context(), folder, "repo", Options{TempDir: scratch(t)}))(t)
	t.Cleanup(func() { m.Close() })
	return m
}

// puller is a clone or a mirror.
type puller interface {
	FetchPull(ctx context.Context, p Pull) (Range, error)
}

// wantPull fetches the pull request into a clone or a mirror, which r is.
func wantPull(t *testing.T, into puller, r *Repo, p pulls) Range {
	t.Helper()
	rg := needs.Value(into.FetchPull(t.Context(), p.pull))(t)
	if rg.Head != p.pull.Head || rg.BaseCommit != p.pull.Base || rg.Kind != PullRequest {
		t.Errorf("range %+v", rg)
	}
	if got := changedPaths(t, r, rg); len(got) != 1 || !strings.HasSuffix(got[0], "a.txt") {
		t.Errorf("changed %q, want a.txt alone: what main got meanwhile is not the pull request's", got)
	}
	if !strings.Contains(string(rg.Log), "from the fork") || strings.Contains(string(rg.Log), "second") {
		t.Errorf("messages %q", string(rg.Log))
	}
	wantRead(t, r.Blobs(t.Context()), rg.Head, "a.txt", "one\ntwo\n")
	return rg
}

// push makes a commit after another one the head of the pull request.
func (p *pulls) push(after string, namesAndContents ...string) {
	p.origin.git("checkout", "-q", "--detach", after)
	p.pull.Head = p.origin.commit("from the fork, again", namesAndContents...)
	p.origin.git("update-ref", "refs/pull/7/head", p.pull.Head)
	p.origin.git("checkout", "-q", "main")
}

func TestFetchPullIntoClone(t *testing.T) {
	p := newPulls(t)
	clone := p.origin.clone()
	r := clone.open()
	clone.untouched(r, func() { wantPull(t, r, r, p) })
	if p.server.asked.Load() == 0 || p.server.bare.Load() != 0 {
		t.Errorf("%d requests with the token, %d without", p.server.asked.Load(), p.server.bare.Load())
	}
	// What the clone has is not sent again: one commit, one tree, one blob.
	packs := needs.Value(filepath.Glob(filepath.Join(r.shadow, "objects", "pack", "*.pack")))(t)
	needs.Equal(t, 1, len(packs))
	out := clone.git("verify-pack", "-v", strings.TrimSuffix(packs[0], ".pack")+".idx")
	if strings.Count(out, "commit") != 1 || strings.Contains(out, "5000 ") {
		t.Errorf("the pack holds more than is new:\n%s", out)
	}
}

func TestFetchPullIntoMirror(t *testing.T) {
	p := newPulls(t)
	folder := filepath.Join(scratch(t), "cache")
	m := openMirror(t, folder)
	// A folder that the operator names is as good as a server.
	local := p
	local.pull.Folder, local.pull.URL, local.pull.Token = p.origin.dir, "", ""
	wantPull(t, m, m.Repo, local)
	m.Close()

	// Force-pushed: the next fetch follows, and the former head is refused.
	was := p.pull
	p.push(p.pull.Base, "a.txt", "one\ntwo\n")
	m = openMirror(t, folder)
	if _, err := m.FetchPull(t.Context(), was); !errors.Is(err, ErrMoved) {
		t.Fatalf("the former head: %v, want ErrMoved", err)
	}
	if rg := wantPull(t, m, m.Repo, p); rg.Base != p.pull.Base || rg.Unrelated {
		t.Errorf("merge base %s, want the base itself %s", rg.Base, p.pull.Base)
	}

	// Without a common ancestor, it is compared with the base.
	p.origin.git("checkout", "-q", "--orphan", "island", p.pull.Base)
	p.pull.Head = p.origin.commit("from the fork, alone", "a.txt", "one\ntwo\n")
	p.origin.git("update-ref", "refs/pull/7/head", p.pull.Head)
	if rg := wantPull(t, m, m.Repo, p); rg.Base != p.pull.Base || !rg.Unrelated {
		t.Errorf("compared with %s, want the base %s", rg.Base, p.pull.Base)
	}
}

// TestFetchPullMirrorCrowd: fetches of one mirror take turns.
func TestFetchPullMirrorCrowd(t *testing.T) {
	p := newPulls(t)
	folder := scratch(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			m, err := OpenMirror(t.Context(), folder, "repo", Options{TempDir: folder})
			if err != nil {
				t.Error(err)
				return
			}
			defer m.Close()
			if _, err := m.FetchPull(t.Context(), p.pull); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestMirrorIsTidied: many fetches do not leave many packs, and what nobody
// points at any more can still be read by who reviews it.
func TestMirrorIsTidied(t *testing.T) {
	p := newPulls(t)
	m := openMirror(t, scratch(t))
	needs.Value(m.FetchPull(t.Context(), p.pull))(t)
	first := p.pull.Head
	packs := func() int {
		found := needs.Value(filepath.Glob(filepath.Join(m.dir, "objects", "pack", "*.pack")))(t)
		return len(found)
	}
	// A fetch makes a pack. The others are copies of it.
	id := p.origin.git("commit-tree", "-m", "x", p.origin.id("main^{tree}"))
	p.origin.git("--git-dir", m.dir, "-c", "protocol.file.allow=always", "-c", "fetch.unpackLimit=1", "fetch", "-q",
		"--no-auto-maintenance", "--no-tags", p.origin.dir, id+":refs/x/1")
	pack := needs.Value(filepath.Glob(filepath.Join(m.dir, "objects", "pack", "*.pack")))(t)[0]
	for i := 0; packs() <= maxPacks; i++ {
		for _, suffix := range []string{".idx", ".pack"} {
			data := needs.Value(os.ReadFile(strings.TrimSuffix(pack, ".pack") + suffix))(t)
			name := filepath.Join(filepath.Dir(pack), fmt.Sprintf("pack-%040x%s", i, suffix))
			needs.NoError(t, os.WriteFile(name, data, 0o444))
		}
	}
	b := m.Blobs(t.Context())
	p.push(p.pull.Base, "a.txt", "one\ntwo\n")
	needs.Value(m.FetchPull(t.Context(), p.pull))(t)
	needs.Equal(t, 1, packs())
	for _, head := range []string{first, p.pull.Head} {
		wantRead(t, b, head, "a.txt", "one\ntwo\n")
	}
}

// TestFetchPullOverTLS: a server is believed by its certificate alone.
func TestFetchPullOverTLS(t *testing.T) {
	p := newPulls(t)
	secure := httptest.NewTLSServer(p.server.Config.Handler)
	defer secure.Close()
	file := filepath.Join(scratch(t), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	needs.NoError(t, os.WriteFile(file, certificate, 0o600))
	p.pull.URL = secure.URL + "/repo/.git"
	r := p.origin.clone().open()
	before := p.server.asked.Load()
	_, err := r.FetchPull(t.Context(), p.pull)
	wantError(t, err, "certificate", "SSL_CERT_FILE")
	needs.Equal(t, before, p.server.asked.Load())
	p.pull.CAFile = file
	wantPull(t, r, r, p)
}

// TestFetchPullAfterACrash: what an ended process left does not hold up the next.
func TestFetchPullAfterACrash(t *testing.T) {
	p := newPulls(t)
	folder := scratch(t)
	openMirror(t, folder).Close()
	for _, name := range []string{"shallow.lock", "packed-refs.lock", "refs/precedent/pull/7/head.lock", "objects/pack/tmp_pack_x"} {
		file := filepath.Join(folder, "repo.git", filepath.FromSlash(name))
		needs.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		appendFile(t, file, "x")
	}
	m := openMirror(t, folder)
	wantPull(t, m, m.Repo, p)
}

func TestMirrorsArePruned(t *testing.T) {
	folder := scratch(t)
	held := needs.Value(OpenMirror(t.Context(), folder, "held", Options{TempDir: folder}))(t)
	defer held.Close()
	for i := range maxMirrors + 2 {
		m := needs.Value(OpenMirror(t.Context(), folder, fmt.Sprintf("m%02d", i), Options{TempDir: folder}))(t)
		m.Close()
	}
	found := needs.Value(filepath.Glob(filepath.Join(folder, "*.git")))(t)
	got := strings.Join(found, " ")
	if n := strings.Count(got, ".git"); n != maxMirrors+1 { // thirty, and the one in use
		t.Errorf("%d mirrors are left: %s", n, got)
	}
	if !strings.Contains(got, "held.git") || strings.Contains(got, "m00.git") {
		t.Errorf("the wrong ones were removed: %s", got)
	}
}

func TestFetchPullRefuses(t *testing.T) {
	p := newPulls(t)
	r := p.origin.clone().open()
	host := strings.TrimPrefix(p.server.URL, "http://")
	for _, test := range []struct {
		name, want string
		edit       func(*Pull)
	}{
		{"file", "scheme is file", func(p *Pull) { p.URL = "file:///etc" }},
		{"ext", "address is not allowed", func(p *Pull) { p.URL = "ext::sh -c touch% x" }},
		{"ssh", "scheme is ssh", func(p *Pull) { p.URL = "ssh://-oProxyCommand=touch/x" }},
		{"scp", "address is not allowed", func(p *Pull) { p.URL = "git@example.com:o/r.git" }},
		{"option", "address is not allowed", func(p *Pull) { p.URL = "--upload-pack=touch x" }},
		{"http elsewhere", "not encrypted", func(p *Pull) { p.URL = "http://example.com/o/r.git" }},
		{"user", "contains a user", func(p *Pull) { p.URL = "https://u:p@example.com/o/r.git" }},
		{"query", "does not name a repository", func(p *Pull) { p.URL = "https://example.com/o/r.git?x=1" }},
		{"no path", "does not name a repository", func(p *Pull) { p.URL = "https://example.com" }},
		{"newline", "not a URL", func(p *Pull) { p.URL = "https://example.com/o/r\n" }},
		{"helper", "address is not allowed", func(p *Pull) { p.URL = "https::http://" + host }},
		{"ref option", "not a pull request ref", func(p *Pull) { p.Ref = "--upload-pack=x" }},
		{"ref pattern", "not a pull request ref", func(p *Pull) { p.Ref = "refs/pull/*/head" }},
		{"ref two", "not a pull request ref", func(p *Pull) { p.Ref = "refs/pull/7/head:refs/heads/main" }},
		{"ref out", "not a pull request ref", func(p *Pull) { p.Ref = "refs/pull/../../x" }},
		{"head", "not a commit", func(p *Pull) { p.Head = "main" }},
		{"token", "more than one line", func(p *Pull) { p.Token = "a\r\nX: y" }},
		{"no token", "could not read Username", func(p *Pull) { p.Token = "" }},
		{"wrong token", "", func(p *Pull) { p.Token = "ghs_wrong" }},
		{"gone ref", "couldn't find remote ref", func(p *Pull) { p.Ref = "refs/pull/8/head" }},
		{"gone base", "", func(p *Pull) { p.Base = strings.Repeat("12", 20) }},
		{"relative folder", "not a folder", func(p *Pull) { p.Folder, p.URL, p.Token = "relative", "", "" }},
		{"folder option", "not a folder", func(p *Pull) { p.Folder, p.URL, p.Token = "-u/x", "", "" }},
		{"folder and address", "not a folder", func(p *Pull) { p.Folder = "/etc" }},
		{"too much", "larger than", func(p *Pull) { p.MaxBytes = 1 }},
		{"too long", "longer than", func(p *Pull) { p.Timeout = 1 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			pull := p.pull
			test.edit(&pull)
			_, err := r.FetchPull(t.Context(), pull)
			e := complaintOf(t, err)
			if !strings.Contains(e.Error(), test.want) {
				t.Errorf("%q does not say %q", e, test.want)
			}
			if e.Hint == "" && test.name != "too much" && !strings.HasPrefix(e.Msg, "not a ") && test.name != "token" {
				t.Errorf("%q has no hint", e)
			}
			if strings.Contains(e.Error()+e.Hint, fetchToken) {
				t.Errorf("%q holds the token", e)
			}
		})
	}
}

// redirects is a server that sends every request on to another, and says whether the other was reached.
func redirects(t *testing.T) (url string, met *atomic.Int64) {
	t.Helper()
	met = &atomic.Int64{}
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		met.Add(1)
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(thief.Close)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.URL+r.URL.Path+"?"+r.URL.RawQuery, http.StatusFound)
	}))
	t.Cleanup(door.Close)
	return door.URL, met
}

// TestFetchPullRefusesAttacks: git's own checks of what arrives are on.
func TestFetchPullRefusesAttacks(t *testing.T) {
	p := newPulls(t)
	blob := p.origin.git("hash-object", "-w", "a.txt")
	p.origin.write(".git/listing", "100644 blob "+blob+"\t.git\n")
	tree := p.origin.git("-c", "alias.make=!git mktree < .git/listing", "make")
	p.pull.Head = p.origin.git("commit-tree", "-p", p.pull.Base, "-m", "evil", tree)
	p.origin.git("update-ref", "refs/pull/7/head", p.pull.Head)
	r := p.origin.clone().open()
	_, err := r.FetchPull(t.Context(), p.pull)
	wantError(t, err, "hasDotgit", "")
}

// watchToken does something with a server, and looks for the token in the arguments of all processes meanwhile.
// The server answers when the process that asks it has been seen.
func watchToken(t *testing.T, server *forgeServer, do func()) {
	t.Helper()
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("needs /proc")
	}
	watched := make(chan struct{})
	server.watched.Store(&watched)
	stop, seen := make(chan struct{}), make(chan map[string]bool)
	go func() {
		lines, asked := map[string]bool{}, false
		for {
			files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					continue
				}
				lines[string(text)] = true
				if !asked && strings.Contains(string(text), "remote-http") && strings.Contains(string(text), server.URL) {
					asked = true
					close(watched)
				}
			}
			select {
			case <-stop:
				seen <- lines
				return
			default:
			}
		}
	}()
	do()
	close(stop)
	for line := range <-seen {
		if why := leak([]byte(line)); why != "" {
			t.Errorf("%s in the arguments %q", why, line)
		}
	}
}

// checkFiles looks for the token in all files of some folders.
func checkFiles(t *testing.T, dirs ...string) {
	t.Helper()
	files := 0
	for _, dir := range dirs {
		needs.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			files++
			text, err := os.ReadFile(name)
			if why := leak(text); why != "" {
				t.Errorf("%s in %s", why, name)
			}
			return err
		}))
	}
	if files < 20 {
		t.Errorf("only %d files were looked at", files)
	}
}

// leak finds any eight bytes in a row of the token, plain or as it is sent.
func leak(text []byte) string {
	for _, secret := range []string{fetchToken, authorization(fetchToken)[len("Authorization: Basic "):]} {
		for i := 0; i+8 <= len(secret); i++ {
			if strings.Contains(string(text), secret[i:i+8]) {
				return "a part of the token"
			}
		}
	}
	return ""
}

// TestFetchEarlier: what a push by force took away is fetched by its id as long as the server has it.
func TestFetchEarlier(t *testing.T) {
	p := newPulls(t)
	before := p.pull.Head
	p.push(p.pull.Base, "a.txt", "one\nthree\n")
	m := openMirror(t, t.TempDir())
	needs.Value(m.FetchPull(t.Context(), p.pull))(t)
	never := strings.Repeat("9", 40)
	asked := p.server.asked.Load()
	got := m.FetchEarlier(t.Context(), p.pull, []string{never, before, p.pull.Base, "--upload-pack=touch x", before})
	wantEqual(t, "got", slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values([]string{before, p.pull.Base})))
	if p.server.asked.Load() == asked {
		t.Error("nothing was fetched")
	}
	asked = p.server.asked.Load()
	if got := m.FetchEarlier(t.Context(), p.pull, []string{before}); len(got) != 1 || p.server.asked.Load() != asked {
		t.Errorf("%q, with %d requests for what is there", got, p.server.asked.Load()-asked)
	}
}
