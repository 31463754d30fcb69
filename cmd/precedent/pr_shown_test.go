package main

import (
	"context"
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

// forget loses the memory, and the commits that were fetched.
func (s *prStage) forget() {
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
