package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/fix"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/round"
)

// rounds is a pull request that rounds of a server go through, with an engine that edits.
type rounds struct {
	*shopPull
	o          round.Options
	denied     forge.Unsupported // why no label is added; empty if one is
	unresolved error             // of resolving a conversation; nil if it is resolved
	editor     *editor
}

// editor is an engine that writes the next of its texts into the file of the till when it is to fix
// something; an empty one, or none, changes nothing.
type editor struct {
	engine.Engine
	mu    sync.Mutex
	texts []string
}

func (e *editor) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	if t.Role != engine.Fixer {
		return e.Engine.Run(ctx, t)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	addressed := []map[string]string{}
	if len(e.texts) > 0 && e.texts[0] == malformed {
		e.texts = e.texts[1:]
		return engine.Answer{Status: precedent.StatusMalformed, Message: "it has no threads_addressed"}, nil
	}
	if len(e.texts) > 0 && e.texts[0] != "" {
		if err := os.WriteFile(filepath.Join(t.Tree, "src", "till.js"), []byte(e.texts[0]), 0o600); err != nil {
			return engine.Answer{}, err
		}
		for id := range blocks(t.User(), threadID) {
			addressed = append(addressed, map[string]string{"thread": id, "how": "It is bounded now."})
		}
	}
	if len(e.texts) > 0 {
		e.texts = e.texts[1:]
	}
	data, err := json.Marshal(map[string]any{"threads_addressed": addressed, "summary": "I changed what is asked for."})
	return engine.Answer{Status: precedent.StatusOK, JSON: data, Model: "parrot"}, err
}

// bentEngine is an engine that runs tasks as a test says.
type bentEngine struct {
	engine.Engine
	run func(context.Context, engine.Task) (engine.Answer, error)
}

func (e bentEngine) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	return e.run(ctx, t)
}

// during is an engine that does something, once, while a finder asks it.
func during(e engine.Engine, do func()) engine.Engine {
	var once sync.Once
	return bentEngine{e, func(ctx context.Context, t engine.Task) (engine.Answer, error) {
		if t.Role == engine.Finder {
			once.Do(do)
		}
		return e.Run(ctx, t)
	}}
}

// report reports a status of the head, as a CI does.
func (s *rounds) report(name, state string) {
	var head string
	s.world(func() { head = s.pull.Head.SHA })
	world := s.door.stage.World
	status := forgetest.Status{Commit: head, Context: name, State: state, URL: s.door.URL + "/ci/" + name, By: otherBot}
	world.ReportStatus(world.Repo("octo", "app"), status)
}

// roundsForge is a forge that may refuse labels and to resolve conversations.
type roundsForge struct {
	forge.Forge
	s *rounds
}

func (f roundsForge) AddLabel(ctx context.Context, repo precedent.Repo, n int, name string) (forge.Unsupported, error) {
	if f.s.denied == "" {
		return f.Forge.AddLabel(ctx, repo, n, name)
	}
	return f.s.denied, nil
}

func (f roundsForge) Resolve(
	ctx context.Context, repo precedent.Repo, n int, t forge.Thread, closed bool,
) (forge.Unsupported, error) {
	if f.s.unresolved == nil {
		return f.Forge.Resolve(ctx, repo, n, t, closed)
	}
	return "", f.s.unresolved
}

// labels are the five, by the state that they stand for.
var labels = label.DefaultNames()

// serverForges are kinds of forges that servers work for.
var serverForges = map[string]forgetest.GiteaKind{
	"GitHub": onGitHub, "Gitea": forgetest.Gitea127, "Forgejo": forgetest.Forgejo,
}

func newRounds(t *testing.T) *rounds {
	t.Helper()
	s := &rounds{shopPull: newShopPull(t)}
	s.editor = &editor{Engine: s.parrot}
	s.app.fixedEngine = s.editor
	s.open()
	return s
}

// open makes it a labelled pull request from a branch of the repository, whose conversation is
// resolved.
func (s *rounds) open() {
	s.app.now = s.door.stage.Clock.Now
	s.world(func() { s.pull.Labels = []string{"area/till", labels.ReviewNeeded} })
	s.world(func() {
		s.pull.Head.Repo, s.pull.Head.RepoID, s.pull.Head.Name = s.pull.Base.Repo, s.pull.Base.RepoID, "feature"
	})
	s.door.stage.World.Close(s.pull, s.pull.Comments[0].ID, maintainer)
}

