package thread

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// trees is files by "commit path".
func trees(files map[string]string) Trees {
	return Trees{Head: "head", Base: "base", Read: func(commit, path string) ([]byte, error) {
		content, ok := files[commit+" "+path]
		if !ok {
			return nil, fmt.Errorf("read %s: %w", path, fs.ErrNotExist)
		}
		return []byte(content), nil
	}}
}

// at is a thread on lines of a.go.
func at(start, end int) precedent.Thread {
	return precedent.Thread{
		ID: "t1", Fingerprint: "ft1", Commit: "then",
		Span: precedent.Span{Path: "a.go", Side: precedent.Right, Start: start, End: end},
	}
}

// file numbers lines, so that each is unique: line1, line2.
func file(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line number %d\n", i)
	}
	return b.String()
}

// checkMoved relocates a thread and returns where it is.
func checkMoved(t *testing.T, th precedent.Thread, in Trees, want string, changed bool) precedent.Span {
	t.Helper()
	ts := []precedent.Thread{th}
	Relocate(ts, in)
	if got := ts[0].Current.String(); got != want || ts[0].Changed != changed {
		t.Errorf("now %q, changed %v, want %q, %v", got, ts[0].Changed, want, changed)
	}
	return ts[0].Current
}

func TestRelocate(t *testing.T) {
	replace := func(n int, by string) string {
		return strings.Replace(file(1, 9), fmt.Sprintf("line number %d\n", n), by, 1)
	}
	for _, test := range []struct {
		name      string
		then, now string
		thread    precedent.Thread
		want      string // the lines, the file alone if they are gone, or nothing
		changed   bool
	}{
		{"unchanged", file(1, 9), file(1, 9), at(4, 4), "a.go:4", false},
		{"lines inserted before", file(1, 9), "x\ny\n" + file(1, 9), at(4, 6), "a.go:6-8", false},
		{"line changed", file(1, 9), replace(4, "another\n"), at(4, 4), "a.go:4", true},
		{"changed among others", file(1, 9), file(1, 2) + "three\nfour\nfive\n" + file(6, 9), at(4, 4), "a.go:4", true},
		{"changed, far", file(1, 99), file(1, 9) + strings.Repeat("x\n", 80) + file(90, 99), at(40, 40), "a.go", true},
		{"line deleted", file(1, 9), replace(4, ""), at(4, 4), "a.go", true},
		{"white space changed", file(1, 9), replace(4, "\t\tline  number 4 \n"), at(4, 4), "a.go:4", false},
		{"no line ending at the end", file(1, 9), strings.TrimSuffix(file(1, 9), "\n"), at(9, 9), "a.go:9", false},
		{"line endings changed", file(1, 9), strings.ReplaceAll(file(1, 9), "\n", "\r\n"), at(4, 5), "a.go:4-5", false},
		{"first of several changed", file(1, 9), replace(4, "another\n"), at(4, 6), "a.go:5-6", true},
		{"lines inserted within", file(1, 9), replace(5, "line number 5\nnew\n"), at(4, 6), "a.go:4-7", true},
		{"a blank line inserted within", file(1, 9), replace(5, "line number 5\n\n"), at(4, 6), "a.go:4-7", false},
		{"unique line moved alone", file(1, 9), "line number 8\n" + file(1, 7) + file(9, 9), at(8, 8), "a.go:1", false},
		{"short line moved", file(1, 7) + "x\n" + file(9, 9), "x\n" + file(1, 7) + file(9, 9), at(8, 8), "a.go", true},
		{
			"one of two equal is gone", "a same line\n" + file(1, 9) + "a same line\n",
			file(5, 9) + "a same line\n" + file(1, 4), at(1, 1), "a.go", true,
		},
		{
			"another of two equal is gone", file(1, 1) + "a same line\n" + file(2, 2) + "a same line\n" + file(3, 9),
			"x\n" + file(1, 1) + "a same line\n" + file(2, 9) + "y\n", at(2, 2), "a.go:3", false,
		},
		{"all gone", file(1, 9), "nothing\n", at(4, 6), "a.go:1", true},
		{"a line beyond the file", file(1, 9), file(1, 9), at(40, 40), "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := trees(map[string]string{"then a.go": test.then, "head a.go": test.now})
			at := checkMoved(t, test.thread, files, test.want, test.changed)
			if at != (precedent.Span{}) && (at.End < at.Start || at.Side != precedent.Right) {
				t.Errorf("%+v", at)
			}
		})
	}
}

