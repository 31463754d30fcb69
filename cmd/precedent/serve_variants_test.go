package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// passes reports that the CI has passed, and lets the minute end within which other checks may start.
func (s *serveStory) passes() {
	s.report("build", "success")
	s.minute()
}

// minute lets a minute pass on the forge.
func (s *serveStory) minute() {
	if s.real != nil {
		began := time.Now() // the forge's clock is that of the world
		needs.WaitUntil(s.t, "a minute to end", func() bool { return time.Since(began) > time.Minute+time.Second })
	}
	s.door.stage.Clock.Pass(time.Minute)
}

// aStory is a story that servers play, on a fake of GitHub and on a running Gitea.
type aStory struct {
	policy string
	play   func(*serveStory)
	real   forgetest.GiteaKind // the running one
}

var stories = map[string]aStory{
	"Gate": {
		oneFinder + "gate: {commands: [{name: test, run: \"seq 1 3000; grep -q once src/till.js\"}], dependencies: off}\n",
		storyGate, onRealGitea,
	},
	"Checks": {"fix: {ungated: true, max_cycles: 2}\n" + oneFinder, storyChecks, onRealGitea},
	"Fork":   {ungated + oneFinder, storyFork, onRealFork},
}

// TestServeStories plays the stories on a fake of GitHub; TestRealGitea does on a running Gitea.
func TestServeStories(t *testing.T) {
	t.Parallel()
	for name, of := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of.play(newServeStory(t, onGitHub, of.policy))
		})
	}
}

// storyGate: a gate that fails ends a review before a model reads, and is what the fix is
// for. Two fixes whose build fails are for a person, whose label lets the work go on.
func storyGate(s *serveStory) {
	if !hasSandbox() {
		needs.Missing(s.t, "PRECEDENT_TEST_SANDBOX", "a sandbox")
	}
	s.engine.fixesNothing = true
	s.once("the gate fails, and a fix does", label.Changes)
	s.says("the gate fails", "**The build or the tests fail**", 1)
	note := s.notes("**The build or the tests fail**")[0]
	s.has("the gate fails", note, "at `"+workspace.ShortID(s.id("feature"))+"`",
		"- `seq 1 3000; grep -q once src/till.js`: exit status 1", "\n| 2602\n", "\n| 3000\n")
	if strings.Contains(note, "| 2600\n") { // each line has five
		s.t.Errorf("more than the last 2,000 characters:\n%s", note)
	}
	s.says("the gate fails", "## Precedent", 0)
	s.says("a fix fails", "**Nothing was fixed** at `"+workspace.ShortID(s.id("feature"))+"`: the build or the tests fail", 1)
	if n := len(s.tasks(engine.Finder)); n != 0 {
		s.t.Errorf("finders were asked %d times", n)
	}
	s.wait(2 * time.Minute)
	s.once("another fix fails", label.Intervention)
	s.says("another fix fails",
		"**Nothing was fixed** at `"+workspace.ShortID(s.id("feature"))+"`: the build or the tests fail after the change. This was "+
			"attempt 2.", 1)
	s.says("another fix fails", "**Nothing was fixed**", 1)
	s.says("another fix fails", "**A person has to look.** Two attempts to fix", 1)
	s.pushed("another fix fails", 0)
	s.quiet("a person's turn")

	s.sets(label.Changes)
	s.engine.fixesNothing = false
	s.once("a fix passes", label.CIPending)
	s.pushed("a fix passes", 1)
	tasks := s.tasks(engine.Fixer)
	s.has("the task", tasks[len(tasks)-1].User(), "2999", "3000", "grep -q once")
	s.passes()
	s.once("green", label.ReviewNeeded, label.HumanReview)
	s.says("the end", "## Precedent: clean, no findings", 1)
	s.has("the end", s.notes("## Precedent")[0], "- Build and tests: passed (`seq 1 3000; grep -q once src/till.js`)")
	s.says("the end", "**The build or the tests fail**", 1)
	s.says("the end", "**Nothing was fixed**", 1)
}

