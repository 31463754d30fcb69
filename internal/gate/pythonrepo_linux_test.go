//go:build amd64 || arm64

package gate

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// withPip is a runner that finds pip in a sandbox.
func withPip(t *testing.T) Runner {
	t.Helper()
	r := runner(t)
	if !hasPip() {
		t.Skip("needs pip where a sandbox finds it")
	}
	r.Path = "/usr/local/bin:/usr/bin:/bin"
	return r
}

// hasPip asks once: pip takes long to start.
var hasPip = sync.OnceValue(func() bool {
	return slices.ContainsFunc([]string{"/usr/local/bin/python3", "/usr/bin/python3"}, func(name string) bool {
		return exec.CommandContext(context.Background(), name, "-m", "pip", "--version").Run() == nil
	})
})

// wheel makes a wheel of one module, which writes a file if its installation runs anything of it, and returns
// its SHA-256.
func wheel(t *testing.T, s *server, name, version, module string, requires ...string) string {
	t.Helper()
	var archive bytes.Buffer
	content := zip.NewWriter(&archive)
	info := name + "-" + version + ".dist-info/"
	metadata := "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n"
	for _, r := range requires {
		metadata += "Requires-Dist: " + r + "\n"
	}
	for _, f := range [][2]string{
		{name + "/__init__.py", module},
		{info + "METADATA", metadata},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "entry_points.txt", "[console_scripts]\n" + name + " = " + name + ":main\n"},
		{info + "RECORD", name + "/__init__.py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "entry_points.txt,,\n" + info + "RECORD,,\n"},
	} {
		w, err := content.Create(f[0])
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		needs.NoError(t, err)
	}
	needs.NoError(t, content.Close())
	sum := sha256.Sum256(archive.Bytes())
	digest := hex.EncodeToString(sum[:])
	file := name + "-" + version + "-py3-none-any.whl"
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files["/files/"+file] = archive.Bytes()
	page := "/simple/" + strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name)) + "/"
	begun, ok := strings.CutSuffix(string(s.files[page]), "]}")
	if begun += ","; !ok {
		begun = `{"files":[`
	}
	s.files[page] = fmt.Appendf(nil, `%s{"filename":"%s","url":"../../files/%[2]s","hashes":{"sha256":"%s"},"requires-python":">=3"}]}`,
		begun, file, digest)
	return digest
}

const sumsModule = "open('" + ran + "', 'w')\ndef add(a, b): return a + b\ndef main(): raise SystemExit(add(1, 2) != 3)\n"

// pythonIndex serves two wheels, of which one needs the other, a newer one of the first, and a source package
// that runs when it is built.
func pythonServer(t *testing.T) (s *server, sums, more string) {
	t.Helper()
	t.Cleanup(func() { os.Remove(ran) })
	s = newServer(t)
	sums = wheel(t, s, "sums", "1.0.0", sumsModule)
	wheel(t, s, "sums", "2.0.0", sumsModule+"raise SystemExit('too new')\n")
	more = wheel(t, s, "more_sums", "1.0.0", "import sums\n", "sums>=1")
	source := packed(t, "built-1.0.0/setup.py",
		"open('"+ran+"', 'w')\nfrom setuptools import setup\nsetup(name='built', version='1.0.0')\n",
		"built-1.0.0/PKG-INFO", "Metadata-Version: 2.1\nName: built\nVersion: 1.0.0\n")
	sum := sha256.Sum256(source)
	s.files["/files/built-1.0.0.tar.gz"] = source
	s.files["/simple/built/"] = fmt.Appendf(nil, `{"meta":{"api-version":"1.0"},"name":"built","files":[{"filename":`+
		`"built-1.0.0.tar.gz","url":"../../files/built-1.0.0.tar.gz","hashes":{"sha256":"%x"}}]}`, sum)
	return s, sums, more
}

