package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestTokenPrintsAsPlaceholder(t *testing.T) {
	token := needs.Value(NewToken("  " + forgetest.Secret + "\n"))(t)
	tr := New(Options{Home: &url.URL{}, Token: Static(token)})
	tr.rememberToken(token)
	held := struct {
		open, closed any
		Inner        struct{ t Token }
	}{token, &token, struct{ t Token }{token}}
	var out bytes.Buffer
	for _, v := range []any{token, &token, held, &held, tr, tr.o, tr.Call(t.Context(), "x", "", nil)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
	}
	needs.NoError(t, json.NewEncoder(&out).Encode(struct{ T Token }{token}))
	for i := 4; i+8 <= len(forgetest.Secret); i++ {
		if w := forgetest.Secret[i : i+8]; strings.Contains(out.String(), w) ||
			strings.Contains(out.String(), fmt.Sprintf("%x", w)) {
			t.Fatalf("the token is in\n%s", out.String())
		}
	}
	if !strings.Contains(out.String(), `{"T":"[token]"}`) {
		t.Errorf("no placeholder in\n%s", out.String())
	}
	for _, s := range []string{"a b", "a\r\nX-Evil: 1", "ключ", "a\x00"} {
		if _, err := NewToken(s); err == nil {
			t.Errorf("%q is a token", s)
		}
	}
}

// TestAddress: the token never goes in the clear.
func TestAddress(t *testing.T) {
	for base, ok := range map[string]bool{
		"https://git.acme.example/x": true, "http://localhost:3000": true, "http://127.0.0.1": true,
		"http://[::1]:80/": true, "http://git.acme.example": false, "http://127.0.0.1.acme.example": false,
		"https://u:" + forgetest.Secret + "@x": false, "https://x/?t=" + forgetest.Secret: false,
		"https://x/#" + forgetest.Secret: false, "ftp://x": false, "x": false, "": false,
		"https://%zz" + forgetest.Secret: false,
	} {
		_, err := Address(base)
		if (err == nil) != ok || err != nil && strings.Contains(err.Error(), forgetest.Secret) {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestPublicOnly(t *testing.T) {
	for _, address := range []string{
		"127.0.0.1:443", "[::1]:443", "10.1.2.3:443", "100.64.0.1:443", "169.254.169.254:80", "172.31.0.1:443",
		"192.168.0.1:443", "0.0.0.0:443", "198.18.0.1:443", "224.0.0.1:443", "255.255.255.255:443",
		"[::ffff:127.0.0.1]:443", "[::ffff:169.254.169.254]:443", "[64:ff9b::7f00:1]:443", "[2002:7f00:1::]:443",
		"[fe80::1%eth0]:443", "[fd00::1]:443", "[ff02::1]:443", "[::]:443", "localhost:443", "nothing",
	} {
		if publicOnly("tcp", address, nil) == nil {
			t.Errorf("%s would be connected to", address)
		}
	}
	for _, address := range []string{
		"140.82.121.5:443", "[2606:50c0:8000::153]:443", "172.32.0.1:443", "100.128.0.1:443",
	} {
		if err := publicOnly("tcp", address, nil); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestPublicForgeIsNotHere: a name that leads to this machine leads nowhere, and the token stays.
func TestPublicForgeIsNotHere(t *testing.T) {
	came := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came++ }))
	defer server.Close()
	home := needs.Value(url.Parse(server.URL + "/"))(t)
	for public, want := range map[bool]int{true: 0, false: 1} {
		came = 0
		tr := New(Options{
			Forge: "X", Home: home, Public: public, Network: Network{Rand: func(time.Duration) time.Duration { return 0 }},
		})
		resp, err := tr.client.Get(home.String() + "x")
		if err == nil {
			resp.Body.Close()
		}
		if public && (err == nil || !strings.Contains(err.Error(), "private address")) {
			t.Errorf("the error is %v", err)
		}
		if min(came, 1) != want {
			t.Errorf("public %v: %d requests came, %v", public, came, err)
		}
	}
}
