package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// witness is an engine that finds and answers what a test says, and counts its requests.
type witness struct {
	finds []told
	look  func(thread string) (state, reply string)
	asked atomic.Int64
}

func (w *witness) Info() engine.Info {
	return engine.Info{Name: "witness", Line: "witness, on this machine", Who: "witness"}
}

func (w *witness) Run(_ context.Context, t engine.Task) (engine.Answer, error) {
	if t.Role != engine.Answerer { // which does not read the change
		w.asked.Add(1)
	}
	find := func() []map[string]any {
		found := []map[string]any{}
		for _, f := range w.finds {
			found = append(found, f.wire())
		}
		return found
	}
	return play(t, "witness", find, func(string) bool { return false }, w.look)
}

// witnessed is a pull request that changes flaws.js, read by a witness.
type witnessed struct {
	*filePull
	w    *witness
	kind string
}

// onForges runs a test on GitHub and on servers of Gitea's family.
func onForges(t *testing.T, test func(t *testing.T, s *witnessed)) {
	for name, kind := range map[string]forgetest.GiteaKind{"GitHub": -1, "Gitea": forgetest.Gitea127, "Gitea without answers": forgetest.Gitea126, "Forgejo": forgetest.Forgejo} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &witnessed{newFilePull(t, map[string]string{"flaws.js": numbered("s", 40, nil)}, map[string]string{"flaws.js": flawed("", nil)}), nil, name}
			s.parrot = &parrot{} // push tells it what it has pushed
			s.w = &witness{look: func(string) (string, string) { return "still_there", "" }}
			s.app.fixedEngine = s.w
			if kind >= 0 {
				s.toGitea(kind)
			}
			s.app.env["PRECEDENT_MARKER_KEY"] = strings.Repeat("a key of tests ", 2)
			test(t, s)
		})
	}
}

// flawed is flaws.js: 40 lines after a prefix, of which some are flawed, and some replaced.
func flawed(prefix string, fixed map[int]string) string {
	lines := map[int]string{}
	for _, n := range []int{8, 9, 10, 11, 20, 30} {
		lines[n] = fmt.Sprintf("bad(%d)\n", n)
	}
	for n, line := range fixed {
		lines[n] = line
	}
	return prefix + numbered("s", 40, lines)
}

// flawAt is a finding on lines of flaws.js.
func flawAt(name string, start, end int) told {
	return told{name: name, path: "flaws.js", quote: fmt.Sprintf("bad(%d)", start), start: start, end: end}
}

func (s *witnessed) onGitea() bool { return s.kind != "GitHub" }

// forget loses the memory, and the commits that were fetched.
func (s *witnessed) forget() {
	s.t.Helper()
	for _, dir := range []string{".local", ".cache"} {
		if err := os.RemoveAll(filepath.Join(s.home, dir)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// posts reviews the pull request and expects an exit status, and words in the summary.
func (s *witnessed) posts(step string, status int, words ...string) {
	s.t.Helper()
	got, said := s.post("--fail-on", "medium")
	if got != status {
		s.t.Fatalf("%s: status %d, want %d\n%s\n%s", step, got, status, said, s.out.String())
	}
	for _, want := range words {
		if no, ok := strings.CutPrefix(want, "! "); ok == strings.Contains(s.summary(), strings.TrimPrefix(want, "! ")) {
			s.t.Errorf("%s: the summary says %q: %v, in\n%s", step, no, !ok, s.summary())
		}
	}
	if s.t.Failed() {
		s.t.FailNow()
	}
}

// outcome returns what became of a finding.
func (s *witnessed) outcome(f told) string {
	s.t.Helper()
	if status, said := s.run("outcomes", s.door.URL+"/octo/app/pull/7"); status != precedent.ExitClean {
		s.t.Fatalf("status %d\n%s", status, said)
	}
	for line := range strings.Lines(s.out.String()) {
		if strings.Contains(line, f.title()) {
			return strings.Fields(line)[1]
		}
	}
	return ""
}

const licence = "// A line of the licence.\n// Another one.\n// The last.\n"

// TestRangesOnForges: a finding of several lines keeps its range through pushes and lost
// memories, also on forges that show only its last line.
func TestRangesOnForges(t *testing.T) {
	t.Parallel()
	for name, fixed := range map[string]map[int]string{
		"fixed":                {10: "good(10)\n"},
		"suggestion_committed": {8: "fine(8)\n", 9: "fine(9)\n", 10: "fine(10)\n", 11: "fine(11)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			onForges(t, func(t *testing.T, s *witnessed) {
				wide := flawAt("wide", 8, 11)
				wide.suggestion = "fine(8)\nfine(9)\nfine(10)\nfine(11)"
				s.w.finds = []told{wide}
				s.posts("first", precedent.ExitFindings, "`flaws.js:8-11`")
				c := s.remark(wide)
				if c == nil {
					t.Fatalf("no comment; the summary:\n%s", s.summary())
				}
				if s.onGitea() {
					for _, words := range []string{"\n\nAt [`flaws.js:8-11`](" + s.door.URL, "#L8-L11):\n\n```\n8 │ bad(8)\n```\n", "\nReplace lines 8–11:\n\n```suggestion\n"} {
						if !strings.Contains(string(c.Body), words) {
							t.Errorf("the comment does not say %q:\n%s", words, c.Body)
						}
					}
				} else if c.Span.Start != 8 || c.Span.End != 11 || strings.Contains(string(c.Body), "Replace lines") {
					t.Errorf("the comment is at %s:\n%s", c.Span, c.Body)
				}
				s.w.finds = nil
				s.push("shift the lines", map[string]string{"flaws.js": flawed(licence, nil)})
				if name == "fixed" {
					s.forget() // a suggestion is known only to the memory
				}
				s.posts("shifted", precedent.ExitFindings, "1 earlier finding still open", "`flaws.js:11-14`")
				s.w.look = func(string) (string, string) { return "addressed", "" }
				s.push("fix it", map[string]string{"flaws.js": flawed(licence, fixed)})
				s.posts("fixed", precedent.ExitClean, "**Closed**: 1 fixed.", "**fixed** in `"+shortID(s.id("feature"))+"`")
				if got := s.outcome(wide); got != name {
					t.Errorf("the outcome is %q", got)
				}
				if n := len(s.shown(forge.OnReview)); n != 1 {
					t.Errorf("%d reviews", n)
				}
			})
		})
	}
}

