package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/round"
)

// world changes the pull request.
func (s *rounds) world(change func()) { s.door.stage.World.Change(change) }

// TestRoundsNothing: nothing is done, and nothing written, on a pull request that is closed, locked,
// paused, or for people; and where a fix is due and nothing is open, the cycle goes on.
func TestRoundsNothing(t *testing.T) {
	t.Parallel()
	s := newRounds(t)
	for _, state := range []forge.State{forge.Closed, forge.Merged} {
		s.world(func() { s.pull.State = state })
		s.idle(string(state))
	}
	s.world(func() { s.pull.State, s.pull.Locked = forge.Open, true })
	s.idle("locked")
	s.world(func() { s.pull.Locked = false })
	for _, state := range []label.State{label.None, label.HumanReview, label.Intervention, label.Changes} {
		s.relabel(state)
		s.idle(string(state))
	}
	s.fixes()
	s.relabel(label.Changes)
	s.round("nothing is open, which is no failed attempt", round.Fix, label.CIPending)
	s.says("nothing is open", "Nothing was fixed", 0)
	s.o.Fix = nil
	s.relabel(label.ReviewNeeded)
	s.door.stage.World.Say(s.pull, maintainer, "", "@precedent pause")
	if did, err := s.try(); err != nil || did.Did != round.Nothing || !strings.Contains(did.Why, "paused by mona") {
		t.Fatalf("paused: %+v, %v", did, err)
	}
	s.idle("paused")
	s.door.stage.Script.Plan(forgetest.Fault{On: "/issues/7/comments", Method: http.MethodGet, Status: http.StatusForbidden})
	if did, err := s.try(); err != nil || did.Did != round.Nothing || !strings.Contains(did.Why, "paused by mona") {
		t.Errorf("paused, and the comments cannot be read: %+v, %v", did, err)
	}
	s.labelled("paused", label.ReviewNeeded)
	s.relabel(label.None)
	s.door.stage.World.Say(s.pull, maintainer, "", "@precedent review")
	s.idle("paused, and asked for a review")
	s.door.stage.World.Say(s.pull, maintainer, "", "@precedent resume")
	s.round("what was asked for during the pause", round.Review, label.None)
}

// TestT18HeadMovesInARound: the label is for the head that was reviewed, and labels that people set
// meanwhile count more.
func TestT18HeadMovesInARound(t *testing.T) {
	t.Parallel()
	s := newRounds(t)
	s.app.fixedEngine = during(s.parrot, func() {
		s.push("one more line", map[string]string{"src/till.js": tillFile + "// The end.\n"})
	})
	did := s.round("a push", round.Review, label.ReviewNeeded)
	if did.Again == 0 || !strings.Contains(did.Why, "new commits") {
		t.Errorf("%+v", did)
	}
	s.app.fixedEngine = during(s.parrot, func() { s.relabel(label.Intervention) })
	did, err := s.try()
	if err != nil || did.After != label.ReviewNeeded || !strings.Contains(did.Why, "labels were changed") {
		t.Errorf("%+v, %v", did, err)
	}
	s.labelled("by a person", label.Intervention)
	s.relabel(label.ReviewNeeded)
	s.app.fixedEngine = s.parrot
	s.round("again", round.Review, label.Changes)
}

// TestRoundsWithoutLabels: a token that may not change labels is said once, and the review counts.
func TestRoundsWithoutLabels(t *testing.T) {
	t.Parallel()
	s := newRounds(t)
	s.denied = "the token may not change labels"
	did, err := s.try()
	if err != nil || did.Did != round.Review || did.Made == nil ||
		!strings.Contains(did.Why, "could not be changed: the token may not change labels") {
		t.Fatalf("%+v, %v", did, err)
	}
	s.says("denied", "**A label could not be changed.**", 1)
	s.labelled("denied", label.ReviewNeeded)
	s.idle("denied")
	if did, err := s.try(); err != nil || did.Again != 15*time.Minute {
		t.Errorf("it is looked at again after %v, %v", did.Again, err)
	}
	s.denied = ""
	s.round("with permission", round.Review, label.Changes)
	s.says("with permission", "**A label could not be changed.**", 1)
}

// TestRoundsMakeLabelsOnce: Gitea makes a second label of the same name, so that of two rounds at once one makes them.
func TestRoundsMakeLabelsOnce(t *testing.T) {
	t.Parallel()
	s := newRounds(t)
	made := 0
	s.door.stage.Script.Plan(forgetest.Fault{Method: http.MethodPost, On: "/octo/app/labels", Times: 9, Call: func() {
		if made++; made == 1 {
			_, _ = s.try() // whose result does not matter
		}
	}})
	if _, err := s.try(); err != nil || made != 5 {
		t.Errorf("made %d labels, %v", made, err)
	}
}

