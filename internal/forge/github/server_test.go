package github

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestCheckRuns: the newest run of each name and app counts, beside the statuses, in the states of the CI monitor.
func TestCheckRuns(t *testing.T) {
	s, _, c, repo := open(t)
	shop := s.World.Repo("acme", "shop")
	commit := shop.Pulls[1].Head.SHA
	ci := forge.Person{ID: "15368", Login: "github-actions[bot]", Bot: true}
	want := map[string]forge.CheckState{}
	for conclusion, state := range map[string]forge.CheckState{
		"success": forge.CheckPassed, "neutral": forge.CheckSkipped, "skipped": forge.CheckSkipped,
		"failure": forge.CheckFailed, "cancelled": forge.CheckFailed, "timed_out": forge.CheckFailed,
		"action_required": forge.CheckFailed, "stale": forge.CheckFailed, "startup_failure": forge.CheckFailed,
	} {
		want[conclusion] = state
		s.World.Report(shop, forgetest.Check{Commit: commit, Name: conclusion, Conclusion: conclusion, By: ci})
	}
	for _, status := range []string{"queued", "in_progress", "waiting", "requested", "pending"} {
		want[status] = forge.CheckPending
		s.World.Report(shop, forgetest.Check{Commit: commit, Name: status, Status: status, By: ci})
	}
	all, err := c.Checks(t.Context(), repo, commit)
	needs.NoError(t, err)
	got := map[string]forge.CheckState{}
	for _, k := range all {
		if got[k.Name] = k.State; k.Own || k.URL == "" || k.Started.IsZero() {
			t.Errorf("%+v", k)
		}
	}
	needs.Equal(t, want, got)
	// Workflows may have jobs of the same name: a run of one does not replace a run of another one, unless that was
	// cancelled.
	for name, runs := range map[string][2]string{
		"build": {"failure", "success"}, "lint": {"failure", "skipped"}, "test": {"cancelled", "success"},
		"deploy": {"success", "cancelled"}, "package": {"stale", "failure"},
	} {
		s.World.Report(shop, forgetest.Check{Commit: commit, Name: name, Conclusion: runs[0], By: ci, Suite: 1})
		s.World.Report(shop, forgetest.Check{Commit: commit, Name: name, Conclusion: runs[1], By: ci, Suite: 2})
	}
	if all, err = c.Checks(t.Context(), repo, commit); err != nil {
		t.Fatal(err)
	}
	states := map[string][]string{}
	for _, k := range all {
		states[k.Name] = append(states[k.Name], string(k.State))
	}
	for name, want := range map[string]string{
		"build": "failed passed", "lint": "failed skipped", "test": "passed",
		"deploy": "failed passed", "package": "failed",
	} {
		slices.Sort(states[name])
		if strings.Join(states[name], " ") != want {
			t.Errorf("%s is %q, want %s", name, states[name], want)
		}
	}
}

