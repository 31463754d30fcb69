package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestApply makes the new content from the old one and what was read of git's diff between them.
func TestApply(t *testing.T) {
	rnd := needs.Random(t)
	words := []string{"", "a", "b", "}", "\tx := 1", "-- a", "++ b", "@@ -1 +1 @@", "diff --git a/f b/f", "\r", "x\r"}
	content := func(from []string) []string {
		var lines []string
		for range rnd.IntN(5) * rnd.IntN(9) {
			lines = append(lines, words[rnd.IntN(len(words))])
		}
		for _, l := range from {
			if rnd.IntN(8) > 0 {
				lines = append(lines, l)
			}
			if rnd.IntN(9) == 0 {
				lines = append(lines, words[rnd.IntN(len(words))])
			}
		}
		return lines
	}
	join := func(lines []string) string {
		s := strings.Join(lines, "\n")
		if rnd.IntN(5) > 0 && s != "" {
			s += "\n"
		}
		return s
	}
	r := newRepo(t)
	old, fresh := map[string]string{}, map[string]string{}
	for i := range needs.Rounds(150, 60) {
		name := fmt.Sprintf("dir%d/f %d", i%7, i)
		before := content(nil)
		old[name], fresh[name] = join(before), join(content(before))
		r.write(name, old[name])
	}
	r.commit()
	for name, s := range fresh {
		r.write(name, s)
	}
	r.commit()
	for _, context := range []string{"-U3", "-U0", "-U1"} {
		out := r.git("diff", "--raw", "-z", "-p", "--full-index", "--no-abbrev", "--no-renames", context, "HEAD~1", "HEAD")
		c := needs.Value(Parse(strings.NewReader(out), DefaultLimits))(t)
		checkInvariants(t, c)
		for i := range c.Files {
			f := &c.Files[i]
			if got := apply(t, old[f.Path], f); got != fresh[f.Path] {
				t.Errorf("%s %s: %q became %q, want %q", context, f.Path, old[f.Path], got, fresh[f.Path])
			}
		}
		for name := range fresh {
			if c.File(name) == nil && old[name] != fresh[name] {
				t.Errorf("%s is missing", name)
			}
		}
	}
}

// apply makes a file's new content and checks the old lines on the way.
func apply(t *testing.T, old string, f *File) string {
	t.Helper()
	var b strings.Builder
	lines := strings.SplitAfter(old, "\n")
	next := 1
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			text := l.Text
			switch {
			case l.CRLF:
				text += "\r\n"
			case !l.NoEOL:
				text += "\n"
			}
			if l.Old > 0 {
				for ; next < l.Old; next++ {
					b.WriteString(lines[next-1])
				}
				if lines[next-1] != text {
					t.Errorf("%s:%d is %q, the hunk says %q", f.Path, l.Old, lines[next-1], text)
				}
				next++
			}
			if l.New > 0 {
				if l.Op == Add && h.OldLines == 0 {
					for ; next <= h.OldStart; next++ {
						b.WriteString(lines[next-1])
					}
				}
				if got := strings.Count(b.String(), "\n") + 1; got != l.New {
					t.Errorf("%s: line %d is the new file's %d", f.Path, l.New, got)
				}
				b.WriteString(text)
			}
		}
	}
	for ; next <= len(lines); next++ {
		b.WriteString(lines[next-1])
	}
	return b.String()
}

func fuzzSeeds(f *testing.F) {
	f.Helper()
	f.Add(strings.Repeat(record[:len(record)-1], 2) + "\x00" + section(0) +
		"@@ -1,9 +1,9 @@ func f() {\n \tcontext\n-\told()\n+\tfresh(")
	for _, s := range []string{
		"", "\x00", record, record + section(0), "::100644 100644 100644 1 2 3 MM\x00f\x00",
		record + "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@ x\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
		record + "diff --git \"a/f\" \"b/\\146\"\nGIT binary patch\nliteral 1\nI\n",
		":100644 120000 1 2 T\x00f\x00\x00diff --git a/f b/f\ndeleted file mode 100644\n@@ -1 +0,0 @@\n-a\ndiff --git a/f b/f\nnew file mode 120000\n@@ -0,0 +1 @@\n+a\n",
		"--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+b\n", "--- a\n+++ \"b\\\n@@ -1 +1 @@\n", "@@ -1 +1 @@\n", "diff --cc f\n@@@ -1 -1 +1 @@@\n",
		"diff --git a/f b/g\nsimilarity index 9%\nrename from f\nrename to g\n", "diff --git \"a/\\\\\" \"b/\\\\\"\nold mode 1\nnew mode 7777777\n",
	} {
		f.Add(s)
	}
}

// FuzzParse reads anything as both kinds of input. What is accepted must keep
// its promises, through every function that works on a change.
func FuzzParse(f *testing.F) {
	fuzzSeeds(f)
	lim := Limits{Bytes: 1 << 12, FileBytes: 1 << 11, LineBytes: 80, Lines: 100, Hunks: 10}
	f.Fuzz(func(t *testing.T, in string) {
		for _, lim := range []Limits{lim, DefaultLimits} {
			if c, err := Parse(strings.NewReader(in), lim); err == nil {
				exercise(t, c, in)
			}
			if c, err := ParsePatch(strings.NewReader(in), lim); err == nil {
				exercise(t, c, in)
			}
		}
	})
}

// FuzzAttributes reads anything as .gitattributes.
func FuzzAttributes(f *testing.F) {
	f.Add("*.c linguist-generated\n[attr]m linguist-vendored\n\"a\\\"b\" m !m -m\n", "dir/a.c")
	f.Add("{a,b}[x-\\ linguist-generated", "[")
	f.Fuzz(func(t *testing.T, attrs, path string) {
		if path == "" {
			return
		}
		c := &Change{Files: []File{modified(path, 1, attrs, path)}}
		c.Classify(Trees{Base: func(string) ([]byte, error) { return []byte(attrs), nil }, Attributes: []byte(attrs)})
	})
}

func exercise(t *testing.T, c *Change, in string) {
	t.Helper()
	checkInvariants(t, c)
	c.Classify(Trees{Base: func(string) ([]byte, error) { return []byte(in), nil }, Attributes: []byte(in)})
	checkInvariants(t, c)
	hunks, grouped := 0, 0
	var b strings.Builder
	for i := range c.Files {
		f := &c.Files[i]
		for h := range f.Hunks {
			f.Hunks[h].Numbered(&b)
		}
		if f.Skip == "" {
			hunks += len(f.Hunks)
		}
	}
	for _, g := range Identical(c) {
		grouped += len(g.Hunks)
	}
	needs.Equal(t, grouped, hunks)
}
