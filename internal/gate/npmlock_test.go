package gate

import (
	"strings"
	"testing"
)

const someHash = "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="

// TestLockRefused: nothing is fetched if a lock file names anything but archives of the registry with
// their hashes, and folders of the tree.
func TestLockRefused(t *testing.T) {
	const registry = "https://registry.example"
	for name, data := range map[string]string{
		"another server":     `"node_modules/a":{"resolved":"https://evil.example/a.tgz","integrity":"HASH"}`,
		"a similar server":   `"node_modules/a":{"resolved":"https://registry.example.evil/a.tgz","integrity":"HASH"}`,
		"another path":       `"node_modules/a":{"resolved":"https://registry.example/a/../../b.tgz","integrity":"HASH"}`,
		"a hidden path":      `"node_modules/a":{"resolved":"https://registry.example/a/%2e%2e/b.tgz","integrity":"HASH"}`,
		"a query":            `"node_modules/a":{"resolved":"https://registry.example/a.tgz?x=1","integrity":"HASH"}`,
		"git":                `"node_modules/a":{"resolved":"git+ssh://git@x/y.git#1","integrity":"HASH"}`,
		"no hash":            `"node_modules/a":{"resolved":"https://registry.example/a.tgz"}`,
		"half a hash":        `"node_modules/a":{"resolved":"https://registry.example/a.tgz","integrity":"sha512-2jmj7l5rSw0yVb/vlWAYkK/YBwk="}`,
		"a link":             `"node_modules/a":{"resolved":"https://registry.example/a.tgz","integrity":"HASH","link":true}`,
		"a link outside":     `"node_modules/a":{"resolved":"../a","link":true}`,
		"a folder outside":   `"../a":{}`,
		"outside":            `"../a":{"resolved":"https://registry.example/a.tgz","integrity":"HASH"}`,
		"outside, hidden":    `"node_modules/../../a":{"resolved":"https://registry.example/a.tgz","integrity":"HASH"}`,
		"a list of packages": `]`,
	} {
		data = `{"lockfileVersion":3,"packages":{` + strings.ReplaceAll(data, "HASH", someHash) + `}}`
		if l, err := readNPMLock([]byte(data), registry); err == nil {
			t.Errorf("npm: %s is taken: %v", name, l)
		}
	}
	if _, err := readNPMLock([]byte(`{"lockfileVersion":1,"dependencies":{}}`), registry); err == nil {
		t.Error("npm: a lock file without addresses is taken")
	}
	good := `{"lockfileVersion":3,"packages":{"":{},"packages/b":{},"node_modules/b":{"resolved":"packages/b","link":true},"node_modules/a":{"resolved":"https://registry.example/a.tgz","integrity":"` + someHash + `"}}}`
	l, err := readNPMLock([]byte(good), registry+"/")
	if err != nil || len(l.archives) != 1 || l.archives["/a.tgz"].url != registry+"/a.tgz" || strings.Join(l.manifests, " ") != "packages/b/package.json" {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestPnpmLock reads lock files of all versions, and refuses what does not come from the registry.
func TestPnpmLock(t *testing.T) {
	const registry = "https://registry.example/npm"
	hash := "    resolution: {integrity: " + someHash + "}\n"
	for key, want := range map[string]string{
		"/a/1.0.0":                     "/a/-/a-1.0.0.tgz", // version 5
		"/@s/a/1.0.0_b@2.0.0":          "/@s/a/-/a-1.0.0.tgz",
		"/@s/a@1.0.0(b@2.0.0)":         "/@s/a/-/a-1.0.0.tgz", // version 6
		"'@s/a@1.0.0-rc.1'":            "/@s/a/-/a-1.0.0-rc.1.tgz",
		"a@1.0.0+build":                "/a/-/a-1.0.0.tgz",
		"a@git+ssh://x":                "",
		"a@https://evil.example/a.tgz": "",
		"../../a@1.0.0":                "",
		"a/../../../b@1.0.0":           "",
		"a@../1.0.0":                   "",
	} {
		l, err := readPnpmLock([]byte("lockfileVersion: '9.0'\npackages:\n  "+key+":\n"+hash), registry)
		if a, ok := l.archives[want]; (err == nil) != (want != "") || want != "" && (!ok || a.url != registry+want && !strings.Contains(want, "@")) {
			t.Errorf("%s: %v, %v", key, l.archives, err)
		}
	}
	for name, data := range map[string]string{
		"another server":      "packages:\n  a@1.0.0:\n    resolution: {integrity: HASH, tarball: https://evil.example/a.tgz}\n",
		"git":                 "packages:\n  a@1.0.0:\n    resolution: {type: git, repo: https://evil.example/a, commit: abc}\n",
		"no hash":             "packages:\n  a@1.0.0:\n    resolution: {tarball: https://registry.example/npm/a.tgz}\n",
		"a folder outside":    "packages:\n  a@file:../a:\n    resolution: {type: directory, directory: ../a}\n",
		"a workspace outside": "importers:\n  ../a: {}\n",
		"a patch outside":     "patchedDependencies:\n  a@1.0.0: {hash: x, path: /etc/passwd}\n",
		"a bomb":              "x: &a [x,x,x,x,x,x,x,x,x]\ny: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nz: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\npackages: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n",
		"too large":           strings.Repeat("#", maxYAML),
	} {
		if l, err := readPnpmLock([]byte("lockfileVersion: '9.0'\n"+strings.ReplaceAll(data, "HASH", someHash)), registry); err == nil {
			t.Errorf("%s is taken: %v", name, l)
		}
	}
}

// TestYarnLock reads lock files of yarn 1 and of later ones, and refuses what does not come from the registry.
func TestYarnLock(t *testing.T) {
	const registry = "https://registry.example"
	classic := "# yarn lockfile v1\n\n\"@s/a@^1.0.0\", \"@s/a@1\":\n  version \"1.0.0\"\n  resolved \"ADDRESS\"\n  integrity HASH\n  dependencies:\n    resolved \"https://evil.example\"\n"
	for address, want := range map[string]bool{
		"https://registry.yarnpkg.com/@s/a/-/a-1.0.0.tgz#da39a3ee5e6b4b0d3255bfef95601890afd80709": true,
		"https://registry.npmjs.org/@s/a/-/a-1.0.0.tgz":                                            true,
		"https://registry.example/@s%2fa/-/a-1.0.0.tgz":                                            true,
		"https://evil.example/a.tgz":                                                               false, "https://codeload.github.com/a/b/tar.gz/abc": false, "git+ssh://git@x/y.git#abc": false, "file:../a.tgz": false, "": false,
	} {
		data := strings.NewReplacer("ADDRESS", address, "HASH", someHash).Replace(classic)
		if l, err := readYarnLock([]byte(data), registry); (err == nil) != want || want && l.archives["/@s/a/-/a-1.0.0.tgz"].url == "" {
			t.Errorf("%s: %v, %v", address, l, err)
		}
	}
	if _, err := readYarnLock([]byte(strings.ReplaceAll(classic, "  integrity HASH\n", "")), registry); err == nil {
		t.Error("an archive without a hash is taken")
	}
	berry := "__metadata:\n  version: 8\n  cacheKey: 10c0\n\n\"a@npm:^1.0.0\":\n  version: 1.0.0\n  resolution: \"RESOLUTION\"\n  checksum: 10c0/abc\n"
	for resolution, want := range map[string]bool{
		"a@npm:1.0.0": true, "@s/a@npm:1.0.0": true, "a@patch:a@npm%3A1.0.0#optional!builtin<compat/a>": true, "shop@workspace:.": true,
		"a@npm:1.0.0::__archiveUrl=https%3A%2F%2Fregistry.npmjs.org%2Fa.tgz": true, "a@npm:1.0.0::__archiveUrl=https%3A%2F%2Fevil.example%2Fa.tgz": false,
		"a@https://evil.example/a.tgz": false, "a@git@github.com:x/y.git#commit=abc": false, "../a@npm:1.0.0": false, "a@npm:../1": false, "": false,
	} {
		if l, err := readBerryLock([]byte(strings.ReplaceAll(berry, "RESOLUTION", resolution)), registry); (err == nil) != want {
			t.Errorf("%s: %v, %v", resolution, l, err)
		}
	}
	if _, err := readBerryLock([]byte(strings.NewReplacer("RESOLUTION", "a@npm:1.0.0", "  checksum: 10c0/abc\n", "").Replace(berry)), registry); err == nil {
		t.Error("a package without a hash is taken")
	}
}
