package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// programs are a small program for each platform, which is built once for all tests.
var programs = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "precedent-programs-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	all := map[string][]byte{}
	for name, platform := range map[string][2]string{
		"precedent-linux-amd64": {"linux", "amd64"}, "precedent-linux-arm64": {"linux", "arm64"},
		"precedent-darwin-arm64": {"darwin", "arm64"}, "precedent-windows-amd64.exe": {"windows", "amd64"},
	} {
		file := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", file, "./testdata/hello")
		cmd.Env = append(os.Environ(), "GOOS="+platform[0], "GOARCH="+platform[1], "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
		if all[name], err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// here is the program of this machine.
const here = "precedent-linux-" + runtime.GOARCH

// built makes a release of programs, all if none is named, in a folder of its own.
func built(t *testing.T, nfpm, key, base string, names ...string) *release {
	t.Helper()
	r := &release{
		dist: t.TempDir(), man: t.TempDir(), top: filepath.Join("..", ".."), version: "v1.2.3",
		commit: strings.Repeat("ab", 20), source: "https://example.org/team/precedent",
		at: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC), nfpm: nfpm, key: key, base: base,
		completions: map[string][]byte{
			"precedent.bash": []byte("complete"), "_precedent": []byte("#compdef"), "precedent.fish": nil, "precedent.ps1": nil,
		},
	}
	write(t, filepath.Join(r.man, "precedent.1"), ".TH PRECEDENT 1\n", 0o600)
	for name, data := range needs.Value(programs())(t) {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		write(t, filepath.Join(r.dist, name), string(data), 0o700)
	}
	needs.NoError(t, r.run())
	return r
}

// twice makes a release two times, of which every byte is the same, and returns its files.
func twice(t *testing.T, nfpm, base string, names ...string) map[string]string {
	t.Helper()
	one := contentsOf(t, built(t, nfpm, "", base, names...).dist)
	if base != "" {
		write(t, filepath.Join(base, "var/cache/apt/x"), "other each time", 0o600)
	}
	two := contentsOf(t, built(t, nfpm, "", base, names...).dist)
	maps.DeleteFunc(two, func(name, data string) bool { return one[name] == data })
	if len(two) > 0 {
		t.Errorf("others the second time: %q", slices.Sorted(maps.Keys(two)))
	}
	return one
}

// write writes a file, and the folders that it is in.
func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	needs.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	needs.NoError(t, os.WriteFile(file, []byte(text), mode))
}

func contentsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, e := range needs.Value(os.ReadDir(dir))(t) {
		all[e.Name()] = string(needs.Value(os.ReadFile(filepath.Join(dir, e.Name())))(t))
	}
	return all
}

// names lists the files of an archive, each with its mode.
func names(t *testing.T, file, data string) (all []string) {
	t.Helper()
	if strings.HasSuffix(file, ".zip") {
		z := needs.Value(zip.NewReader(strings.NewReader(data), int64(len(data))))(t)
		for _, f := range z.File {
			all = append(all, f.Mode().String()+" "+f.Name)
		}
		return all
	}
	z := needs.Value(gzip.NewReader(strings.NewReader(data)))(t)
	for r := tar.NewReader(z); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		needs.NoError(t, err)
		all = append(all, fs.FileMode(head.Mode).String()+" "+head.Name)
	}
}

// TestRelease: archives, formula, manifest, provenance and checksums, twice with the same bytes.
func TestRelease(t *testing.T) {
	one := twice(t, "", "")
	needs.Equal(t, 9, len(one))
	for file, want := range map[string][]string{
		"precedent-linux-amd64.tar.gz": {"-rwxr-xr-x precedent-1.2.3/precedent", "-rw-r--r-- precedent-1.2.3/systemd/precedent.service"},
		"precedent-windows-amd64.zip":  {"-rwxr-xr-x precedent-1.2.3/precedent.exe", "-rw-r--r-- precedent-1.2.3/completions/precedent.ps1"},
		"precedent-darwin-arm64.tar.gz": {
			"-rw-r--r-- precedent-1.2.3/man/precedent.1", "-rw-r--r-- precedent-1.2.3/LICENSES-OF-OTHERS.txt", "-rw-r--r-- precedent-1.2.3/README.md",
		},
	} {
		has := names(t, file, one[file])
		for _, name := range want {
			if !slices.Contains(has, name) {
				t.Errorf("%s has no %s, but %q", file, name, has)
			}
		}
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(one[file])))
		if !strings.Contains(one["SHA256SUMS"], sum+"  "+file+"\n") {
			t.Errorf("no checksum of %s", file)
		}
		for _, other := range []string{"provenance.json", map[bool]string{true: "precedent.json", false: "precedent.rb"}[strings.HasSuffix(file, ".zip")]} {
			if !strings.Contains(one[other], sum) {
				t.Errorf("%s does not name the checksum of %s:\n%s", other, file, one[other])
			}
		}
	}
	for _, name := range []string{"provenance.json", "precedent.json"} {
		if !json.Valid([]byte(one[name])) {
			t.Errorf("%s is not JSON", name)
		}
	}
	if strings.Contains(strings.Join(names(t, "x.zip", one["precedent-windows-amd64.zip"]), " "), "systemd") {
		t.Error("the archive for Windows has a unit of systemd")
	}
}