// storyChecks: checks that fail, and checks that do not end within 10 minutes, are named with their links, once, and
// fixed. After the third cycle a person has to look, where the policy allows two; that person's label begins anew.
func storyChecks(s *serveStory) {
	world := s.door.stage.World
	s.once("review and fix", label.Changes, label.CIPending)
	s.quiet("no check has started yet")
	s.wait(2 * time.Minute)
	red := s.id("feature")
	world.Report(world.Repo("octo", "app"), forgetest.Check{
		Commit: red, Name: "unit *tests*", Conclusion: "failure",
		By: otherBot,
	})
	s.report("lint", "failure")
	s.report("docs", "success")
	s.report("slow", "pending")
	s.once("red", label.Changes, label.CIPending)
	s.says("red", "**2 checks failed** at `"+workspace.ShortID(red)+"`", 1)
	note := s.notes("**2 checks failed**")[0]
	s.has("red", note, "- [`unit *tests*`]("+s.door.URL+"/octo/app/runs/", "- [`lint`]("+s.door.URL+"/ci/lint): failed")
	if strings.Contains(note, "docs") || strings.Contains(note, "slow") {
		s.t.Errorf("checks that did not fail:\n%s", note)
	}
	tasks := s.tasks(engine.Fixer)
	s.has("the task", tasks[len(tasks)-1].User(), "2 checks failed", "lint")
	s.pushed("red", 2)

	s.report("build", "success")
	s.report("slow", "pending")
	s.quiet("pending")
	for range 2 {
		s.wait(2 * time.Minute)
		s.pass(4*time.Minute + 40*time.Second)
		s.quiet("pending for less than 10 minutes")
	}
	stuck := s.id("feature")
	s.wait(2 * time.Minute)
	s.pass(time.Minute)
	s.once("pending for more than 10 minutes", label.Changes, label.Intervention)
	s.says("timed out", "**The checks timed out** at `"+workspace.ShortID(stuck)+"`: after 10 minutes, 1 is still pending.", 1)
	s.has("timed out", s.notes("**The checks timed out**")[0], "- [`slow`]("+s.door.URL+"/ci/slow): pending")
	s.says("the third cycle", "**A person has to look.** This pull request has gone through more than 2 cycles", 1)
	s.pushed("the third cycle", 2)
	s.quiet("a person's turn")

	s.sets(label.ReviewNeeded)
	s.once("counted anew", label.HumanReview)
	s.says("the end", "**2 checks failed**", 1)
	s.says("the end", "**The checks timed out**", 1)
	s.says("the end", "**Pushed", 2)
	s.says("the end", "## Precedent: clean, no findings", 1)
}

// pass lets time pass on the forge.
func (s *serveStory) pass(d time.Duration) {
	s.ahead.Add(int64(d))
	s.door.stage.Clock.Pass(d)
}

// storyFork: what would fix a pull request from a fork is suggested, once, and
// nothing is pushed. After the second attempt a person has to look.
func storyFork(s *serveStory) {
	if s.real == nil {
		fork := filepath.Join(s.home, "forge", "newcomer", "app.git")
		s.git(s.home, "clone", "-q", "--mirror", s.origin, fork)
		s.door.stage.World.Add(&forgetest.Repo{
			ID: 2, Owner: "newcomer", Name: "app", UserOwned: true,
			Members: []forgetest.Member{{Person: author, Permission: forge.Admin}},
		})
		s.world(func() { s.pull.Head.Repo.Owner, s.pull.Head.RepoID = "newcomer", "2" })
	}
	s.once("review and suggestion", label.Changes)
	head := workspace.ShortID(s.id("feature"))
	s.says("suggested", "**Nothing was pushed** at `"+head+"`: the head is not a branch of this repository.", 1)
	s.has("suggested", s.notes("**Nothing was pushed**")[0], "This change would address 3 conversations",
		"+  ledger.total -= Math.min(amount, ledger.paid)")
	suggestions := 0
	for _, c := range s.door.stage.World.By(s.pull, forgetest.Bot) {
		if strings.Contains(string(c.Body), "**Suggested:**") {
			suggestions++
		}
	}
	if suggestions != 3 && s.real == nil { // a Gitea without replies has one comment for all
		s.t.Errorf("%d suggestions in conversations", suggestions)
	}
	s.wait(2 * time.Minute)
	s.once("another suggestion", label.Intervention)
	s.says("another suggestion", "**Nothing was pushed** at `"+head+"`", 1) // once
	s.says("another suggestion", "**A person has to look.** Two attempts to fix", 1)
	s.quiet("a person's turn")

	s.push("Take what was suggested", map[string]string{"src/till.js": fixedTill}) // by the author
	s.quiet("a push does not change what people decide")
	s.sets(label.ReviewNeeded)
	s.once("a person wants a review", label.HumanReview)
	s.pushed("the end", 0)
	s.says("the end", "## Precedent: clean, no findings", 1)
}
