package diff

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// endless repeats parts, n times each, without ever holding them: a hostile
// diff of any size. It measures the heap while it is being read.
type endless struct {
	parts []part
	rest  string
	read  int64
	peak  uint64
}

type part struct {
	n    int
	text func(i int) string
	i    int
}

func times(n int, text string) part { return part{n: n, text: func(int) string { return text }} }

func (e *endless) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		if e.rest == "" {
			if len(e.parts) > 0 && e.parts[0].i == e.parts[0].n {
				e.parts = e.parts[1:]
				continue
			}
			if len(e.parts) == 0 {
				break
			}
			e.rest = e.parts[0].text(e.parts[0].i)
			e.parts[0].i++
			continue
		}
		m := copy(b[n:], e.rest)
		n, e.rest = n+m, e.rest[m:]
	}
	if n == 0 {
		return 0, io.EOF
	}
	if e.read>>22 != (e.read+int64(n))>>22 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		e.peak = max(e.peak, m.HeapInuse)
	}
	e.read += int64(n)
	return n, nil
}

func records(n int) part {
	return part{n: n, text: func(i int) string {
		return fmt.Sprintf(":100644 100644 1111111 2222222 M\x00dir/file%d\x00", i)
	}}
}

func section(i int) string {
	return fmt.Sprintf(
		"diff --git a/dir/file%d b/dir/file%d\nindex 1111111..2222222 100644\n--- a/dir/file%d\n+++ b/dir/file%d\n",
		i, i, i, i,
	)
}

// chunk is what a hostile diff repeats, to be larger than a Read.
var chunk = strings.Repeat("x", 1<<16)

