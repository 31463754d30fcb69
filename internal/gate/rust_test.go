package gate

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestCargoLock: nothing is fetched if a lock file names anything but crates of the registry with a hash, and
// packages of the tree.
func TestCargoLock(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want int // crates; -1 if it is refused
	}{
		"the registry":     {"name = 'a'\nversion = '1.0.0'\nsource = 'registry+https://github.com/rust-lang/crates.io-index'\nchecksum = '" + someSum + "'", 1},
		"the operator's":   {"name = 'a'\nversion = '1.0.0'\nsource = 'sparse+https://index.example/'\nchecksum = '" + someSum + "'", 1},
		"a folder":         {"name = 'a'\nversion = '1.0.0'", 0},
		"another registry": {"name = 'a'\nversion = '1.0.0'\nsource = 'registry+https://evil.example/index'\nchecksum = '" + someSum + "'", -1},
		"git":              {"name = 'a'\nversion = '1.0.0'\nsource = 'git+https://evil.example/a#abc'", -1},
		"no hash":          {"name = 'a'\nversion = '1.0.0'\nsource = 'registry+https://github.com/rust-lang/crates.io-index'", -1},
		"a path as name":   {"name = '../a'\nversion = '1.0.0'\nsource = 'registry+https://github.com/rust-lang/crates.io-index'\nchecksum = '" + someSum + "'", -1},
		"a marker as name": {"name = '{crate}'\nversion = '1.0.0'\nsource = 'registry+https://github.com/rust-lang/crates.io-index'\nchecksum = '" + someSum + "'", -1},
		"something else":   {"name = ", -1},
	} {
		read := readFrom("Cargo.lock", "[[package]]\n"+test.text+"\n", "sub/Cargo.lock", "[[package]]\n"+test.text+"\n")
		got, err := readCargoLocks(choice{read: read}, []string{"Cargo.lock", "sub/Cargo.lock", "gone/Cargo.lock"},
			"https://index.example")
		if (err != nil) != (test.want < 0) || err == nil && len(got) != test.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestCrateAddress builds the addresses of crates by the templates that indexes have.
func TestCrateAddress(t *testing.T) {
	for template, want := range map[string]string{
		"https://static.crates.io/crates": "https://static.crates.io/crates/Serde/1.0.0/download",
		"https://x/{crate}/{version}":     "https://x/Serde/1.0.0", "https://x/{prefix}/{lowerprefix}/{sha256-checksum}": "https://x/Se/rd/se/rd/s",
	} {
		if got := crateAddress(template, crate{Name: "Serde", Version: "1.0.0", Checksum: "s"}); got != want {
			t.Errorf("%s: %s", template, got)
		}
	}
	for name, want := range map[string]string{"a": "1", "abc": "3/a", "abcd": "ab/cd"} {
		if got := crateAddress("{prefix}", crate{Name: name}); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestUnpackTree: an archive from a sandbox writes nothing outside of its folder, and leaves no link that leads out.
func TestUnpackTree(t *testing.T) {
	for name, test := range map[string]struct {
		headers []tar.Header
		ok      bool
	}{
		"files and links":    {[]tar.Header{{Name: "a/b", Typeflag: tar.TypeReg, Mode: 0o755}, {Name: "a/c", Typeflag: tar.TypeSymlink, Linkname: "../a/b"}, {Name: "d", Typeflag: tar.TypeLink, Linkname: "a/b"}, {Name: "./e/", Typeflag: tar.TypeDir}}, true},
		"a device":           {[]tar.Header{{Name: "a", Typeflag: tar.TypeChar}, {Name: "b", Typeflag: tar.TypeFifo}}, true},
		"a path outside":     {[]tar.Header{{Name: "../a", Typeflag: tar.TypeReg}}, false},
		"an absolute one":    {[]tar.Header{{Name: "/tmp/precedent-a", Typeflag: tar.TypeReg}}, false},
		"a link outside":     {[]tar.Header{{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "../b"}}, false},
		"an absolute link":   {[]tar.Header{{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc"}}, false},
		"through links":      {[]tar.Header{{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "."}, {Name: "b", Typeflag: tar.TypeSymlink, Linkname: "a/.."}, {Name: "b/evil", Typeflag: tar.TypeReg}}, false},
		"a link through one": {[]tar.Header{{Name: "a/b/up", Typeflag: tar.TypeSymlink, Linkname: "../.."}, {Name: "c", Typeflag: tar.TypeSymlink, Linkname: "a/b/up/../../c"}}, true},
		"a link below one":   {[]tar.Header{{Name: "a/b/up", Typeflag: tar.TypeSymlink, Linkname: "../.."}, {Name: "a/b/up/c", Typeflag: tar.TypeSymlink, Linkname: "../../c"}}, false},
		"a link elsewhere":   {[]tar.Header{{Name: "a/b/c", Typeflag: tar.TypeSymlink, Linkname: "../d"}, {Name: "c", Typeflag: tar.TypeLink, Linkname: "a/b/c"}}, false},
		"a hard link":        {[]tar.Header{{Name: "a", Typeflag: tar.TypeLink, Linkname: "../b"}}, false},
		"a file twice":       {[]tar.Header{{Name: "a", Typeflag: tar.TypeReg}, {Name: "a", Typeflag: tar.TypeReg}}, false},
	} {
		var data bytes.Buffer
		w := tar.NewWriter(&data)
		for _, h := range test.headers {
			needs.NoError(t, w.WriteHeader(&h))
		}
		needs.NoError(t, w.Close())
		above := t.TempDir()
		to := filepath.Join(above, "to")
		needs.NoError(t, os.Mkdir(to, 0o700))
		if err := unpackTree(&data, to); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
		err := filepath.WalkDir(above, func(file string, d fs.DirEntry, err error) error {
			if filepath.Dir(file) == above && file != to {
				t.Errorf("%s: %s was written", name, file)
			}
			if err == nil && d.Type()&fs.ModeSymlink != 0 {
				to, err := os.Readlink(file)
				if err != nil || filepath.IsAbs(to) || strings.Contains(strings.TrimLeft(to, "./"), "..") {
					t.Errorf("%s: %s leads to %s", name, file, to)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestHeadLinks: files about dependencies are not read through links that lead out of the tree, and not if they are
// links or too large.
func TestHeadLinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	large := strings.Repeat(" ", maxManifest+1)
	for name, data := range map[string]string{filepath.Join(outside, "yarn.lock"): "secret", filepath.Join(dir, "real.lock"): "fine", filepath.Join(dir, "large.lock"): large} {
		needs.NoError(t, os.WriteFile(name, []byte(data), 0o600))
	}
	for name, to := range map[string]string{"web": outside, "yarn.lock": filepath.Join(outside, "yarn.lock"), "own.lock": "real.lock"} {
		needs.NoError(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	s := &session{Request: Request{Tree: dir}}
	for _, name := range []string{"web/yarn.lock", "yarn.lock", "own.lock", "large.lock", "../" + filepath.Base(outside) + "/yarn.lock", "missing"} {
		if data := s.head(name); data != nil {
			t.Errorf("%s has %.20q", name, data)
		}
	}
	if string(s.head("./real.lock")) != "fine" || len(s.find("yarn.lock")) != 0 {
		t.Errorf("%q, %v", s.head("./real.lock"), s.folders())
	}
}