// try runs a round.
func (s *rounds) try() (round.Result, error) {
	s.t.Helper()
	s.err.Reset()
	op := needs.Value(s.app.settings(nil))(s.t)
	job := needs.Value(s.app.job(op, reviewOptions{}))(s.t)
	at := needs.Value(s.app.location(op))(s.t)
	conn := s.connection()
	repo := precedent.Repo{Host: conn.Host(), Owner: "octo", Name: "app"}
	conn.Forge = roundsForge{conn.Forge, s}
	o := s.o
	o.At = at
	return round.Do(s.t.Context(), s.app.workflow(), conn, repo, 7, job, o)
}

// round runs a round, which has to lead to a state.
func (s *rounds) round(step string, act round.Act, to label.State) round.Result {
	s.t.Helper()
	did, err := s.try()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", step, err, s.err.String())
	}
	if did.Did != act || did.After != to {
		s.t.Fatalf("%s: %+v, want %q and %q\n%s", step, did, act, to, s.err.String())
	}
	s.labelled(step, to)
	return did
}

// labelled expects one label of the cycle, beside the label that is none.
func (s *rounds) labelled(step string, state label.State) {
	s.t.Helper()
	var now []string
	s.door.stage.World.Change(func() { now = slices.Clone(s.pull.Labels) })
	want := []string{"area/till"}
	if state != label.None {
		want = append(want, labels.Of(state))
	}
	slices.Sort(now)
	slices.Sort(want)
	if !slices.Equal(now, want) {
		s.t.Fatalf("%s: labels %q, want %q", step, now, want)
	}
}

// relabel does what a person does: it replaces the labels.
func (s *rounds) relabel(state label.State) {
	s.door.stage.World.Change(func() {
		s.pull.Labels = []string{"area/till"}
		if state != label.None {
			s.pull.Labels = append(s.pull.Labels, labels.Of(state))
		}
	})
}

// idle expects that a round finds nothing due and writes nothing.
func (s *rounds) idle(step string) {
	s.t.Helper()
	s.writesNothing(step, func() {
		if did, err := s.try(); err != nil || did.Did != round.Nothing && did.Did != round.Checks {
			s.t.Fatalf("%s: did %+v, %v", step, did, err)
		}
	})
}

// notes are our comments on the pull request as a whole whose text begins with words.
func (s *rounds) notes(words string) (found []string) {
	for _, c := range s.door.stage.World.By(s.pull, forgetest.Bot) {
		if c.Kind == forge.OnThread && strings.HasPrefix(string(c.Body), words) {
			found = append(found, string(c.Body))
		}
	}
	return found
}

// says expects so many comments that begin with words.
func (s *rounds) says(step, words string, n int) {
	s.t.Helper()
	if got := s.notes(words); len(got) != n {
		s.t.Fatalf("%s: %d comments begin with %q, want %d:\n%s", step, len(got), words, n,
			bodies(s.door.stage.World.By(s.pull, forgetest.Bot)))
	}
}

// malformed is the text of an answer of the editor that has another form.
const malformed = "malformed"

// fixes lets rounds fix, with these texts.
func (s *rounds) fixes(texts ...string) {
	s.o.Fix = &fix.Options{Ungated: true}
	s.editor.texts = texts
}

// fixed runs a round that pushes a fix. The parrot then reads what was pushed.
func (s *rounds) fixed(step string) {
	s.t.Helper()
	before := s.id("feature")
	s.round(step, round.Fix, label.CIPending)
	if s.id("feature") == before || s.id("refs/pull/7/head") != s.id("feature") {
		s.t.Fatalf("%s: nothing was pushed", step)
	}
	s.git(s.work, "pull", "-q", s.origin, "feature")
	s.parrot.text = s.git(s.origin, "show", "feature:src/till.js") + "\n"
}

// tillFixes fixes all flaws.
var tillFixes = strings.NewReplacer(
	"  return sum / items.length\n", guarded, "  ledger.total -= amount\n",
	"  ledger.total -= Math.min(amount, ledger.paid)\n", "bus.on(", "bus.once(",
)

var fixedTill = tillFixes.Replace(tillFile)

// idleAfter runs a round without fixes, after which nothing is due.
func (s *rounds) idleAfter(step string, act round.Act, to label.State) {
	s.t.Helper()
	s.round(step, act, to)
	s.idle("after " + step)
}