// served serves a release, as the page of the last one does.
func served(t *testing.T, files map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		data, ok := files[strings.TrimPrefix(q.URL.Path, "/latest/download/")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, data)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestInstall: the script installs what has the right checksum, and the right signature where one is asked for, and
// nothing else.
func TestInstall(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the archive is for Linux")
	}
	keys := t.TempDir()
	for _, name := range []string{"ours", "another"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", filepath.Join(keys, name)).CombinedOutput(); err != nil {
			t.Skipf("ssh-keygen: %v: %s", err, out)
		}
	}
	signers := func(name string) string {
		public := needs.Value(os.ReadFile(filepath.Join(keys, name+".pub")))(t)
		file := filepath.Join(keys, name+".signers")
		write(t, file, "release "+string(public), 0o600)
		return file
	}
	whole := contentsOf(t, built(t, "", filepath.Join(keys, "ours"), "", here).dist)
	archive := here + ".tar.gz"
	changed := func(name, data string) map[string]string {
		files := maps.Clone(whole)
		files[name] = data
		return files
	}
	sums := fmt.Sprintf("%x", sha256.Sum256([]byte(whole["SHA256SUMS"])))
	for name, test := range map[string]struct {
		files         map[string]string
		signers, sums string
		says          string // empty if it installs
	}{
		"right":              {whole, "", "", ""},
		"signed":             {whole, signers("ours"), "", ""},
		"another's key":      {whole, signers("another"), "", "not signed by the key"},
		"pinned":             {whole, "", sums, ""},
		"another release":    {changed("SHA256SUMS", whole["SHA256SUMS"]+"\n"), "", sums, "another checksum than SUMS says"},
		"changed":            {changed(archive, whole[archive]+"x"), "", "", "another checksum"},
		"cut off":            {changed(archive, whole[archive][:1000]), "", "", "another checksum"},
		"changed, with sums": {changed("SHA256SUMS", strings.ToUpper(whole["SHA256SUMS"])), signers("ours"), "", "not signed by the key"},
		"not named":          {changed("SHA256SUMS", "0 other\n"), "", "", "does not name"},
		"gone":               {changed("SHA256SUMS", ""), "", "", "does not name"},
	} {
		t.Run(name, func(t *testing.T) {
			bin := filepath.Join(t.TempDir(), "bin")
			cmd := exec.Command("sh", filepath.Join("..", "install.sh"))
			cmd.Env = append(os.Environ(), "BIN="+bin, "FROM="+served(t, test.files), "SIGNERS="+test.signers, "SUMS="+test.sums)
			out, err := cmd.CombinedOutput()
			hello, _ := exec.Command(filepath.Join(bin, "precedent")).Output()
			switch {
			case test.says == "" && (err != nil || string(hello) != "hello\n"):
				t.Errorf("%v, %q\n%s", err, hello, out)
			case test.says != "" && (err == nil || !bytes.Contains(out, []byte(test.says)) || len(hello) > 0):
				t.Errorf("%v, %q, want %q\n%s", err, hello, test.says, out)
			}
			if entries, _ := os.ReadDir(bin); test.says != "" && len(entries) > 0 {
				t.Errorf("it left %v", entries)
			}
		})
	}
}