// TestRangesAfterAForcePush: where a comment quotes its code, the range is found again even if
// memory and commit are gone.
func TestRangesAfterAForcePush(t *testing.T) {
	t.Parallel()
	onForges(t, func(t *testing.T, s *witnessed) {
		s.w.finds = []told{flawAt("wide", 8, 11)}
		s.posts("first", precedent.ExitFindings)
		s.w.finds = nil
		s.git(s.work, "reset", "-q", "--soft", "main")
		s.push("again", map[string]string{"flaws.js": flawed(licence, nil)})
		s.git(s.origin, "reflog", "expire", "--expire=now", "--all")
		s.git(s.origin, "gc", "-q", "--prune=now")
		s.forget()
		want := "`flaws.js:8-11`"
		if s.onGitea() {
			want = "`flaws.js:11-14`"
		}
		s.posts("rewritten", precedent.ExitFindings, "1 earlier finding still open", want)
	})
}

// TestSummaryOfEverythingOpen: after pushes the summary lists every open finding with severity
// and links, found again or not, and what was fixed in which commit; status and check agree.
func TestSummaryOfEverythingOpen(t *testing.T) {
	t.Parallel()
	onForges(t, func(t *testing.T, s *witnessed) {
		a, b, c := flawAt("alpha", 8, 8), flawAt("beta", 20, 20), flawAt("gamma", 30, 30)
		b.severity = "high"
		s.w.finds = []told{a, b, c}
		s.posts("first", precedent.ExitFindings, "## Precedent: 3 findings\n")
		line := func(n int) string {
			return s.connection().Pages().Lines(precedent.Repo{Host: s.connection().Host(), Owner: "octo", Name: "app"}, s.id("feature"), precedent.Span{Path: "flaws.js", Start: n, End: n})
		}
		row := func(severity string, f told, n int) string {
			return fmt.Sprintf("| %s | %s | [`flaws.js:%d`](%s) |  | [earlier](%s) |\n", severity, f.title(), n, line(n), s.commentURL(f))
		}
		// Without an engine nothing is found again, and everything is still open.
		s.app.fixedEngine = nil
		s.push("shift the lines", map[string]string{"flaws.js": flawed(licence, nil)})
		s.posts("without an engine", precedent.ExitFindings, "## Precedent: 3 earlier findings still open\n",
			row("high", b, 23)+row("medium", a, 11)+row("medium", c, 33), "! **Closed**", "**No model read this change: only the analyzers did.** Without a model the check is neutral at best")
		s.checks("failure")
		// A change of the lines that nobody compared leaves the finding open.
		s.push("change beta", map[string]string{"flaws.js": flawed(licence, map[int]string{20: "good(20)\n"})})
		fix := shortID(s.id("feature"))
		s.posts("undetermined", precedent.ExitFindings, "## Precedent: 3 earlier findings still open\n", row("high", b, 23), "1 undetermined")
		s.checks("failure")
		// The engine finds one of them again, and that another is fixed.
		s.app.fixedEngine = s.w
		s.w.finds = []told{{name: "gamma", path: "flaws.js", quote: "bad(30)", start: 33, end: 33}}
		s.w.look = func(thread string) (string, string) {
			if strings.Contains(thread, b.title()) {
				return "addressed", ""
			}
			return "still_there", ""
		}
		s.push("one more line", map[string]string{"flaws.js": flawed(licence, map[int]string{20: "good(20)\n", 40: "end()\n"})})
		closed := fmt.Sprintf("**Closed**: 1 fixed.\n\n<details>\n<summary>Closed findings</summary>\n\n- At [`flaws.js:20`](%s) · high · %s: **fixed** in `%s`", s.commentURL(b), b.title(), fix)
		s.posts("fixed", precedent.ExitFindings, "## Precedent: 1 finding, and 1 earlier one still open\n", row("medium", a, 11), closed)
		s.push("yet another line", map[string]string{"flaws.js": flawed(licence, map[int]string{20: "good(20)\n", 40: "end()\nend()\n"})})
		s.posts("later", precedent.ExitFindings, row("medium", a, 11), closed)
		if got := s.outcome(b); got != "fixed" {
			t.Errorf("the outcome of beta is %q", got)
		}
	})
}

