//go:build amd64 || arm64

package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestFetchBox: a package manager that does what a tree wants reaches nothing but the files that the lock file lists,
// and leaves nothing but what it writes to standard output.
func TestFetchSandbox(t *testing.T) {
	t.Setenv("PRECEDENT_CANARY", "in the environment of this process")
	r := withManager(t, "")
	evil, registry := newServer(t), newServer(t)
	registry.files["/listed"], registry.files["/unlisted"] = []byte("listed"), []byte("unlisted")

	box, err := probe()
	needs.NoError(t, err)
	s := &session{Runner: r, exec: box.Run, tools: findToolchains(r.Path), managers: findManagers(r.Path)}
	script := `cat >ask.js <<'END'
const fs = require("fs");
async function ask(url, name) { try { const r = await fetch(url); fs.writeFileSync(name, r.status + " " + await r.text()); } catch (e) { fs.writeFileSync(name, "none"); } }
(async () => {
  await ask("` + registryIs + `/listed", "listed"); await ask("` + registryIs + `/unlisted", "unlisted"); await ask("` + registryIs + `/../config", "above");
  await ask("` + evil.url + `/", "evil"); await ask("` + registry.url + `/unlisted", "registry"); await ask("http://192.0.2.1/", "network");
  fs.writeFileSync("environment", JSON.stringify(process.env)); try { fs.writeFileSync("/registry/x", ""); } catch (e) {}
})();
END
node ask.js >&2 && ls /registry >door && exec 3>&1 && grep flags /proc/self/fdinfo/3 >flags && rm -rf ask.js && ln -s /etc/passwd link 2>/dev/null; rm link; exec tar -cf - .
`
	sum := sha256.Sum256([]byte("listed"))
	serve := func(f *fetcher) http.Handler {
		return f.serveRegistry(registry.url, "a lock file with "+hex.EncodeToString(sum[:]))
	}
	to := folder(t)
	err = s.runManager(t.Context(), to,
		managerRun{files: map[string][]byte{"a/b": []byte("x")}, program: "node", script: script, serve: serve})
	needs.NoError(t, err)
	for name, want := range map[string]string{
		"a/b": "x", "listed": "200 listed", "unlisted": "502 " + errOther.Error() + "\n", "above": "502 the registry answers with status 404\n",
		"flags": "flags:\t01\n", // a standard output that blocks: a large archive does not arrive otherwise
		"evil":  "none", "registry": "none", "network": "none", "door": "bridge.js\nbridge.py\nsocket\n",
	} {
		needs.Result(t, name, []byte(want))(os.ReadFile(filepath.Join(to, name)))
	}
	if data, err := os.ReadFile(filepath.Join(to, "environment")); err != nil ||
		strings.Contains(string(data), "CANARY") {
		t.Errorf("%s, %v", data, err)
	}
	if got := append(evil.visits(), registry.visits()...); !slices.Equal(
		got, []string{"/config", "/listed", "/unlisted"},
	) {
		t.Errorf("asked for %q", got)
	}
	for name, script := range map[string]string{
		"no archive": "echo x", "it fails": "echo 'error: sorry' >&2; exit 1", "a link outside": "ln -s ../x y; tar -cf - .",
		// A manager only says that the registry has no such package.
		"a silent registry": `node -e 'fetch("` + registryIs + `/x.tgz").then(() => process.exit(1))'`,
	} {
		r := managerRun{program: "node", script: script, serve: serve}
		if name == "a silent registry" {
			r.serve = func(f *fetcher) http.Handler { return f.serveRegistry("http://127.0.0.1:1", "") }
		}
		err := s.runManager(t.Context(), folder(t), r)
		if err == nil || name == "it fails" && err.Error() != "error: sorry" ||
			errors.Is(err, errRegistry) != (name == "a silent registry") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFetcher: what a registry sends is bounded and checked, and its errors quote neither its words nor its address.
func TestFetcher(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			asked <- struct{}{}
			<-hang
		case "/fails":
			http.Error(w, "secret words", http.StatusForbidden)
		default:
			_, _ = w.Write([]byte("0123456789"))
		}
	}))
	defer server.Close()
	defer close(hang)
	f := newFetcher(nil, t.TempDir())
	needs.NoError(t, f.get(t.Context(), server.URL+"/x", "", 10, io.Discard))
	if err := f.get(t.Context(), server.URL+"/x", "", 9, io.Discard); !errors.Is(err, errTooMuch) {
		t.Errorf("too long: %v", err)
	}
	f.spent.Store(maxFetched - 5)
	if err := f.get(t.Context(), server.URL+"/x", "", 10, io.Discard); !errors.Is(err, errTooMuch) {
		t.Errorf("too much: %v", err)
	}
	f = newFetcher(nil, t.TempDir())
	if _, err := f.fetch(t.Context(), archive{server.URL + "/x", someSum}); !errors.Is(err, errOther) {
		t.Errorf("another hash: %v", err)
	}
	for _, address := range []string{server.URL + "/fails", "http://user:secret@127.0.0.1:1/", "http://secret\x7f/"} {
		if _, err := f.fetch(t.Context(), archive{url: address}); err == nil ||
			strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := f.fetch(ctx, archive{url: server.URL + "/hang"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a registry that hangs: %v", err)
	}
	needs.Len(t, "files are left", 0)(os.ReadDir(f.dir))
}

// TestOtherCrate: a crate that is not what the lock file says is not unpacked, nor what lies outside of its folder.
func TestOtherCrate(t *testing.T) {
	t.Parallel()
	index, sum := cratesServer(t)
	s := &session{Runner: Runner{CratesIndex: index.url + "/"}}
	dir := t.TempDir()
	to := filepath.Join(dir, "to")
	needs.NoError(t, os.Mkdir(to, 0o700))
	needs.NoError(t, s.fetchCrates(t.Context(), to, []crate{{Name: "sums", Version: "1.0.0", Checksum: sum}}))
	for _, name := range []string{"evil", "to/other", "to/evil"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if data, err := os.ReadFile(filepath.Join(to, "sums-1.0.0", ".cargo-checksum.json")); err != nil ||
		!strings.Contains(string(data), sum) {
		t.Errorf("%s, %v", data, err)
	}
	for _, c := range []crate{{Name: "sums", Version: "1.0.0", Checksum: someSum}, {Name: "gone", Version: "1.0.0", Checksum: sum}} {
		if err := s.fetchCrates(t.Context(), t.TempDir(), []crate{c}); err == nil {
			t.Errorf("%v was fetched", c)
		}
	}
}
