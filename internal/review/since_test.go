package review

import (
	"maps"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// between is what git says of the change from one tree to another.
func between(tb testing.TB, base, head files) *diff.Change {
	tb.Helper()
	return input(tb, base, head).Change
}

// with is a tree with some files replaced; an empty text removes a file.
func (f files) with(changed files) files {
	tree := files{}
	maps.Copy(tree, f)
	for path, text := range changed {
		if text == "" {
			delete(tree, path)
			continue
		}
		tree[path] = text
	}
	return tree
}

// long is a file of numbered lines with some put in the place of their own.
func long(lines int, instead map[int]string) string {
	var b strings.Builder
	for n := 1; n <= lines; n++ {
		if text, ok := instead[n]; ok {
			b.WriteString(text)
			continue
		}
		b.WriteString("line " + strings.Repeat("i", n) + "\n")
	}
	return b.String()
}

// TestReadBefore: a hunk is read again if the push touched one of its lines, and only then.
func TestReadBefore(t *testing.T) {
	base := files{"a.txt": long(60, nil), "b.txt": long(9, nil)}
	two := map[int]string{10: "ten\n", 50: "fifty\n"} // hunks 7-13 and 47-53
	last := base.with(files{"a.txt": long(60, two), "c.txt": "new\n"})
	edit := func(n int, text string) files {
		more := maps.Clone(two)
		more[n] = text
		return last.with(files{"a.txt": long(60, more)})
	}
	for _, test := range []struct {
		name   string
		head   files
		before []string // as path:line
	}{
		{"nothing was pushed", last, []string{"a.txt:7", "a.txt:47", "c.txt:1"}},
		{"a line of a hunk was edited", edit(50, "fifty, again\n"), []string{"a.txt:7", "c.txt:1"}},
		{"a line of its context was deleted", edit(8, ""), []string{"a.txt:46", "c.txt:1"}},
		{"lines were added far above", edit(1, "one\nand a half\n"), []string{"a.txt:8", "a.txt:48", "c.txt:1"}},
		{"another file was added", last.with(files{"d.txt": "more\n"}), []string{"a.txt:7", "a.txt:47", "c.txt:1"}},
		{"the file was renamed", last.with(files{"c.txt": "", "e.txt": "new\n"}), []string{"a.txt:7", "a.txt:47"}},
		{"the file was deleted", last.with(files{"a.txt": ""}), []string{"c.txt:1"}},
		{"a deletion at the edge", edit(54, ""), []string{"a.txt:7", "c.txt:1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			change := between(t, base, test.head)
			s := &Since{Head: "last", Changed: between(t, last, test.head)}
			var got []string
			before := s.readBefore(change)
			for i := range change.Files {
				for h := range change.Files[i].Hunks {
					if before[diff.HunkRef{File: i, Hunk: h}] {
						got = append(got, precedent.Span{Path: change.Files[i].Path, Start: change.Files[i].Hunks[h].NewStart}.String())
					}
				}
			}
			needs.Equal(t, test.before, got)
		})
	}
}

// pushed is the input of a review of a later head.
func pushed(t *testing.T, base, last, head files) Input {
	t.Helper()
	in := input(t, base, head)
	in.Head = "cccccccccccc"
	in.Since = &Since{Head: "bbbbbbbbbbbb", Changed: between(t, last, head)}
	return in
}

// TestNewInOldCode: in code that was read completely, only what is grave is worth a new remark.
func TestNewInOldCode(t *testing.T) {
	const title = "off by one"
	for _, test := range []struct {
		name     string
		severity string
		quote    string // what is flagged
		answered bool
		shown    bool // by an earlier review
		dropped  precedent.Dropped
		origin   precedent.Origin
	}{
		{"medium", "medium", loop, false, false, precedent.UnchangedCode, ""},
		{"high", "high", loop, false, false, "", precedent.MissedBefore},
		{"medium, in a fresh line", "medium", "func Tax(sum int) int { return sum / 5 }", false, false, "", ""},
		{
			"medium, in a line that answered a finding", "medium", "func Tax(sum int) int { return sum / 5 }", true, false, "",
			precedent.CausedByFix,
		},
		{"medium, shown before", "medium", loop, false, true, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			last := shopHead.with(files{"cart/tax.go": "package cart\n"})
			head := shopHead.with(files{"cart/tax.go": "package cart\n\nfunc Tax(sum int) int { return sum / 5 }\n"})
			in := pushed(t, shopBase, last, head)
			path := "cart/tax.go"
			if test.quote == loop {
				path = "cart/cart.go"
			}
			if test.answered {
				in.Since.Answered = []precedent.Span{{Path: path, Side: precedent.Right, Start: 3, End: 3}}
			}
			in.Engine = answering(finding(path, 1, test.quote, title, object{"severity": test.severity}))
			if test.shown {
				known := byTitle(t, run(t, in), title)
				in.Recall = memory.Recall{Known: map[string]store.Known{known.Fingerprint: {Finding: known, Seen: 1}}}
			}
			f := byTitle(t, run(t, in), title)
			if f.Dropped != test.dropped || f.Origin != test.origin {
				t.Errorf("dropped %q, origin %q: %s", f.Dropped, f.Origin, says(f))
			}
		})
	}
}

// TestAsBefore: a finding that no verifier read has neither the citations nor the notes that each review adds to it.
func TestAsBefore(t *testing.T) {
	named := []precedent.Cite{{Kind: "insight", ID: "i"}}
	got := asBefore(precedent.Finding{
		Verifier: precedent.Unchecked, Confidence: 60, Basis: &precedent.FindingBasis{Confidence: 50},
		Cites: append(named, precedent.Cite{Kind: "guide"}), Trail: []precedent.Decision{{Step: "last"}},
	})
	needs.Equal(t, named, got.Cites)
	needs.Equal(t, 50+len(got.Trail), got.Confidence)
}

// TestStands: an earlier finding is the one on its line, also of a renamed file, and no other one while it is there.
func TestStands(t *testing.T) {
	const text = "one\ntwo\nthree\nfour\n"
	in := input(t, files{"a.go": text}, files{"b.go": text + "two\n"})
	x := newReader(&in)
	in.Recall.Former = map[string]string{"b.go": "a.go"}
	was := precedent.Finding{
		Span: precedent.Span{Path: "a.go", Side: precedent.Right, Start: 2}, Quote: "two",
		Place: precedent.Place("a.go", "two", "one", "three"),
	}
	for line, want := range map[int]bool{2: false, 5: true} {
		f := precedent.Finding{Span: precedent.Span{Path: "b.go", Side: precedent.Right, Start: line}}
		if got := x.stands(&was, &f); got != want {
			t.Errorf("line %d: %v", line, got)
		}
	}
}