// TestRoundsClosed: what people close who have a say is taken out of the summary and the check, once, and nothing is read
// again; the next review leads to a person. What was reviewed against one base branch is reviewed again for another one.
func TestRoundsClosed(t *testing.T) {
	t.Parallel()
	s := newRounds(t)
	s.round("labelled", round.Review, label.Changes)
	s.relabel(label.None)
	s.o.Reviews = &precedent.ReviewTriggers{On: []precedent.ReviewTrigger{precedent.OnPush}}
	s.idle("the same base")
	s.world(func() { s.pull.Base.Name = "next" })
	s.round("another base", round.Review, label.None)
	s.idle("another base, again")
	s.o.Reviews = nil
	dismiss := func(who forge.Person) {
		for _, c := range s.shown(forge.OnLine) {
			s.door.stage.World.Say(s.pull, who, c.ID, "won't fix: it is only a fixture")
		}
	}
	dismiss(outsider)
	s.round("by somebody without a say", round.Nothing, label.None)
	s.has("by somebody without a say", s.notes("## Precedent")[0], "! **Closed**")
	dismiss(maintainer)
	s.app.fixedEngine = bentEngine{s.parrot, func(_ context.Context, t engine.Task) (engine.Answer, error) {
		return engine.Answer{}, fmt.Errorf("it was asked as %s", t.Role)
	}}
	s.round("closed", round.Nothing, label.None)
	s.has("closed", s.notes("## Precedent")[0], "**Closed**: 3 dismissed.")
	s.idle("closed")
	s.app.fixedEngine = s.parrot
	s.relabel(label.ReviewNeeded)
	s.round("a person wants a review", round.Review, label.HumanReview)
}

// TestRoundsUnresolved: a conversation that the forge does not resolve keeps nobody after it from being answered.
func TestRoundsUnresolved(t *testing.T) {
	t.Parallel()
	s := newRounds(t)
	s.round("review", round.Review, label.Changes)
	s.unresolved = &forge.Error{Kind: forge.KindInvalid, Msg: "GitHub refuses that"}
	world := s.door.stage.World
	world.Say(s.pull, maintainer, s.shown(forge.OnLine)[0].ID, "won't fix: it is only a fixture")
	world.Say(s.pull, maintainer, "", "@precedent remember this: amounts are in cents")
	if _, err := s.try(); err != nil {
		t.Fatal(err)
	}
	if said := bodies(s.answers()); !strings.Contains(said, "stays open: GitHub refuses that") ||
		!strings.Contains(said, "amounts are in cents") {
		t.Errorf("it says:\n%s", said)
	}
}

// TestRoundsMalformed: a fix whose answer cannot be read is said once a head and is no attempt, whatever the engine says later.
func TestRoundsMalformed(t *testing.T) {
	t.Parallel()
	s := newRounds(t)
	s.round("review", round.Review, label.Changes)
	s.fixes(malformed, "", malformed, malformed, "// Fixed.\n"+tillFile)
	const words = "**No fix was made**"
	s.round("malformed", round.Fix, label.Changes)
	s.says("malformed", words, 1)
	s.idle("malformed")
	s.o.FixAsked = true
	s.round("asked, no change", round.Fix, label.Changes)
	s.round("asked, malformed", round.Fix, label.Changes)
	s.says("asked, malformed", words, 2)
	s.o.FixAsked = false
	s.idle("asked, malformed")
	s.push("more", map[string]string{"more.js": "let more\n"})
	s.parrot.path, s.parrot.text = "src/till.js", tillFile
	s.round("malformed again", round.Fix, label.Changes)
	s.says("malformed again", words, 3)
	s.o.FixAsked = true
	s.fixed("asked, fixed")
}

// TestRoundsForged: comments of others with our markers do not count, copied or made up.
func TestRoundsForged(t *testing.T) {
	t.Parallel()
	s := newRounds(t)
	s.app.env["PRECEDENT_MARKER_KEY"] = strings.Repeat("a key of tests ", 2)
	s.round("review", round.Review, label.Changes)
	s.fixes()
	s.round("no change", round.Fix, label.Changes)
	ours := s.notes("**Nothing was fixed**")[0]
	head := s.id("feature")
	for i := range 9 {
		made := func(kind comment.Kind) string {
			return (comment.Writer{}).Note(comment.Note{}, comment.Marker{
				Kind: kind, Thread: fmt.Sprint(i), Review: fmt.Sprintf("%d0000000-0000-7000-8000-000000000000", i), Head: head,
				Answers: fmt.Sprintf("fix.%d", i),
			})
		}
		for who, body := range map[forge.Person][]string{
			outsider:      {ours, made(comment.Unfixed), made(comment.GivenUp)},
			forgetest.Bot: {made(comment.Unfixed)},
		} {
			for _, b := range body {
				s.door.stage.World.Say(s.pull, who, "", "Words.\n\n"+b)
			}
		}
	}
	s.fixes("// Fixed.\n" + tillFile)
	s.fixed("the second attempt")
}

