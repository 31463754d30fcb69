package gitea_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// The people of the organization, besides those of Shop.
var (
	dee = forge.Person{ID: "21", Login: "dee"} // a direct collaborator with write access
	eve = forge.Person{ID: "22", Login: "eve"} // may edit issues, and only read code
	fay = forge.Person{ID: "23", Login: "fay"} // reads, by a team and by name
	gus = forge.Person{ID: "24", Login: "gus"} // writes by name, and reads by a team
)

// incorporate gives Shop to an organization: Ann owns it, Bo may push by the unit of
// the code, and Cy only reads.
func (b table) incorporate(teamsOfBot ...int64) {
	b.World.Change(func() {
		shop := b.World.Repo("acme", "shop")
		shop.Members = []forgetest.Member{
			{Person: dee, Permission: forge.Write},
			{Person: fay, Permission: forge.Read},
			{Person: gus, Permission: forge.Write},
		}
		shop.Teams = []forgetest.Team{
			{ID: 1, Name: "Owners", Level: forge.Admin, Members: []forge.Person{forgetest.Ann}},
			{
				ID: 2, Name: "builders", Units: map[string]forge.Permission{"repo.code": forge.Write, "repo.pulls": forge.Write},
				Members: []forge.Person{forgetest.Bo},
			},
			{ID: 3, Name: "readers", Level: forge.Read, Members: []forge.Person{forgetest.Cy, fay, gus}},
			{
				ID: 4, Name: "triage", Units: map[string]forge.Permission{"repo.code": forge.Read, "repo.issues": forge.Write},
				Members: []forge.Person{eve},
			},
		}
		for i := range shop.Teams {
			for _, id := range teamsOfBot {
				if shop.Teams[i].ID == id {
					shop.Teams[i].Members = append(shop.Teams[i].Members, b.World.Me)
				}
			}
		}
	})
}

// heard asks for everybody. "?" is somebody of whom it cannot be known.
func (b table) heard(t *testing.T) string {
	t.Helper()
	var words []string
	for _, p := range []forge.Person{forgetest.Ann, forgetest.Bo, forgetest.Cy, dee, eve, fay, gus, forgetest.Robot} {
		got, err := b.Permission(t.Context(), b.repo, p)
		said := "no"
		switch {
		case err != nil:
			if e := trouble(t, err); e.Kind != forge.KindAuth || got != forge.None ||
				!strings.Contains(e.Hint, ".precedent.yaml") {
				t.Errorf("%s: %q, %+v", p.Login, got, e)
			}
			said = "?"
		case got.MayWrite():
			said = "yes"
		}
		words = append(words, p.Login+" "+said)
	}
	no, err := b.KnowsPermissions(t.Context(), b.repo)
	if err != nil {
		t.Error(err)
	}
	return strings.Join(append(words, fmt.Sprintf("known %t", no == "")), ", ")
}

