//go:build amd64 || arm64

package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// withCargo is a runner that finds cargo in a sandbox.
func withCargo(t *testing.T) Runner {
	t.Helper()
	r := runner(t)
	rust := slices.ContainsFunc(findToolchains(r.Path), func(c toolchain) bool { return c.name == "rust" })
	if !rust && findProgram("cargo", "/usr/local/bin:/usr/bin:/bin") == "" {
		t.Skip("needs cargo where a sandbox finds it")
	}
	return r
}

// cratesServer serves a crate, and returns its SHA-256.
func cratesServer(t *testing.T) (*server, string) {
	t.Helper()
	t.Cleanup(func() { os.Remove(ran) })
	s := newServer(t)
	data := packed(t, "sums-1.0.0/Cargo.toml", "[package]\nname = \"sums\"\nversion = \"1.0.0\"\nedition = \"2021\"\n",
		"sums-1.0.0/src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 { a + b }\n", "sums-1.0.0/../../evil", "x",
		"other/src/lib.rs", "x", "/etc/evil", "x")
	sum := sha256.Sum256(data)
	s.files["/crates/su/ms/sums-1.0.0.crate"] = data
	s.files["/config.json"] = []byte(`{"dl":"` + s.url + `/crates/{prefix}/{crate}-{version}.crate"}`)
	return s, hex.EncodeToString(sum[:])
}

// rustRepository is a repository that needs the crate.
func rustRepository(sum string) []string {
	return []string{
		"Cargo.toml", "[package]\nname = \"shop\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\n[dependencies]\nsums = \"1\"\n",
		"Cargo.lock", "version = 3\n\n[[package]]\nname = \"shop\"\nversion = \"1.0.0\"\ndependencies = [\n \"sums\",\n]\n\n[[package]]\nname = \"sums\"\nversion = \"1.0.0\"\n" +
			"source = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"" + sum + "\"\n",
		"src/lib.rs", "pub fn total() -> i32 { sums::add(1, 2) }\n",
	}
}

// TestT1HostileRust gates a repository of Rust with a crate from a registry. A tree that names programs and servers in
// cargo's configuration, and a registry that sends another crate, reach nothing and run nothing; the gate is skipped and
// blames nobody.
func TestT1HostileRust(t *testing.T) {
	t.Parallel()
	r := withCargo(t)
	index, sum := cratesServer(t)
	evil := newServer(t)
	r.CratesIndex = index.url
	files := rustRepository(sum)
	q := requestAt(tree(t, files...), "cargo check")
	wantPassed(t, r, q, "rust: crates as of the base")
	needs.Len(t, "kept", 2)(filepath.Glob(filepath.Join(r.keptDir("dependencies", q.Repo, Base), "*", "*")))
	q.Tree = tree(t, append(files, "src/lib.rs", "pub fn total() -> i32 { sums::gone(1, 2) }\n")...)
	wantRun(t, r, q, Failed, "")
	needs.Equal(t, 2, len(index.asked)) // its configuration and the crate, once

	base := tree(t, append(
		files, ".cargo/config.toml",
		"[build]\nrustc-wrapper = \"./evil.sh\"\n[source.crates-io]\nreplace-with = \"evil\"\n[source.evil]\nregistry = \"sparse+"+evil.url+"/\"\n[net]\ngit-fetch-with-cli = true\n[http]\nproxy = \""+evil.url+"\"\n[registry]\nglobal-credential-providers = [\"./evil.sh\"]\n",
		"rust-toolchain.toml", "[toolchain]\npath = \"./evil\"\n", "evil.sh",
		"#!/bin/sh\ntouch "+ran+"\nexec \"$@\"\n", "build.rs",
		"fn main() { std::fs::write(\""+ran+"\", \"\").unwrap() }\n",
	)...)
	needs.Equal(t, "rust: crates as of the base", wantRun(t, r, requestAt(base, "cargo check"), Skipped, "").Dependencies)
	base = tree(t, rustRepository(strings.Repeat("0", 64))...)
	q.Tree, q.Read = base, filesOf(base)
	wantRun(t, r, q, Skipped, errOther.Error())
	if _, err := os.Stat(ran); err == nil || len(evil.visits()) > 0 {
		t.Errorf("a program of the tree ran: %v; the other registry was asked for %q", err == nil, evil.visits())
	}
}
