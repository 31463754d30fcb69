package api

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// editor is a copy with a file, and what calls its tools.
func editor(t *testing.T) (dir string, call func(name string, args any) (string, error)) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"a.go": "package a\n\nconst one, two = 1, 2\n", "lib/run.sh": "run\n", "data.bin": "a\x00b",
	} {
		needs.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		needs.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	c := needs.Value(openCopy(dir))(t)
	t.Cleanup(c.close)
	return dir, func(name string, args any) (string, error) {
		raw := needs.Value(json.Marshal(args))(t)
		return use(t, c.tools(), name, raw)
	}
}

type args map[string]string

func TestEditTools(t *testing.T) {
	dir, call := editor(t)
	for _, test := range []struct {
		tool string
		args args
		want string
	}{
		{"replace_in_file", args{"path": "a.go", "old": "one, two = 1, 2", "new": "one, two = 1, 3"}, "written: a.go"},
		{"write_file", args{"path": "new/deep/b.go", "content": "package b\n"}, "written: new/deep/b.go"},
		{"write_file", args{"path": "./lib/run.sh", "content": "walk\n"}, "written: lib/run.sh"},
		{"list_files", args{"glob": "**/*.go"}, "a.go\nnew/deep/b.go\n"},
		{"search", args{"pattern": "walk"}, "lib/run.sh:1: walk\n"},
		{"delete_file", args{"path": "new/deep/b.go"}, "deleted: new/deep/b.go"},
		{"list_files", args{"glob": "**/*.go"}, "a.go\n"},
	} {
		if got, err := call(test.tool, test.args); err != nil || got != test.want {
			t.Errorf("%s %v: %q, %v", test.tool, test.args, got, err)
		}
	}
	if got, err := call("read_file", map[string]any{"path": "a.go", "start": 3}); err != nil ||
		got != "     3\tconst one, two = 1, 3\n" {
		t.Errorf("a.go: %q, %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "lib/run.sh")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the mode of run.sh: %v, %v", info, err)
	}
}

// TestThreat27EditToolsStayInTheCopy: a model that obeys a hostile text changes nothing but text
// files of its copy.
func TestThreat27EditToolsStayInTheCopy(t *testing.T) {
	dir, call := editor(t)
	outside := t.TempDir()
	needs.NoError(t, os.WriteFile(filepath.Join(outside, "there.txt"), []byte("there"), 0o600))
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil { // a copy never has one
		t.Fatal(err)
	}
	needs.NoError(t, os.Symlink(filepath.Join(outside, "there.txt"), filepath.Join(dir, "file")))
	big := strings.Repeat("x", maxEditFile+1)
	for _, test := range []struct {
		tool string
		args args
		want string
	}{
		{"write_file", args{"path": "../x", "content": "x"}, "relative to its top"},
		{"write_file", args{"path": "/tmp/x", "content": "x"}, "relative to its top"},
		{"write_file", args{"path": "lib/../../x", "content": "x"}, "relative to its top"},
		{"write_file", args{"path": "", "content": "x"}, "relative to its top"},
		{"write_file", args{"path": "lib", "content": "x"}, "not a file"},
		{"write_file", args{"path": ".", "content": "x"}, "not a file"},
		{"write_file", args{"path": "link/x", "content": "x"}, "not a folder"},
		{"write_file", args{"path": "link", "content": "x"}, "not a file"},
		{"write_file", args{"path": "file", "content": "x"}, "not a file"},
		{"replace_in_file", args{"path": "file", "old": "there", "new": "x"}, "not a file"},
		{"delete_file", args{"path": "file"}, "not a file"},
		{"write_file", args{"path": "a.go/x", "content": "x"}, "not a folder"},
		{"write_file", args{"path": ".git/config", "content": "x"}, "configures"},
		{"write_file", args{"path": "lib/.GIT/hooks/x", "content": "x"}, "configures"},
		{"write_file", args{"path": ".claude/settings.json", "content": "x"}, "configures"},
		{"write_file", args{"path": "CLAUDE.md", "content": "x"}, "configures"},
		{"write_file", args{"path": "a\\b", "content": "x"}, "not allowed"},
		{"write_file", args{"path": "a\u202eb", "content": "x"}, "not allowed"},
		{"write_file", args{"path": "a\x1b", "content": "x"}, "not allowed"},
		{"write_file", args{"path": strings.Repeat("a", maxEditPath+1), "content": "x"}, "not allowed"},
		{"write_file", args{"path": "bin", "content": "a\x00"}, "only text"},
		{"write_file", args{"path": "big", "content": big}, "512 KiB"},
		{"replace_in_file", args{"path": "data.bin", "old": "a", "new": "b"}, "not text"},
		{"replace_in_file", args{"path": "a.go", "old": "nowhere", "new": "b"}, "does not occur"},
		{"replace_in_file", args{"path": "a.go", "old": "o", "new": "b"}, "occurs 3 times"},
		{"replace_in_file", args{"path": "a.go", "old": "", "new": "b"}, "empty"},
		{"replace_in_file", args{"path": "a.go", "old": "one", "new": big}, "512 KiB"},
		{"replace_in_file", args{"path": "gone", "old": "a", "new": "b"}, "not there"},
		{"delete_file", args{"path": "gone"}, "not there"},
		{"read_file", args{"path": "file"}, "not there or cannot be read"},
		{"read_file", args{"path": "link/there.txt"}, "not there or cannot be read"},
	} {
		if got, err := call(test.tool, test.args); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %.60v: %q, %v, want %q", test.tool, test.args, got, err, test.want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(outside, "there.txt")); err != nil || string(text) != "there" {
		t.Errorf("the file outside is %q, %v", text, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside there are %v, %v", entries, err)
	}
}
