package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// toGitea moves the pull request to a server of Gitea's family.
func (s *prStage) toGitea(kind forgetest.GiteaKind) *forgetest.Gitea {
	s.t.Helper()
	s.door = &frontDoor{stage: forgetest.NewStage(s.t), token: forgetest.Secret}
	g := s.door.stage.Gitea(s.t)
	g.Kind = kind
	s.door.open(s.t, filepath.Join(s.home, "forge"), g.URL)
	g.URL = s.door.URL
	s.pull = s.door.add(s.id("main"), s.id("refs/pull/7/head"), s.git(s.origin, "diff", "main...refs/pull/7/head")+"\n")
	delete(s.app.env, "GITHUB_API_URL")
	delete(s.app.env, "GH_TOKEN")
	s.app.env["GITEA_TOKEN"] = forgetest.Secret
	s.app.env["PRECEDENT_FORGE"] = "gitea:" + s.door.URL
	s.app.sleep = s.door.stage.Clock.Sleep
	return g
}

// run runs precedent and returns its exit status and what it said.
func (s *prStage) run(args ...string) (int, string) {
	s.t.Helper()
	s.out.Reset()
	s.err.Reset()
	status := s.app.run(s.t.Context(), args)
	return status, s.err.String()
}

// writes are the requests after the first so many that change something.
func (s *prStage) writes(after int) []string {
	var all []string
	for _, r := range s.door.stage.Script.Requests()[after:] {
		if r.Method != http.MethodGet {
			all = append(all, r.Method+" "+r.Path)
		}
	}
	return all
}

// TestPostOnGitea: one review with a comment on each finding's line, one summary,
// one status, and nothing the second time, however the forge is named.
func TestPostOnGitea(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	s.toGitea(forgetest.Gitea127)
	delete(s.app.env, "PRECEDENT_FORGE")
	status, said := s.run("pr", s.door.URL+"/octo/app/pulls/7", "--post", "--forge", "gitea:"+s.door.URL)
	if status != precedent.ExitFindings || !strings.Contains(said, "posted: "+s.door.URL+"/octo/app/pulls/7#issuecomment-") {
		t.Fatalf("status %d\n%s", status, said)
	}
	summaries, reviews, remarks := s.shown(forge.OnThread), s.shown(forge.OnReview), s.shown(forge.OnLine)
	if len(summaries) != 1 || len(reviews) != 1 || len(remarks) == 0 {
		t.Fatalf("%d summaries, %d reviews, %d remarks\n%s", len(summaries), len(reviews), len(remarks), said)
	}
	statuses := s.door.stage.World.Repo("octo", "app").Statuses
	if len(statuses) != 1 || statuses[0].Commit != s.id("feature") || statuses[0].State != "failure" || statuses[0].Context != "precedent" {
		t.Errorf("statuses %+v", statuses)
	}
	if s.door.fetches.Load() == 0 {
		t.Error("git fetched nothing")
	}
	for name, env := range map[string]map[string]string{
		"PRECEDENT_FORGE": {"PRECEDENT_FORGE": "gitea:" + s.door.URL},
		"its API":         {"PRECEDENT_FORGE": "gitea:" + s.door.URL + "/api/v1/"},
		"a workflow":      {"GITEA_ACTIONS": "true", "GITHUB_SERVER_URL": s.door.URL, "GITHUB_API_URL": s.door.URL + "/api/v1"},
		"a workflow's token": {
			"GITEA_ACTIONS": "true", "GITHUB_SERVER_URL": s.door.URL, "GITHUB_TOKEN": forgetest.Secret, "GITEA_TOKEN": "",
		},
	} {
		calm := maps.Clone(s.app.env)
		maps.Copy(s.app.env, env)
		before := len(s.door.stage.Script.Requests())
		status, said := s.run("pr", s.door.URL+"/octo/app/pulls/7", "--post")
		if status != precedent.ExitFindings || !strings.Contains(said, "was reviewed already") {
			t.Errorf("%s: status %d\n%s", name, status, said)
		}
		if got := s.writes(before); len(got) != 0 {
			t.Errorf("%s: %s", name, got)
		}
		s.app.env = calm
	}
}

