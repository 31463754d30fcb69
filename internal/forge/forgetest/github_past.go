package forgetest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
)

// association is what GitHub says of the author of a comment. It proves no permission.
func association(m forge.Comment) string {
	if m.Member {
		return "COLLABORATOR"
	}
	return "CONTRIBUTOR"
}

// past is what the lists of a whole repository have in common: they begin at a time, and are
// sorted by the last update or, unless asked, by the creation.
type past struct {
	since      time.Time
	byUpdate   bool
	descending bool
	after      bool
}

func (g *GitHub) past(c *call) past {
	q := c.URL.Query()
	since, _ := time.Parse(time.RFC3339, q.Get("since"))
	return past{since, q.Get("sort") == "updated", q.Get("sort") != "" && q.Get("direction") == "desc", g.After}
}

// has reports whether a list has an entry.
func (p past) has(updated time.Time) bool {
	updated = updated.Truncate(time.Second)
	return p.since.IsZero() || updated.After(p.since) || !p.after && updated.Equal(p.since)
}

// pastComment is a comment and the number of its pull request.
type pastComment struct {
	number int
	*forge.Comment
}

// order compares two entries.
func (p past) order(a, b pastComment) int {
	by := 0
	if p.byUpdate {
		by = a.Edited.Compare(b.Edited)
	}
	if by == 0 {
		by = cmp.Or(a.At.Compare(b.At), a.ID.Compare(b.ID))
	}
	if p.descending {
		return -by
	}
	return by
}

// commentsSince lists the comments on all pull requests as a whole, and on issues.
func (g *GitHub) commentsSince(c *call) reply { return g.kindSince(c, forge.OnThread) }

// inlineSince lists the comments on the lines of all pull requests.
func (g *GitHub) inlineSince(c *call) reply { return g.kindSince(c, forge.OnLine) }

func (g *GitHub) kindSince(c *call, kind forge.CommentKind) reply {
	order := g.past(c)
	var found []pastComment
	for n, p := range c.repo.Pulls {
		for i := range p.Comments {
			m := &p.Comments[i]
			if m.Kind == kind && order.has(m.Edited) && (len(p.Reviews) == 0 || !p.unsent(*m)) {
				found = append(found, pastComment{n, m})
			}
		}
	}
	slices.SortFunc(found, order.order)
	all := make([]any, len(found))
	for i, m := range found {
		all[i] = func() any {
			out := g.commentJSON(c, c.repo.Pulls[m.number], *m.Comment)
			if c.repo.Issues[m.number] {
				out["html_url"] = fmt.Sprintf("%s/%s/%s/issues/%d#issuecomment-%s", g.URL, c.repo.Owner, c.repo.Name, m.number,
					m.ID)
			}
			return out
		}
	}
	return g.page(c.Request, all)
}

// issuesSince lists issues and pull requests.
func (g *GitHub) issuesSince(c *call) reply {
	order := g.past(c)
	if c.URL.Query().Get("state") != "all" || !order.byUpdate || order.descending {
		return problem(http.StatusNotImplemented,
			"the server of the tests lists all issues, the least recently updated first")
	}
	var found []*Pull
	for _, p := range c.repo.Pulls {
		if order.has(p.Updated) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b *Pull) int { return cmp.Or(a.Updated.Compare(b.Updated), a.Number-b.Number) })
	all := make([]any, len(found))
	for i, p := range found {
		all[i] = func() any { return g.issueJSON(c.repo, p) }
	}
	return g.page(c.Request, all)
}

// issueJSON is an issue or a pull request as one.
func (g *GitHub) issueJSON(repo *Repo, p *Pull) object {
	whole := g.pullJSON(repo, p)
	out := object{}
	for _, name := range []string{
		"id", "number", "title", "body", "user", "state", "locked", "labels", "created_at", "updated_at", "html_url",
	} {
		out[name] = whole[name]
	}
	out["node_id"] = fmt.Sprintf("I_%d_%d", repo.ID, p.Number)
	if !repo.Issues[p.Number] {
		out["node_id"], out["draft"] = whole["node_id"], whole["draft"]
		out["pull_request"] = object{"merged_at": whole["merged_at"], "html_url": whole["html_url"]}
	}
	return out
}