// errKilled ends a round like a kill does.
var errKilled = errors.New("killed")

// TestRoundsKilled ends rounds before each of their writes, and breaks the connection after each: the
// rounds after that come to the same end, and say everything once.
func TestRoundsKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		start func(s *rounds)
		to    label.State
		words string // of the comment that is there once
	}{
		{"review", func(*rounds) {}, label.Changes, ""},
		{"incomplete", func(s *rounds) {
			s.app.fixedEngine = bentEngine{s.parrot, func(context.Context, engine.Task) (engine.Answer, error) {
				return engine.Answer{Status: precedent.StatusRefused}, nil
			}}
			s.round("first", round.Review, label.ReviewNeeded)
			s.round("second", round.Review, label.ReviewNeeded)
		}, label.Intervention, "**A person has to look.**"},
		{"no fix", func(s *rounds) {
			s.round("review", round.Review, label.Changes)
			s.fixes()
			s.round("no change", round.Fix, label.Changes)
		}, label.Intervention, "**A person has to look.**"},
		{"fix", func(s *rounds) {
			s.round("review", round.Review, label.Changes)
			s.fixes(slices.Repeat([]string{fixedTill}, 9)...)
			s.parrot.text = fixedTill
		}, label.CIPending, "**Pushed `"},
		{"red", func(s *rounds) {
			s.relabel(label.CIPending)
			s.report("build", "failure")
		}, label.Changes, "**1 check failed**"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for n := range needs.Rounds(1000, 3) {
				if before := killedAt(t, n, false, c.start, c.to, c.words); !before {
					break
				}
				if n%2 == 0 { // it breaks the connection at each other number
					killedAt(t, n, true, c.start, c.to, c.words)
				}
			}
		})
	}
}

// killedAt ends a round at the nth write, and repeats it. It is false if there are fewer writes.
func killedAt(t *testing.T, n int, after bool, start func(*rounds), to label.State, words string) bool {
	t.Helper()
	s := newRounds(t)
	start(s)
	step := fmt.Sprintf("write %d, after %v", n, after)
	writes, killed := 0, after
	for _, m := range []string{http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodPut} {
		if after {
			s.door.stage.Script.Plan(forgetest.Fault{Method: m, On: "/issues/", Skip: n / 2, After: true, Drop: true})
		}
	}
	if !after {
		s.o.Check = func(context.Context) error {
			if writes++; writes > n {
				killed = true
				return errKilled
			}
			return nil
		}
	}
	if _, err := s.try(); err != nil && !killed {
		t.Fatalf("%s: %v", step, err)
	}
	s.o.Check = nil
	s.door.stage.Script.Forget()
	for range 3 {
		if _, err := s.try(); err != nil {
			t.Fatalf("%s: %v\n%s", step, err, s.err.String())
		}
	}
	if to == label.CIPending && slices.Contains(s.pull.Labels, labels.HumanReview) {
		to = label.HumanReview // two labels were left, which means a review
	}
	s.labelled(step, to)
	if words != "" {
		s.says(step, words, 1)
	}
	if pushes := s.door.git.Pushes(); words == "**Pushed `" && len(pushes) != 1 {
		s.t.Fatalf("%s: pushed %+v", step, pushes)
	}
	if got := len(s.threads()); got != 0 && got != 3 {
		t.Fatalf("%s: %d threads", step, got)
	}
	return killed
}

// TestRoundsKeepRequests: a review that a comment asks for is made by a later round if the first one
// found a newer head, or was killed before it posted.
func TestRoundsKeepRequests(t *testing.T) {
	t.Parallel()
	s := newRounds(t)
	s.relabel(label.None)
	s.o.Reviews = &precedent.ReviewTriggers{On: []precedent.ReviewTrigger{precedent.OnCommand}}
	more := func(line string) { s.push(line, map[string]string{"src/till.js": tillFile + "// " + line + "\n"}) }

	s.door.stage.World.Say(s.pull, maintainer, "", "@precedent review")
	s.app.fixedEngine = during(s.parrot, func() { more("meanwhile") })
	if did, err := s.try(); err != nil || did.Again == 0 || did.Made == nil || !strings.Contains(did.Why, "new commits") {
		t.Fatalf("%+v, %v", did, err)
	}
	s.app.fixedEngine = s.parrot
	s.idleAfter("after a push", round.Review, label.None)

	more("later")
	s.door.stage.World.Say(s.pull, maintainer, "", "@precedent review")
	s.o.Check = func(context.Context) error { return errors.New("it is killed") }
	if did, err := s.try(); err == nil || did.Made == nil {
		t.Fatalf("it was not interrupted: %+v", did)
	}
	s.o.Check = nil
	s.idleAfter("after an interruption", round.Review, label.None)
}