// TestT1HostilePython gates a repository that says in a lock file which wheels it needs; TestReadPython has the others. A
// tree cannot name another index, have a package built, or take a package of the same name from
// the index in place of the one that its lock file means. What it cannot get is missing, and is not the change's fault.
func TestT1HostilePython(t *testing.T) {
	t.Parallel()
	index, one, two := pythonServer(t)
	test := []string{
		"test.py",
		"import sums, more_sums, shop, os\nassert sums.add(1, 2) == 3\nassert not os.path.exists('/etc/hostname')\n",
		"src/shop/__init__.py", "",
	}
	uv := "version = 1\nrequires-python = \">=3.8\"\n\n[[package]]\nname = \"sums\"\nversion = \"1.0.0\"\nsource = { registry = \"https://pypi.org/simple\" }\nwheels = [{ url = \"https://evil.example/sums.whl\", hash = \"sha256:" + one + "\" }]\n\n" +
		"[[package]]\nname = \"more-sums\"\nversion = \"1.0.0\"\nsource = { registry = \"https://pypi.org/simple\" }\nwheels = [{ url = \"https://evil.example/more.whl\", hash = \"sha256:" + two + "\" }]\n\n[[package]]\nname = \"shop\"\nversion = \"1.0.0\"\nsource = { editable = \".\" }\n"
	r := withPip(t)
	r.PythonIndex = index.url + "/simple/"
	base := tree(t, append(test, "pyproject.toml",
		"[project]\nname = 'shop'\nversion = '1'\ndependencies = ['sums', 'more-sums>=1']\n", "uv.lock", uv)...)
	wantPassed(t, r, requestAt(base, "python3 test.py && sums"), "python: wheels as of the base")

	evil := newServer(t)
	for name, test := range map[string]struct{ text, why string }{
		"a package that has to be built": {"built\n", "Could not find a version that satisfies the requirement built"},
		"another file of the name":       {"sums==1.0.0 --hash=sha256:" + strings.Repeat("0", 64) + "\n", "Could not find a version that satisfies the requirement sums"},
		"another index":                  {"--extra-index-url " + evil.url + "/simple\nsums\n", "names an index or folder of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := tree(t, "requirements.txt", test.text, "pip.conf", "[global]\nindex-url = "+evil.url+"\n",
				"setup.py", "open('"+ran+"', 'w')\n", "test.py", "import sums\n")
			q := requestAt(base, "python3 test.py")
			if got := wantRun(t, r, q, Skipped, test.why); !strings.Contains(got.Dependencies, test.why) {
				t.Errorf("%q", got.Dependencies)
			}
		})
	}
	t.Cleanup(func() {
		if _, err := os.Stat(ran); err == nil || len(evil.visits()) > 0 {
			t.Errorf("a program of the tree ran: %v; the other index was asked for %q", err == nil, evil.visits())
		}
		for _, path := range index.visits() {
			if strings.HasSuffix(path, ".tar.gz") {
				t.Errorf("%s was fetched", path)
			}
		}
	})
}

// TestChangedRequirements: what a change adds is fetched only if the policy says so, and into caches that the
// base does not read.
func TestChangedRequirements(t *testing.T) {
	t.Parallel()
	index, _, _ := pythonServer(t)
	r := withPip(t)
	r.PythonIndex = index.url + "/simple"
	limits := []string{
		"requirements/all.txt", "Sums ; python_version > '3'\n-c limits.txt\n", "requirements/limits.txt", "sums<2\n",
	}
	base := tree(t, append(limits, "requirements.txt", "-r requirements/all.txt\n", "test.py", "import sums\n")...)
	q := request(tree(t, append(limits, "requirements.txt", "-r requirements/all.txt\nmore-sums\n",
		"test.py", "import more_sums\n")...), "python3 test.py")
	q.Read = filesOf(base)
	wantRun(t, r, q, Skipped, "those that the change adds are not fetched")
	before := contentOf(t, r.keptDir("dependencies", q.Repo, Base))
	q.Policy.Dependencies = precedent.DependenciesHead
	wantPassed(t, r, q, "python: wheels as of the change")
	needs.Equal(t, before, contentOf(t, r.keptDir("dependencies", q.Repo, Base)))
}
