package main

import (
	stdcmp "cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/text"
)

// scribe is an engine that finds what it is told to, as models write it. It says of all
// remarks that two of them are the same, or of none.
type scribe struct {
	finds []told
	same  bool
}

// told is a finding of the scribe. Its name, one word, is in no other's text.
type told struct {
	name             string
	path, side       string
	quote            string
	start, end       int
	suggestion       string
	evidence         []map[string]any
	severity         string // medium if it is empty
	category, though string // bugs; more words of the body
}

func (f told) title() string { return "Flaw " + f.name }

func (f told) wire() map[string]any {
	n := f.name
	return map[string]any{
		"path": f.path, "side": stdcmp.Or(f.side, "RIGHT"), "quote": f.quote, "start": f.start, "end": f.end, "suggestion": f.suggestion,
		"evidence": f.evidence, "severity": stdcmp.Or(f.severity, "medium"), "confidence": 90, "category": stdcmp.Or(f.category, "bugs"),
		"title": f.title(), "body": fmt.Sprintf("%sone %stwo %sthree %sfour %sfive. %s", n, n, n, n, n, f.though),
	}
}

func (s *scribe) Info() engine.Info {
	return engine.Info{Name: "scribe", Line: "scribe, on this machine", Who: "scribe"}
}

func (s *scribe) Run(_ context.Context, t engine.Task) (engine.Answer, error) {
	find := func() []map[string]any {
		found := []map[string]any{}
		for _, f := range s.finds {
			found = append(found, f.wire())
		}
		return found
	}
	return play(t, "scribe", find, func(string) bool { return s.same }, func(string) (string, string) { return "still_there", "" })
}

// filePull is a pull request whose two sides a test writes.
type filePull struct {
	*shopPull
	scribe *scribe
}

// newFilePull makes a pull request from two sets of files. A text of "-> x" is a
// link to x, "=> x" a submodule at x, and an empty one no file. Exec lists
// what can be run on the new side.
func newFilePull(t *testing.T, before, after map[string]string, exec ...string) *filePull {
	t.Helper()
	s := &filePull{&shopPull{prStage: newPRStage(t)}, &scribe{}}
	s.work = filepath.Join(s.home, "work")
	s.app.sleep, s.app.fixedEngine = s.door.stage.Clock.Sleep, s.scribe
	s.git(s.work, "checkout", "-q", "main")
	s.side(before)
	s.git(s.work, "checkout", "-q", "-B", "feature", "main")
	for name := range before {
		if _, stays := after[name]; !stays {
			after[name] = ""
		}
	}
	s.side(after)
	for _, name := range exec {
		s.git(s.work, "update-index", "--chmod=+x", "--", name)
	}
	s.git(s.work, "commit", "-q", "--amend", "--no-edit")
	s.moved()
	return s
}

