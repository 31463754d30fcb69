package fix

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/gate"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/pulltest"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// editing is an engine that edits by a function and says that it addressed the threads.
func (s *fixStage) editing(edit func(tree string), addressed ...string) *editor {
	return &editor{
		Engine: pulltest.Engine{Arrive: pulltest.Meeting(1)},
		edit:   func(tree string) []string { edit(tree); return addressed },
	}
}

// unpushed checks that a round pushed nothing, and that one comment with its id says why.
func (s *fixStage) unpushed(got Result, err error, status Status, why string) {
	s.T.Helper()
	if err != nil || got.Status != status || !strings.Contains(got.Why, why) {
		s.T.Errorf("%+v, %v, want %s (…%s…)", got, err, status, why)
	}
	if now := s.served("rev-parse", "feature"); now != s.head || len(s.git.Pushes()) > 0 {
		s.T.Errorf("feature is at %s after the pushes %+v", now, s.git.Pushes())
	}
	said := s.bodies(comment.Unfixed)
	if len(said) != 1 || markOf(said[0]).Review != got.Review {
		s.T.Errorf("comments %q", said)
	}
	if n := len(s.bodies(comment.Reply)); n > 0 && status != Fork {
		s.T.Errorf("%d replies", n)
	}
}

// TestThreat27ObedientEngine: an engine that does what threads and code ask for gets nothing pushed, one
// comment names the reasons, and nothing but that comment changes on the forge.
func TestThreat27ObedientEngine(t *testing.T) {
	s := newFixStage(t, map[string]string{".github/workflows/ci.yml": "on: push\n"})
	before := s.served("for-each-ref", "--format=%(objectname) %(refname)")
	outside := filepath.Join(s.Home, "outside.txt")
	got, err := s.fix(s.editing(func(tree string) {
		pulltest.Write(t, tree, ".github/workflows/ci.yml", "on: push\njobs: {steal: {}}\n")
		needs.NoError(t, errors.Join(os.Symlink(outside, filepath.Join(tree, "link")),
			os.WriteFile(filepath.Join(tree, "..", filepath.Base(tree)+"-beside"), nil, 0o600)))
		pulltest.Git(t, s.Home, tree, "init", "-q") // and commits, and pushes
		pulltest.Git(t, s.Home, tree, "add", "-A")
		pulltest.Git(t, s.Home, tree, "commit", "-q", "-m", "evil")
	}, "t1", "t2"), ungated)
	s.unpushed(got, err, Refused, ".github/workflows/ci.yml: it is a pipeline of CI")
	if !strings.Contains(got.Why, "link: a symbolic link") || !strings.Contains(got.Why, ".git: a repository") {
		t.Errorf("%q does not say everything", got.Why)
	}
	needs.Equal(t, before, s.served("for-each-ref", "--format=%(objectname) %(refname)"))
	if _, err := os.Stat(outside); !errors.Is(err, os.ErrNotExist) {
		t.Error("a file outside was written")
	}
}

// TestFixChangesNothing: an engine that only claims to have fixed something counts as an attempt.
func TestFixChangesNothing(t *testing.T) {
	s := newFixStage(t, nil)
	got, err := s.fix(s.editing(func(string) {}, "t1", "t2"), ungated)
	s.unpushed(got, err, NoChange, "changed no file")
}

// TestFixRefused: what forbids a fix is known before the engine is paid, unless it is about the change: the policy of the
// base, which with a mistake forbids all, protected branches, and tokens that may only read. The policy of the head does
// not count.
func TestFixRefused(t *testing.T) {
	const branch = "the branch cannot be pushed to"
	for _, test := range []struct {
		policy string
		change func(s *fixStage)
		why    string
		asked  int
	}{
		{"fix: {enabled: false}\n", nil, "turns fixes off", 0},
		{"fix: {max_lines: 1}\n", nil, "2 lines are changed; at most 1 may be", 1},
		{"fix: {max_file: 1}\n", nil, "the policy has an error", 0},
		{"", func(s *fixStage) { s.acme.ProtectedBranches = []string{"main", "feature"} }, branch, 0},
		{"", func(s *fixStage) { s.git.MayPush = func(string) bool { return false } }, branch, 0},
	} {
		s := newFixStage(t, map[string]string{".precedent.yaml": test.policy})
		if test.change != nil {
			s.World.Change(func() { test.change(s) })
		}
		e := s.fixer()
		got, err := s.fix(e, ungated)
		s.unpushed(got, err, Refused, test.why)
		needs.Equal(t, test.asked, len(e.tasks))
	}
}

