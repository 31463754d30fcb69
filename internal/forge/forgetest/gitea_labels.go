package forgetest

import (
	"net/http"
	"slices"
)

// sharedLabelID is the id of the first label of an organization.
const sharedLabelID = 9000

// label is a label of the repository or of its organization. An unknown one becomes one of the repository.
func (r *Repo) label(name string) object {
	id := sharedLabelID + slices.Index(r.Shared, name)
	if id < sharedLabelID {
		if !slices.Contains(r.Labels, name) {
			r.Labels = append(r.Labels, name)
		}
		id = 1 + slices.Index(r.Labels, name)
	}
	return object{"id": id, "name": name, "color": "ededed", "description": "", "url": ""}
}

// labelNamed returns the name of a label; empty if the id is unknown.
func (r *Repo) labelNamed(id int) string {
	switch {
	case id >= sharedLabelID && id < sharedLabelID+len(r.Shared):
		return r.Shared[id-sharedLabelID]
	case id >= 1 && id <= len(r.Labels):
		return r.Labels[id-1]
	}
	return ""
}

func (r *Repo) labelList(names []string) []any {
	all := []any{}
	for _, name := range names {
		all = append(all, r.label(name))
	}
	return all
}

func (g *Gitea) labels(c *call) reply { return g.page(c, c.repo.labelList(c.repo.Labels)) }

// sharedLabels exist only for organizations.
func (g *Gitea) sharedLabels(c *call) reply {
	for _, r := range g.stage.World.repos {
		if r.Owner == c.PathValue("org") && len(r.Shared) > 0 {
			return g.page(c, r.labelList(r.Shared))
		}
	}
	return g.notFound()
}

func (g *Gitea) makeLabel(c *call) reply {
	var in struct {
		Name, Color, Description string
		Exclusive                bool
		IsArchived               bool `json:"is_archived"`
	}
	if bad := g.read(c, &in); bad != nil {
		return *bad
	}
	switch {
	case !g.mayWrite(c):
		return g.problem(http.StatusForbidden, "user should have a permission to write issues")
	case in.Name == "" || in.Color == "":
		return g.problem(http.StatusUnprocessableEntity, "[Name]: Required")
	case slices.Contains(c.repo.Labels, in.Name), slices.Contains(c.repo.Shared, in.Name):
		g.t.Errorf("a second label %q is made", in.Name)
	}
	return reply{status: http.StatusCreated, body: c.repo.label(in.Name)}
}

func (g *Gitea) labelsOf(c *call) reply { return g.whole(c.repo.labelList(c.pull.Labels)) }

func (g *Gitea) addLabels(c *call) reply {
	var in struct{ Labels []int }
	if bad := g.read(c, &in); bad != nil {
		return *bad
	}
	if !g.mayWrite(c) {
		return g.problem(http.StatusForbidden, "write permission is required")
	}
	for _, id := range in.Labels {
		name := c.repo.labelNamed(id)
		if name == "" {
			return g.notFound()
		}
		g.stage.World.label(c.pull, c.who, name)
	}
	return g.labelsOf(c)
}

func (g *Gitea) removeLabel(c *call) reply {
	name := c.repo.labelNamed(int(c.number("id")))
	switch {
	case !g.mayWrite(c):
		return g.problem(http.StatusForbidden, "write permission is required")
	case name == "":
		return g.problem(http.StatusUnprocessableEntity, "label does not exist")
	}
	g.stage.World.unlabel(c.pull, c.who, name)
	return reply{status: http.StatusNoContent}
}