func (s *filePull) side(files map[string]string) {
	s.t.Helper()
	modules := map[string]string{}
	for name, text := range files {
		full := filepath.Join(s.work, name)
		if err := os.RemoveAll(full); err != nil {
			s.t.Fatal(err)
		}
		link, isLink := strings.CutPrefix(text, "-> ")
		module, isModule := strings.CutPrefix(text, "=> ")
		var err error
		switch {
		case text == "":
			continue
		case isModule:
			modules[name] = module
			err = os.MkdirAll(full, 0o755)
		case isLink:
			err = os.Symlink(link, full)
		default:
			if err = os.MkdirAll(filepath.Dir(full), 0o755); err == nil {
				err = os.WriteFile(full, []byte(text), 0o644)
			}
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	s.git(s.work, "add", "-A")
	for name, id := range modules {
		s.git(s.work, "update-index", "--add", "--cacheinfo", "160000,"+id+","+name)
	}
	s.git(s.work, "commit", "-q", "--allow-empty", "-m", "files")
}

// reviewed posts a review and reads its result.
func (s *filePull) reviewed(finds []told, more ...string) *precedent.Review {
	s.t.Helper()
	s.scribe.finds = finds
	status, said := s.post(append([]string{"--format", "json"}, more...)...)
	withoutBase := s.door.noGit.Load() // nor its policy and guide
	if withoutBase != (status == precedent.ExitIncomplete) || status == precedent.ExitUsage {
		s.t.Fatalf("status %d\n%s", status, said)
	}
	var r precedent.Review
	if err := json.Unmarshal(s.out.Bytes(), &r); err != nil {
		s.t.Fatalf("%v\n%s", err, s.out.String())
	}
	return &r
}

// remark is the comment about a finding of ours; nil if there is none.
func (s *filePull) remark(f told) *forge.Comment {
	s.t.Helper()
	var found *forge.Comment
	for _, c := range s.shown(forge.OnLine) {
		if strings.Contains(string(c.Body), f.title()) && regexp.MustCompile(`\b`+f.name+`\b`).MatchString(string(c.Body)) {
			if found != nil {
				s.t.Errorf("%s is said twice", f.title())
			}
			found = &c
		}
	}
	return found
}

// lines are those of a file on a side, as git has it.
func (s *filePull) lines(ref, path string) []string {
	s.t.Helper()
	var all []string
	for l := range strings.Lines(runGit(s.t, s.home, s.origin, "cat-file", "blob", ref+":"+path)) {
		all = append(all, strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r"))
	}
	return all
}

// inFull tells whether the summary says the whole of a finding.
func (s *filePull) inFull(f told) bool {
	page := s.summary()
	return strings.Contains(page, f.title()) && strings.Contains(page, f.name+"one "+f.name+"two")
}

// nothingLost holds what was posted against the live findings of the result.
func (s *filePull) nothingLost(r *precedent.Review) {
	s.t.Helper()
	page := s.summary()
	inline := s.shown(forge.OnLine)
	for _, f := range r.Live() {
		if !strings.Contains(page, f.Title) {
			s.t.Errorf("the summary does not list %q", f.Title)
		}
		said := strings.Count(page, fmt.Sprintf("\n### medium %d · %s\n", f.Confidence, f.Title))
		for _, c := range inline {
			if strings.Contains(string(c.Body), f.Title+"\n") {
				said++
			}
		}
		if said != 1 {
			s.t.Errorf("%q is said in full %d times", f.Title, said)
		}
	}
	if s.t.Failed() {
		s.t.Logf("the summary:\n%s", page)
	}
}

// numbered is a file of so many lines, some of which are others.
func numbered(name string, n int, others map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if other, ok := others[i]; ok {
			b.WriteString(other)
			continue
		}
		fmt.Fprintf(&b, "const %s%d = compute(%d, '%s')\n", name, i, i*7, name)
	}
	return b.String()
}

// everyKind is a pull request with every kind of change.
func everyKind(t *testing.T) (*filePull, []told) {
	t.Helper()
	before, after := map[string]string{}, map[string]string{}
	both := func(name, old, now string) { before[name], after[name] = old, now }
	both("mod/app.js", numbered("app", 60, nil), numbered("app", 60, map[int]string{
		1: "first(changed)\n", 30: "middle(changed)\n", 31: "", 60: "last(changed)\n",
	}))
	before["old name.js"] = numbered("moved", 40, nil)
	after["new dir/näme.js"] = numbered("moved", 40, map[int]string{20: "renamed(edited)\n"})
	before["stay.js"], after["went/away.js"] = numbered("only", 20, nil), numbered("only", 20, nil)
	before["gone.js"] = numbered("gone", 9, nil)
	after["added.js"] = numbered("added", 12, nil)
	both("logo.png", "\x89PNG\x00\x01old\x00\n", "\x89PNG\x00\x01new\x00\x00\n")
	both("lib", "=> "+strings.Repeat("1", 40), "=> "+strings.Repeat("2", 40))
	both("run.sh", "echo run\n", "echo run\n")
	both("win.txt", "alpha\r\nbeta\r\ngamma\r\n", "alpha\r\nbeta is changed\r\ngamma\r\n")
	both("noeol.py", "import os\nos.exit()", "import os\nos.exit(5)")
	both("pointer", "-> a.txt", "-> added.js")
	both("vendor/dep/dep.js", "dep(1)\n", "dep(2)\n")
	both("pb.go", "// Code generated by pb. DO NOT EDIT.\npackage pb\n", "// Code generated by pb. DO NOT EDIT.\npackage pb2\n")
	both("linked.js", numbered("linked", 3, nil), "-> a.txt")
	both("unlinked.js", "-> a.txt", numbered("unlinked", 3, nil))
	finds := []told{
		{name: "unlinked", path: "unlinked.js", quote: "const unlinked2 = compute(14, 'unlinked')"},
		{name: "firstline", path: "mod/app.js", quote: "first(changed)", start: 1, end: 1},
		{name: "lastline", path: "mod/app.js", quote: "last(changed)"},
		{name: "range", path: "mod/app.js", quote: "middle(changed)", start: 30, end: 32},
		{name: "edge", path: "mod/app.js", quote: "const app59 = compute(413, 'app')", start: 58, end: 59},
		{name: "context", path: "mod/app.js", quote: "const app28 = compute(196, 'app')", start: 28, end: 28},
		{name: "leftrange", path: "mod/app.js", side: "LEFT", quote: "const app30 = compute(210, 'app')", start: 30, end: 31},
		{name: "renamed", path: "new dir/näme.js", quote: "renamed(edited)"},
		{name: "renamedleft", path: "new dir/näme.js", side: "LEFT", quote: "const moved20 = compute(140, 'moved')"},
		{name: "deleted", path: "gone.js", side: "LEFT", quote: "const gone4 = compute(28, 'gone')"},
		{name: "whole", path: "added.js", quote: "const added1 = compute(7, 'added')", start: 1, end: 12},
		{name: "carriage", path: "win.txt", quote: "beta is changed"},
		{name: "ending", path: "noeol.py", quote: "os.exit(5)", start: 2, end: 2},
	}
	for i, name := range []string{
		"-dash.js", "a#b.js", "100%25.js", `quo"te.js`, "日本/ファイル 1.js", `back\slash.js`, "tab\there.js", "it's [x](y).js", "*.js", "deep/er/and/deeper/@still/file.js", "new\nline.js",
		"`tick`|pipe.js", " leading.js", "café-nfd-e\u0301.js",
	} {
		both(name, numbered("odd", 8, nil), numbered("odd", 8, map[int]string{5: fmt.Sprintf("odd(%d)\n", i)}))
		finds = append(finds, told{name: fmt.Sprintf("odd%c", 'a'+i), path: name, quote: fmt.Sprintf("odd(%d)", i)})
	}
	return newFilePull(t, before, after, "run.sh"), finds
}

// TestPostOnEveryKindOfChange: each comment stands on what it is about, and what
// is not read is skipped with a reason.
func TestPostOnEveryKindOfChange(t *testing.T) {
	t.Parallel()
	s, finds := everyKind(t)
	fileWide := told{name: "filewide", path: "added.js", evidence: []map[string]any{{"path": "a.txt", "line": 3, "quote": "three"}}}
	moved := told{name: "movedonly", path: "went/away.js", evidence: []map[string]any{{"path": "went/away.js", "line": 3, "quote": "const only3 = compute(21, 'only')"}}}
	r := s.reviewed(append(slices.Clone(finds), fileWide, moved), "--max-inline", "100")
	for _, f := range finds {
		c := s.remark(f)
		if c == nil {
			t.Errorf("%s is not said on its line", f.title())
			continue
		}
		ref, path, side := "feature", f.path, precedent.Right
		if f.side == "LEFT" {
			ref, side = "main", precedent.Left
		}
		if f.name == "renamedleft" {
			path = "old name.js"
		}
		start := 1 + slices.Index(s.lines(ref, path), f.quote)
		want := precedent.Span{Path: f.path, Side: side, Start: start, End: start + max(f.end-f.start, 0)}
		if d := cmp.Diff(want, c.Span); d != "" || c.Commit != s.id("feature") || start == 0 {
			t.Errorf("%s at %s (-want +got):\n%s", f.title(), c.Commit, d)
		}
	}
	for _, f := range []told{fileWide, moved} {
		if s.remark(f) != nil || !s.inFull(f) {
			t.Errorf("%s is on lines, or not in the summary", f.title())
		}
	}
	s.nothingLost(r)
	if n := len(r.Live()); n != len(finds)+2 {
		t.Errorf("%d live findings of %d", n, len(finds)+2)
	}
	s.covered(r, map[string]string{
		"went/away.js": "renamed without other changes", "gone.js": "deleted", "logo.png": "binary", "lib": "submodule", "run.sh": "only its mode changed",
		"pointer": "symbolic link", "linked.js": "symbolic link", "vendor/dep/dep.js": "vendored", "pb.go": "generated (its header says so)",
	})
	s.silentAgain()
}

// covered compares the coverage with git's own count.
func (s *filePull) covered(r *precedent.Review, skipped map[string]string) {
	s.t.Helper()
	got := map[string]string{}
	for _, f := range r.Coverage.Skipped {
		got[f.Path] = f.Reason
	}
	if d := cmp.Diff(skipped, got); d != "" {
		s.t.Errorf("skipped (-want +got):\n%s", d)
	}
	files := strings.Count(s.git(s.origin, "diff", "--name-only", "-z", "main...feature"), "\x00")
	patch := s.git(s.origin, "diff", "main...feature")
	hunks, read := strings.Count(patch, "\n@@ "), 0
	for _, section := range strings.Split("\n"+patch, "\ndiff --git ") {
		name, _, _ := strings.Cut(section, "\n")
		if !slices.ContainsFunc(r.Coverage.Skipped, func(f precedent.SkippedFile) bool { return strings.HasSuffix(name, " b/"+f.Path) }) {
			read += strings.Count(section, "\n@@ ")
		}
	}
	c := r.Coverage
	if c.Files != files || c.Hunks != hunks || c.HunksRead != read || len(c.Truncated) != 0 {
		s.t.Errorf("coverage %+v, want %d files, and %d of %d hunks read", c, files, read, hunks)
	}
}

// silentAgain fails if a second run posts anything.
func (s *filePull) silentAgain(more ...string) {
	s.t.Helper()
	n := len(s.door.stage.Script.Requests())
	_, said := s.post(more...)
	for _, r := range s.door.stage.Script.Requests()[n:] {
		if r.Writes() {
			s.t.Errorf("the second run sends %s %s\n%s", r.Method, r.Path, said)
		}
	}
}

// TestPostInlineAndTheRest: what is more than --max-inline stands in the summary,
// whole, and nothing is lost or said twice. One line is flagged from both sides.
func TestPostInlineAndTheRest(t *testing.T) {
	t.Parallel()
	before, after := map[string]string{}, map[string]string{}
	var finds []told
	for i := range 50 {
		name := fmt.Sprintf("src/f%02d.js", i)
		before[name], after[name] = numbered("part", 9, nil), numbered("part", 9, map[int]string{4: fmt.Sprintf("odd(%d)\n", i)})
		finds = append(finds, told{name: fmt.Sprintf("n%dx", i), path: name, quote: fmt.Sprintf("odd(%d)", i)})
	}
	s := newFilePull(t, before, after)
	r := s.reviewed(finds, "--max-inline", "35")
	if n := len(s.shown(forge.OnLine)); n != 35 {
		t.Errorf("%d inline comments", n)
	}
	if n := len(s.shown(forge.OnReview)); n != 2 {
		t.Errorf("%d reviews", n)
	}
	if n := len(r.Live()); n != len(finds) {
		t.Errorf("%d live findings", n)
	}
	s.nothingLost(r)
	s.silentAgain("--max-inline", "35")
}

// TestPostOfBothSides: a context line that is flagged on both sides is one line. If a
// judge says that the remarks are the same, they are one finding that speaks for both.
// If not, each is said once, under its own fingerprint.
func TestPostOfBothSides(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		same bool
		want int
	}{"the same": {true, 1}, "different": {false, 2}} {
		t.Run(name, func(t *testing.T) {
			s := newFilePull(t, map[string]string{"a.js": numbered("a", 9, nil)}, map[string]string{"a.js": numbered("a", 9, map[int]string{5: "changed()\n"})})
			s.scribe.same = test.same
			r := s.reviewed([]told{
				{name: "now", path: "a.js", quote: "const a3 = compute(21, 'a')"}, {name: "then", path: "a.js", side: "LEFT", quote: "const a3 = compute(21, 'a')"},
			})
			prints := map[string]bool{}
			for _, f := range r.Live() {
				prints[f.Fingerprint] = true
			}
			if len(r.Live()) != test.want || len(prints) != test.want || len(r.Findings) != 2 {
				t.Errorf("%d live findings of %v with the fingerprints %v", len(r.Live()), r.Findings, prints)
			}
			s.nothingLost(r)
			s.silentAgain()
		})
	}
}

// TestPostWhatTheForgeRefuses: a forge whose diff is cut refuses lines that git
// shows. What it refuses stands in the summary, with a link to the line.
func TestPostWhatTheForgeRefuses(t *testing.T) {
	t.Parallel()
	s, finds := everyKind(t)
	cut := map[string]string{"edge": "#L58-L59", "lastline": "#L59", "renamed": "#L20", "renamedleft": "#L20", "oddj": "#L5"}
	s.door.stage.World.Change(func() {
		sections := strings.Split(s.pull.Diff, "diff --git ")
		for i, section := range sections {
			switch name, _, _ := strings.Cut(section, "\n"); {
			case strings.Contains(name, "mod/app.js"):
				sections[i] = section[:strings.LastIndex(section, "\n@@ ")+1]
			case strings.Contains(name, "new dir/"), strings.Contains(name, "@still"):
				sections[i] = ""
			}
		}
		s.pull.Diff = strings.Join(sections, "diff --git ")
	})
	s.pull.Diff = strings.ReplaceAll(s.pull.Diff, "diff --git diff --git ", "diff --git ")
	r := s.reviewed(finds, "--max-inline", "100")
	s.nothingLost(r)
	links := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^### .*Flaw (\w+)\n\nAt \[[^\]]*\]\(([^)]*)\)`).FindAllStringSubmatch(s.summary(), -1) {
		links[m[1]] = m[2]
	}
	for _, f := range finds {
		lines, refused := cut[f.name]
		if refused == (s.remark(f) != nil) {
			t.Errorf("%s: is refused %v, and has the comment %v", f.title(), refused, s.remark(f))
		}
		if !refused {
			continue
		}
		commit, path := s.id("feature"), f.path
		if f.name == "renamedleft" {
			commit, path = s.id("main"), "old name.js"
		}
		path = strings.NewReplacer(" ", "%20", "ä", "%C3%A4", "@", "%40").Replace(path)
		if want := s.door.URL + "/octo/app/blob/" + commit + "/" + path + lines; links[f.name] != want {
			t.Errorf("%s links to %q, want %q", f.title(), links[f.name], want)
		}
	}
	s.silentAgain()
}

