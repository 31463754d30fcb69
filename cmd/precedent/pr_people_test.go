package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// base commits a policy to the base branch.
func (s *shopPull) base(policy string) {
	s.t.Helper()
	s.git(s.work, "checkout", "-q", "main")
	if err := os.WriteFile(filepath.Join(s.work, ".precedent.yaml"), []byte(policy), 0o644); err != nil {
		s.t.Fatal(err)
	}
	s.git(s.work, "add", "-A")
	s.git(s.work, "commit", "-q", "-m", "policy")
	s.git(s.work, "checkout", "-q", "feature")
	s.git(s.work, "rebase", "-q", "main")
	s.moved()
}

// opener returns the comment that opened the thread about a flaw.
func (s *shopPull) opener(flaw string) forge.Comment {
	s.t.Helper()
	for _, c := range s.door.stage.World.By(s.pull, s.door.stage.World.Me) {
		if c.Kind == forge.OnLine && c.ReplyTo == "" && strings.Contains(strings.ToLower(string(c.Body)), flaw) {
			return c
		}
	}
	s.t.Fatalf("no thread about %s", flaw)
	return forge.Comment{}
}

// explanations counts a text in the summary.
func (s *shopPull) explanations(text string) (n int) {
	for _, c := range s.door.stage.World.By(s.pull, s.door.stage.World.Me) {
		if c.Kind == forge.OnThread {
			n += strings.Count(string(c.Body), text)
		}
	}
	return n
}

// outcomes asks what happened to the findings, and who decided it, by flaw.
func (s *shopPull) outcomes() map[string]string {
	s.t.Helper()
	_, said := s.run("outcomes", s.door.URL+"/octo/app/pulls/7", "--json")
	var all []struct{ Title, Outcome, Who string }
	if err := json.Unmarshal(s.out.Bytes(), &all); err != nil {
		s.t.Fatalf("%v\n%s", err, said)
	}
	got := map[string]string{}
	for _, o := range all {
		for _, f := range flaws {
			if strings.Contains(strings.ToLower(o.Title), f.name) {
				if got[f.name] = o.Outcome; o.Who != "" {
					got[f.name] += " by " + o.Who
				}
			}
		}
	}
	return got
}

const (
	invitesReply    = "Dismiss: with write permission, reply `not applicable here` or react with 👎"
	invitesListed   = "Dismiss: as a maintainer that the policy lists, reply `not applicable here` or react with 👎; with write permission, resolve this conversation"
	invitesResolver = "Dismiss: with write permission, resolve this conversation"
)

// hearsOnceResolved checks what became of the findings, of which mona's reply declines
// "refund": it counts if she is heard, and in any case after she resolved another
// conversation, because the forge let her.
func (s *shopPull) hearsOnceResolved(heard bool) {
	s.t.Helper()
	want := map[string]string{"refund": "unknown", "average": "unknown", "listener": "unknown"}
	if heard {
		want["refund"] = "declined by mona"
	}
	if d := cmp.Diff(want, s.outcomes()); d != "" {
		s.t.Errorf("outcomes (-want +got):\n%s", d)
	}
	s.door.stage.World.Close(s.pull, s.opener("average").ID, maintainer)
	want["refund"], want["average"] = "declined by mona", "resolved_unchanged by mona"
	if d := cmp.Diff(want, s.outcomes()); d != "" {
		s.t.Errorf("outcomes after she resolved a conversation (-want +got):\n%s", d)
	}
}

// TestMemoryIsLost: without a marker key, a new memory knows the comments of an account that is ours alone, and hears what
// people said there. One that a forge's runners give to all workflows proves nothing: everything is posted anew.
func TestMemoryIsLost(t *testing.T) {
	t.Parallel()
	for name, account := range map[string]forge.Person{"own account": forgetest.Bot, "shared": forgetest.ActionsBot} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShopPull(t)
			if account == forgetest.ActionsBot {
				s.door.api.Actions()
			}
			if status, said := s.post("--fail-on", "medium"); status != precedent.ExitFindings {
				t.Fatalf("status %d\n%s", status, said)
			}
			world, answered := s.door.stage.World, s.opener("refund")
			world.Say(s.pull, maintainer, answered.ID, "won't fix: old clients need it")
			s.forget()
			if status, said := s.post("--fail-on", "medium"); status != precedent.ExitFindings {
				t.Fatalf("status %d\n%s", status, said)
			}
			remarks := 0
			for _, c := range world.By(s.pull, world.Me) {
				if c.Kind == forge.OnLine && c.ReplyTo == "" && strings.Contains(string(c.Body), "refund") {
					remarks++
				}
			}
			heard := slices.ContainsFunc(world.Threads(s.pull), func(c forge.Thread) bool {
				return c.Closed && slices.Contains(c.Comments, answered.ID)
			})
			if known := account == forgetest.Bot; heard != known || known != (remarks == 1) {
				t.Errorf("%d remarks about the same; the answer to the first is heard: %t", remarks, heard)
			}
		})
	}
}

// TestWhoIsHeardOnGitHub: a token that may not ask for permissions does not make
// comments invite replies, and hears who resolved a conversation.
func TestWhoIsHeardOnGitHub(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	s.door.stage.Script.Plan(forgetest.Fault{On: "/permission", Status: 403, Body: `{"message":"Must have push access to view collaborator permission."}`, Times: 999})
	if status, said := s.post("--fail-on", "medium"); status != precedent.ExitFindings {
		t.Fatalf("status %d\n%s", status, said)
	}
	if body := string(s.opener("refund").Body); !strings.Contains(body, invitesResolver) {
		t.Errorf("the comment does not say %q:\n%s", invitesResolver, body)
	}
	if got := s.explanations("Must have push access"); got != 1 {
		t.Errorf("%d explanations in the summary, want 1", got)
	}
	world := s.door.stage.World
	world.Say(s.pull, maintainer, s.opener("refund").ID, "won't fix: old clients need it")
	world.Close(s.pull, s.opener("listener").ID, author)
	s.hearsOnceResolved(false)
}