func TestRelocateThroughFiles(t *testing.T) {
	deleted := trees(map[string]string{"then a.go": file(1, 9)})
	renamed := trees(map[string]string{"then a.go": file(1, 9), "head b/c.go": "x\n" + file(1, 9)})
	renamed.Renamed = func(from string) map[string]string {
		return map[string]map[string]string{"then": {"a.go": "b/c.go"}}[from]
	}
	unreadable := trees(nil)
	unreadable.Read = func(string, string) ([]byte, error) { return nil, errors.New("no network") }
	forgotten := trees(map[string]string{"head a.go": file(1, 9)}) // the old commit is gone
	forgotten.Read = func(commit, path string) ([]byte, error) {
		if commit == "head" {
			return []byte(file(1, 9)), nil
		}
		return nil, errors.New("no such object")
	}
	edited := trees(map[string]string{"then a.go": file(1, 9), "head a.go": file(1, 8)})
	whole, quoting := at(0, 0), at(0, 0)
	quoting.Quote = "  line number 3\nline number 4"
	quotingLines := at(7, 8)
	quotingLines.Quote = quoting.Quote
	for _, test := range []struct {
		name    string
		at      Trees
		thread  precedent.Thread
		want    string
		changed bool
	}{
		{"deleted", deleted, at(4, 4), "", true},
		{"renamed", renamed, at(4, 4), "b/c.go:5", false},
		{"unreadable", unreadable, at(4, 4), "", false},
		{"the old commit is gone", forgotten, at(4, 4), "", false},
		{"the old commit is gone, not what was quoted", forgotten, quotingLines, "a.go:3-4", false},
		{"about a whole file that changed", edited, whole, "a.go", true},
		{"about a file that is gone", deleted, whole, "", true},
		{"in the summary, quoting", renamed, quoting, "b/c.go:4-5", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkMoved(t, test.thread, test.at, test.want, test.changed)
		})
	}
}

// TestRelocateOldSide: a remark on a deleted line is relocated in the base's file.
func TestRelocateOldSide(t *testing.T) {
	thread := at(4, 4)
	thread.Side, thread.Quote = precedent.Left, "line number 4"
	without4 := file(1, 3) + file(5, 9)
	for _, test := range []struct {
		name       string
		base, head string
		want       string
		changed    bool
	}{
		{"still deleted", file(1, 9), without4, "a.go:4", false},
		{"back again", file(1, 9), file(1, 9), "a.go:4", true},
		{"another base", "x\n" + file(1, 9), without4, "a.go:5", false},
		{"gone from the base", without4, without4, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := trees(map[string]string{"base a.go": test.base, "then a.go": without4, "head a.go": test.head})
			checkMoved(t, thread, files, test.want, test.changed)
		})
	}
}

func TestRelocateFillsIn(t *testing.T) {
	ts := []precedent.Thread{at(4, 8), at(4, 4)}
	ts[1].Quote, ts[1].Place = "mine", "place"
	Relocate(ts, trees(map[string]string{"then a.go": file(1, 9), "head a.go": file(1, 9)}))
	if want := "line number 4\nline number 5\nline number 6"; ts[0].Quote != want || ts[1].Quote != "mine" ||
		ts[1].Place != "place" {
		t.Errorf("quotes %q and %q", ts[0].Quote, ts[1].Quote)
	}
	needs.Equal(t, precedent.Place("a.go", "line number 4", "line number 3", "line number 5"), ts[0].Place)
}