// TestPostOfTooManyLines: what is beyond the bounds is said, and the rest is posted (row 22 of
// the fault matrix).
func TestPostOfTooManyLines(t *testing.T) {
	t.Parallel()
	after := map[string]string{"a/first.txt": "number(0)\n", "b/huge.txt": strings.Repeat("x\n", diff.DefaultLimits.Lines), "c/last.txt": "number(2)\n"}
	s := newFilePull(t, nil, after)
	s.moved()
	const last = "c/last.txt"
	s.scribe.finds = []told{
		{name: "kept", path: "a/first.txt", quote: "number(0)"},
		{name: "beyond", path: last, quote: strings.TrimSuffix(after[last], "\n")},
		{name: "filewide", path: last, evidence: []map[string]any{{"path": last, "line": 1, "quote": strings.TrimSuffix(after[last], "\n")}}},
	}
	status, said := s.post("--format", "json")
	var r precedent.Review
	if err := json.Unmarshal(s.out.Bytes(), &r); err != nil || status != precedent.ExitIncomplete || r.Verdict != precedent.Partial {
		t.Fatalf("status %d, verdict %s, %v\n%s", status, r.Verdict, err, said)
	}
	if c := r.Coverage; c.Files != 3 || len(c.Truncated) != 2 || c.Truncated[1].Path != last || !strings.Contains(c.Truncated[1].Reason, "250000 lines") {
		t.Errorf("coverage %d files, not read %+v", c.Files, c.Truncated)
	}
	page := s.summary()
	for _, words := range []string{"**This review is incomplete", "diff longer than 250000 lines", last} {
		if !strings.Contains(page, words) {
			t.Errorf("the summary does not say %q:\n%.3000s", words, page)
		}
	}
	if len(page) > forge.MaxPost || len(s.shown(forge.OnLine)) != 1 || s.remark(s.scribe.finds[0]) == nil {
		t.Errorf("%d bytes of summary, remarks %+v", len(page), s.shown(forge.OnLine))
	}
	s.nothingLost(&r)
}