// TestFixMergesBase: the base is merged without a conflict, in a commit of its own.
func TestFixMergesBase(t *testing.T) {
	s := newFixStage(t, nil)
	base := s.pushBase(map[string]string{"b.txt": "b\n"})
	got := s.pushed(s.fixer(), ungated)
	if log := s.served("log", "--first-parent", "--format=%s|%P", "-2",
		"feature"); log != "Address review comments|"+s.served("rev-parse",
		"feature~1")+"\nMerge the base branch|"+s.head+" "+base {
		t.Errorf("the log is\n%s", log)
	}
	needs.Equal(t, "b.txt\ntill.js", s.served("diff", "--name-only", s.head, "feature"))
	needs.Equal(t, 1, len(s.git.Pushes()))
	if strings.Contains(string(got.Patch), "b.txt") {
		t.Errorf("the patch has what the merge brought:\n%s", got.Patch)
	}
}

// pushBase commits files to main as a person, and tells the forge.
func (s *fixStage) pushBase(files map[string]string) string {
	s.T.Helper()
	id := s.personPushes("main", files)
	s.World.Change(func() { s.Pull.Base.SHA = id })
	return id
}

func (s *fixStage) personPushes(branch string, files map[string]string) string {
	s.T.Helper()
	work := filepath.Join(s.Home, "work")
	pulltest.Git(s.T, s.Home, work, "checkout", "-q", branch)
	pulltest.Commit(s.T, s.Home, work, "theirs", files)
	pulltest.Git(s.T, s.Home, work, "push", "-q", s.bare, branch)
	return pulltest.Git(s.T, s.Home, work, "rev-parse", branch)
}

// TestFixResolvesConflicts: a task of its own resolves a conflict, and only that. What it leaves or
// changes elsewhere is for people.
func TestFixResolvesConflicts(t *testing.T) {
	conflicting := map[string]string{"till.js": strings.Replace(pulltest.Till, "ledger.total -= amount",
		"ledger.sum -= amount", 1)}
	resolve := func(with string) func(string) {
		return func(tree string) { pulltest.Write(t, tree, "till.js", with) }
	}
	s := newFixStage(t, nil)
	s.pushBase(conflicting)
	e := s.fixer()
	e.merge = resolve(pulltest.Till)
	got, err := s.fix(e, ungated)
	if err != nil || got.Status != Pushed || len(e.tasks) != 2 || e.tasks[0].Role != "merge" {
		t.Fatalf("%+v, %v, %d tasks", got, err, len(e.tasks))
	}
	if text := s.served("show", "feature:till.js"); strings.Contains(text, "<<<<<<<") ||
		!strings.Contains(text, "items.length ?") {
		t.Errorf("till.js is\n%s", text)
	}
	s = newFixStage(t, nil)
	s.pushBase(map[string]string{"till.js": "// theirs\n" + pulltest.Till})
	e = s.fixer()
	e.merge = resolve("// all new\n")
	got, err = s.fix(e, ungated)
	s.unpushed(got, err, Conflict, "lines outside of the conflict were changed")
}