// TestPackages installs the .deb and the .rpm into empty roots, runs the program there, and removes them.
func TestPackages(t *testing.T) {
	nfpm := needs.Program(t, "PRECEDENT_TEST_NFPM", "nfpm", "nfpm")
	if os.Geteuid() != 0 {
		t.Skip("only root installs packages, also into another root")
	}
	dpkg, rpm := needs.Command(t, "PRECEDENT_TEST_DPKG", "dpkg"), needs.Command(t, "PRECEDENT_TEST_RPM", "rpm")
	linux := []string{"precedent-linux-amd64", "precedent-linux-arm64"}
	files, dir := twice(t, nfpm, "", linux...), t.TempDir()
	file := func(kind string) string {
		name := filepath.Join(dir, here+"."+kind)
		write(t, name, files[here+"."+kind], 0o600)
		return name
	}
	for kind, do := range map[string]struct{ install, remove []string }{
		"deb": {
			[]string{dpkg, "--root=ROOT", "--force-depends", "--force-script-chrootless", "-i", file("deb")},
			[]string{dpkg, "--root=ROOT", "--force-script-chrootless", "--purge", "precedent"},
		},
		"rpm": {
			[]string{rpm, "--root", "ROOT", "--nodeps", "--noscripts", "-i", file("rpm")},
			[]string{rpm, "--root", "ROOT", "--noscripts", "-e", "precedent"},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			root := t.TempDir()
			for _, dir := range []string{"updates", "info", "triggers"} {
				needs.NoError(t, os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755))
			}
			write(t, filepath.Join(root, "var/lib/dpkg/status"), "", 0o600)
			run := func(args []string) {
				t.Helper()
				for i := range args {
					args[i] = strings.ReplaceAll(args[i], "ROOT", root)
				}
				if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
			}
			run(do.install)
			needs.Result(t, "the program", []byte("hello\n"))(exec.Command(filepath.Join(root, "usr/bin/precedent")).Output())
			unit, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/system/precedent.service"))
			if err != nil || !bytes.Contains(unit, []byte("ExecStart=/usr/bin/precedent ")) {
				t.Errorf("%v\n%s", err, unit)
			}
			for _, name := range []string{"usr/share/man/man1/precedent.1.gz", "usr/share/bash-completion/completions/precedent"} {
				if _, err := os.Stat(filepath.Join(root, name)); err != nil {
					t.Error(err)
				}
			}
			if enabled, _ := filepath.Glob(filepath.Join(root, "etc/systemd/system/*/precedent.service")); len(enabled) > 0 {
				t.Error("the service is enabled")
			}
			run(do.remove)
			if _, err := os.Stat(filepath.Join(root, "usr/bin/precedent")); err == nil {
				t.Error("the program is still there")
			}
		})
	}
}

// TestImage: the image has the layout of the specification, its digests are right, and its layers give the base system
// without what differs each time, and the program.
func TestImage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the base system is one for this machine")
	}
	base := t.TempDir()
	for name, text := range map[string]string{"etc/os-release": "Debian", "var/cache/apt/x": "x", "var/log/y": "z", "usr/bin/git": "git"} {
		write(t, filepath.Join(base, name), text, 0o600)
	}
	needs.NoError(t, os.Symlink("usr/bin", filepath.Join(base, "bin")))
	files := untar(t, twice(t, "", base, here)[here+".oci.tar"])
	var index struct{ Manifests []blob }
	if err := json.Unmarshal([]byte(files["index.json"]), &index); err != nil || len(index.Manifests) != 1 {
		t.Fatal(err, files["index.json"])
	}
	read := func(b blob) string {
		data := files["blobs/"+strings.Replace(b.Digest, ":", "/", 1)]
		if newBlob("", []byte(data)).Digest != b.Digest || len(data) != b.Size {
			t.Errorf("%s is not what its digest says: %d bytes", b.MediaType, len(data))
		}
		return data
	}
	var manifest struct {
		Config blob
		Layers []blob
	}
	if err := json.Unmarshal([]byte(read(index.Manifests[0])), &manifest); err != nil || len(manifest.Layers) != 2 {
		t.Fatal(err)
	}
	var config struct {
		Config struct {
			User       string
			Entrypoint []string
		}
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	if err := json.Unmarshal([]byte(read(manifest.Config)), &config); err != nil || config.Config.User != "10001" || config.Config.Entrypoint[0] != "precedent" {
		t.Errorf("%+v, %v", config, err)
	}
	all := map[string]string{}
	for i, l := range manifest.Layers {
		z := needs.Value(gzip.NewReader(strings.NewReader(read(l))))(t)
		plain, err := io.ReadAll(z)
		if err != nil || newBlob("", plain).Digest != config.RootFS.DiffIDs[i] {
			t.Errorf("layer %d is another one than the configuration says: %v", i, err)
		}
		for name, data := range untar(t, string(plain)) {
			all[name] = data
		}
	}
	if all["etc/os-release"] != "Debian" || all["bin"] != "-> usr/bin" || all["data/precedent/"] != "folder of 10001" || all["var/cache/"] == "" {
		t.Errorf("%q", slices.Sorted(maps.Keys(all)))
	}
	if _, has := all["var/cache/apt/"]; has || all["var/log/y"] != "" {
		t.Error("it has what differs each time")
	}
	hello := filepath.Join(t.TempDir(), "precedent")
	write(t, hello, all["usr/local/bin/precedent"], 0o700)
	needs.Result(t, "the program", []byte("hello\n"))(exec.Command(hello).Output())
}

// untar returns the files of an archive by name; of links and folders what they are.
func untar(t *testing.T, data string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for r := tar.NewReader(strings.NewReader(data)); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		needs.NoError(t, err)
		text := needs.Value(io.ReadAll(r))(t)
		switch all[head.Name] = string(text); head.Typeflag {
		case tar.TypeSymlink:
			all[head.Name] = "-> " + head.Linkname
		case tar.TypeDir:
			all[head.Name] = fmt.Sprint("folder of ", head.Uid)
		}
	}
}
