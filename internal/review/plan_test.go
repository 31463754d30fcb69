package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// mixed is a hunk of added, unchanged and deleted lines.
func mixed(texts []string) diff.Hunk {
	var lines []diff.Line
	for i, text := range texts {
		op := []diff.Op{diff.Add, diff.Context, diff.Delete, diff.Delete}[i/7%4]
		lines = append(lines, diff.Line{Op: op, Text: text})
	}
	return numbered(10, 20, lines)
}

// numbered is the hunk of some lines, whose first ones have the given numbers in the old and in the new file.
func numbered(old, now int, lines []diff.Line) diff.Hunk {
	h := diff.Hunk{OldStart: old, NewStart: now, Lines: slices.Clone(lines)}
	for i := range h.Lines {
		l := &h.Lines[i]
		if l.Op != diff.Add {
			l.Old = old + h.OldLines
			h.OldLines++
		}
		if l.Op != diff.Delete {
			l.New = now + h.NewLines
			h.NewLines++
		}
	}
	if h.OldLines == 0 { // a side without lines has the number of the line before
		h.OldStart--
	}
	if h.NewLines == 0 {
		h.NewStart--
	}
	return h
}

// TestPlanShowsEverything: every line of every hunk is shown once, or stands for one that is, under its own number; no
// shard is larger than allowed; a hunk's carriers are the shards that show it; and only if a line of it is too long
// for a shard, it does not count as read.
func TestPlanShowsEverything(t *testing.T) {
	const most = 2_000
	rapid.Check(t, func(t *rapid.T) {
		var c diff.Change
		var unread []string
		for i := range rapid.IntRange(1, 6).Draw(t, "files") {
			n := rapid.SampledFrom([]int{1, 3, 50, 200, 500}).Draw(t, "lines")
			lines := make([]string, n)
			for j := range lines {
				lines[j] = fmt.Sprintf("line %d of file %d says something", j, i)
			}
			long := rapid.IntRange(0, 4).Draw(t, "long") == 0
			if long {
				lines[n/2] = strings.Repeat(fmt.Sprintf("long%d ", i), most)
			}
			f := diff.File{Path: fmt.Sprintf("dir%d/f%d.go", i%2, i), Status: diff.Modified, Hunks: []diff.Hunk{mixed(lines)}}
			if rapid.IntRange(0, 4).Draw(t, "skipped") == 0 {
				f.Skip = "generated"
			}
			c.Files = append(c.Files, f)
			if long && f.Skip == "" {
				unread = append(unread, f.Path)
			}
		}
		p := newPlan(&c, nil)
		p.pack(&c, most)
		read := Report{Answered: slices.Repeat([]bool{true}, len(p.shards))}
		cut := coverage(&Input{Change: &c}, p, []Report{read}).Truncated
		got := needs.Each(cut, func(h precedent.TruncatedHunk) string { return h.Path })
		if !slices.Equal(got, unread) {
			t.Fatalf("%q do not count as read, want %q", got, unread)
		}
		shown := map[string][]int{}
		for i, s := range p.shards {
			tokens := prompt.Tokens(string(newBrief(&Input{Change: &c}).render(s.pieces)))
			for _, part := range s.pieces {
				whole, first := part.file.Hunks[0].Lines, part.hunk.Lines[0]
				at := slices.IndexFunc(whole, func(l diff.Line) bool { return l.Old == first.Old && l.New == first.New })
				before := numbered(10, 20, whole[:at])
				want := numbered(10+before.OldLines, 20+before.NewLines, part.hunk.Lines)
				if want.Cut = part.hunk.Cut; !cmp.Equal(want, part.hunk) {
					t.Fatalf("the header has other numbers: %+v, want %+v", part.hunk, want)
				}
				for n := range part.hunk.Lines {
					shown[part.file.Path] = append(shown[part.file.Path], at+n)
				}
				if !slices.Contains(p.carriers[part.refs[0]], i) {
					t.Fatalf("shard %d does not carry what it shows", i)
				}
			}
			if tokens > s.tokens || s.tokens > most {
				t.Fatalf("shard %d has %d tokens, thought to be %d", i, tokens, s.tokens)
			}
		}
		for i := range c.Files {
			f := &c.Files[i]
			var want []int
			if f.Skip == "" {
				for n := range f.Hunks[0].Lines {
					want = append(want, n)
				}
			}
			slices.Sort(shown[f.Path]) // the end of a file may fit into a shard before its beginning
			if diff := cmp.Diff(want, shown[f.Path]); diff != "" {
				t.Fatalf("%s is shown other than it is:\n%s", f.Path, diff)
			}
		}
	})
}

// TestMechanicalEdit: a hunk that recurs is shown once and is read with it everywhere.
func TestMechanicalEdit(t *testing.T) {
	var c diff.Change
	for i := range 4 {
		c.Files = append(c.Files, added(fmt.Sprintf("f%d.go", i), "package same"))
	}
	p := newPlan(&c, []string{"f0.go"})
	p.pack(&c, shardTokens)
	if len(p.shards) != 1 || len(p.shards[0].pieces) != 1 || len(p.shards[0].pieces[0].refs) != 3 ||
		p.shards[0].pieces[0].file.Path != "f1.go" {
		t.Fatalf("shards %+v", p.shards)
	}
	in := &Input{Change: &c}
	got := coverage(in, p, []Report{{Answered: []bool{true}}})
	if got.HunksRead != 3 || len(got.Skipped) != 1 || len(got.Truncated) != 0 {
		t.Errorf("coverage %+v", got)
	}
}

// TestPlanIsBounded: what a review cannot pay for is not asked, and said.
func TestPlanIsBounded(t *testing.T) {
	var c diff.Change
	for i := range maxShards + 3 {
		c.Files = append(c.Files, added(fmt.Sprintf("f%03d.go", i), fmt.Sprint("line of ", i),
			strings.Repeat("word ", shardTokens-100)))
	}
	p := newPlan(&c, nil)
	p.pack(&c, shardTokens)
	answered := make([]bool, len(p.shards))
	for i := range answered {
		answered[i] = true
	}
	got := coverage(&Input{Change: &c}, p, []Report{{Answered: answered}})
	if len(p.shards) != maxShards || got.HunksRead != maxShards || len(got.Truncated) != 3 {
		t.Errorf("%d shards, coverage %+v", len(p.shards), got)
	}
}

// TestKeyAtTheEdge: a key of many lines is recognised although the parts of the change end within it.
func TestKeyAtTheEdge(t *testing.T) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("line %d of a file that goes on, and on, and on", i))
	}
	lines = append(lines, "-----BEGIN RSA "+"PRIVATE KEY-----")
	var secrets []string
	random := needs.Random(t)
	for range 30 {
		var b strings.Builder
		for b.Len() < 64 {
			b.WriteByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[random.IntN(64)])
		}
		secrets = append(secrets, b.String())
	}
	lines = append(append(lines, secrets...), "-----END RSA "+"PRIVATE KEY-----", "the end")
	c := diff.Change{Files: []diff.File{added("key.txt", lines...)}}
	for most := 200; most < 1_200; most += 37 {
		p := newPlan(&c, nil)
		p.pack(&c, most)
		b := newBrief(&Input{Change: &c})
		for i, s := range p.shards {
			for _, secret := range secrets {
				if strings.Contains(string(b.render(s.pieces)), secret) {
					t.Fatalf("part %d of %d shows %q", i+1, len(p.shards), secret)
				}
			}
		}
	}
}