// TestPostAmongManyComments: what we said is found again on the fourth page, by a
// memory that knows of it and by one that was lost.
func TestPostAmongManyComments(t *testing.T) {
	t.Parallel()
	before, after := map[string]string{}, map[string]string{}
	var finds []told
	for i := range 105 {
		name := fmt.Sprintf("src/f%03d.js", i)
		before[name], after[name] = numbered("part", 9, nil), numbered("part", 9, map[int]string{4: fmt.Sprintf("odd(%d)\n", i)})
		if i%40 == 7 {
			finds = append(finds, told{name: fmt.Sprintf("n%dx", i), path: name, quote: fmt.Sprintf("odd(%d)", i)})
		}
	}
	s := newFilePull(t, before, after)
	w := s.door.stage.World
	for i := range 210 {
		w.Say(s.pull, outsider, "", fmt.Sprintf("Comment %d.", i))
		if i%2 == 0 {
			w.Remark(s.pull, maintainer, precedent.Span{Path: "src/f000.js", Side: precedent.Right, Start: 4, End: 4}, fmt.Sprintf("Remark %d.", i))
		}
	}
	s.app.env[markerKeyVariable] = strings.Repeat("k7", 16) // so that the comments are recognized without a memory
	r := s.reviewed(finds)
	if c := r.Coverage; c.Files != 105 || c.HunksRead != 105 {
		t.Errorf("coverage %+v", c)
	}
	s.nothingLost(r)
	s.silentAgain()
	count := func() [3]int {
		return [3]int{len(s.shown(forge.OnThread)), len(s.shown(forge.OnReview)), len(s.shown(forge.OnLine))}
	}
	want := [3]int{1, 1, len(finds)}
	s.reviewed(finds, "--again")
	if got := count(); got != want {
		t.Errorf("after another review there are %v comments, want %v", got, want)
	}
	memories, err := filepath.Glob(filepath.Join(s.home, ".local", "*", "precedent", "*"))
	if err != nil || len(memories) == 0 {
		t.Fatalf("memories %v, %v", memories, err)
	}
	for _, file := range memories {
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
	}
	s.reviewed(finds)
	if got := count(); got != want {
		t.Errorf("after the memory was lost there are %v comments, want %v", got, want)
	}
}

