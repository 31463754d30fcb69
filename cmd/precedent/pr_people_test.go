package main

import (
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
	writeFile(s.t, filepath.Join(s.work, ".precedent.yaml"), policy, 0o644)
	s.git(s.work, "add", "-A")
	s.git(s.work, "commit", "-q", "-m", "policy")
	s.git(s.work, "checkout", "-q", "feature")
	s.git(s.work, "rebase", "-q", "main")
	s.moved()
}

// openers are the comments that opened a thread about a flaw, oldest first.
func (s *shopPull) openers(flaw string) (all []forge.Comment) {
	for _, c := range s.door.stage.World.By(s.pull, s.door.stage.World.Me) {
		if c.Kind == forge.OnLine && c.ReplyTo == "" && strings.Contains(strings.ToLower(string(c.Body)), flaw) {
			all = append(all, c)
		}
	}
	return all
}

// finds reviews and posts, and expects findings.
func (s *shopPull) finds() {
	s.t.Helper()
	if status, said := s.post("--fail-on", "medium"); status != precedent.ExitFindings {
		s.t.Fatalf("status %d\n%s", status, said)
	}
}

// outcomes expects what happened to the findings, by flaw, and who decided it.
func (s *shopPull) outcomes(step string, want map[string]string) {
	s.t.Helper()
	s.run("outcomes", s.door.URL+"/octo/app/pulls/7", "--json")
	got := map[string]string{}
	for _, o := range parsed[[]struct{ Title, Outcome, Who string }](s.t, s.out.String()) {
		got[flawIn(o.Title)] = strings.TrimSpace(o.Outcome + " " + o.Who)
	}
	if d := cmp.Diff(want, got); d != "" {
		s.t.Errorf("%s (-want +got):\n%s", step, d)
	}
}

// TestMemoryIsLost: without a marker key, a new memory knows the comments of an account that is ours alone, and hears
// what people said there. One that a forge's runners give to all workflows proves nothing: everything is posted anew.
func TestMemoryIsLost(t *testing.T) {
	t.Parallel()
	for name, account := range map[string]forge.Person{"own account": forgetest.Bot, "shared": forgetest.ActionsBot} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShopPull(t)
			if account == forgetest.ActionsBot {
				s.door.api.Actions()
			}
			s.finds()
			answered := s.openers("refund")[0]
			s.door.stage.World.Say(s.pull, maintainer, answered.ID, "won't fix: old clients need it")
			s.forget()
			s.finds()
			heard := slices.ContainsFunc(s.door.stage.World.Threads(s.pull), func(c forge.Thread) bool {
				return c.Closed && slices.Contains(c.Comments, answered.ID)
			})
			n := len(s.openers("refund"))
			if known := account == forgetest.Bot; heard != known || known != (n == 1) {
				t.Errorf("%d remarks about the same; the answer to the first is heard: %t", n, heard)
			}
		})
	}
}

// TestWhoIsHeardOnGitHub: a token that may not ask for permissions does not make comments invite replies, and hears
// who resolved a conversation. What mona replied counts after she resolved another one, because the forge let her.
func TestWhoIsHeardOnGitHub(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	const refused = "Must have push access"
	s.door.stage.Script.Plan(forgetest.Fault{
		On: "/permission", Status: 403, Body: `{"message":"` + refused + ` to view collaborator permission."}`, Times: 999,
	})
	s.finds()
	s.has("the comment", string(s.openers("refund")[0].Body), "Dismiss: with write permission, resolve this conversation")
	if n := strings.Count(s.summary(), refused); n != 1 {
		t.Errorf("%d explanations in the summary, want 1", n)
	}
	world := s.door.stage.World
	world.Say(s.pull, maintainer, s.openers("refund")[0].ID, "won't fix: old clients need it")
	world.Close(s.pull, s.openers("listener")[0].ID, author)
	s.outcomes("a reply", map[string]string{"refund": "unknown", "average": "unknown", "listener": "unknown"})
	world.Close(s.pull, s.openers("average")[0].ID, maintainer)
	s.outcomes("after she resolved a conversation", map[string]string{
		"refund": "declined mona", "average": "resolved_unchanged mona", "listener": "unknown",
	})
}

// TestRequestedChangesAreTakenBack: the review that blocked the pull request is dismissed once everything is fixed, or,
// on a protected branch, a person is told who can dismiss it.
func TestRequestedChangesAreTakenBack(t *testing.T) {
	t.Parallel()
	for _, protected := range []bool{false, true} {
		s := newShopPull(t)
		s.base("request_changes: true\n")
		world := s.door.stage.World
		world.Change(func() { world.Repo("octo", "app").Protected = protected })
		state := func() forgetest.ReviewState {
			all := world.Reviews(s.pull)
			return all[slices.IndexFunc(all, func(r forgetest.Review) bool {
				return r.Author.ID == forgetest.Bot.ID && r.Inline > 0
			})].State
		}
		s.finds()
		s.push("Guard the average", map[string]string{"src/till.js": guardedTill})
		s.finds()
		if got := state(); got != forgetest.ChangesRequested {
			t.Errorf("after one fix: %s", got)
		}
		s.push("Start again", map[string]string{"src/till.js": "// Nothing is sold here.\n"})
		want, told := forgetest.Dismissed, "! "
		if protected {
			want, told = forgetest.ChangesRequested, ""
		}
		if status, said := s.post("--fail-on", "medium"); status != precedent.ExitClean || state() != want {
			t.Errorf("after all fixes: status %d, %s\n%s", status, state(), said)
		}
		s.has("after all fixes", s.err.String(), told+"allow the account to dismiss reviews")
		s.has("after all fixes", s.summary(), told+"**Still blocked**: Precedent may not dismiss [its review")
	}
}
