package forgetest

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
)

// between is the time of last updates that a list is about, in whole seconds, both ends included.
type between struct{ since, before time.Time }

func betweenOf(c *call) between {
	since, _ := time.Parse(time.RFC3339, c.URL.Query().Get("since"))
	before, _ := time.Parse(time.RFC3339, c.URL.Query().Get("before"))
	return between{since, before}
}

func (b between) has(updated time.Time) bool {
	updated = updated.Truncate(time.Second)
	return !updated.Before(b.since) && (b.before.IsZero() || !updated.After(b.before))
}

// commentsSince lists the comments on all pull requests and issues as a whole, in pages, the oldest first.
func (g *Gitea) commentsSince(c *call) reply {
	in := betweenOf(c)
	var found []forge.NumberedComment
	for n, p := range c.repo.Pulls {
		for _, m := range p.Comments {
			if m.Kind == forge.OnThread && in.has(m.Edited) {
				found = append(found, forge.NumberedComment{Number: n, Comment: m})
			}
		}
	}
	slices.SortFunc(found, func(a, b forge.NumberedComment) int { return cmp.Or(a.At.Compare(b.At), a.ID.Compare(b.ID)) })
	all := make([]any, len(found))
	for i, m := range found {
		all[i] = func() any {
			on := *c
			on.pull = c.repo.Pulls[m.Number]
			return g.commentJSON(&on, m.Comment)
		}
	}
	return g.page(c, all)
}

// issuesSince lists pull requests as issues, the newest first.
func (g *Gitea) issuesSince(c *call) reply {
	if q := c.URL.Query(); q.Get("type") != "pulls" || q.Get("state") != "all" {
		return g.problem(http.StatusNotImplemented, "the server of the tests lists all pull requests")
	}
	in := betweenOf(c)
	var found []*Pull
	for _, p := range c.repo.Pulls {
		if in.has(p.Updated) && !c.repo.Issues[p.Number] {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b *Pull) int { return b.Number - a.Number })
	all := make([]any, len(found))
	for i, p := range found {
		all[i] = func() any {
			whole, out := g.pullJSON(c.repo, p), object{}
			for _, name := range []string{
				"id", "number", "title", "body", "user", "state", "is_locked", "labels", "created_at", "updated_at", "html_url",
			} {
				out[name] = whole[name]
			}
			out["pull_request"] = object{
				"merged": whole["merged"], "merged_at": whole["merged_at"], "draft": whole["draft"],
				"html_url": whole["html_url"],
			}
			return out
		}
	}
	return g.page(c, all)
}
