package diff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// repo is a git repository in a temporary folder.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) repo {
	t.Helper()
	r := repo{t, t.TempDir()}
	r.git("init", "-q")
	return r
}

func (r repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, &stderr)
	}
	return string(out)
}

func (r repo) write(name, text string) {
	r.t.Helper()
	name = filepath.Join(r.dir, name)
	needs.NoError(r.t, os.MkdirAll(filepath.Dir(name), 0o755))
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	needs.NoError(r.t, os.WriteFile(name, []byte(text), 0o644))
}

func (r repo) commit() { r.git("add", "-A"); r.git("commit", "-q", "--allow-empty", "-m", "x") }

// diff is the last commit with records, patch the same without.
func (r repo) diff() string {
	return r.git("diff", "--raw", "-z", "-p", "--full-index", "--no-abbrev", "-M", "-C", "HEAD~1", "HEAD")
}

func (r repo) patch() string {
	return r.git("diff", "-p", "--full-index", "-M", "-C", "HEAD~1", "HEAD")
}

// odd is a path that git has to quote.
const odd = "od d/new\nline \"q\" ü\\"

// everything commits one change of each kind.
func everything(t *testing.T) repo {
	t.Helper()
	r := newRepo(t)
	link := func(to, name string) {
		os.Remove(filepath.Join(r.dir, name))
		needs.NoError(t, os.Symlink(to, filepath.Join(r.dir, name)))
	}
	long := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	r.write("bin", "a\x00b")
	r.write("crlf.txt", "x\r\ny\r\n")
	r.write("del/gone", "-- gone\n++ too\n")
	r.write("mode only", "m\n")
	r.write(odd, "q\n")
	r.write("noeol", "old\r")
	r.write("source", long)
	r.write("tofile2", "t\n")
	link("a", "tofile")
	r.write("two.go", "package two\n\nfunc a() {\n\tone()\n}\n"+long+long+"end\n")
	r.write("same", "s\n")
	r.commit()
	head := strings.TrimSpace(r.git("rev-parse", "HEAD"))
	r.write("bin", "a\x00c")
	r.write("crlf.txt", "x\r\nz\n")
	os.RemoveAll(filepath.Join(r.dir, "del"))
	r.write("empty", "")
	needs.NoError(t, os.Chmod(filepath.Join(r.dir, "mode only"), 0o755))
	r.write(odd, "q\n\n+++ p\n")
	r.write("noeol", "new")
	os.Remove(filepath.Join(r.dir, "source"))
	r.write("moved", long)
	r.write("copied", long+"10\n")
	r.write("tofile", "f\n")
	link("t", "tofile2")
	r.write("two.go", "package two\n\nfunc a() {\n\tuno()\n}\n"+long+long+"end\nmore\n")
	r.git("add", "-A")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+head+",sub")
	r.git("commit", "-q", "-m", "x")
	return r
}