// commentURL is the address of the comment about a finding.
func (s *witnessed) commentURL(f told) string {
	s.t.Helper()
	c := s.remark(f)
	if c == nil {
		s.t.Fatalf("%s has no comment", f.title())
	}
	anchor := "issuecomment-"
	page := "/octo/app/pulls/7#"
	if !s.onGitea() {
		anchor, page = "discussion_r", "/octo/app/pull/7#"
	}
	return s.door.URL + page + anchor + string(c.ID)
}

// checks expects the state of the head on Gitea; a personal token makes no checks on GitHub.
func (s *witnessed) checks(want string) {
	s.t.Helper()
	if !s.onGitea() {
		return
	}
	all := s.door.stage.World.StatusesOf(s.door.stage.World.Repo("octo", "app"), s.id("feature"))
	if len(all) == 0 || all[len(all)-1].State != want {
		s.t.Fatalf("statuses %+v, want %s", all, want)
	}
}

// TestPeopleCloseFindings: a 👎 or "won't fix" of somebody who may write closes a
// finding in summary and check at the next look: at the same head without reading anything,
// and on a push, found again or not. Nobody else's does.
func TestPeopleCloseFindings(t *testing.T) {
	t.Parallel()
	onForges(t, func(t *testing.T, s *witnessed) {
		a, b, c := flawAt("alpha", 8, 8), flawAt("beta", 20, 20), flawAt("gamma", 30, 30)
		world := s.door.stage.World
		s.w.finds = []told{a, b, c}
		s.posts("first", precedent.ExitFindings)
		asked := s.w.asked.Load()
		ref := func(f told) forge.CommentRef { return forge.CommentRef{Kind: forge.OnLine, ID: s.remark(f).ID} }
		world.React(s.pull, ref(a), maintainer, "-1")
		world.React(s.pull, ref(b), dana, "-1")
		world.Say(s.pull, dana, ref(c).ID, "Won't fix.")
		s.posts("👎 at the same head", precedent.ExitFindings, "## Precedent: 2 findings\n", "**Closed**: 1 dismissed.", "**dismissed** by "+maintainer.Login+"", "! | medium | "+a.title())
		before := len(s.door.stage.Script.Requests())
		s.posts("nothing new", precedent.ExitFindings, "## Precedent: 2 findings\n")
		if got := slices.DeleteFunc(s.writes(before), func(r string) bool { return strings.HasSuffix(r, "/graphql") }); len(got) != 0 {
			t.Errorf("written %s", got) // GitHub is asked about conversations by POST
		}
		world.Say(s.pull, maintainer, ref(b).ID, "Won't fix: a fixture.")
		s.posts("won't fix at the same head", precedent.ExitFindings, "## Precedent: 1 finding\n", "**Closed**: 2 dismissed.", "**dismissed** by "+maintainer.Login+": “Won't fix: a fixture.”")
		s.checks("failure")
		if s.w.asked.Load() != asked {
			t.Errorf("the engine was asked %d times", s.w.asked.Load()-asked)
		}
		if got := s.outcome(b); got != "declined" {
			t.Errorf("the outcome of beta is %q", got)
		}
		// On a push, without an engine and not found again.
		s.app.fixedEngine = nil
		world.React(s.pull, ref(c), maintainer, "-1")
		s.push("unrelated", map[string]string{"other.js": "fine()\n"})
		s.posts("👎 on a push", precedent.ExitClean, "## Precedent: clean, no findings\n", "**Closed**: 3 dismissed.")
		s.checks("warning")
		// And found again.
		s.app.fixedEngine = s.w
		s.w.look = func(string) (string, string) { t.Error("a closed thread is read"); return "still_there", "" }
		s.push("once more", map[string]string{"other.js": "fine()\nfine()\n"})
		s.posts("found again", precedent.ExitClean, "## Precedent: clean, no findings\n", "**Closed**: 3 dismissed.")
		s.checks("success")
		if got := len(s.shown(forge.OnReview)); got != 1 {
			t.Errorf("%d reviews", got)
		}
	})
}