func TestLimits(t *testing.T) {
	line := "+" + strings.Repeat("y", 98) + "\n" // 100 bytes
	for _, test := range []struct {
		name  string
		parts []part
		check func(*testing.T, *Change)
	}{
		{"100 MB in one file", []part{records(1), times(1, "\x00"+section(0)+"@@ -0,0 +1,1000000 @@\n"), times(1_000_000, line)}, func(t *testing.T, c *Change) {
			t.Helper()
			h := c.Files[0].Hunks[0]
			if want := int(DefaultLimits.FileBytes) / 98; len(h.Lines) != want || h.Cut != "file's diff larger than 4 MiB" {
				t.Errorf("%d lines, want %d; cut: %q", len(h.Lines), want, h.Cut)
			}
			if c.Added != 1_000_000 || c.Files[0].Skip != "" {
				t.Errorf("added %d, skip %q", c.Added, c.Files[0].Skip)
			}
		}},
		{"100 MB in many files", []part{
			records(1000), times(1, "\x00"),
			{n: 1000, text: func(i int) string { return section(i) + "@@ -0,0 +1,1000 @@\n" + strings.Repeat(line, 1000) }},
		}, func(t *testing.T, c *Change) {
			t.Helper()
			cut, skipped, hunks := 0, 0, 0
			for _, f := range c.Files {
				hunks += len(f.Hunks)
				for _, h := range f.Hunks {
					if h.Cut == "diff larger than 16 MiB" {
						cut++
					}
				}
				if f.TooLarge && f.Skip == "diff larger than 16 MiB" {
					skipped++
				}
			}
			if hunks != 1000 || skipped != 828 || cut != 829 || c.Added != 1_000_000 {
				t.Errorf("%d hunks, %d files skipped, %d hunks cut, %d lines", hunks, skipped, cut, c.Added)
			}
		}},
		{"lines of one byte", []part{
			records(3), times(1, "\x00"+section(0)+"@@ -0,0 +1,2000000 @@\n"), times(2_000_000, "+\n"),
			times(1, section(1)+"@@ -1 +1 @@\n-a\n+b\n"), times(1, section(2)+"@@ -0,0 +1,200000 @@\n"), times(200_000, "+\n"),
		}, func(t *testing.T, c *Change) {
			t.Helper()
			h := c.Files[0].Hunks[0]
			if len(h.Lines) != DefaultLimits.Lines/2 || h.Cut != "file's diff longer than 125000 lines" {
				t.Errorf("%d lines, cut: %q", len(h.Lines), h.Cut)
			}
			if next := c.Files[1].Hunks[0]; next.Cut != "" || len(next.Lines) != 2 {
				t.Errorf("the next file: %+v", next)
			}
			if last := c.Files[2].Hunks[0]; last.Cut != "diff longer than 250000 lines" {
				t.Errorf("cut: %q", last.Cut)
			}
		}},
		{"a line of 50 MB", []part{
			records(2), times(1, "\x00"+section(0)+"@@ -1 +1,3 @@\n-a\n+"), times(17<<20, "€"), times(1, "é\r\n+\u00e9\n+end\n"), times(1, section(1)+"@@ -1 +1 @@\n-a\n+b\n"),
		}, func(t *testing.T, c *Change) {
			t.Helper()
			h := c.Files[0].Hunks[0]
			if h.Cut != "line longer than 1 MiB" || len(h.Lines) != 4 || h.Lines[1].Text != strings.Repeat("€", 1<<20/3) || h.Lines[2].Text != "é" || h.Lines[3].New != 3 {
				t.Errorf("cut: %q, %d lines", h.Cut, len(h.Lines))
			}
			var shown strings.Builder
			if h.Numbered(&shown); shown.Len() > 2*mostOfCut || !strings.HasSuffix(shown.String(), "… cut: line longer than 1 MiB\n") {
				t.Errorf("%d bytes of it are shown", shown.Len())
			}
			if f := c.Files[1]; len(f.Hunks) != 1 || f.Hunks[0].Cut != "" {
				t.Errorf("the next file: %+v", f)
			}
		}},
		{"many hunks", []part{
			records(1), times(1, "\x00"+section(0)),
			{n: 60_000, text: func(i int) string { return fmt.Sprintf("@@ -%d +%d @@\n-a\n+b\n", 9*i+1, 9*i+1) }},
		}, func(t *testing.T, c *Change) {
			t.Helper()
			f := c.Files[0]
			if len(f.Hunks) != DefaultLimits.Hunks || f.Skip != "change has more than 25000 hunks" || !f.TooLarge {
				t.Errorf("%d hunks, skip %q", len(f.Hunks), f.Skip)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			e := &endless{parts: test.parts}
			c := needs.Value(Parse(e, DefaultLimits))(t)
			checkInvariants(t, c)
			test.check(t, c)
			if grown := int64(e.peak) - int64(before.HeapInuse); grown > 192<<20 {
				t.Errorf("the heap grew by %d MiB", grown>>20)
			} else {
				t.Logf("%d MiB read, the heap grew by %d MiB", e.read>>20, grown>>20)
			}
		})
	}
}

// TestTooManyFiles reads changes of which not even the list is kept.
func TestTooManyFiles(t *testing.T) {
	for name, e := range map[string]*endless{
		"files": {parts: []part{records(10_000_000)}},
		"paths": {parts: []part{times(10_000_000, ":100644 100644 1 2 M\x00"+chunk[:4000]+"\x00")}},
	} {
		if _, err := Parse(e, DefaultLimits); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		} else if e.read > 64<<20 {
			t.Errorf("%s: read %d MiB first", name, e.read>>20)
		}
	}
	sections := part{n: 200_000, text: func(i int) string {
		return fmt.Sprintf("diff --git a/%d b/%d\nold mode 100644\nnew mode 100755\n", i, i)
	}}
	if _, err := ParsePatch(&endless{parts: []part{sections}}, DefaultLimits); !errors.Is(err, ErrTooLarge) {
		t.Errorf("patch: %v", err)
	}
}

// TestCutHunk cuts a hunk in the middle of its context: what is kept of it has no change, and says so without an error.
func TestCutHunk(t *testing.T) {
	in := record + "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@ f()\n a\n b\n+c\n\\ No newline at end of file\n d\n@@ -9,2 +10,2 @@\n-a\n+b\n c\n"
	c, err := Parse(strings.NewReader(in), Limits{Bytes: 2})
	needs.NoError(t, err)
	checkInvariants(t, c)
	for _, h := range c.Files[0].Hunks {
		if h.Cut != "diff larger than 2 bytes" || len(h.Lines) != 0 {
			t.Errorf("hunk %+v", h)
		}
	}
	if c, err = Parse(strings.NewReader(in), Limits{Bytes: 3}); err != nil || len(c.Files[0].Hunks[0].Lines) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
}
