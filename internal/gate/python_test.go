package gate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

const someSum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// readFrom reads files, given as pairs of a path and a content.
func readFrom(files ...string) func(string) []byte {
	return func(name string) []byte {
		for i := 0; i < len(files); i += 2 {
			if files[i] == name {
				return []byte(files[i+1])
			}
		}
		return nil
	}
}

// TestReadPython reads what repositories ask for in each form.
func TestReadPython(t *testing.T) {
	const poetry = "[tool.poetry.dependencies]\npython = '^3.8'\nsums = '^1.0'\nlater = {version = '*', optional = true}\n[tool.poetry.group.dev.dependencies]\nmore_sums = {version = '*', extras = ['x', 'y']}\n"
	for name, test := range map[string]struct {
		files  []string
		want   string
		strict bool
	}{
		"hashes":     {[]string{"requirements.txt", "Sums==1.0.0 \\\n    --hash=sha256:" + someSum + "  # via x\n"}, "Sums==1.0.0", true},
		"options":    {[]string{"requirements.txt", "\ufeff-i https://pypi.org/simple/\n--trusted-host x\n# c\n\nmore[x,y] (>=1,<2) ; python_version < '3'\n"}, "more[x,y] (>=1,<2) ; python_version < '3'", false},
		"included":   {[]string{"requirements.txt", "-r requirements/a.txt\n", "requirements/a.txt", "sums\n-rb.txt\n", "requirements/b.txt", "-r a.txt\nmore\n"}, "sums more", false},
		"the folder": {[]string{"requirements.txt", "-e .[extra]\n", "pyproject.toml", "[project]\ndependencies = ['sums']\n[project.optional-dependencies]\nextra = ['more']\nother = ['third']\n"}, "more sums", false},
		"pyproject":  {[]string{"pyproject.toml", "[project]\ndependencies = ['sums<2']\n[project.optional-dependencies]\ntest = ['more']\nother = ['third']\n"}, "more sums<2", false},
		"groups":     {[]string{"pyproject.toml", "[dependency-groups]\ndev = ['more', {include-group = 'other'}]\nother = ['third']\n"}, "more", false},
		"nothing":    {[]string{"pyproject.toml", "[tool.ruff]\nline-length = 100\n"}, "", false},
		"uv":         {[]string{"pyproject.toml", "[project]\ndependencies = ['sums>=1']\n", "uv.lock", "[[package]]\nname = 'sums'\nsource = { registry = \"https://pypi.org/simple\" }\nwheels = [{ url = 'https://evil.example/x', hash = 'sha256:" + someSum + "' }]\n"}, "sums", true},
		"poetry":     {[]string{"pyproject.toml", poetry, "poetry.lock", "[[package]]\nname = 'sums'\nfiles = [{file = 'x', hash = 'sha256:" + someSum + "'}]\n"}, "more_sums[x,y] sums", true},
		"pipenv":     {[]string{"Pipfile.lock", `{"default":{"sums":{"version":"==1.0.0","hashes":["sha256:` + someSum + `"],"markers":"python_version > '3'"}},"develop":{"more":{"version":"==1"}}}`}, "more==1 sums==1.0.0 ; python_version > '3'", true},
	} {
		r, err := readPython(readFrom(test.files...), ".", "https://index.example/simple")
		if err != nil || strings.Join(r.lines, " ") != test.want || (r.locked != "") != test.strict ||
			test.strict && !strings.Contains(r.locked, someSum) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// TestPythonRefused: nothing is fetched for files that name servers, folders or programs.
func TestPythonRefused(t *testing.T) {
	refused := func(files ...string) {
		t.Helper()
		if r, err := readPython(readFrom(files...), ".", "https://index.example/simple"); err == nil {
			t.Errorf("%.80q is taken: %+v", files, r)
		}
	}
	for _, text := range []string{
		"-i https://evil.example/simple", "--index-url=https://evil.example/simple", "--extra-index-url https://evil.example", "-f https://evil.example", "--find-links .", "--no-index",
		"-r https://evil.example/r.txt", "-r ../../../etc/passwd", "-r /etc/passwd", "-c file:///etc/passwd", "-r missing.txt", "-e git+https://evil.example/x.git#egg=x", "-e ./sub", "--editable=../x",
		"git+ssh://git@evil.example/x.git", "sums @ https://evil.example/sums.whl", "sums @ file:///etc/passwd", "./sums.whl", "../sums", "https://evil.example/sums.whl", "file:sums.whl",
		"sums --config-settings=x=y", "sums --global-option=x", "sums --install-option=--x", "--config-settings x", "sums==${VERSION}", "sums==1 --hash=md5:abc", "sums==1 --hash=sha256:abc",
		"sums; import_os('x')@", "-", "sums\x00", "sums\\", ".hidden/sums", ".[x", strings.Repeat("a\n", maxRequirements+1),
	} {
		refused("requirements.txt", text)
	}
	for _, text := range []string{
		"[[tool.uv.index]]\nurl = 'https://evil.example'\n", "[tool.uv.sources]\nsums = { git = 'https://evil.example' }\n", "[tool.uv]\nextra-index-url = ['https://evil.example']\n",
		"[[tool.poetry.source]]\nname = 'evil'\nurl = 'https://evil.example'\n", "[tool.poetry.dependencies]\nsums = {git = 'https://evil.example'}\n", "[tool.poetry.dependencies]\nsums = '^1'\n",
		"[project]\ndependencies = ['sums @ https://evil.example/sums.whl']\n", "[project]\ndynamic = ['dependencies']\n", "[project\n",
	} {
		refused("pyproject.toml", text)
	}
	for name, text := range map[string]string{
		"uv.lock":      "[[package]]\nname = 'sums'\nsource = { registry = \"https://evil.example/simple\" }\n",
		"Pipfile.lock": `{"_meta":{"sources":[{"url":"https://evil.example/simple"}]}}`,
		"poetry.lock":  "[[package]]\nname = 'sums'\n[package.source]\ntype = \"legacy\"\nurl = \"https://evil.example/simple\"\n",
	} {
		refused("pyproject.toml", "", name, text)
	}
}

// TestWheelIndex: pip sees only wheels with a hash, and of pinned packages only those that are pinned. It reaches
// nothing but pages and the files that they list.
func TestWheelIndex(t *testing.T) {
	other := strings.Repeat("f", 64)
	operators := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/simple/sums/":
			_, _ = fmt.Fprintf(w, `{"files":[{"filename":"a.whl","url":"../../a.whl","hashes":{"sha256":"%[1]s"}},`+
				`{"filename":"b.whl","url":"../../b.whl","hashes":{"sha256":"%[2]s"},"yanked":true},{"filename":"c.whl","url":"c.whl"},`+
				`{"filename":"d.tar.gz","url":"d.tar.gz","hashes":{"sha256":"%[1]s"}},`+
				`{"filename":"e.whl","url":"file:///etc/passwd","hashes":{"sha256":"%[1]s"}},`+
				`{"filename":"../../f.whl","url":"x","hashes":{"sha256":"%[1]s"}}]}`, someSum, other)
		case "/simple/old/":
			_, _ = w.Write([]byte("<!DOCTYPE html>"))
		case "/a.whl":
			_, _ = w.Write([]byte("not what was pinned"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer operators.Close()
	ask := func(locked string, paths ...string) *httptest.ResponseRecorder {
		x := newWheelIndex(newFetcher(nil, t.TempDir()), operators.URL+"/simple/", locked)
		var w *httptest.ResponseRecorder
		for _, path := range paths {
			w = httptest.NewRecorder()
			x.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		}
		return w
	}
	for locked, want := range map[string]string{
		"": "a.whl b.whl", "sha256:" + someSum: "a.whl", "hash = " + other: "b.whl", "no hash": "",
	} {
		var page struct{ Files []wheelFile }
		if err := json.Unmarshal(ask(locked, "/simple/sums/").Body.Bytes(), &page); err != nil {
			t.Error(err)
		}
		var names []string
		for _, f := range page.Files {
			names = append(names, f.Name)
			if !strings.HasPrefix(f.URL, registryIs+"/files/") {
				t.Errorf("%s is at %s", f.Name, f.URL)
			}
		}
		needs.Equal(t, want, strings.Join(names, " "))
	}
	if w := ask("", "/simple/sums/", "/files/"+someSum+"/a.whl"); w.Code != http.StatusBadGateway ||
		strings.Contains(w.Body.String(), "not what") {
		t.Errorf("a file with another hash: %d %q", w.Code, w.Body)
	}
	needs.Equal(t, http.StatusBadGateway, ask("", "/simple/old/").Code)
	for _, path := range []string{"/", "/simple/", "/simple/../a.whl", "/simple/%2e%2e/", "/simple/Sums/", "/a.whl", "/files/" + someSum + "/a.whl", "/simple/sums/../../a.whl", "/simple/a%2fb/", "/simple/missing/"} {
		if w := ask("", path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