// TestAnswersOnTheLine: what a person writes with the "+" of the diff view on the line of a
// finding, at a newer head, is an answer in its thread: it is answered there once, and a
// dismissal counts.
func TestAnswersOnTheLine(t *testing.T) {
	t.Parallel()
	onForges(t, func(t *testing.T, s *witnessed) {
		a, b, c := flawAt("alpha", 8, 11), flawAt("beta", 20, 20), flawAt("gamma", 30, 30)
		world := s.door.stage.World
		s.w.finds = []told{a, b, c}
		s.posts("first", precedent.ExitFindings)
		s.push("shift the lines", map[string]string{"flaws.js": flawed(licence, nil)})
		s.w.finds = nil
		at := func(start, end int) precedent.Span {
			return precedent.Span{Path: "flaws.js", Side: precedent.Right, Start: start, End: end}
		}
		world.Remark(s.pull, maintainer, at(14, 14), "Won't fix: a fixture.")
		world.Remark(s.pull, dana, at(23, 23), "Which line do you mean?")
		world.Remark(s.pull, dana, at(33, 33), "Won't fix.")
		world.Remark(s.pull, dana, at(30, 30), "Another line, where gamma was before.")
		waiting := map[string]int{}
		s.w.look = func(thread string) (string, string) {
			for _, f := range []told{a, b, c} {
				if strings.Contains(thread, f.title()) && strings.Contains(thread, "A person waits for an answer.") {
					waiting[f.name]++
					if strings.Contains(thread, "Another line") {
						t.Errorf("a remark on another line is read in the thread of %s", f.name)
					}
				}
			}
			return "still_there", "I mean this line."
		}
		s.posts("answers", precedent.ExitFindings, "## Precedent: 2 earlier findings still open\n", "**Closed**: 1 dismissed.", "**dismissed** by "+maintainer.Login+": “Won't fix: a fixture.”")
		if fmt.Sprint(waiting) != "map[beta:1]" { // fixed rules have answered the other one
			t.Errorf("people wait in %v", waiting)
		}
		s.push("one more line", map[string]string{"flaws.js": flawed(licence, map[int]string{40: "end()\n"})})
		s.posts("later", precedent.ExitFindings, "## Precedent: 2 earlier findings still open\n")
		if fmt.Sprint(waiting) != "map[beta:1]" {
			t.Errorf("people wait again, in %v", waiting)
		}
		ours := s.shown(forge.OnLine)
		if n := len(slices.DeleteFunc(slices.Clone(ours), func(c forge.Comment) bool { return !strings.Contains(string(c.Body), "I mean this line.") })); n != 1 {
			t.Errorf("%d answers", n)
		}
		if got := s.outcome(a); got != "declined" {
			t.Errorf("the outcome of alpha is %q", got)
		}
	})
}

// TestDismissedByCommand: what "precedent dismiss" dismissed is closed on the next push,
// although nobody finds it again.
func TestDismissedByCommand(t *testing.T) {
	t.Parallel()
	onForges(t, func(t *testing.T, s *witnessed) {
		a, b := flawAt("alpha", 8, 8), flawAt("beta", 20, 20)
		s.w.finds = []told{a, b}
		s.posts("first", precedent.ExitFindings)
		_, id, _ := strings.Cut(string(s.remark(a).Body), " · finding `")
		repo := s.connection().Host() + "/octo/app"
		if status, said := s.run("dismiss", id[:precedent.FindingIDLen], "--repo", repo, "--reason", "a fixture"); status != precedent.ExitClean {
			t.Fatalf("status %d\n%s", status, said)
		}
		s.app.fixedEngine = nil
		for i := range 2 {
			s.push("unrelated", map[string]string{"other.js": strings.Repeat("fine()\n", i+1)})
			s.posts("dismissed", precedent.ExitFindings, "## Precedent: 1 earlier finding still open\n", "**Closed**: 1 dismissed.", a.title()+": **dismissed**: ")
		}
		answers := 0
		for _, c := range s.shown(forge.OnLine) {
			answers += strings.Count(string(c.Body), "This will not be raised again.")
		}
		if answers != 0 {
			t.Errorf("it is answered %d times, and nobody wrote there", answers)
		}
	})
}