func TestParse(t *testing.T) {
	r := everything(t)
	got := needs.Value(Parse(strings.NewReader(r.diff()), DefaultLimits))(t)
	checkInvariants(t, got)
	if got.Added != 10 || got.Removed != 7 {
		t.Errorf("counted +%d -%d", got.Added, got.Removed)
	}
	said := needs.Each(got.Files, func(f File) string { // hunks as models see them, with a bar for a line's end
		var b strings.Builder
		fmt.Fprintf(&b, "%s %q %q %s %s %v ", f.Status, f.OldPath, f.Path, f.OldMode, f.NewMode, f.Binary)
		for i := range f.Hunks {
			f.Hunks[i].Numbered(&b)
		}
		return strings.ReplaceAll(b.String(), "\n", "|")
	})
	needs.Equal(t, []string{
		`modified "bin" "bin" 100644 100644 true `,
		`copied "source" "copied" 100644 100644 false @@ -7,3 +7,4 @@|7  7| 8| 9|10 +10|`,
		`modified "crlf.txt" "crlf.txt" 100644 100644 false @@ -1,2 +1,2 @@|1  x|-y|+z|`,
		`deleted "del/gone" "del/gone" 100644 000000 false @@ -1,2 +0,0 @@|1 --- gone|-++ too|`,
		`added "empty" "empty" 000000 100644 false `,
		`modified "mode only" "mode only" 100644 100755 false `,
		`renamed "source" "moved" 100644 100644 false `,
		`modified "noeol" "noeol" 100644 100644 false @@ -1 +1 @@|-old` + "\r" + `|\ No newline at end of file|1 +new|\ No newline at end of file|`,
		`modified "od d/new\nline \"q\" ü\\" "od d/new\nline \"q\" ü\\" 100644 100644 false @@ -1 +1,3 @@|1  q|+|++++ p|`,
		`added "sub" "sub" 000000 160000 false @@ -0,0 +1 @@|1 +Subproject commit ` + strings.TrimSpace(r.git("rev-parse", "HEAD~1")) + "|",
		`type-changed "tofile" "tofile" 120000 100644 false @@ -1 +0,0 @@|1 -a|\ No newline at end of file|@@ -0,0 +1 @@|1 +f|`,
		`type-changed "tofile2" "tofile2" 100644 120000 false @@ -1 +0,0 @@|1 -t|@@ -0,0 +1 @@|1 +t|\ No newline at end of file|`,
		`modified "two.go" "two.go" 100644 100644 false @@ -1,7 +1,7 @@|1  package two| | func a() {|-	one()|+	uno()|5  }| 1| 2|` +
			`@@ -22,3 +22,4 @@ func a() {|22  8| 9| end|25 +more|`,
	}, said)
	for _, f := range got.Files {
		for _, blob := range []struct{ got, rev string }{{f.OldBlob, "HEAD~1:" + f.OldPath}, {f.NewBlob, "HEAD:" + f.Path}} {
			if blob.got == "" {
				continue
			}
			if want := strings.TrimSpace(r.git("rev-parse", blob.rev)); blob.got != want {
				t.Errorf("%s: id %s, want %s", blob.rev, blob.got, want)
			}
		}
	}

	checkCommentable(t, got)

	// The patch alone says the same, but for the ids of what did not change.
	alone := needs.Value(ParsePatch(strings.NewReader(r.patch()), DefaultLimits))(t)
	sameMode := cmp.FilterPath(func(p cmp.Path) bool {
		return strings.HasSuffix(p.String(), "Mode") || strings.HasSuffix(p.String(), "Blob")
	}, cmp.Comparer(func(a, b string) bool { return a == b || a == "" || b == "" }))
	needs.Equal(t, got, alone, sameMode)
	got.Classify(Trees{})
	alone.Classify(Trees{})
	for i := range got.Files {
		if a, b := got.Files[i], alone.Files[i]; a.Skip != b.Skip {
			t.Errorf("%s: skipped as %q by its record, as %q by its patch", a.Path, a.Skip, b.Skip)
		}
	}
}

// TestParseMergeRefused: of a merge, git writes a line for each parent, which says nothing about one of them.
func TestParseMergeRefused(t *testing.T) {
	if _, err := Parse(strings.NewReader("::100644 100644 100644 1 2 3 MM\x00f\x00"), DefaultLimits); !errors.Is(err, errCombined) {
		t.Errorf("records of a merge: %v", err)
	}
	for _, patch := range []string{"diff --cc f\nindex 1,2..3\n", "diff --combined f\n", "@@@ -1 -1 +1 @@@\n"} {
		if _, err := ParsePatch(strings.NewReader(patch), DefaultLimits); !errors.Is(err, errCombined) {
			t.Errorf("patch of a merge: %v", err)
		}
	}
}

const record = ":100644 100644 1111111 2222222 M\x00f\x00\x00"

