package main

import (
	stdcmp "cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// told is a finding of the witness. Its name, one word, is in no other's text.
type told struct {
	name, path, quote  string
	start, end         int
	severity, category string // medium and bugs if they are empty
	though             string // more words of the body
}

func (f told) title() string { return "Flaw " + f.name }

func (f told) wire() map[string]any {
	n := f.name
	return map[string]any{
		"path": f.path, "side": "RIGHT", "quote": f.quote, "start": f.start, "end": f.end, "confidence": 90,
		"severity": stdcmp.Or(f.severity, "medium"), "category": stdcmp.Or(f.category, "bugs"), "title": f.title(),
		"body": fmt.Sprintf("%sone %stwo %sthree %sfour %sfive. %s", n, n, n, n, n, f.though),
	}
}

// witness is an engine that finds what a test says, all of it still there, and counts its requests.
type witness struct {
	finds  []told
	reads  bool                               // it finds only what it is shown
	agrees string                             // what its judge quotes, who takes all pairs for the same; empty if none
	answer func(prompt string) map[string]any // of people; nil if it is not asked
	prompt string                             // that it answered last
	asked  atomic.Int64
}

func (w *witness) Info() engine.Info {
	return engine.Info{Name: "witness", Line: "witness, on this machine", Who: "witness"}
}

func (w *witness) Run(_ context.Context, t engine.Task) (engine.Answer, error) {
	says := func(answer map[string]any) (engine.Answer, error) {
		data, err := json.Marshal(answer)
		return engine.Answer{Status: precedent.StatusOK, JSON: data, Model: "witness"}, err
	}
	if t.Role != engine.Answerer { // which does not read the change
		w.asked.Add(1)
	} else if w.answer != nil {
		w.prompt = t.User()
		return says(w.answer(w.prompt))
	}
	if t.Role == engine.Judge && w.agrees != "" {
		pairs := []map[string]any{}
		for id := range blocks(t.User(), pairID) {
			pairs = append(pairs, map[string]any{"pair": id, "same": true, "quote": w.agrees})
		}
		return says(map[string]any{"pairs": pairs})
	}
	find := func() []map[string]any {
		found := []map[string]any{}
		for _, f := range w.finds {
			if !w.reads || strings.Contains(t.Common+t.Prefix+t.Prompt, f.quote) {
				found = append(found, f.wire())
			}
		}
		return found
	}
	differ := func(string) bool { return false }
	return play(t, "witness", find, differ, func(string) (string, string) { return "still_there", "" })
}

// witnessed is a pull request that changes flaws.js, read by a witness.
type witnessed struct {
	*shopPull
	w    *witness
	kind string
}

func newWitnessed(t *testing.T) *witnessed {
	t.Helper()
	s := &witnessed{&shopPull{prStage: newPRStage(t), parrot: &parrot{}}, &witness{}, "GitHub"}
	s.app.sleep, s.app.fixedEngine = s.door.stage.Clock.Sleep, s.w
	s.app.env[markerKeyVariable] = strings.Repeat("a key of tests ", 2)
	s.git(s.work, "checkout", "-q", "main")
	writeFile(t, filepath.Join(s.work, "flaws.js"), numbered(nil), 0o644)
	s.git(s.work, "add", "-A")
	s.git(s.work, "commit", "-q", "-m", "files")
	s.git(s.work, "checkout", "-q", "-B", "feature", "main")
	s.push("flaws", map[string]string{"flaws.js": flawed("")})
	return s
}

// onForges runs a test on GitHub and on a Gitea that differs most from it, and in make soak on other servers of its
// family, too.
func onForges(t *testing.T, test func(t *testing.T, s *witnessed)) {
	kinds := map[string]forgetest.GiteaKind{"GitHub": onGitHub, "Gitea without answers": forgetest.Gitea126}
	if needs.Soaking() {
		kinds["Gitea"], kinds["Forgejo"] = forgetest.Gitea127, forgetest.Forgejo
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWitnessed(t)
			if s.kind = name; kind >= 0 {
				s.toGitea(kind)
			}
			test(t, s)
		})
	}
}