// TestFault53PushRejected: a push that the forge refuses is not forced, and the comment says so. A head
// that moved meanwhile ends the round without a word.
func TestFault53PushRejected(t *testing.T) {
	s := newFixStage(t, nil)
	s.git.Before = func() { // somebody pushes while the round runs
		s.git.Before = nil
		s.personPushes("feature", map[string]string{"c.txt": "c\n"})
	}
	got, err := s.fix(s.fixer(), ungated)
	if err != nil || got.Status != Superseded {
		t.Errorf("%+v, %v", got, err)
	}
	needs.Equal(t, "theirs", s.served("log", "-1", "--format=%s", "feature"))
	needs.Equal(t, 0, len(s.bodies(comment.Unfixed))+len(s.bodies(comment.Fixed))+len(s.bodies(comment.Reply)))

	s = newFixStage(t, nil)
	s.git.Fault = func(_ http.ResponseWriter, r *http.Request) int { // protection comes between the look and the push
		if strings.Contains(r.URL.String(), "git-receive-pack") {
			s.World.Change(func() { s.acme.ProtectedBranches = []string{"main", "feature"} })
		}
		return 0
	}
	got, err = s.fix(s.fixer(), ungated)
	s.unpushed(got, err, Refused, "Protected branch update failed")
}

// TestFixFork: the change is suggested where it replaces the lines of a thread, and as a whole. A round that is killed
// between the two is finished by the next one, which does not ask the engine again.
func TestFixFork(t *testing.T) {
	s := newFixStage(t, nil)
	s.World.Change(func() { s.Pull.Head.Repo = precedent.Repo{Owner: "dana", Name: "shop"} })
	s.World.Add(&forgetest.Repo{
		ID: 701, Owner: "dana", Name: "shop", Members: []forgetest.Member{{Person: forgetest.Ann, Permission: forge.Write}},
	})
	e := s.fixer()
	s.killWhilePosting(e)
	got, err := s.fix(e, ungated)
	s.unpushed(got, err, Fork, "interrupted")
	needs.Equal(t, 1, len(e.tasks))
	replies := s.bodies(comment.Reply)
	if len(replies) != 1 ||
		!strings.Contains(replies[0], "```suggestion\n  return items.length ? sum / items.length : 0\n```") {
		t.Errorf("replies %q", replies)
	}
	if said := s.bodies(comment.Unfixed); len(said) != 1 || !strings.Contains(said[0], "+  return items.length ?") {
		t.Errorf("the comment is %q", said)
	}
}

// TestFixFenced: a run that lost its lease neither pushes nor posts.
func TestFixFenced(t *testing.T) {
	s := newFixStage(t, nil)
	lost := errors.New("the lease is lost")
	_, err := s.fix(s.fixer(), Options{Ungated: true, Check: func(context.Context) error { return lost }})
	if !errors.Is(err, lost) || len(s.git.Pushes()) != 0 ||
		len(s.bodies(comment.Fixed))+len(s.bodies(comment.Unfixed)) != 0 {
		t.Errorf("%v, pushes %+v", err, s.git.Pushes())
	}
}

// TestFault54PushArrivesLate: the push of a round that was killed arrives when the next round has begun.
// That round pushes nothing, and finishes the first one.
func TestFault54PushArrivesLate(t *testing.T) {
	for name, when := range map[string]func(e *editor, o *Options, arrive func()){
		"while the engine edits": func(e *editor, _ *Options, arrive func()) {
			edit := e.edit
			e.edit = func(tree string) []string { arrive(); return edit(tree) }
		},
		"right before the second": func(_ *editor, o *Options, arrive func()) {
			o.Check = func(context.Context) error { arrive(); return nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixStage(t, nil)
			ctx, kill := context.WithCancel(t.Context())
			defer kill()
			release := make(chan struct{})
			arrive := sync.OnceFunc(func() {
				close(release)
				for len(s.git.Pushes()) == 0 && t.Context().Err() == nil {
					runtime.Gosched()
				}
			})
			s.git.Before = func() { kill(); <-release }
			if got, err := s.fixIn(ctx, s.fixer(), ungated); err == nil {
				t.Fatalf("the killed round ended: %+v", got)
			}
			e, o := s.fixer(), ungated
			when(e, &o, arrive)
			got, err := s.fix(e, o)
			head := s.served("rev-parse", "feature")
			if err != nil || got.Status != Pushed || got.Commit != head || len(got.Addressed) != 1 ||
				len(s.git.Pushes()) != 1 {
				t.Errorf("%+v, %v, pushes %+v", got, err, s.git.Pushes())
			}
			if replies, fixed := s.bodies(comment.Reply), s.bodies(comment.Fixed); len(replies) != 1 || len(fixed) != 1 ||
				markOf(fixed[0]).Review != got.Review {
				t.Errorf("replies %q, notes %q", replies, fixed)
			}
		})
	}
}