func TestParseErrors(t *testing.T) {
	head := "diff --git a/f b/f\n--- a/f\n+++ b/f\n"
	for _, test := range []struct{ name, in, want string }{
		{"no records", head, "record 1: not a record"},
		{"record ends", ":100644 100644 1111111 2222222 M\x00f", "record 1: unexpected EOF"},
		{"unmerged", ":000000 000000 0000000 0000000 U\x00f\x00", `status "U"`},
		{"empty path", ":100644 100644 1 2 M\x00\x00", "empty path"},
		{"path without end", ":100644 100644 1 2 M\x00" + strings.Repeat("x", 1<<20), "path too long"},
		{"other file", record + "diff --git a/g b/g\nold mode 100644\n", "line 2 (the last): section from line 1"},
		{"text", record + "\nwarning: x\n", "line 1:"},
		{"text behind a hunk", record + head + "@@ -1 +1 @@\n-a\n+b\nwarning\n", "line 7:"},
		{"ends in a hunk", record + head + "@@ -1,2 +1 @@\n-a\n", "line 5 (the last): the diff ends within a hunk"},
		{"hunk too short", record + head + "@@ -1,2 +1,2 @@\n-a\n+b\n@@ -9 +9 @@\n", "line 7: the lines of the hunk do not match"},
		{"hunk too long", record + head + "@@ -1,2 +1 @@\n-a\n+b\n+c\n", "line 7: the lines of the hunk do not match"},
		{"orphan", record + "@@ -1 +1 @@\n-a\n+b\n", "line 1: hunk outside"},
		{"no change", record + head + "@@ -1 +1 @@\n a\n", "contains no changes"},
		{"order", record + head + "@@ -5 +5 @@\n-a\n+b\n@@ -4 +6 @@\n-a\n+b\n", "line 7: hunk starts before"},
		{"line 0", record + head + "@@ -0 +1 @@\n-a\n+b\n", "line 4: hunk starts before"},
		{"huge number", record + head + "@@ -1,99999999999 +1 @@\n", "line 4: invalid range"},
		{"large number", record + head + "@@ -2147483647 +1 @@\n", "line 4: range"},
		{"no range", record + head + "@@ -1 1 @@\n", "line 4: invalid hunk header"},
		{"long header", record + "diff --git a/" + strings.Repeat("x", 1<<20), "line 1: header line longer than 64 KiB"},
		{"many headers", record + "diff --git a/f b/f\n" + strings.Repeat("index 1..2\n", 99), "line 33: header longer than 32 lines"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(strings.NewReader(test.in), DefaultLimits)
			if err == nil || !strings.Contains(err.Error(), test.want) ||
				!strings.HasPrefix(err.Error(), "read diff: ") {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	broken := errors.New("broken pipe")
	in := io.MultiReader(strings.NewReader(record), iotest.ErrReader(broken))
	if _, err := Parse(in, DefaultLimits); !errors.Is(err, broken) {
		t.Errorf("error %v, want that of the reader", err)
	}
}

func TestParsePatchForms(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     string // status and paths, or the error
	}{
		{"mail", "From: x\nSubject: y\n---\n f | 2 +-\n\ndiff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n", "modified f"},
		{"text like names", "--- a\n+++ b\nno hunk\n", ""},
		{"deleted line like a name", "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n--- a/x\n-+++ b/x\n+y\n", "modified f"},
		{"empty context", "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n\n-a\n+b\n", "modified f"},
		{"no newline at the patch's end", "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b", "modified f"},
		{"binary data", "diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ\n\nliteral 1\nI\n\ndiff --git a/g b/g\nold mode 100644\nnew mode 100755\n", "modified f, modified g"},
		{"new and empty", "diff --git a/f g b/f g\nnew file mode 100644\nindex 0..e69\n", "added f g"},
		{"backslash at the end", `diff --git "a/f\\" "b/f\\"` + "\nold mode 100644\nnew mode 100755\n", `modified f\`},
		{"retyped", "diff --git a/f b/f\ndeleted file mode 120000\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\ndiff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+b\n", "type-changed f"},
		{"series", strings.Repeat("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", 2), `"f" occurs twice`},
		{"no name", "diff --git a b\nold mode 100644\nnew mode 100755\n", "section from line 1"},
		{"diff -u", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", `line 3: hunk outside a file's section, which starts with "diff --git"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := ParsePatch(strings.NewReader(test.in), DefaultLimits)
			if err != nil {
				if test.want == "" || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v, want %q", err, test.want)
				}
				return
			}
			checkInvariants(t, c)
			got := needs.Each(c.Files, func(f File) string { return fmt.Sprintf("%s %s", f.Status, f.Path) })
			if s := strings.Join(got, ", "); s != test.want {
				t.Errorf("read %q, want %q", s, test.want)
			}
		})
	}
}