// numbered is a file of 40 lines, some of which are others.
func numbered(others map[int]string) string {
	var b strings.Builder
	for i := 1; i <= 40; i++ {
		b.WriteString(stdcmp.Or(others[i], fmt.Sprintf("const s%d = compute(%d, 's')\n", i, i*7)))
	}
	return b.String()
}

// flawed is flaws.js: 40 lines after a prefix, of which some are flawed.
func flawed(prefix string) string {
	lines := map[int]string{}
	for _, n := range []int{8, 9, 10, 11, 20, 30} {
		lines[n] = fmt.Sprintf("bad(%d)\n", n)
	}
	return prefix + numbered(lines)
}

// flawAt is a finding on a line of flaws.js.
func flawAt(name string, line int) told {
	return told{name: name, path: "flaws.js", quote: fmt.Sprintf("bad(%d)", line), start: line, end: line}
}

// remark is the comment about a finding of ours; nil if there is none.
func (s *witnessed) remark(f told) *forge.Comment {
	s.t.Helper()
	var found *forge.Comment
	for _, c := range s.shown(forge.OnLine) {
		if strings.Contains(string(c.Body), f.title()) {
			if found != nil {
				s.t.Errorf("%s is said twice", f.title())
			}
			found = &c
		}
	}
	return found
}

// forget loses the memory, and the commits that were fetched.
func (s *prStage) forget() {
	s.t.Helper()
	for _, dir := range []string{".local", ".cache"} {
		needs.NoError(s.t, os.RemoveAll(filepath.Join(s.home, dir)))
	}
}

// posts reviews the pull request and expects an exit status, and words in the summary.
func (s *witnessed) posts(step string, status int, words ...string) {
	s.t.Helper()
	got, said := s.post("--fail-on", "medium")
	if got != status {
		s.t.Fatalf("%s: status %d, want %d\n%s\n%s", step, got, status, said, s.out.String())
	}
	if len(words) > 0 {
		s.has(step, s.summary(), words...)
	}
}

// has expects words in a text; those after "! " must not be there.
func (s *prStage) has(step, text string, words ...string) {
	s.t.Helper()
	for _, want := range words {
		if no, not := strings.CutPrefix(want, "! "); not == strings.Contains(text, no) {
			s.t.Fatalf("%s: it says %q: %t, in\n%s", step, no, not, text)
		}
	}
}

// TestTakenBack: a finding that a dismissal hid from the first review on is shown by the next one after the dismissal was
// taken back, although its lines have not changed. One that is shown is closed when it is dismissed by command.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	onForges(t, func(t *testing.T, s *witnessed) {
		a, b := flawAt("alpha", 8), flawAt("beta", 20)
		s.w.finds, s.w.reads = []told{a, b}, true
		dismisses := func(args ...string) {
			if status, said := s.run(append([]string{"dismiss", "--repo", s.connection().Host() + "/octo/app"}, args...)...); status != precedent.ExitClean {
				t.Fatalf("%v: status %d\n%s", args, status, said)
			}
		}
		if status, said := s.run("pr", s.door.URL+"/octo/app/pull/7", "--json"); status > precedent.ExitFindings {
			t.Fatalf("status %d\n%s", status, said)
		}
		id := ""
		for _, f := range parsed[precedent.Review](t, s.out.String()).Findings {
			if strings.Contains(f.Title, a.title()) {
				id = f.ID
			}
		}
		dismisses(id, "--reason", "a fixture")
		s.posts("dismissed", precedent.ExitFindings, "1 finding", "1 dismissed")
		dismisses("--undo", id)
		s.push("unrelated", map[string]string{"other.js": "fine()\n"})
		s.posts("taken back", precedent.ExitFindings)
		if s.remark(a) == nil {
			t.Fatalf("it is not shown again:\n%s", s.summary())
		}
		// Dismissed once more, it is closed on the next push, also without an engine, which finds nothing again.
		dismisses(id, "--reason", "a fixture")
		s.app.fixedEngine = nil
		for i := range 2 {
			s.push("unrelated", map[string]string{"other.js": strings.Repeat("more()\n", i+1)})
			s.posts("dismissed again", precedent.ExitFindings, "## Precedent: 1 earlier finding still open\n",
				"**Closed**: 1 dismissed.", a.title()+": **dismissed**: ")
		}
		s.has("nobody wrote there", string(s.remark(a).Body), "! This will not be raised again.")
	})
}
