package forgetest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// repository is one repository, with what the sender may do there.
func (g *GitHub) repository(c *call) reply {
	return reply{status: http.StatusOK, body: g.repoJSON(c.repo, c.who)}
}

// branchOf is a branch of the repository, as far as its pull requests and ProtectedBranches name it.
func (g *GitHub) branchOf(c *call) reply {
	name := c.PathValue("branch")
	sha, protected, ok := c.repo.branch(name)
	if !ok {
		return problem(http.StatusNotFound, "Branch not found")
	}
	return reply{status: http.StatusOK, body: object{
		"name": name, "commit": object{"sha": sha}, "protected": protected,
	}}
}

// branch finds a branch: the default one, a protected one, or that of a pull request.
func (r *Repo) branch(name string) (sha string, protected, ok bool) {
	protected = slices.Contains(r.ProtectedBranches, name)
	for _, p := range r.Pulls {
		if p.Base.Name == name {
			sha = p.Base.SHA
		} else if p.Head.Name == name && p.Head.Repo.Owner == r.Owner && p.Head.Repo.Name == r.Name {
			sha = p.Head.SHA
		}
	}
	return sha, protected, sha != "" || protected || name == r.main()
}

// branchRules are those of rulesets; like a protected branch, they are in the world by the branch.
func (g *GitHub) branchRules(c *call) reply {
	all := []any{}
	for _, kind := range c.repo.Rules[c.PathValue("branch")] {
		all = append(all, object{"type": kind})
	}
	return g.page(c.Request, all)
}

// repositories lists what an account has access to, in the three lists of GitHub. In that of an
// installation, the permissions say nothing.
func (g *GitHub) repositories(c *call) reply {
	owner := c.PathValue("owner")
	path := c.URL.Path
	all := []any{}
	found := strings.HasSuffix(path, "/user/repos") || strings.HasSuffix(path, "/installation/repositories")
	for _, r := range g.stage.World.all() {
		if owner != "" && !strings.EqualFold(owner, r.Owner) {
			continue
		}
		if strings.Contains(path, "/orgs/") && r.UserOwned {
			continue
		}
		found = true
		out := g.repoJSON(r, c.who)
		if strings.HasSuffix(path, "/installation/repositories") {
			out["permissions"] = object{"admin": false, "push": false, "pull": false}
		}
		all = append(all, out)
	}
	switch {
	case strings.HasSuffix(path, "/installation/repositories"):
		if !c.app {
			return problem(http.StatusForbidden,
				"You must authenticate with an installation access token in order to list repositories for an installation.")
		}
		return g.pageOf(c.Request, all, func(part []any, whole int) any {
			return object{"total_count": whole, "repository_selection": "selected", "repositories": part}
		})
	case !found:
		return problem(http.StatusNotFound, "Not Found")
	}
	return g.page(c.Request, all)
}

func (g *GitHub) installations(c *call) reply {
	if !c.jwt {
		return noWebToken
	}
	return g.page(c.Request, []any{g.installationJSON("acme")})
}

func (g *GitHub) oneInstallation(c *call) reply {
	switch {
	case !c.jwt:
		return noWebToken
	case c.number("id") != g.app.Installation:
		return problem(http.StatusNotFound, "Not Found")
	}
	return reply{status: http.StatusOK, body: g.installationJSON("acme")}
}

// statuses are all of a commit, the newest first.
func (g *GitHub) statuses(c *call) reply {
	if no := c.lacks("statuses"); no != nil {
		return *no
	}
	all := []any{}
	for _, s := range slices.Backward(c.repo.Statuses) {
		if s.Commit == c.PathValue("ref") {
			all = append(all, object{
				"id": s.ID, "state": s.State, "description": s.Words, "target_url": s.URL, "context": s.Context,
				"created_at": s.At.Format(time.RFC3339), "creator": user(s.By),
			})
		}
	}
	return g.page(c.Request, all)
}

func (g *Gitea) repository(c *call) reply {
	return reply{status: http.StatusOK, body: g.repoJSON(c.repo, c.who)}
}

func (g *Gitea) branchOf(c *call) reply {
	name := c.PathValue("branch")
	sha, protected, ok := c.repo.branch(name)
	if !ok {
		return g.notFound()
	}
	return reply{status: http.StatusOK, body: object{
		"name": name, "commit": object{"id": sha}, "protected": protected, "user_can_push": !protected && g.mayWrite(c),
	}}
}

// repositories are those of the account, of an organization or of a user.
func (g *Gitea) repositories(c *call) reply {
	org, all, found := c.PathValue("org"), []any{}, false
	owner := org + c.PathValue("user")
	for _, r := range g.stage.World.all() {
		if owner != "" && !strings.EqualFold(owner, r.Owner) || org != "" && r.UserOwned {
			continue
		}
		found = true
		all = append(all, g.repoJSON(r, c.who))
	}
	if owner != "" && !found {
		return g.notFound()
	}
	return g.page(c, all)
}

// statuses are all of a commit, the newest first.
func (g *Gitea) statuses(c *call) reply {
	all := []any{}
	for _, s := range slices.Backward(c.repo.Statuses) {
		if s.Commit == c.PathValue("ref") {
			all = append(all, object{
				"id": s.ID, "status": s.State, "context": s.Context, "description": s.Words, "target_url": s.URL,
				"creator": giteaUser(s.By), "created_at": s.At.Format(time.RFC3339),
			})
		}
	}
	return g.page(c, all)
}
