//go:build amd64 || arm64

package gate

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// packed is an archive of files, given as pairs of a path and a content, in the form of npm and cargo.
func packed(t *testing.T, files ...string) []byte {
	t.Helper()
	var archive bytes.Buffer
	zip := gzip.NewWriter(&archive)
	content := tar.NewWriter(zip)
	for i := 0; i < len(files); i += 2 {
		err := content.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))})
		if _, failed := content.Write([]byte(files[i+1])); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	}
	needs.NoError(t, errors.Join(content.Close(), zip.Close()))
	return archive.Bytes()
}

// server is a registry of a test: files by their paths. It notes what is asked for.
type server struct {
	url   string
	mu    sync.Mutex
	files map[string][]byte
	asked []string
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{files: map[string][]byte{}}
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.Path)
		data, ok := s.files[r.URL.Path]
		s.mu.Unlock()
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(listening.Close)
	s.url = listening.URL
	return s
}

// visits are the paths that were asked for, each once, in order.
func (s *server) visits() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(s.asked)))
}

// ran is a file that the scripts of hostile packages and trees create, in a sandbox and out of one.
const ran = "/tmp/precedent-gate-install-ran"

// sums serves a package whose install script shows that it ran, and returns its hash.
func sums(t *testing.T, s *server) string {
	t.Helper()
	t.Cleanup(func() { os.Remove(ran) })
	data := packed(
		t, "package/package.json",
		`{"name":"sums","version":"1.0.0","main":"index.js","bin":{"sums":"run.js"},"scripts":{"install":"touch `+ran+` $INIT_CWD/node_modules/ran"}}`,
		"package/index.js", "module.exports = (a, b) => a + b;\n", "package/run.js",
		"#!/usr/bin/env node\nprocess.exit(require('./index.js')(1, 2) === 3 ? 0 : 1)\n",
	)
	s.files["/sums/-/sums-1.0.0.tgz"] = data
	sum := sha512.Sum512(data)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// withManager is a runner that finds a package manager of the tests.
func withManager(t *testing.T, folder string) Runner {
	t.Helper()
	r := runner(t)
	if folder != "" {
		bin, err := filepath.Abs(
			needs.File(t, "PRECEDENT_TEST_MANAGERS", "managers/"+folder+"/node_modules/.bin", "pnpm and yarn"),
		)
		needs.NoError(t, err)
		r.Path = bin + string(os.PathListSeparator) + r.Path
	}
	if findProgram("node", "/usr/local/bin:/usr/bin:/bin") == "" &&
		!slices.ContainsFunc(findToolchains(r.Path), func(c toolchain) bool { return c.name == "node" }) {
		t.Skip("needs npm where a sandbox finds it")
	}
	return r
}

const (
	shopPackage = `{"name":"shop","version":"1.0.0","private":true,"scripts":{"test":"node test.js && sums","preinstall":"touch ` + ran + ` node_modules/ran"},"workspaces":["packages/*"],"dependencies":{"till":"1.0.0","sums":"^1.0.0"}}`
	shopTest    = "const fs = require('fs'); fs.writeFileSync('node_modules/.cached', 'x'); if (require('till')(1, 2) !== 3 || fs.existsSync('node_modules/ran')) process.exit(1)\n"
	// berryChecksum is what yarn 4 computes of the files of the package sums.
	berryChecksum = "10c0/9258c56906f08e7e2ee38b5a519e980e0ceafa55af19d7dda88e695ce642c4ca3fcd02bf359454c91185f2139476c0d7212dfd934b3897617a9aca2564a26278"
)

// managed are the package managers with the lock file of the repository that has the package sums, and the package till
// in a folder.
func managed(url, hash string) map[string]struct{ folder, file, lock, command string } {
	at := url + "/sums/-/sums-1.0.0.tgz"
	return map[string]struct{ folder, file, lock, command string }{
		"npm": {
			"", "package-lock.json",
			`{"name":"shop","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{"":{"name":"shop","version":"1.0.0","workspaces":["packages/*"],"dependencies":{"till":"1.0.0","sums":"^1.0.0"}},` +
				`"packages/till":{"name":"till","version":"1.0.0","dependencies":{"sums":"^1.0.0"}},"node_modules/till":{"resolved":"packages/till","link":true},` +
				`"node_modules/sums":{"version":"1.0.0","resolved":"` + at + `","integrity":"` + hash + `","hasInstallScript":true,"bin":{"sums":"run.js"}}}}`,
			"npm test",
		},
		"pnpm": {
			"pnpm", "pnpm-lock.yaml",
			"lockfileVersion: '9.0'\n\nsettings:\n  autoInstallPeers: true\n  excludeLinksFromLockfile: false\n\nimporters:\n\n  .:\n    dependencies:\n      sums:\n        specifier: ^1.0.0\n        version: 1.0.0\n" +
				"      till:\n        specifier: workspace:*\n        version: link:packages/till\n\n  packages/till:\n    dependencies:\n      sums:\n        specifier: ^1.0.0\n        version: 1.0.0\n\n" +
				"packages:\n\n  sums@1.0.0:\n    resolution: {integrity: " + hash + "}\n    hasBin: true\n\nsnapshots:\n\n  sums@1.0.0: {}\n",
			"pnpm test",
		},
		"yarn": {
			"yarn", "yarn.lock",
			"# THIS IS AN AUTOGENERATED FILE. DO NOT EDIT THIS FILE DIRECTLY.\n# yarn lockfile v1\n\n\nsums@^1.0.0:\n  version \"1.0.0\"\n  resolved \"https://registry.yarnpkg.com/sums/-/sums-1.0.0.tgz\"\n  integrity " + hash + "\n",
			"yarn test",
		},
		"berry": {
			"berry", "yarn.lock",
			"# This file is generated by running \"yarn install\" inside your project.\n# Manual changes might be lost - proceed with caution!\n\n__metadata:\n  version: 10\n  cacheKey: 10c0\n\n" +
				"\"shop@workspace:.\":\n  version: 0.0.0-use.local\n  resolution: \"shop@workspace:.\"\n  dependencies:\n    sums: \"npm:^1.0.0\"\n    till: \"workspace:*\"\n  languageName: unknown\n  linkType: soft\n\n" +
				"\"sums@npm:^1.0.0\":\n  version: 1.0.0\n  resolution: \"sums@npm:1.0.0\"\n  bin:\n    sums: run.js\n  checksum: " + berryChecksum + "\n  languageName: node\n  linkType: hard\n\n" +
				"\"till@workspace:*, till@workspace:packages/till\":\n  version: 0.0.0-use.local\n  resolution: \"till@workspace:packages/till\"\n  dependencies:\n    sums: \"npm:^1.0.0\"\n  languageName: unknown\n  linkType: soft\n",
			"yarn test",
		},
	}
}

// TestT1HostileNode gates repositories whose package comes from a registry, with each package manager: without its
// scripts and those of the tree. A tree that names another registry, programs and hooks in the files of its package
// manager, and a registry that sends another archive, reach nothing and run nothing. The folders of the tree are
// packages of each other.
func TestT1HostileNode(t *testing.T) {
	t.Parallel()
	evil := newServer(t)
	registry := newServer(t)
	hash := sums(t, registry)
	evil.files = registry.files
	script := "require('fs').writeFileSync('" + ran + "', ''); require('fs').mkdirSync('node_modules/ran', {recursive: true})\n"
	hostile := []string{
		".npmrc", "registry=" + evil.url + "/\n@evil:registry=" + evil.url + "/\nscript-shell=./evil.js\nnode-options=--require=./evil.js\nignore-scripts=false\n",
		".yarnrc", "registry \"" + evil.url + "\"\nyarn-path \"./evil.js\"\n--install.ignore-scripts false\n",
		".yarnrc.yml", "npmRegistryServer: " + evil.url + "\nyarnPath: ./evil.js\nenableScripts: true\nplugins: [./evil.js]\nunsafeHttpWhitelist: ['*']\n",
		".pnpmfile.cjs", script + "module.exports = {}\n", "evil.js", script,
		"pnpm-workspace.yaml", "packages: ['packages/*']\nregistry: " + evil.url + "\npnpmfile: ./evil.js\nonlyBuiltDependencies: [sums]\n",
	}
	for name, m := range managed(registry.url, hash) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := withManager(t, m.folder)
			r.NPMRegistry = registry.url
			top := shopPackage
			if name == "pnpm" || name == "berry" {
				top = strings.Replace(top, `"till":"1.0.0"`, `"till":"workspace:*"`, 1)
			}
			plain := []string{
				"package.json", top, m.file, m.lock, "pnpm-workspace.yaml", "packages: ['packages/*']\n", "test.js", shopTest,
				"packages/till/package.json", `{"name":"till","version":"1.0.0","main":"till.js","dependencies":{"sums":"^1.0.0"}}`,
				"packages/till/till.js", "module.exports = require('sums')\n",
			}
			base := tree(t, append(slices.Clone(plain), hostile...)...)
			wantPassed(t, r, requestAt(base, "node test.js && cd packages/till && node till.js"),
				"node: packages as of the base")
			q := requestAt(tree(t, plain...), m.command) // which obeys the hostile files
			wantPassed(t, r, q, "node: packages as of the base")
			if name != "npm" {
				return // the rest is the same for all
			}

			// A change of the lock file is not followed, and what fails then says so.
			q.Tree = tree(t, append(plain, m.file, m.lock+" ", "test.js", "require('other')\n")...)
			wantRun(t, r, q, Skipped, "those that the change adds are not fetched")
			q.Policy.Dependencies = precedent.DependenciesOff
			q.Tree = tree(t, plain...)
			wantRun(t, r, q, Skipped, "the policy turns them off")

			other := "sha512-" + base64.StdEncoding.EncodeToString(make([]byte, sha512.Size))
			base = tree(t, append(plain, m.file, strings.ReplaceAll(m.lock, hash, other))...)
			wantRun(t, r, requestAt(base, m.command), Skipped, "node: not fetched: ")
		})
	}
	t.Cleanup(func() {
		if _, err := os.Stat(ran); err == nil || len(evil.visits()) > 0 {
			t.Errorf("a program of the tree ran: %v; the other registry was asked for %q", err == nil, evil.visits())
		}
	})
}
