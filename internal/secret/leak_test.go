package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/secret"
)

// own is a secret of every kind of character, in two halves so that nothing takes
// this file for a leak.
const own = "tok_Qz7" + "-m2K/v0X+pR=4~bN"

// disguises are ways to carry a text past a search.
func disguises(s string) map[string]string {
	apart := func(between string) string { return strings.Join(strings.Split(s, ""), between) }
	backward := []byte(s)
	slices.Reverse(backward)
	var percent, references strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&percent, "%%%02x", c)
		fmt.Fprintf(&references, "&#%d;", c)
	}
	return map[string]string{
		"plain": s, "backward": string(backward), "hex": hex.EncodeToString([]byte(s)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(s))),
		"base64": base64.StdEncoding.EncodeToString([]byte(s)), "base64 for addresses": base64.URLEncoding.EncodeToString([]byte("?" + s)),
		"query": url.QueryEscape(s), "percent": percent.String(), "percent twice": strings.ReplaceAll(percent.String(), "%", "%25"),
		"references": references.String(), "HTML": html.EscapeString(s),
		"blanks": apart(" "), "line ends": apart("\n"), "zero width": apart("\u200b"), "spelled out": apart("<U+200B>"),
		"emphasis": apart("**"), "code": apart("``"), "bars": apart(" | "), "hex in lines": strings.Join(strings.Split(hex.EncodeToString([]byte(s)), ""), "\n> "),
		"base64 with blanks": strings.Join(strings.Split(base64.StdEncoding.EncodeToString([]byte("??"+s)), ""), " "),
		"rot13": strings.Map(func(r rune) rune {
			switch {
			case 'a' <= r && r <= 'm', 'A' <= r && r <= 'M':
				return r + 13
			case 'n' <= r && r <= 'z', 'N' <= r && r <= 'Z':
				return r - 13
			}
			return r
		}, s),
	}
}

func TestOwnSecretsAreFoundInDisguise(t *testing.T) {
	search := secret.NewOwn("another", own)
	for name, hidden := range disguises(own) {
		if !search.In("It says " + hidden + " there.") {
			t.Errorf("%s: %q is not found", name, hidden)
		}
	}
	for name, hidden := range disguises(own[:12]) { // some of it is enough
		if !secret.Leaks("It says "+hidden+" there.", own) {
			t.Errorf("%s of a part: %q is not found", name, hidden)
		}
	}
}

func TestOwnSecretsAreNotSeenEverywhere(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE" + " KEY-----"
	search := secret.NewOwn("", "short", own, key, strings.Repeat("-", 40))
	for _, s := range []string{
		"", own[:7], "The private key begins with -----BEGIN RSA PRIVATE" + " KEY-----.", "| --- | -------- |", strings.Repeat("A", 300),
		"A sentence about tokens, %41 percents &amp; <U+202E> characters.", "aGVsbG8gd29ybGQ=",
	} {
		if search.In(s) {
			t.Errorf("%q is said to hold a secret", s)
		}
	}
	if (secret.Own{}).In(own) {
		t.Error("the zero Own finds something")
	}
	if !search.In("MIIEowIB") {
		t.Error("the key within its armour is not found")
	}
}

func BenchmarkOwn(b *testing.B) {
	search := secret.NewOwn(own)
	page := strings.Repeat("A sentence of a comment that is as long as one can be. ", 1200)
	for b.Loop() {
		if search.In(page) {
			b.Fatal("found")
		}
	}
}
