package forgetest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

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
