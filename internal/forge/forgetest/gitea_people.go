package forgetest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/forge"
)

// GiteaActions is the account of the tokens of workflows' jobs. It is not in the
// database, and its id is negative.
var GiteaActions = forge.Person{ID: "-2", Login: "gitea-actions", Bot: true}

// Team is a team of an organization.
type Team struct {
	ID   int64
	Name string
	// Level is the access to all units. If it is empty, Units has the access to each, such as "repo.code".
	Level   forge.Permission
	Units   map[string]forge.Permission
	Members []forge.Person
}

// unit returns the access to a unit.
func (t Team) unit(name string) forge.Permission { return cmp.Or(t.Level, t.Units[name], forge.None) }

func (t Team) has(who forge.Person) bool {
	return slices.ContainsFunc(t.Members, func(m forge.Person) bool { return m.ID == who.ID })
}

// Job makes Secret the token of a workflow's job. That of a pull request from a fork
// can comment and review, and nothing else. Call it before the first request.
func (g *Gitea) Job(fork bool) {
	g.stage.World.Me = GiteaActions
	g.Plain, g.job, g.fork = true, true, fork
}

// mayWrite reports whether the account of the token has write access to the code.
func (g *Gitea) mayWrite(c *call) bool { return g.mayWriteUnit(c, "repo.code") }

func (g *Gitea) mayWriteUnit(c *call, unit string) bool {
	return !g.Plain || g.job && !g.fork || c.repo.mayWriteUnit(c.who, unit)
}

// owner is the account that owns the repository, unless that is an organization.
func (r *Repo) owner() forge.Person {
	for _, m := range r.Members {
		if strings.EqualFold(m.Person.Login, r.Owner) {
			return m.Person
		}
	}
	return forge.Person{ID: "77", Login: r.Owner}
}

// assignees are the owner and the accounts with write access. In an organization they
// include members of teams that write any unit, or only read pull requests.
func (g *Gitea) assignees(c *call) reply {
	var found []forge.Person
	for _, m := range c.repo.Members {
		if m.Permission.MayWrite() {
			found = append(found, m.Person)
		}
	}
	if c.repo.Teams == nil {
		found = append(found, c.repo.owner())
	}
	for _, t := range c.repo.Teams {
		counts := t.unit("repo.pulls") != forge.None || t.Level.MayWrite()
		for _, level := range t.Units {
			counts = counts || level.MayWrite()
		}
		if counts {
			found = append(found, t.Members...)
		}
	}
	slices.SortFunc(found, func(a, b forge.Person) int {
		return cmp.Or(cmp.Compare(a.Login, b.Login), a.ID.Compare(b.ID))
	})
	all := []any{}
	for _, who := range slices.Compact(found) {
		all = append(all, giteaUser(who))
	}
	return reply{status: http.StatusOK, body: all} // without pages, and without a count
}

// collaborators are shown to every reader, without what they may do.
func (g *Gitea) collaborators(c *call) reply {
	all := []any{}
	for _, m := range c.repo.Members {
		if m.Permission != forge.None && !strings.EqualFold(m.Person.Login, c.repo.Owner) {
			all = append(all, giteaUser(m.Person))
		}
	}
	return g.page(c, all)
}

// mayListTeams refuses tokens without the scope for organizations. Those of jobs have
// no scopes, and their account is in no organization.
func (g *Gitea) mayListTeams() *reply {
	if !g.Plain || g.Organization && !g.job {
		return nil
	}
	no := g.problem(http.StatusForbidden, "token does not have at least one of required scope(s): [read:organization]")
	return &no
}

func (g *Gitea) teams(c *call) reply {
	if c.repo.Teams == nil {
		return g.problem(http.StatusMethodNotAllowed, "repo is not owned by an organization")
	}
	if no := g.mayListTeams(); no != nil {
		return *no
	}
	all := []any{}
	for _, t := range c.repo.Teams {
		units := map[string]string{}
		for name, level := range t.Units {
			units[name] = string(level)
		}
		permission := string(cmp.Or(t.Level, forge.Read)) // of units, the least
		if t.Level != "" {
			for _, name := range []string{"repo.code", "repo.issues", "repo.pulls", "repo.releases", "repo.wiki"} {
				units[name] = permission
			}
		}
		if t.Name == "Owners" {
			permission = "owner"
		}
		all = append(all, object{
			"id": t.ID, "name": t.Name, "organization": nil, "permission": permission, "units_map": units,
		})
	}
	return reply{status: http.StatusOK, body: all}
}

// organizationPermissions are what somebody may in the organization, by the highest level of their
// teams. Every token with the scope is told.
func (g *Gitea) organizationPermissions(c *call) reply {
	if no := g.mayListTeams(); no != nil {
		return *no
	}
	owner, write := false, false
	for _, r := range g.stage.World.repos {
		for _, t := range r.Teams {
			if strings.EqualFold(r.Owner, c.PathValue("org")) &&
				slices.ContainsFunc(t.Members, func(m forge.Person) bool {
					return strings.EqualFold(m.Login, c.PathValue("login"))
				}) {
				owner, write = owner || t.Name == "Owners", write || t.Level.MayWrite()
			}
		}
	}
	return reply{status: http.StatusOK, body: object{
		"is_owner": owner, "is_admin": owner, "can_write": write, "can_read": true, "can_create_repository": owner,
	}}
}

// teamMembers are shown to the members of the team, and to owners of the organization.
func (g *Gitea) teamMembers(c *call) reply {
	if no := g.mayListTeams(); no != nil {
		return *no
	}
	for _, r := range g.stage.World.repos {
		for _, t := range r.Teams {
			if fmt.Sprint(t.ID) != c.PathValue("id") {
				continue
			}
			if g.Plain && !t.has(c.who) {
				return g.problem(http.StatusForbidden, "Must be a team member")
			}
			all := []any{}
			for _, who := range t.Members {
				all = append(all, giteaUser(who))
			}
			return g.page(c, all)
		}
	}
	return g.notFound()
}

// permission is available for others only to administrators. Of the access to units
// it says "read", whatever they are.
func (g *Gitea) permission(c *call) reply {
	login := c.PathValue("login")
	if g.Plain && !strings.EqualFold(login, c.who.Login) {
		return g.problem(http.StatusForbidden,
			"Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only "+
				"their own")
	}
	order := []forge.Permission{"", forge.None, forge.Read, forge.Write, forge.Admin}
	var who forge.Person
	var mode forge.Permission
	meet := func(p forge.Person, level forge.Permission) {
		if strings.EqualFold(p.Login, login) && (who.ID == "" || slices.Index(order, level) > slices.Index(order, mode)) {
			who, mode = p, level
		}
	}
	for _, m := range c.repo.Members {
		meet(m.Person, m.Permission)
	}
	for _, t := range c.repo.Teams {
		for _, m := range t.Members {
			meet(m, cmp.Or(t.Level, forge.Read))
		}
	}
	if c.repo.Teams == nil && who.ID == "" {
		meet(c.repo.owner(), "owner")
	}
	if who.ID == "" {
		return g.notFound()
	}
	return reply{status: http.StatusOK, body: object{"permission": mode, "role_name": mode, "user": giteaUser(who)}}
}
