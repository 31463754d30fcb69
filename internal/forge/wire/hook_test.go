package wire

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"net/http"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

var someHeaders = HookHeaders{
	Signatures: []string{"X-Forge-Signature", "X-Hub-Signature-256"}, Events: []string{"X-Forge-Type", "X-Forge-Event"},
	IDs: []string{"X-Forge-Delivery"},
}

func mac(with func() hash.Hash, secret string, body []byte) string {
	m := hmac.New(with, []byte(secret))
	m.Write(body)
	return hex.EncodeToString(m.Sum(nil))
}

// TestFault08AndT19HookSignatures: only HMAC-SHA256 of the bytes that came, by a secret that is not empty,
// opens the door, and nothing of the body is parsed before.
func TestFault08AndT19HookSignatures(t *testing.T) {
	body := []byte("{\"action\": \"opened\",\n \"n\": 1}")
	good := mac(sha256.New, "current", body)
	const own, hub = "X-Forge-Signature", "X-Hub-Signature-256"
	current, old := []string{"current"}, "sha1="+mac(sha1.New, "current", body)
	for _, test := range []struct {
		name, header, value string
		body                []byte
		secrets             []string
		want                error
	}{
		{"right", own, good, body, current, nil},
		{"right with a prefix", hub, "sha256=" + good, body, current, nil},
		{"in capitals", own, strings.ToUpper(good), body, current, nil},
		{"the second of two secrets", own, good, body, []string{"next", "current"}, nil},
		{"an empty secret beside", own, good, body, []string{"", "current"}, nil},
		{"missing", "X-Nothing", good, body, current, forge.ErrUnsigned},
		{"SHA-1", "X-Hub-Signature", old, body, current, forge.ErrUnsigned},
		{"SHA-1 in its place", hub, old, body, current, forge.ErrSignature},
		{"longer", own, good + "00", body, current, forge.ErrSignature},
		{"another secret", own, good, body, []string{"next"}, forge.ErrSignature},
		{"no secrets", own, good, body, nil, forge.ErrSignature},
		{"an empty secret", own, mac(sha256.New, "", body), body, []string{"", "current"}, forge.ErrSignature},
		{"written again", own, good, bytes.ReplaceAll(body, []byte("\n"), nil), current, forge.ErrSignature},
		{"nothing", own, mac(sha256.New, "current", nil), nil, current, forge.ErrNoHookEvent},
	} {
		h := http.Header{}
		h.Set(test.header, test.value)
		h.Set("X-Forge-Event", "pull_request")
		h.Set("X-Forge-Delivery", "d-1")
		got, err := VerifyHook(someHeaders, h, test.body, test.secrets)
		switch {
		case !errors.Is(err, test.want):
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		case err == nil && (got.ID != "d-1" || got.Event != "pull_request"):
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

// TestHookHeaders: the finer name of an event counts, two signatures must both be right, and what is
// no word counts as missing.
func TestHookHeaders(t *testing.T) {
	body := []byte(`{}`)
	right := mac(sha256.New, "current", body)
	request := func(change func(http.Header)) (forge.HookHeader, error) {
		h := http.Header{}
		h.Set("X-Forge-Signature", right)
		h.Set("X-Forge-Event", "pull_request")
		h.Set("X-Forge-Type", "pull_request_label")
		change(h)
		return VerifyHook(someHeaders, h, body, []string{"current"})
	}
	if got, err := request(func(http.Header) {}); err != nil || got.Event != "pull_request_label" || got.ID != "" {
		t.Errorf("%+v, %v", got, err)
	}
	for name, change := range map[string]func(http.Header){
		"a second signature that is wrong": func(h http.Header) {
			h.Set("X-Hub-Signature-256", "sha256="+strings.Repeat("0", 64))
		},
		"two in one header": func(h http.Header) { h.Add("X-Forge-Signature", strings.Repeat("0", 64)) },
	} {
		if _, err := request(change); !errors.Is(err, forge.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, event := range map[string]string{
		"none": "", "lines": "push\nx", "long": strings.Repeat("x", 101), "no ASCII": "größe",
	} {
		if _, err := request(func(h http.Header) { h.Del("X-Forge-Event"); h["X-Forge-Type"] = []string{event} }); !errors.Is(err, forge.ErrNoHookEvent) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzVerifyHook: no body passes without the right signature, and none panics.
func FuzzVerifyHook(f *testing.F) {
	f.Add([]byte("{}"), "sha256=00", "push")
	f.Fuzz(func(t *testing.T, body []byte, signature, event string) {
		h := http.Header{"X-Forge-Signature": {signature}, "X-Forge-Event": {event}}
		if _, err := VerifyHook(someHeaders, h, body, []string{"current"}); err == nil &&
			!strings.Contains(strings.ToLower(signature), mac(sha256.New, "current", body)) {
			t.Errorf("%q passes", signature)
		}
		h.Set("X-Forge-Signature", mac(sha256.New, "current", body))
		if _, err := VerifyHook(someHeaders, h, body, []string{"current"}); err != nil &&
			!errors.Is(err, forge.ErrNoHookEvent) {
			t.Error(err)
		}
	})
}

// keysTwice are objects that encoding/json reads as {"suppress": true}, and others as something else.
var keysTwice = []string{`{"suppress":false,"suppress":true}`, `[{"suppress":false,"ſuppresſ":true}]`}

// TestAnswersWithKeysTwice: neither a list, nor the answer to a change, nor an error's
// words are read from such JSON.
func TestAnswersWithKeysTwice(t *testing.T) {
	for _, body := range keysTwice {
		s := serve(t, status(http.StatusOK, body), status(http.StatusCreated, body))
		tr, _ := transport(t, s.URL, nil)
		var into any
		if e := fault(t, ReadEvent("Forge", "push", []byte(body), &into)); e.Kind != forge.KindAnswer || into != nil {
			t.Errorf("event %s: %+v", body, e)
		}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			_, err := send(t.Context(), tr, method, s.URL+"/api/x", "")
			e := fault(t, err)
			if e.Kind != forge.KindAnswer || !strings.Contains(e.Msg, "twice in one object") ||
				e.Unsure != (method == http.MethodPost) {
				t.Errorf("%s, answer %s: %+v", method, body, e)
			}
		}
	}
	needs.Equal(t, "", errorText([]byte(`{"message":"no","Message":"locked"}`), nil))
}
