package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// write writes a change as git writes it, with records in front.
func write(c *Change) string {
	var recs, patch strings.Builder
	for _, f := range c.Files {
		letter := map[Status]string{Added: "A", Modified: "M", Deleted: "D", Renamed: "R090", Copied: "C080", Retyped: "T"}[f.Status]
		fmt.Fprintf(&recs, ":%s %s %s %s %s\x00%s\x00", f.OldMode, f.NewMode, f.OldBlob, f.NewBlob, letter, f.OldPath)
		if f.Status == Renamed || f.Status == Copied {
			recs.WriteString(f.Path + "\x00")
		}
		fmt.Fprintf(&patch, "diff --git %s %s\n", quote("a/"+f.OldPath), quote("b/"+f.Path))
		fmt.Fprintf(&patch, "index %s..%s %s\n", f.OldBlob, f.NewBlob, f.NewMode)
		if f.Binary {
			patch.WriteString("Binary files x and y differ\n")
		}
		for _, h := range f.Hunks {
			patch.WriteString(h.header())
			for _, l := range h.Lines {
				end := "\n"
				if l.CRLF {
					end = "\r\n"
				}
				patch.WriteString(string(l.Op) + l.Text + end)
				if l.NoEOL {
					patch.WriteString("\\ No newline at end of file\n")
				}
			}
		}
	}
	if recs.Len() > 0 {
		recs.WriteByte(0)
	}
	return recs.String() + patch.String()
}

// quote writes a name as git does, with core.quotePath.
func quote(name string) string {
	var b strings.Builder
	odd := false
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			odd = true
			b.WriteString(`\` + string(rune(c)))
		case c == '\n':
			odd = true
			b.WriteString(`\n`)
		case c < ' ' || c >= 0x7f:
			odd = true
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	if odd {
		return `"` + b.String() + `"`
	}
	return name
}

// change draws a change as git could write one.
func change(t *rapid.T) *Change {
	c := &Change{}
	texts := rapid.OneOf(
		rapid.StringMatching(`[a-z @+\-\\]{0,12}`),
		rapid.Just("diff --git a/x b/x"), rapid.Just("@@ -1 +1 @@"), rapid.Just("-- a"), rapid.Just("caf\xe9\x00\r"),
	)
	for i := range rapid.IntRange(0, 4).Draw(t, "files") {
		path := fmt.Sprintf("%d%s", i, rapid.StringMatching("[a-z/ \"\\\\\n\tü]{0,8}").Draw(t, "path"))
		f := File{
			Path: path, OldPath: path, OldMode: "100644", NewMode: "100644", OldBlob: "1111111",
			NewBlob: "2222222",
		}
		f.Status = rapid.SampledFrom([]Status{Added, Modified, Deleted, Renamed, Copied}).Draw(t, "status")
		switch f.Status {
		case Added:
			f.OldMode, f.OldBlob = absent, ""
		case Deleted:
			f.NewMode, f.NewBlob = absent, ""
		case Renamed, Copied:
			f.OldPath = "from " + path
		}
		before, after := 1, 1
		for range rapid.IntRange(0, 3).Draw(t, "hunks") {
			skip := rapid.IntRange(0, 9).Draw(t, "skip")
			before, after = before+skip, after+skip
			h := Hunk{OldStart: before, NewStart: after, Section: strings.TrimSpace(texts.Draw(t, "section"))}
			for range rapid.IntRange(0, 6).Draw(t, "lines") {
				l := Line{Op: rapid.SampledFrom([]Op{Context, Add, Delete}).Draw(t, "op"), Text: texts.Draw(t, "text")}
				l.CRLF = rapid.Bool().Draw(t, "crlf")
				l.NoEOL = !l.CRLF && rapid.IntRange(0, 9).Draw(t, "noEOL") == 0
				h.Lines = append(h.Lines, l)
			}
			h.Lines = append(h.Lines, Line{Op: Add, Text: "last"})
			for i := range h.Lines {
				l := &h.Lines[i]
				if !l.CRLF && !l.NoEOL { // what would be read as CRLF
					l.Text = strings.TrimSuffix(l.Text, "\r")
				}
				if l.Op != Add {
					l.Old = before
					before++
					h.OldLines++
				} else {
					c.Added++
				}
				if l.Op != Delete {
					l.New = after
					after++
					h.NewLines++
				} else {
					c.Removed++
				}
			}
			if h.OldLines == 0 {
				h.OldStart--
			}
			f.Hunks = append(f.Hunks, h)
		}
		c.Files = append(c.Files, f)
	}
	return c
}

// TestRoundTrip reads what was written, whole and within random limits.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := change(t)
		text := write(want)
		got, err := Parse(strings.NewReader(text), DefaultLimits)
		if err != nil {
			t.Fatalf("%v\n%q", err, text)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
		checkInvariants(t, got)
		cut, err := Parse(strings.NewReader(text), Limits{
			Bytes: rapid.Int64Range(1, 200).Draw(t, "Bytes"), FileBytes: rapid.Int64Range(1, 100).Draw(t, "FileBytes"),
			LineBytes: rapid.IntRange(1, 12).Draw(t, "LineBytes"), Lines: rapid.IntRange(1, 20).Draw(t, "Lines"),
			Hunks: rapid.IntRange(1, 8).Draw(t, "Hunks"),
		})
		if err != nil {
			t.Fatalf("within limits: %v\n%q", err, text)
		}
		checkInvariants(t, cut)
		if cut.Added != want.Added || cut.Removed != want.Removed || len(cut.Files) != len(want.Files) {
			t.Fatalf("within limits: +%d -%d in %d files", cut.Added, cut.Removed, len(cut.Files))
		}
	})
}

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
