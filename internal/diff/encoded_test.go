package diff

import (
	"strings"
	"testing"
	"unicode/utf16"
)

// inUTF16 is a text in UTF-16, with a mark of its byte order or without.
func inUTF16(s string, big, mark bool) string {
	if mark {
		s = "\ufeff" + s
	}
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			u = u<<8 | u>>8
		}
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
}

// TestEncoded: a file does not escape a review by its encoding, or by zero bytes, which git takes for binary.
func TestEncoded(t *testing.T) {
	const text = "first();\r\nsecond('ä');\nthird();\n"
	later := strings.Replace(text, "second", "evil", 1)
	for _, test := range []struct {
		name, before, now string
		added             int
	}{
		{"little-endian with a mark", inUTF16(text, false, true), inUTF16(later, false, true), 1},
		{"big-endian with a mark", inUTF16(text, true, true), inUTF16(later, true, true), 1},
		{"little-endian", inUTF16(text, false, false), inUTF16(later, false, false), 1},
		{"big-endian", inUTF16(text, true, false), inUTF16(later, true, false), 1},
		{"from UTF-8", text, inUTF16(later, false, true), 1},
		{"new", "", inUTF16(later, false, false), 3},
		{"a zero byte", text, strings.Replace(later, "third", "\x00third", 1), 2},
		{"truly binary", text, "\x00\x01\x02\x03\xff\xfe" + strings.Repeat("\x00\x07", 40), 0},
		{"unchanged text", text, inUTF16(text, true, true), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := File{Path: "a.js", OldPath: "a.js", Status: Modified, OldBlob: "1", NewBlob: "2", Binary: true}
			base := files{"a.js": test.before}
			if test.before == "" {
				f.Status, base = Added, files{}
			}
			c := &Change{Files: []File{f}}
			c.Classify(Trees{Base: base.read, Head: files{"a.js": test.now}.read})
			got := &c.Files[0]
			binary := test.name == "truly binary"
			if got.Binary != binary || got.Excused != binary || (got.Skip != "") != binary || c.Added != test.added {
				t.Fatalf("binary %v, skip %q, excused %v, %d lines added", got.Binary, got.Skip, got.Excused, c.Added)
			}
			if test.added == 0 {
				return
			}
			var lines []string
			for l := range got.AddedLines() {
				lines = append(lines, l.Text)
			}
			if said := strings.Join(lines, "\n"); !strings.Contains(said, "evil('ä');") {
				t.Errorf("added %q", said)
			}
			if test.added == 1 {
				h := got.Hunks[0]
				if h.OldStart != 1 || h.OldLines != 3 || h.NewStart != 1 || h.NewLines != 3 ||
					h.Lines[1].Op != Delete || h.Lines[2].New != 2 || h.Lines[3].Old != 3 {
					t.Errorf("hunk %+v", h)
				}
			}
		})
	}
}

// TestMovedToWhereItRuns: a file that a move makes a pipeline, a hook, a build file or code is read like a new one, and so is
// one that was not read where it was.
func TestMovedToWhereItRuns(t *testing.T) {
	const now = "on: push\njobs: {}\nx: 2\n"
	edit := []Hunk{{OldStart: 3, OldLines: 1, NewStart: 3, NewLines: 1, Lines: []Line{
		{Op: Delete, Old: 3, Text: "x: 1"}, {Op: Add, New: 3, Text: "x: 2"},
	}}}
	for _, test := range []struct {
		from, to string
		hunks    []Hunk
		added    int
		skip     string
	}{
		{"docs/a.yml", ".github/workflows/a.yml", nil, 3, ""},
		{"docs/a.yml", ".github/workflows/a.yml", edit, 3, ""},
		{".github/workflows/b.yml", ".github/workflows/a.yml", nil, 0, "renamed without other changes"},
		{".github/workflows/b.yml", ".github/workflows/a.yml", edit, 1, ""},
		{"docs/b.txt", "docs/b.yml", nil, 3, ""},
		{"testdata/a.go", "a.go", nil, 3, ""},
		{"_a.go", "a.go", edit, 3, ""},
		{"a.js", "a.tsx", nil, 0, "renamed without other changes"},
		{"docs/a.yml", "docs/b.yml", nil, 0, "renamed without other changes"},
		{"vendor/b.yml", "docs/b.yml", nil, 3, ""},
		{"gen/b.yml", "docs/b.yml", edit, 3, ""},
		{"vendor/b.yml", "vendor/c.yml", nil, 0, "renamed without other changes"},
		{"vendor/logo.png", "docs/logo.png", nil, 0, "renamed without other changes"},
		{"empty", "Makefile", nil, 0, "renamed without other changes"},
		{"missing.yml", ".github/workflows/missing.yml", nil, 0, "moved to where it is reviewed, and its content cannot be read"},
	} {
		c := &Change{Files: []File{{Path: test.to, OldPath: test.from, Status: Renamed, OldBlob: "1", NewBlob: "2", Hunks: test.hunks}}}
		if test.hunks == nil {
			c.Files[0].NewBlob = "1"
		} else {
			c.Added, c.Removed = 1, 1
		}
		c.Classify(Trees{
			Attributes: []byte("gen/** linguist-generated\n"),
			Head:       files{"a.go": now, "a.tsx": now, ".github/workflows/a.yml": now, "docs/b.yml": now, "vendor/c.yml": now, "docs/logo.png": "\x00\x01", "Makefile": ""}.read,
		})
		added := 0
		for range c.Files[0].AddedLines() {
			added++
		}
		f := &c.Files[0]
		if added != test.added || c.Added != added || f.Skip != test.skip || f.TooLarge != (test.from == "missing.yml") {
			t.Errorf("%s to %s: %d lines added, skip %q, incomplete %v", test.from, test.to, added, f.Skip, f.TooLarge)
		}
	}
}

func TestAlwaysRead(t *testing.T) {
	for want, names := range map[bool]string{
		true: ".github/workflows/ci.yml .GitHub/workflows/ci.yml .gitea/workflows/a.yaml .gitlab-ci.yml .circleci/config.yml Jenkinsfile azure-pipelines.yml .woodpecker/a.yml .husky/pre-commit " +
			"hooks/pre-push .pre-commit-config.yaml Makefile src/GNUmakefile rules.mk CMakeLists.txt x/Find.cmake configure meson.build Dockerfile docker/Dockerfile.dev compose.yaml " +
			"package.json vendor/x/package.json .npmrc vite.config.ts build.gradle app/build.gradle.kts gradlew pom.xml setup.py setup.cfg pyproject.toml conftest.py tox.ini build.rs Cargo.toml " +
			"Rakefile Gemfile x.gemspec BUILD.bazel WORKSPACE defs.bzl go.mod .vscode/tasks.json .devcontainer/devcontainer.json .envrc action.yml x.csproj Directory.Build.props",
		false: "main.go build/main.go update.go workflows/a.yml make.go package-lock.json go.sum docs/hooks.md vendor/a/b.go configure.md makefiles/a.c",
	} {
		for name := range strings.FieldsSeq(names) {
			if got := alwaysRead().MatchString(name); got != want {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}