// TestPostOfAForksMain: a fork's branch may be called what the base is called.
// Everything is said of the fork's head.
func TestPostOfAForksMain(t *testing.T) {
	t.Parallel()
	for name, fork := range map[string]string{"of a fork": "newcomer", "of a deleted fork": ""} {
		t.Run(name, func(t *testing.T) {
			s := newFilePull(t, map[string]string{"a.js": numbered("a", 9, nil)}, map[string]string{"a.js": numbered("a", 9, map[int]string{5: "forked()\n"})})
			head := s.id("feature")
			s.git(s.origin, "update-ref", "-d", "refs/heads/feature")
			s.git(s.work, "checkout", "-q", "main")
			s.side(map[string]string{"a.js": numbered("a", 9, map[int]string{5: "based()\n"})})
			s.git(s.work, "push", "-q", s.origin, "main")
			s.door.stage.World.Change(func() {
				s.pull.Base.SHA = s.id("main")
				s.pull.Head.Name = "main"
				if fork != "" {
					s.pull.Head.Repo = s.pull.Base.Repo
					s.pull.Head.Repo.Owner = fork
				}
			})
			f := told{name: "forkish", path: "a.js", quote: "forked()"}
			r := s.reviewed([]told{f, {name: "basic", path: "a.js", quote: "based()"}})
			c := s.remark(f)
			if r.Head != head || c == nil || c.Commit != head || c.Span.Start != 5 || len(r.Live()) != 1 {
				t.Fatalf("head %s of %s, comment %+v", r.Head, head, c)
			}
			w := s.door.stage.World
			for _, posted := range w.Reviews(s.pull) {
				if posted.Author.ID == w.Me.ID && posted.Commit != head {
					t.Errorf("a review of %s", posted.Commit)
				}
			}
			if !strings.Contains(s.summary(), head) {
				t.Errorf("the summary is about another commit:\n%s", s.summary())
			}
		})
	}
}