// TestOwnCheck: only the check of our name by our own app is ours.
func TestOwnCheck(t *testing.T) {
	s, g, _, repo := open(t)
	c := appClient(t, s, g)
	shop := s.World.Repo("acme", "shop")
	commit := shop.Pulls[1].Head.SHA
	_, err := c.Checks(t.Context(), repo, commit)
	if e := trouble(err); e.Kind != forge.KindAuth || !strings.Contains(e.Hint, "statuses: read") {
		t.Errorf("with a token for reviews: %v", err)
	}
	c = serverClient(t, s, g, map[string]string{
		"contents": "write", "pull_requests": "write", "issues": "write", "checks": "write", "statuses": "read",
		"metadata": "read",
	})
	if no, err := c.Check(t.Context(), repo, forge.Check{
		Name: forge.CheckName, Commit: commit, Review: "r", Result: forge.Failure, Title: "2 findings",
	}); no != "" || err != nil {
		t.Fatal(no, err)
	}
	s.World.Report(shop, forgetest.Check{
		Commit: commit, Name: forge.CheckName, Conclusion: "success",
		By: forge.Person{ID: "99", Login: "liar[bot]", Bot: true},
	})
	s.World.ReportStatus(shop, forgetest.Status{
		Commit: commit, Context: forge.CheckName, State: "success", By: forgetest.Bo,
	})
	all, err := c.Checks(t.Context(), repo, commit)
	own := slices.DeleteFunc(slices.Clone(all), func(k forge.CommitCheck) bool { return !k.Own })
	if err != nil || len(all) != 3 || len(own) != 1 || own[0].State != forge.CheckFailed {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestPushableRules: rules that refuse pushes count, others do not, and servers without rules have none.
func TestPushableRules(t *testing.T) {
	s, _, c, repo := open(t)
	shop := s.World.Repo("acme", "shop")
	for kind, refused := range map[string]bool{
		"pull_request": true, "update": true, "required_status_checks": true,
		"merge_queue": true, "required_signatures": true, "non_fast_forward": false, "deletion": false,
	} {
		s.World.Change(func() { shop.Rules = map[string][]string{"till": {"creation", kind}} })
		no, err := c.Pushable(t.Context(), repo, "till")
		if err != nil || (no != "") != refused {
			t.Errorf("%s: %q, %v", kind, no, err)
		}
	}
	s.Script.Plan(forgetest.Fault{On: "/rules/", Status: 404, Body: `{"message":"Not Found"}`})
	needs.Result(t, "without rules", forge.Unsupported(""))(c.Pushable(t.Context(), repo, "till"))
	s.Script.Plan(forgetest.Fault{On: "/rules/", Status: 500, Times: 5})
	if no, err := c.Pushable(t.Context(), repo, "till"); err == nil {
		t.Errorf("with an error: %q", no)
	}
	s.World.Change(func() { shop.Members = []forgetest.Member{{Person: forgetest.Bot, Permission: forge.Read}} })
	if no, err := c.Pushable(t.Context(), repo, "till"); !strings.Contains(string(no), "write access") || err != nil {
		t.Errorf("without write access: %q, %v", no, err)
	}
}

// serverClient is a client of an app for a server, that has some permissions; nil for those of a review.
func serverClient(t *testing.T, s *forgetest.Stage, g *forgetest.GitHub, has map[string]string) *Client {
	t.Helper()
	a := precedentApp
	a.Key, a.Permissions = &appKey().PublicKey, has
	g.AsApp(a)
	app := needs.Value(NewApp(a.ClientID, appPEM()))(t)
	return clientWith(t, s, g, func(o *Options) { o.App, o.Token = app.ForServer(), wire.Token{} })
}

// TestAppForServer: the tokens of a server may push and read statuses, as far as the installation
// allows it, and only such a token makes a branch pushable.
func TestAppForServer(t *testing.T) {
	full := map[string]string{
		"contents": "write", "pull_requests": "write", "issues": "write", "checks": "write",
		"statuses": "read", "metadata": "read",
	}
	lesser := map[string]string{"contents": "write", "pull_requests": "write", "issues": "write", "metadata": "read"}
	for _, test := range []struct {
		name   string
		has    map[string]string
		server bool
		asks   []string // parts of the last request for a token
		push   bool
	}{
		{"everything", full, true, []string{`"contents":"write"`, `"statuses":"read"`, `"checks":"write"`}, true},
		{"without checks", lesser, true, []string{`"contents":"write"`}, true},
		{"for reviews", nil, true, []string{`"contents":"read"`, `"checks":"write"`}, false},
		{"no server", full, false, []string{`"contents":"read"`}, false},
		{"no server, without checks", lesser, false, []string{`{"permissions":{"contents":"read"`}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, g, _, repo := open(t)
			c := serverClient(t, s, g, test.has)
			c.tokens.app.server = test.server
			no, err := c.Pushable(t.Context(), repo, "till")
			if err != nil || (no == "") != test.push {
				t.Errorf("%q, %v", no, err)
			}
			asked := ""
			for _, r := range s.Script.Requests() {
				if strings.HasSuffix(r.Path, "/access_tokens") && r.Status == http.StatusCreated {
					asked = r.Body
				}
			}
			for _, part := range test.asks {
				if !strings.Contains(asked, part) {
					t.Errorf("it asks for %s, without %s", asked, part)
				}
			}
		})
	}
}

// TestRepositoriesOfAnApp: those of all its installations, with a token for each that only reads
// metadata, also if there is one for a single repository.
func TestRepositoriesOfAnApp(t *testing.T) {
	s, g, _, shop := open(t)
	s.World.Add(&forgetest.Repo{ID: 5, Owner: "acme", Name: "old", Archived: true})
	s.World.Add(&forgetest.Repo{ID: 6, Owner: "zed", Name: "own"})
	c := appClient(t, s, g)
	needs.Value(c.PullRequest(t.Context(), shop, 1))(t)
	got, err := c.Repositories(t.Context(), "")
	if want := []precedent.Repo{shop, {Host: c.Host(), Owner: "zed", Name: "own"}}; err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err = c.Repositories(t.Context(), "ACME"); err != nil || !slices.Equal(got, []precedent.Repo{shop}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestHooks: what GitHub sends when something happens is verified and read.
func TestHooks(t *testing.T) {
	forgetest.Hooks(t, func(t *testing.T, s *forgetest.Stage, address, secret string) (forge.Forge, *forgetest.Hook) {
		g := s.GitHub(t)
		return client(t, s, g), g.Hook(address, secret, nil)
	})
}

// TestRoles: what a role may do is what it is based on, whatever its name.
func TestRoles(t *testing.T) {
	s, _, c, repo := open(t)
	who := func(id int64, login string) forge.Person {
		return forge.Person{ID: precedent.NumberID(id), Login: login}
	}
	maintainer, triager, custom, teammate := who(21, "mia"), who(22, "tim"), who(23, "cat"), who(25, "tea")
	s.World.Change(func() {
		r := shop(s)
		for person, level := range map[forge.Person]forge.Permission{
			maintainer: forge.Write, triager: forge.Read, custom: forge.Write,
		} {
			r.Members = append(r.Members, forgetest.Member{Person: person, Permission: level})
		}
		r.Roles = map[precedent.ForgeID]string{
			maintainer.ID: "maintain", triager.ID: "triage", custom.ID: "security-engineer",
		}
		r.Teams = []forgetest.Team{{ID: 1, Name: "core", Level: forge.Write, Members: []forge.Person{teammate}}}
	})
	for p, want := range map[forge.Person]forge.Permission{
		maintainer: forge.Write, triager: forge.Read, custom: forge.Write, teammate: forge.Write,
		who(27, "nobody"): forge.None,
	} {
		needs.Result(t, p.Login, want)(c.Permission(t.Context(), repo, p))
	}
	var e *forge.Error
	// "May not ask" is an error, "nobody with this name" is an answer.
	s.Script.Plan(forgetest.Fault{Status: 403, Body: `{"message":"Resource not accessible by personal access token"}`})
	if got, err := c.Permission(t.Context(), repo, who(28, "late")); got != forge.None || !errors.As(err, &e) ||
		e.Kind != forge.KindAuth {
		t.Errorf("%q, %v for a token without permission", got, err)
	}
}
