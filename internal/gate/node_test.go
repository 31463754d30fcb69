package gate

import (
	"crypto/sha1"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestServeRegistry: of a registry, only archives are passed on whose hash is in the lock file, whatever their address.
func TestServeRegistry(t *testing.T) {
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/npm/") {
			t.Errorf("asked for %s", r.URL)
		}
		_, _ = w.Write([]byte("archive"))
	}))
	defer registry.Close()
	old, sum := sha1.Sum([]byte("archive")), sha512.Sum512([]byte("archive"))
	short := base64.StdEncoding.EncodeToString(sum[:])
	ask := func(locked, at string) int {
		w := httptest.NewRecorder()
		f := newFetcher(nil, t.TempDir())
		f.serveRegistry(registry.URL+"/npm/", locked).
			ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://box"+at, nil))
		return w.Code
	}
	for locked, want := range map[string]int{
		`"integrity": "sha512-` + short + `"`: 200, "integrity sha1-" + base64.StdEncoding.EncodeToString(old[:]): 200,
		`resolved "https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#` + hex.EncodeToString(old[:]) + `"`: 200,
		`"integrity": "sha512-` + short[:80] + `"`:                                                   502, `"integrity": "sha1-` + short + `"`: 502, "{}": 502,
	} {
		if got := ask(locked, "/a/-/a-1.0.0.tgz"); got != want {
			t.Errorf("%s: status %d, want %d", locked, got, want)
		}
	}
	for at, want := range map[string]int{
		"/@s/a/-/a-1.0.0.tgz": 200, "/@s%2fa/-/a-1.0.0.tgz": 200, "/../a.tgz": 404, "/a/%2e%2e/%2e%2e/b.tgz": 404, "/a//b.tgz": 404,
		"/a.tgz?x=1": 404, "/a": 404,
	} {
		if got := ask("", at); got != want { // as for yarn 2, whose lock file has no hashes of archives
			t.Errorf("%s: status %d, want %d", at, got, want)
		}
	}
}

// TestLocalize: the registry in a lock file is the one in the sandbox, and no other server is.
func TestLocalize(t *testing.T) {
	got := string(localize([]byte("https://registry.example/npm/a.tgz https://registry.npmjs.org/b "+
		"https://registry.example.evil/npm/c"), "https://registry.example/npm"))
	needs.Equal(t, registryIs+"/a.tgz "+registryIs+"/b https://registry.example.evil/npm/c", got)
}
