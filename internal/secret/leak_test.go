package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"maps"
	"math/rand"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/secret/secrettest"
)

// own is a secret of every kind of character, in two halves so that nothing takes this file for a leak.
const own = "tok_Qz7" + "-m2K/v0X+pR=4~bN"

// disguises are ways to carry a text past a search.
func disguises(s string) map[string]string {
	apart := func(between string) string { return strings.Join(strings.Split(s, ""), between) }
	var percent, references, x, u, braces, octal strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&x, `\x%02x`, c)
		fmt.Fprintf(&u, `\u%04X`, c)
		fmt.Fprintf(&braces, `\u{%x}`, c)
		fmt.Fprintf(&octal, `\%03o`, c)
		fmt.Fprintf(&percent, "%%%02x", c)
		fmt.Fprintf(&references, "&#%d;", c)
	}
	return map[string]string{
		"plain": s, "hex": hex.EncodeToString([]byte(s)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(s))),
		"base64": base64.StdEncoding.EncodeToString([]byte(s)), "base64 for addresses": base64.URLEncoding.EncodeToString([]byte("?" + s)),
		"query": url.QueryEscape(s), "percent": percent.String(), "percent twice": strings.ReplaceAll(percent.String(), "%", "%25"),
		"upper case": strings.ToUpper(s), "lower case": strings.ToLower(s),
		`\x`: x.String(), `\u`: u.String(), `\u{}`: braces.String(), "octal": octal.String(),
		"references": references.String(), "HTML": html.EscapeString(s),
		"blanks": apart(" "), "line ends": apart("\n"), "zero width": apart("\u200b"), "spelled out": apart("<U+200B>"),
		"emphasis": apart("**"), "code": apart("``"), "bars": apart(" | "), "hex in lines": strings.Join(strings.Split(hex.EncodeToString([]byte(s)), ""), "\n> "),
		"base64 with blanks": strings.Join(strings.Split(base64.StdEncoding.EncodeToString([]byte("??"+s)), ""), " "),
	}
}

// TestOwnSecretsAreFoundInDisguise keeps the promise of the threat model that every part of eight bytes of a canary is
// absent from what is sent (O1), also if a model is asked to output the canary spaced or in base64 (T10).
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
	for i := range len(own) - 7 {
		part := disguises(own[i : i+8])
		for _, name := range []string{"plain", "hex", "HEX", "base64", "base64 for addresses"} {
			if !secret.Leaks("It says "+part[name]+" there.", own) {
				t.Errorf("%s of eight bytes: %q is not found", name, part[name])
			}
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

// TestOwnSecretsAreNotInOrdinaryText: no part of random tokens is seen in texts that do not have one.
func TestOwnSecretsAreNotInOrdinaryText(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	var texts []string
	for _, pattern := range []string{"*.go", "*.toml", "../../*.md", "../../docs/*.md", "../../docs/decisions/*.md"} {
		for _, name := range needs.Value(filepath.Glob(pattern))(t) {
			texts = append(texts, string(needs.Value(os.ReadFile(name))(t)))
		}
	}
	for range needs.Rounds(3, 1) {
		for _, form := range []string{
			"<hex:40>", "<hex:64>", "ghp_<b62:36>", "github_pat_<b62:82>", "glpat-<b62:20>", "sk-ant-api03-<b62:95>",
			"sk-proj-<b62:48>", "<b62:16>",
		} {
			token, _ := secrettest.Plant(r, form)
			search := secret.NewOwn(token)
			for i, text := range texts {
				if search.In(text) {
					t.Errorf("text %d is said to hold a part of %q", i, token)
				}
			}
		}
	}
	if len(texts) < 100 {
		t.Errorf("only %d texts were searched", len(texts))
	}
}

// FuzzOwn hides a part of a secret between other text: it is found, and nothing else happens.
func FuzzOwn(f *testing.F) {
	f.Add("some text", "more", uint8(0), uint8(0))
	f.Add("%5C\\x", "\\u{", uint8(12), uint8(3))
	f.Fuzz(func(t *testing.T, before, after string, how, from uint8) {
		start := int(from) % (len(own) - 14)
		hidden := disguises(own[start : start+14])
		names := slices.Sorted(maps.Keys(hidden))
		name := names[int(how)%len(names)]
		if text := before + " " + hidden[name] + " " + after; !secret.Leaks(text, own) {
			t.Errorf("%s is not found in %q", name, text)
		}
	})
}
