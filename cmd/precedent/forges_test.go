package main

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// folderForge is a local forge without any pull request.
func folderForge(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "repo.json"), `{"owner": "acme", "name": "app", "me": {"id": 9, "login": "precedent"}, "members": []}`, 0o600)
	return dir
}

// TestChooseForge: flag, environment, file, the workflow's variables, GitHub; and whether a key signs comments.
func TestChooseForge(t *testing.T) {
	folder := folderForge(t)
	key, _ := privateKey(t)
	giteaActions := pairs{"GITEA_ACTIONS": "true", "GITHUB_SERVER_URL": "https://git.example", "GITHUB_API_URL": "https://git.example/api/v1", "GITHUB_TOKEN": "abcdefgh"}
	for _, test := range []struct {
		name, flag, file string
		env              pairs
		want, source     string
	}{
		{name: "nothing", want: "github on github.com, known: false", source: "default"},
		{name: "a token", env: pairs{"GH_TOKEN": "abcdefgh"}, want: "github on github.com, known: true", source: "default"},
		{name: "a marker key", env: pairs{markerKeyVariable: strings.Repeat("k7", 16)}, want: "github on github.com, known: false, signed", source: "default"},
		{name: "an App", env: pairs{appIDVariable: "1", appKeyVariable: key}, want: "github on github.com, known: true, signed", source: "default"},
		{name: "an API", env: pairs{"GITHUB_API_URL": "https://ghe.example/api/v3"}, want: "github on ghe.example, known: false", source: "environment GITHUB_API_URL"},
		{name: "a workflow of Gitea", env: giteaActions, want: "gitea on git.example, known: true", source: "environment GITEA_ACTIONS"},
		{name: "GitHub in a workflow of Gitea", flag: "github", env: giteaActions, want: "github on github.com, known: true", source: "flag --forge"},
		{name: "a file", file: "forge: gitea:https://file.example/code\n", env: giteaActions, want: "gitea on file.example, known: true", source: "config.yaml:1"},
		{name: "an environment over a file", file: "forge: gitea:https://file.example\n", env: pairs{"PRECEDENT_FORGE": "gitea:https://env.example", "GITEA_ACTIONS": "true", "GITHUB_TOKEN": "abcdefgh"}, want: "gitea on env.example, known: true", source: "environment PRECEDENT_FORGE"},
		{name: "a flag over all", flag: "gitea:https://flag.example:8443", file: "forge: github\n", env: pairs{"PRECEDENT_FORGE": "gitea:https://env.example", "GITEA_ACTIONS": "true", "GITHUB_TOKEN": "abcdefgh"}, want: "gitea on flag.example:8443, known: true", source: "flag --forge"},
		{name: "Gitea without its token", flag: "gitea:https://git.example", env: pairs{"GITHUB_TOKEN": "abcdefgh"}, want: "gitea on git.example, known: false", source: "flag --forge"},
		{name: "a folder", flag: "local:" + folder, want: "local on forge.localhost, known: true", source: "flag --forge"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, flags := forgeApp(t, test.flag, test.file, test.env)
			op := needs.Value(a.settings(flags))(t)
			c := needs.Value(a.connect(op))(t)
			got := fmt.Sprintf("%s on %s, known: %t", op.Forge.Value.Kind, c.Host(), c.Known)
			if !c.Key.IsZero() {
				got += ", signed"
			}
			if by := op.Forge.Source.String(); got != test.want || !strings.HasSuffix(by, test.source) {
				t.Errorf("%s by %s; want %s by %s", got, by, test.want, test.source)
			}
			// What precedent config says is what is used.
			var out bytes.Buffer
			a.out = &out
			args := []string{"config", "--json"}
			if test.flag != "" {
				args = append(args, "--forge", test.flag)
			}
			if status := a.run(t.Context(), args); status != precedent.ExitClean || !strings.Contains(out.String(), `"key": "forge",`) || !strings.Contains(out.String(), test.source) {
				t.Errorf("config: status %d\n%s", status, out.String())
			}
		})
	}
}