// TestLargeFiles: files of the largest size, the worst ones included, are carried in seconds.
func TestLargeFiles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	n := needs.Rounds(maxLines-1, maxLines/8)
	kinds := map[string]func(i int) (then, now string){
		"reversed":     func(i int) (string, string) { return fmt.Sprint("l", i), fmt.Sprint("l", n-i) },
		"few lines":    func(int) (string, string) { return fmt.Sprint(rnd.IntN(4)), fmt.Sprint(rnd.IntN(4)) },
		"nothing left": func(i int) (string, string) { return fmt.Sprint("l", i%1000), fmt.Sprint("x", i%1000) },
	}
	for name, kind := range kinds {
		var then, now strings.Builder
		for i := range n {
			a, b := kind(i)
			then.WriteString(a + "\n")
			now.WriteString(b + "\n")
		}
		ts := make([]precedent.Thread, 50)
		for i := range ts {
			ts[i] = at(1+i*n/len(ts), 2+i*n/len(ts))
		}
		if took := needs.Busy(func() {
			Relocate(ts, trees(map[string]string{"then a.go": then.String(), "head a.go": now.String()}))
		}); took > 30*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// TestRelocateByTheLastSight: a file that was changed much and then renamed is
// followed from the head at which it was seen last.
func TestRelocateByTheLastSight(t *testing.T) {
	files := trees(map[string]string{"then a.go": file(1, 9), "head b.go": "x\n" + file(1, 9)})
	files.Renamed = func(from string) map[string]string {
		return map[string]map[string]string{"seen": {"a.go": "b.go"}}[from]
	}
	unseen, seen := at(4, 4), at(4, 4)
	seen.SeenPath, seen.SeenAt = "a.go", "seen"
	ts := []precedent.Thread{unseen, seen}
	Relocate(ts, files)
	if got := ts[0].Current.String() + " " + ts[1].Current.String(); got != " b.go:5" || ts[1].Changed {
		t.Errorf("now %q, %+v", got, ts[1])
	}
	after := Apply(ts, &precedent.Review{Head: "head"})
	if after[0].SeenPath != "" || after[1].SeenPath != "b.go" || after[1].SeenAt != "head" {
		t.Errorf("%+v", after)
	}
}

// TestCodeChanged: only a change of what a compiler reads can fix a finding of high or critical severity.
func TestCodeChanged(t *testing.T) {
	const then = "package a\n\nfunc check(given string) bool {\n\tif given == token || given == \"\" {\n\t\treturn " +
		"true\n\t}\n\treturn false\n}\n"
	const hole = "\tif given == token || given == \"\" {"
	replace := func(old, by string) string { return strings.Replace(then, old, by, 1) }
	for _, test := range []struct {
		name          string
		now           string
		changed, code bool
	}{
		{"unchanged", then, false, false},
		{"a comment behind it", replace(hole, hole+" // fixed"), true, false},
		{"a line end in it", replace(" || given", " ||\n\t\tgiven"), true, false},
		{"a comment behind it, and more around", replace(hole, "\tx := 1\n"+hole+" // fixed\n\tx++"), true, false},
		{"moved, with a comment", replace(hole, "\tif false {") + "\nfunc other(given string) bool {\n" + hole +
			" // fixed\n\t\treturn true\n\t}\n\treturn false\n}\n", true, false},
		{
			"what only looks like a comment before it", replace("package a\n", "package a\n\nvar marks = '`/*'\n") + "// */ '\n",
			false, false,
		},
		{"fixed", replace(" || given == \"\"", ""), true, true},
		{"its file is gone", "", true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"then a.go": then, "head a.go": test.now}
			if test.now == "" {
				delete(files, "head a.go")
			}
			one := at(4, 4)
			one.Severity = precedent.Critical
			ts := []precedent.Thread{one}
			Relocate(ts, trees(files))
			if ts[0].Changed != test.changed || ts[0].CodeChanged != test.code || ts[0].ProvenChange() != test.code {
				t.Errorf("changed %v, code %v, proven %v", ts[0].Changed, ts[0].CodeChanged, ts[0].ProvenChange())
			}
			got := Outcomes(ts, OutcomeInput{
				Trees:   trees(files),
				Answers: []precedent.ThreadAnswer{{Thread: "t1", State: precedent.Addressed}},
			})
			needs.Equal(t, test.code, got[0].Kind == precedent.Fixed)
		})
	}
	for what, test := range map[string]struct {
		severity  precedent.Severity
		then, now string
	}{
		"a mild finding":    {precedent.Low, hole, hole + " // fixed"},
		"one about no code": {precedent.Critical, "\t// safe", "\t// not safe for an empty token"},
	} {
		about := at(4, 4)
		about.Severity = test.severity
		ts := []precedent.Thread{about}
		Relocate(ts, trees(map[string]string{"then a.go": replace(hole, test.then), "head a.go": replace(hole, test.now)}))
		if !ts[0].ProvenChange() {
			t.Errorf("%s can be about a comment", what)
		}
	}
}