// TestGiteaPostsInsideTheDiff: Gitea takes a comment on any line, and gets none
// on a line that the diff does not show, even if a finding is there.
func TestGiteaPostsInsideTheDiff(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		diff func(whole string) string
		want string // that have a comment
		why  string // the others are in the summary
	}{
		// A comment on the listener would stand outside of this one.
		"half of it": {func(whole string) string {
			first, _, _ := strings.Cut(whole, "+function average")
			return regexp.MustCompile(`\+1,\d+ @@`).ReplaceAllString(first, fmt.Sprintf("+1,%d @@", strings.Count(first, "\n+")-1))
		}, "map[refund:open]", "the lines are not in the diff"},
		"no diff at all": {func(whole string) string { return whole[:len(whole)/2] }, "map[]", "cannot check that its lines are in the diff"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShopPull(t)
			s.toGitea(forgetest.Gitea127)
			s.door.stage.World.Change(func() { s.pull.Diff = test.diff(s.pull.Diff) })
			status, said := s.post("--fail-on", "medium")
			if status != precedent.ExitFindings || !strings.Contains(said, "refused by the forge and moved to the summary") {
				t.Fatalf("status %d\n%s\n%s", status, said, s.out.String())
			}
			if got := fmt.Sprint(s.threads()); got != test.want {
				t.Errorf("threads %s, want %s", got, test.want)
			}
			for _, words := range []string{"Division by zero in the average\n\nAt [`src/till.js:11`](", "Unbounded growth of listener callbacks\n\nAt [`src/till.js:16`](", test.why} {
				if !strings.Contains(s.summary(), words) {
					t.Errorf("the summary does not say %q:\n%s", words, s.summary())
				}
			}
		})
	}
}

// pushes are those of a pull request whose findings move, are fixed one by one,
// and whose file gets another name.
func (s *shopPull) pushes() []func() (name string, fixed []string) {
	shifted := strings.Replace(tillFile, "// The till.\n", "// The till.\n"+strings.Repeat("// A line of the licence.\n", 12), 1)
	guarded := strings.Replace(shifted, "  return sum / items.length\n", "  return items.length > 0 ? sum / items.length : 0\n", 1)
	half := strings.Replace(guarded, "  ledger.total -= amount\n", "  ledger.total -= Math.round(amount)\n", 1)
	done := strings.Replace(half, "  ledger.total -= Math.round(amount)\n", "  ledger.total -= Math.min(amount, ledger.paid)\n", 1)
	done = strings.Replace(done, "  bus.on('paid', () => render(till))\n", "  bus.once('paid', () => render(till))\n", 1)
	return []func() (string, []string){
		func() (string, []string) { return "first", nil },
		func() (string, []string) {
			s.push("shift the lines", map[string]string{"src/till.js": shifted})
			return "line shift", nil
		},
		func() (string, []string) {
			s.push("guard the average", map[string]string{"src/till.js": guarded})
			return "fix", []string{"average"}
		},
		func() (string, []string) {
			s.push("round the amount", map[string]string{"src/till.js": half})
			return "partial fix", []string{"average"}
		},
		func() (string, []string) {
			s.git(s.work, "mv", "src/till.js", "src/register.js")
			s.parrot.path = "src/register.js"
			s.git(s.work, "commit", "-q", "-m", "rename")
			s.moved()
			return "rename", []string{"average"}
		},
		func() (string, []string) {
			s.push("fix the rest", map[string]string{"src/register.js": done})
			return "all fixed", []string{"average", "listener", "refund"}
		},
	}
}