// TestPostByTheForgesList: without git, and with more files than the forge gives a
// diff of, its list of files is read to the end. What no file was read for is not
// offered to commit.
func TestPostByTheForgesList(t *testing.T) {
	t.Parallel()
	after := map[string]string{}
	for i := range 120 {
		after[fmt.Sprintf("src/f%03d.js", i)] = numbered("part", 3, map[int]string{2: fmt.Sprintf("odd(%d)\n", i)})
	}
	s := newFilePull(t, nil, after)
	s.door.noGit.Store(true)
	s.door.stage.World.Change(func() { s.pull.Huge, s.pull.Files = true, 120 })
	finds := []told{{name: "early", path: "src/f001.js", quote: "odd(1)"}, {name: "late", path: "src/f119.js", quote: "odd(119)", start: 2, end: 2, suggestion: "even(119)"}}
	r := s.reviewed(finds)
	if c := r.Coverage; c.Files != 120 || c.HunksRead != 120 {
		t.Errorf("coverage %+v", c)
	}
	s.nothingLost(r)
	for _, f := range finds {
		if c := s.remark(f); c == nil || c.Span != (precedent.Span{Path: f.path, Side: precedent.Right, Start: 2, End: 2}) || suggestionBlock.MatchString(string(c.Body)) {
			t.Errorf("%s: %+v", f.title(), c)
		}
	}
}

// TestPostOnANameThatIsNoText: no forge can be told such a name, so the summary
// says what is found there.
func TestPostOnANameThatIsNoText(t *testing.T) {
	t.Parallel()
	name := "caf\xe9.js"
	s := newFilePull(t, nil, map[string]string{name: "odd(1)\n"})
	f := told{name: "nameless", path: text.VisibleLine(name), quote: "odd(1)"}
	s.nothingLost(s.reviewed([]told{f}))
	if s.remark(f) != nil || !s.inFull(f) {
		t.Errorf("it is on a line, or not in the summary:\n%s", s.summary())
	}
	s.silentAgain()
}