// forgeApp is a program with a flag, an environment and a configuration file.
func forgeApp(t *testing.T, flag, file string, env map[string]string) (*app, map[string]string) {
	t.Helper()
	home := t.TempDir()
	a := &app{dir: home, now: time.Now, out: io.Discard, err: io.Discard, env: map[string]string{"HOME": home, "PATH": os.Getenv("PATH")}}
	for k, v := range env {
		a.env[k] = v
	}
	if file != "" {
		path := filepath.Join(home, ".config", "precedent", "config.yaml")
		writeFile(t, path, file, 0o600)
	}
	flags := map[string]string{}
	if flag != "" {
		flags["forge"] = flag
	}
	return a, flags
}

// TestNoSuchForge: what cannot be a forge is said with what helps, and no secret.
func TestNoSuchForge(t *testing.T) {
	t.Parallel()
	key, _ := privateKey(t)
	text := filepath.Join(t.TempDir(), "key.txt")
	writeFile(t, text, "canary-secret", 0o600)
	for _, test := range []struct {
		name, flag, file string
		env              map[string]string
		says             string
	}{
		{name: "unknown", flag: "gitlab:https://git.example", says: `invalid forge "gitlab:`},
		{name: "no address of Gitea", flag: "gitea", says: `invalid forge "gitea"`},
		{name: "an empty one", flag: "gitea:", says: `invalid forge "gitea:"`},
		{name: "no folder", flag: "local:", says: `invalid forge "local:"`},
		{name: "nothing", flag: "", env: map[string]string{"PRECEDENT_FORGE": "x"}, says: "environment PRECEDENT_FORGE"},
		{name: "in the file", file: "forge: [github]\n", says: "config.yaml:1"},
		{name: "a relative folder in the file", file: "forge: local:forge\n", says: "is a relative path"},
		{name: "a folder that holds no forge", flag: "local:.", says: "no repo.json"},
		{name: "plain http", flag: "gitea:http://git.example", says: "must use https"},
		{name: "no URL", flag: "gitea:git.example", says: "it has no host"},
		{name: "a password", flag: "gitea:https://me:canary@git.example", says: "only a host and a path"},
		{name: "a workflow without its server", env: map[string]string{"GITEA_ACTIONS": "true"}, says: "it has no host"},
		{name: "a token of two words", env: map[string]string{"GITHUB_TOKEN": "canary secret"}, says: "GITHUB_TOKEN or GH_TOKEN: "},
		{name: "an App without a key", env: map[string]string{appIDVariable: "1"}, says: "needs both"},
		{name: "a key without an App", env: map[string]string{appKeyVariable: key}, says: "needs both"},
		{name: "a key that is not there", env: map[string]string{appIDVariable: "1", appKeyVariable: key + "x"}, says: appKeyVariable + ": open file: no such file"},
		{name: "no PEM", env: map[string]string{appIDVariable: "1", appKeyVariable: text}, says: "want an RSA private key in PEM"},
		{name: "the key itself", env: map[string]string{appIDVariable: "1", appKeyVariable: read(t, key)}, says: appKeyVariable + ": open file: "},
		{name: "the key itself in one line", env: map[string]string{appIDVariable: "1", appKeyVariable: base64.StdEncoding.EncodeToString([]byte("canary"))}, says: appKeyVariable + ": open file: "},
		{name: "a short marker key", env: map[string]string{markerKeyVariable: "canary"}, says: markerKeyVariable + ": "},
		{name: "no proxy", env: map[string]string{"HTTPS_PROXY": "http://me:canary@bad host"}, says: "HTTPS_PROXY is not the address"},
		{name: "a proxy of a strange kind", env: map[string]string{"HTTPS_PROXY": "gopher://me:canary@proxy.example"}, says: "HTTPS_PROXY is not the address"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, flags := forgeApp(t, test.flag, test.file, test.env)
			_, err := a.connectWith(flags)
			if err == nil || !strings.Contains(err.Error(), test.says) || hintOf(err) == "" {
				t.Fatalf("%v, hint %q; want %q", err, hintOf(err), test.says)
			}
			for _, secret := range []string{"canary", "PRIVATE KEY", "Y2FuYXJ5"} {
				if strings.Contains(err.Error()+hintOf(err), secret) {
					t.Errorf("it is shown: %v", err)
				}
			}
		})
	}
}