// TestFivePushesOnGitea: what TestFivePushes is, as far as each server can.
// Where conversations cannot be closed, that is said once, the answer says that
// it is fixed, and nothing is said twice.
func TestFivePushesOnGitea(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]forgetest.GiteaKind{"Gitea 1.27": forgetest.Gitea127, "Gitea 1.25": forgetest.Gitea125, "Forgejo": forgetest.Forgejo} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShopPull(t)
			s.toGitea(kind)
			said := map[string]bool{}
			for _, push := range s.pushes() {
				step, fixed := push()
				status, notices := s.post("--fail-on", "medium")
				want := precedent.ExitFindings
				if len(fixed) == len(flaws) {
					want = precedent.ExitClean
				}
				if status != want {
					t.Fatalf("%s: status %d\n%s\n%s", step, status, notices, s.out.String())
				}
				fresh := 0
				for _, flaw := range fixed {
					if !said[flaw] {
						fresh++
						said[flaw] = true
					}
				}
				if got, able := strings.Count(notices, "cannot resolve"), kind == forgetest.Gitea127; got != min(fresh, 1) && !able || got != 0 && able {
					t.Errorf("%s: said %d times that it cannot resolve\n%s", step, got, notices)
				}
				s.stands(step, kind, fixed)
				before := len(s.door.stage.Script.Requests())
				if again, notices := s.post("--fail-on", "medium"); again != status || len(s.writes(before)) != 0 {
					t.Errorf("%s again: status %d, %s\n%s", step, again, s.writes(before), notices)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// stands looks at what the pull request holds: one summary, one review, one
// remark a flaw, and one answer to each that is fixed.
func (s *shopPull) stands(step string, kind forgetest.GiteaKind, fixed []string) {
	s.t.Helper()
	if summaries, reviews := len(s.shown(forge.OnThread)), len(s.shown(forge.OnReview)); summaries != 1 || reviews != 1 {
		s.t.Errorf("%s: %d summaries, %d reviews", step, summaries, reviews)
	}
	remarks, answers, places := map[string]int{}, map[precedent.Span]int{}, map[string]precedent.Span{}
	for _, c := range s.shown(forge.OnLine) {
		if strings.HasPrefix(string(c.Body), "Addressed by ") {
			answers[c.Span]++
			continue
		}
		for _, f := range flaws {
			if strings.Contains(strings.ToLower(string(c.Body)), f.name) {
				remarks[f.name]++
				places[f.name] = c.Span
				if kind == forgetest.Gitea125 && strings.Contains(string(c.Body), ":** Addressed by ") { // it has no replies
					answers[c.Span]++
				}
			}
		}
	}
	for _, f := range flaws {
		want := 0
		if slices.Contains(fixed, f.name) {
			want = 1
		}
		if remarks[f.name] != 1 || answers[places[f.name]] != want {
			s.t.Errorf("%s: %d remarks about %s, %d answers, want 1 and %d", step, remarks[f.name], f.name, answers[places[f.name]], want)
		}
		closed := slices.ContainsFunc(s.door.stage.World.Threads(s.pull), func(t forge.Thread) bool {
			m := slices.IndexFunc(s.pull.Comments, func(c forge.Comment) bool { return c.ID == t.Comments[0] })
			return t.Closed && m >= 0 && s.pull.Comments[m].Span == places[f.name]
		})
		if closed != (want == 1 && kind == forgetest.Gitea127) {
			s.t.Errorf("%s: the conversation about %s is closed: %t", step, f.name, closed)
		}
	}
}

// TestGiteaThatIsBehind: Gitea names the head before for a while after a push.
// Nothing is posted on another head than the one that was read.
func TestGiteaThatIsBehind(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	g := s.toGitea(forgetest.Gitea127)
	if status, said := s.post(); status != precedent.ExitClean {
		t.Fatalf("status %d\n%s", status, said)
	}
	old := s.id("feature")
	s.push("shift", map[string]string{"src/till.js": "// Added.\n" + tillFile})
	s.door.stage.World.Change(func() { g.Behind = map[int]string{7: old} })
	before := len(s.door.stage.Script.Requests())
	if status, said := s.post(); status != precedent.ExitClean || !strings.Contains(said, shortID(old)+" was reviewed already") {
		t.Errorf("status %d\n%s", status, said)
	}
	if status, said := s.post("--again"); status == precedent.ExitClean || !strings.Contains(said, shortID(old)) || !strings.Contains(said, "hint: ") {
		t.Errorf("status %d\n%s", status, said)
	}
	if got := s.writes(before); len(got) != 0 {
		t.Errorf("written %s", got)
	}
	// While it is waited for, the server catches up.
	s.app.sleep = func(ctx context.Context, d time.Duration) error {
		s.door.stage.World.Change(func() { g.Behind = nil })
		return s.door.stage.Clock.Sleep(ctx, d)
	}
	status, said := s.post("--again")
	if status != precedent.ExitClean || !strings.Contains(said, "posted") {
		t.Errorf("status %d\n%s", status, said)
	}
	if all := s.door.stage.World.Repo("octo", "app").Statuses; len(all) != 2 || all[0].Commit != old || all[1].Commit != s.id("feature") {
		t.Errorf("statuses %+v", all)
	}
}
