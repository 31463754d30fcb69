package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestTokenPrintsAsPlaceholder(t *testing.T) {
	token, err := NewToken("  " + forgetest.Secret + "\n")
	needs.NoError(t, err)
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