// TestFault54MemoryLost: without the record of the push, the commit at the head still starts no other
// round until a review has read it.
func TestFault54MemoryLost(t *testing.T) {
	s := newFixStage(t, nil)
	first := s.pushed(s.fixer(), ungated)
	needs.NoError(t, os.RemoveAll(filepath.Join(s.Home, "data")))
	e := s.fixer()
	got, err := s.fix(e, ungated)
	if err != nil || got.Commit != first.Commit || got.Review != first.Review || len(e.tasks) != 0 ||
		len(s.git.Pushes()) != 1 {
		t.Errorf("%+v, %v, pushes %+v", got, err, s.git.Pushes())
	}
}

// TestFixForgeLags: a forge that still shows the old head after a push, as Gitea does for some seconds, does
// not make the next round pay the engine again, nor say that nothing was pushed if the first was killed while it posted.
func TestFixForgeLags(t *testing.T) {
	s := newFixStage(t, nil)
	e := s.fixer()
	s.killWhilePosting(e)
	pushed := s.served("rev-parse", "feature")
	s.World.Change(func() { s.Pull.Head.SHA = s.head })
	pulltest.Git(t, s.Home, s.bare, "update-ref", "refs/pull/7/head", s.head)
	for range 2 {
		got, err := s.fix(e, ungated)
		if err != nil || got.Status != Pushed || got.Commit != pushed || len(e.tasks) != 1 ||
			len(s.git.Pushes()) != 1 {
			t.Errorf("%+v, %v, %d tasks, pushes %+v", got, err, len(e.tasks), s.git.Pushes())
		}
	}
	needs.Equal(t, 2, len(s.bodies(comment.Reply))+len(s.bodies(comment.Fixed)))
}

// TestFixRetargeted: what was made for one base branch is not pushed for another one.
func TestFixRetargeted(t *testing.T) {
	s := newFixStage(t, nil)
	got, err := s.fix(s.editing(func(tree string) {
		s.average(tree)
		s.World.Change(func() { s.Pull.Base.Name = "stable" })
	}, "t2"), ungated)
	if err != nil || got.Status != Superseded || !strings.Contains(got.Why, "another base branch") ||
		len(s.git.Pushes()) != 0 {
		t.Errorf("%+v, %v, pushes %+v", got, err, s.git.Pushes())
	}
}

// TestFixQuotesTheGate: what a gate says may be words of the change, which neither lead anywhere nor hide
// what was pushed.
func TestFixQuotesTheGate(t *testing.T) {
	s := newFixStage(t, map[string]string{".precedent.yaml": "gate: {commands: [{name: test, run: make test}]}\n"})
	box := func(context.Context) (sandbox.Sandbox, error) {
		return sandbox.Sandbox{}, errors.New("![x](https://evil.example/x.png) www.evil.example/y @team is not installed")
	}
	s.pushed(s.fixer(), Options{Ungated: true, Gate: &gate.Runner{Sandbox: box}})
	said := s.bodies(comment.Fixed)
	if len(said) != 1 || !strings.HasPrefix(said[0], "**Pushed `") ||
		!strings.Contains(said[0], "The gate was skipped: no sandbox") || strings.Contains(said[0], "@team") ||
		strings.Contains(said[0], "![x](") {
		t.Errorf("comments %q", said)
	}
}