// tunnel is a proxy for one host, which is not where its name says.
type tunnel struct {
	to string // host:port
	mu sync.Mutex
	// asked is what was asked for, and how: method, host, credentials.
	asked []string
}

func (p *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
	p.mu.Unlock()
	there, err := net.Dial("tcp", p.to)
	if err != nil || r.Method != http.MethodConnect {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer there.Close()
	w.WriteHeader(http.StatusOK)
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	go func() { _, _ = io.Copy(there, here) }()
	_, _ = io.Copy(here, there)
}

// TestForgeBehindAProxy: the forge's API and git both go through the operator's
// proxy, with its password, and through it alone.
func TestForgeBehindAProxy(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	s.toGitea(forgetest.Gitea127)
	door, err := url.Parse(s.door.URL)
	needs.NoError(t, err)
	const host = "example.com" // of the certificate that httptest has
	s.door.stage.World.Change(func() { s.pull.Base.Repo.Host = host })
	secure := httptest.NewTLSServer(&httputil.ReverseProxy{Transport: &http.Transport{}, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(door) }})
	defer secure.Close()
	authority := filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})), 0o600)
	through := &tunnel{to: secure.Listener.Addr().String()}
	proxy := httptest.NewServer(through)
	defer proxy.Close()

	// A process of its own: Go reads the authorities once.
	run := func(env ...string) (int, string) {
		cmd := precedentCmd(s.home, filepath.Join(s.home, "away"), "pr", "https://"+host+"/octo/app/pulls/7", "--forge", "gitea:https://"+host)
		cmd.Env = append(append(cmd.Env, "SSL_CERT_FILE="+authority, "GITEA_TOKEN="+forgetest.Secret), env...)
		status, out, said := finished(t, cmd)
		return status, out + said
	}
	secret := "http://me:canary@" + strings.TrimPrefix(proxy.URL, "http://")
	status, said := run("https_proxy=" + secret)
	if status != precedent.ExitFindings || strings.Contains(said, "the forge's diff") {
		t.Errorf("status %d\n%s", status, said)
	}
	want := "CONNECT " + host + ":443 Basic " + base64.StdEncoding.EncodeToString([]byte("me:canary"))
	git := 0
	for _, asked := range through.asked {
		if asked != want && asked != "CONNECT "+host+":443 " { // git asks without the password first
			t.Errorf("asked %q, want %q", asked, want)
		}
		git++
	}
	if git < 2 || s.door.fetches.Load() == 0 {
		t.Errorf("%d connections, %d fetches", git, s.door.fetches.Load())
	}
	if past, err := (&app{env: pairs{"HTTPS_PROXY": secret, "no_proxy": host}}).proxy("https://" + host); past != nil || err != nil {
		t.Errorf("no_proxy: %v, %v", past, err)
	}
	// A proxy that is not there: it is said, and nothing goes past it.
	before := s.door.fetches.Load()
	proxy.Close()
	s.app.env["HTTPS_PROXY"], s.app.env["GITEA_TOKEN"] = secret, forgetest.Secret
	status = s.app.run(t.Context(), []string{"pr", "https://" + host + "/octo/app/pulls/7", "--forge", "gitea:https://" + host})
	said = s.out.String() + s.err.String()
	if status != precedent.ExitUsage || s.door.fetches.Load() != before || !strings.Contains(said, "hint: ") {
		t.Errorf("status %d\n%s", status, said)
	}
	if strings.Contains(said, "canary") {
		t.Errorf("the proxy's password is shown:\n%s", said)
	}
}