// checkCommentable checks what of the change of everything can get a comment.
func checkCommentable(t *testing.T, c *Change) {
	t.Helper()
	f := c.File("two.go")
	numbers := func(side precedent.Side) (got []int) {
		for _, l := range f.Commentable(side) {
			got = append(got, l.On(side))
		}
		return got
	}
	needs.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 22, 23, 24, 25}, numbers(precedent.Right))
	needs.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 22, 23, 24}, numbers(precedent.Left))
	for line, want := range map[int]int{0: -1, 1: 0, 7: 0, 8: -1, 24: 1} {
		needs.Equal(t, want, f.HunkAt(precedent.Left, line))
	}
	needs.Equal(t, 1, f.HunkAt(precedent.Right, 25))
	needs.Equal(t, -1, f.HunkAt(precedent.Left, 25))
	var added []string
	for l := range f.AddedLines() {
		added = append(added, l.Text)
	}
	needs.Equal(t, []string{"\tuno()", "more"}, added)
	if c.File("source") != nil {
		t.Error("found a file by its old path")
	}
}

// checkInvariants holds a change to what its types promise.
func checkInvariants(t interface {
	Helper()
	Errorf(string, ...any)
}, c *Change,
) {
	t.Helper()
	added, removed, whole := 0, 0, true
	for _, f := range c.Files {
		if f.Path == "" || f.OldPath == "" || f.TooLarge && f.Skip == "" {
			t.Errorf("file %+v", f)
		}
		oldEnd, newEnd := 1, 1
		for i, h := range f.Hunks {
			if f.Status == Retyped && h.OldLines == 0 {
				oldEnd, newEnd = 1, 1
			}
			before, after := h.OldStart, h.NewStart
			if h.OldLines == 0 {
				before++
			}
			if h.NewLines == 0 {
				after++
			}
			if before < oldEnd || after < newEnd {
				t.Errorf("%s: hunk %d starts before the previous one ends", f.Path, i)
			}
			oldEnd, newEnd = before+h.OldLines, after+h.NewLines
			for _, l := range h.Lines {
				want := Line{Op: l.Op}
				if l.Op != Add {
					want.Old = before
					before++
				}
				if l.Op != Delete {
					want.New = after
					after++
				}
				if l.Old != want.Old || l.New != want.New || l.Op != Add && l.Op != Delete && l.Op != Context {
					t.Errorf("%s: hunk %d has line %+v at -%d +%d", f.Path, i, l, before, after)
				}
				if strings.Contains(l.Text, "\n") || l.CRLF && l.NoEOL {
					t.Errorf("%s: line %+v", f.Path, l)
				}
				switch l.Op {
				case Add:
					added++
				case Delete:
					removed++
				}
			}
			if h.Cut == "" && (before != oldEnd || after != newEnd) {
				t.Errorf("%s: hunk %d counts %d and %d lines, has others", f.Path, i, h.OldLines, h.NewLines)
			}
			whole = whole && h.Cut == ""
		}
		whole = whole && !f.TooLarge
	}
	if c.Added < added || c.Removed < removed || whole && (c.Added != added || c.Removed != removed) {
		t.Errorf("counts +%d -%d, has +%d -%d", c.Added, c.Removed, added, removed)
	}
}