// TestWhoMayWriteInAnOrganization: the answer is right as far as it goes, whatever
// the account may read, and never "yes" for somebody who cannot push.
func TestWhoMayWriteInAnOrganization(t *testing.T) {
	member := func(leaves ...int64) func(table) {
		return func(b table) {
			b.Plain, b.Organization = true, true
			b.dropFromTeams(leaves...)
		}
	}
	without := func(names func(table)) func(table) { // collaborators by name
		return func(b table) {
			names(b)
			b.World.Repo("acme", "shop").Members = nil
		}
	}
	blind := func(list string) func(table) {
		return func(b table) { b.Script.Plan(forgetest.Fault{On: list, Status: 403, Times: 99}) }
	}
	many := func(b table) {
		member()(b)
		crowd := forgetest.Team{ID: 5, Name: "crowd", Level: forge.Read, Members: []forge.Person{b.World.Me}}
		for i := range int64(5100) {
			crowd.Members = append(crowd.Members, forge.Person{ID: precedent.NumberID(10_000 + i), Login: fmt.Sprintf("c%d", i)})
		}
		shop := b.World.Repo("acme", "shop")
		shop.Teams = append(shop.Teams, crowd)
	}
	const (
		all     = "ann yes, bo yes, cy no, dee yes, eve no, fay no, gus yes, robot[bot] no, known true"
		nobody  = "ann ?, bo ?, cy ?, dee ?, eve ?, fay ?, gus ?, robot[bot] no, known false"
		teams   = "ann yes, bo yes, cy no, dee no, eve no, fay no, gus no, robot[bot] no, known true"
		writers = "ann yes, bo yes, cy no, dee ?, eve no, fay ?, gus ?, robot[bot] no, known false"
		named   = "ann yes, bo ?, cy ?, dee yes, eve ?, fay ?, gus yes, robot[bot] no, known false"
	)
	for name, test := range map[string]struct {
		set  func(b table)
		want string
		most int // requests
	}{
		"an administrator in all teams": {func(b table) { b.Plain = false }, all, 10},
		"a member of all teams": {
			member(), "ann yes, bo yes, cy no, dee yes, eve no, fay ?, gus ?, robot[bot] no, known false", 9,
		},
		"a member of all teams, none in doubt": {without(member()), teams, 8},
		"a token without the scope":            {func(b table) { b.Plain = true }, nobody, 5},
		"a member of the teams that read": {
			member(1, 2), "ann yes, bo yes, cy ?, dee yes, eve ?, fay ?, gus ?, robot[bot] no, known false", 13,
		},
		"a member of the teams that write":             {member(3, 4), writers, 9},
		"a member of a team that writes":               {member(1, 3, 4), writers, 16},
		"a member of a team that writes, none by name": {without(member(1, 3, 4)), teams, 14},
		"a member of no team that writes": {
			without(member(1, 2, 3, 4)), "ann yes, bo ?, cy ?, dee no, eve ?, fay ?, gus ?, robot[bot] no, known false", 16,
		},
		"a job":                                 {func(b table) { b.Job(false) }, nobody, 5},
		"a member of a team of 5,100":           {many, writers, 120},
		"an administrator who sees no team":     {blind("/shop/teams"), named, 20},
		"an administrator who sees no assignee": {blind("/assignees"), named, 20},
	} {
		t.Run(name, func(t *testing.T) {
			b := lay(t, forgetest.Gitea126)
			b.incorporate(1, 2, 3, 4)
			b.World.Change(func() { test.set(b) })
			if got := b.heard(t); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if n := len(b.Script.Requests()); n > test.most {
				t.Errorf("%d requests, at most %d", n, test.most)
			}
			before := len(b.Script.Requests())
			b.heard(t)
			if n := len(b.Script.Requests()) - before; strings.HasSuffix(test.want, "true") && n != 0 {
				t.Errorf("%d requests for what was just told", n)
			}
		})
	}
}

// dropFromTeams takes the account of the token out of teams.
func (b table) dropFromTeams(ids ...int64) {
	shop := b.World.Repo("acme", "shop")
	for i := range shop.Teams {
		for _, id := range ids {
			if t := &shop.Teams[i]; t.ID == id {
				t.Members = t.Members[:len(t.Members)-1]
			}
		}
	}
}

// TestWhoMayWriteOfAUser: in the repository of a user, one list tells everything, to every token.
func TestWhoMayWriteOfAUser(t *testing.T) {
	for name, set := range map[string]func(b table){
		"an administrator": func(table) {}, "a reader": func(b table) { b.Plain = true },
		"a job": func(b table) { b.Job(false) }, "a job of a fork": func(b table) { b.Job(true) },
	} {
		t.Run(name, func(t *testing.T) {
			kinds(t, func(t *testing.T, kind forgetest.GiteaKind) {
				b := lay(t, kind)
				b.World.Change(func() { set(b) })
				want := "ann yes, bo yes, cy no, dee no, eve no, fay no, gus no, robot[bot] no, known true"
				if got := b.heard(t); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				owner, err := b.Permission(t.Context(), b.repo, forge.Person{ID: "77", Login: "ACME"})
				if err != nil || !owner.MayWrite() {
					t.Errorf("the owner: %q, %v", owner, err)
				}
				var paths []string
				for _, r := range b.Script.Requests() {
					paths = append(paths, strings.TrimPrefix(r.Path, "/api/v1"))
				}
				if d := cmp.Diff([]string{"/repos/acme/shop/assignees", "/user"}, paths); d != "" {
					t.Errorf("requests (-want +got):\n%s", d)
				}
			})
		})
	}
}

// TestFormerOwners: the owner in a former name of the repository says nothing about who owns it now.
func TestFormerOwners(t *testing.T) {
	b := lay(t, forgetest.Gitea127)
	b.World.Change(func() {
		shop := b.World.Repo("acme", "shop")
		shop.Former = append(shop.Former, "cy/shop")
	})
	b.World.Add(b.World.Repo("acme", "shop"))
	b.incorporate()
	b.World.Change(func() { b.Plain = true })
	b.repo.Owner = "cy"
	if got, want := b.heard(t), "ann ?, bo ?, cy ?, dee ?, eve ?, fay ?, gus ?, robot[bot] no, known false"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
