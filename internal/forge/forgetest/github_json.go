package forgetest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// object is a JSON object.
type object = map[string]any

// find is the pull request that a request is about; nil if there is none.
func (r *Repo) find(req *http.Request) *Pull {
	n, err := strconv.Atoi(req.PathValue("number"))
	if err != nil {
		return nil
	}
	return r.Pulls[n]
}

func (g *GitHub) pullRequest(c *call) reply {
	p := c.pull
	switch {
	case !strings.Contains(c.Header.Get("Accept"), "diff"):
		out := g.pullJSON(c.repo, p)
		out["merged"] = p.State == forge.Merged
		out["changed_files"] = p.Files
		return reply{status: http.StatusOK, body: out}
	case p.Huge:
		return problem(http.StatusNotAcceptable, "Sorry, the diff exceeded the maximum number of files (300).")
	}
	return reply{status: http.StatusOK, body: p.Diff}
}

func (g *GitHub) pulls(c *call) reply {
	all := []any{}
	if order := c.URL.Query().Get("direction"); order != "desc" {
		g.t.Errorf("the server of the tests does not know direction=%s of pull requests", order)
	}
	if by := c.URL.Query().Get("sort"); by != "updated" {
		g.t.Errorf("the server of the tests does not know sort=%s of pull requests", by)
	}
	for _, p := range c.repo.listed(c.URL.Query().Get("state")) {
		all = append(all, g.pullJSON(c.repo, p))
	}
	return g.page(c.Request, all)
}

// listed returns the pull requests in a state, which is open, closed or all, the most recently updated first.
func (r *Repo) listed(state string) []*Pull {
	var all []*Pull
	for _, p := range r.Pulls {
		if state == "all" || (p.State == forge.Open) != (state == "closed") {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *Pull) int { return b.Updated.Compare(a.Updated) })
	return all
}

// mergedAt is when a pull request was merged.
func (p *Pull) mergedAt() string {
	at := p.MergedAt
	if at.IsZero() {
		at = p.Updated
	}
	return at.Format(time.RFC3339)
}

// pullJSON has what the list has, too: neither merged nor changed_files.
func (g *GitHub) pullJSON(repo *Repo, p *Pull) object {
	labels := []object{}
	for i, l := range p.Labels {
		labels = append(labels, object{"id": i + 1, "name": l, "color": "ededed", "default": false})
	}
	requested := []any{}
	for _, who := range p.Requested {
		requested = append(requested, user(who))
	}
	state, mergedAt := p.State, any(nil)
	if state == forge.Merged {
		state, mergedAt = forge.Closed, p.mergedAt()
	}
	body := any(text(p.Body))
	if body == "" {
		body = nil
	}
	return object{
		"id": repo.ID*1000 + int64(p.Number), "number": p.Number, "title": text(p.Title), "body": body,
		"user": user(p.Author), "state": state, "draft": p.Draft, "locked": p.Locked,
		"node_id": fmt.Sprintf("PR_%d_%d", repo.ID, p.Number), "labels": labels, "requested_reviewers": requested,
		"base": g.branch(p.Base), "head": g.branch(p.Head), "merged_at": mergedAt,
		"created_at": Epoch.Format(time.RFC3339), "updated_at": p.Updated.Format(time.RFC3339),
		"html_url": fmt.Sprintf("%s/%s/%s/pull/%d", g.URL, repo.Owner, repo.Name, p.Number),
	}
}

func (g *GitHub) branch(b forge.Branch) object {
	out := object{"ref": b.Name, "sha": b.SHA, "label": b.Repo.Owner + ":" + b.Name, "user": nil, "repo": nil}
	if !b.Repo.IsZero() {
		owner := object{"login": b.Repo.Owner, "id": 1, "type": "User"}
		out["user"] = owner
		out["repo"] = object{
			"id": b.RepoID.Number(), "name": b.Repo.Name, "full_name": b.Repo.Owner + "/" + b.Repo.Name, "owner": owner,
			"clone_url": fmt.Sprintf("%s/%s/%s.git", g.URL, b.Repo.Owner, b.Repo.Name), "open_issues_count": 0,
		}
		if b.Visibility != "" {
			out["repo"].(object)["private"] = b.Visibility == forge.Private //nolint:forcetypeassert // as below
		}
		if r := g.stage.World.Repo(b.Repo.Owner, b.Repo.Name); r != nil {
			out["repo"].(object)["open_issues_count"] = len(r.listed("open")) //nolint:forcetypeassert // it was made just now
		}
	}
	return out
}

// user is an account, null if it is deleted.
func user(p forge.Person) any {
	if p.ID == "" {
		return nil
	}
	kind := "User"
	if p.Bot {
		kind = "Bot"
	}
	return object{"id": p.ID.Number(), "login": p.Login, "type": kind, "site_admin": false}
}

func (g *GitHub) comments(c *call) reply { return g.list(c, forge.OnThread, nil) }

func (g *GitHub) reviews(c *call) reply { return g.list(c, forge.OnReview, nil) }

func (g *GitHub) inline(c *call) reply { return g.list(c, forge.OnLine, nil) }

// inlineOfReview is a list in which GitHub does not say the lines.
func (g *GitHub) inlineOfReview(c *call) reply {
	r, bad := g.shownReview(c, nil)
	if bad != nil {
		return *bad
	}
	return g.list(c, forge.OnLine, r)
}

// sees tells whether the sender sees a review: others' that were not sent are hidden.
func (g *GitHub) sees(c *call, r *Review) bool { return r.State != Pending || r.Author.ID == c.who.ID }

// list lists the comments of one kind, all or those of one review.
func (g *GitHub) list(c *call, kind forge.CommentKind, of *Review) reply {
	all := []any{}
	for _, m := range c.pull.Comments {
		if m.Kind != kind || of != nil && m.Review != of.ID {
			continue
		}
		switch {
		case kind == forge.OnReview && !g.sees(c, c.pull.details(m.ID)), kind == forge.OnLine && of == nil &&
			c.pull.unsent(m):
			continue
		case !g.stage.World.shows(c.pull.written[forge.CommentRef{Kind: kind, ID: m.ID}], fault(c.Request).LagFor):
			continue
		}
		out := g.commentJSON(c, c.pull, m)
		if of != nil {
			for _, name := range []string{
				"line", "original_line", "start_line", "original_start_line", "side", "start_side", "subject_type",
			} {
				delete(out, name)
			}
		}
		all = append(all, out)
	}
	return g.page(c.Request, all)
}

// commentJSON is a comment of any kind.
func (g *GitHub) commentJSON(c *call, p *Pull, m forge.Comment) object {
	out := object{"id": m.ID.Number(), "user": user(m.Author), "body": text(m.Body)}
	page := fmt.Sprintf("%s/%s/%s/pull/%d", g.URL, c.repo.Owner, c.repo.Name, p.Number)
	out["node_id"] = nodeID(forge.CommentRef{Kind: m.Kind, ID: m.ID})
	switch m.Kind {
	case forge.OnThread:
		out["html_url"], out["author_association"] = fmt.Sprintf("%s#issuecomment-%s", page, m.ID), association(m)
		out["issue_url"] = fmt.Sprintf("%s/api/v3/repos/%s/%s/issues/%d", g.URL, c.repo.Owner, c.repo.Name, p.Number)
	case forge.OnReview:
		r := p.details(m.ID)
		out["html_url"], out["author_association"] = fmt.Sprintf("%s#pullrequestreview-%s", page, m.ID), association(m)
		out["state"], out["commit_id"] = r.State, r.Commit
		if r.State != Pending {
			out["submitted_at"] = m.At.Format(time.RFC3339)
		}
		return out
	default:
		out["html_url"], out["author_association"] = fmt.Sprintf("%s#discussion_r%s", page, m.ID), association(m)
		out["pull_request_url"] = fmt.Sprintf("%s/api/v3/repos/%s/%s/pulls/%d", g.URL, c.repo.Owner, c.repo.Name, p.Number)
		inlineJSON(out, p, m)
	}
	out["created_at"], out["updated_at"] = m.At.Format(time.RFC3339), m.Edited.Format(time.RFC3339)
	return out
}

// inlineJSON adds the current and original place of an inline comment.
func inlineJSON(out object, p *Pull, m forge.Comment) {
	first, moved := p.placed[m.ID]
	if !moved {
		first = m
	}
	votes := map[string]int{}
	for _, r := range p.Reactions[forge.CommentRef{Kind: m.Kind, ID: m.ID}] {
		votes[r.Content]++
	}
	out["reactions"] = object{
		"total_count": len(p.Reactions[forge.CommentRef{Kind: m.Kind, ID: m.ID}]), "+1": votes["+1"], "-1": votes["-1"],
	}
	out["path"], out["side"], out["subject_type"] = m.Span.Path, m.Span.Side, "line"
	out["line"], out["original_line"] = m.Span.End, first.Span.End
	out["start_line"], out["start_side"], out["original_start_line"] = nil, nil, nil
	out["commit_id"], out["original_commit_id"] = m.Commit, first.Commit
	out["diff_hunk"], out["pull_request_review_id"] = p.hunk(first.Span, first.Commit), nil
	if m.Span.Start < m.Span.End {
		out["start_line"], out["start_side"], out["original_start_line"] = m.Span.Start, m.Span.Side, first.Span.Start
	}
	if m.Outdated {
		out["line"], out["start_line"], out["commit_id"] = nil, nil, strings.Repeat("f", 40)
	}
	out["position"], out["original_position"] = 1, 1
	if m.Outdated {
		out["position"] = nil
	}
	if m.Span.End == 0 { // line is missing or, on some servers, 1
		out["subject_type"], out["line"], out["original_line"] = "file", 1, 1
	}
	if m.ReplyTo != "" {
		out["in_reply_to_id"] = m.ReplyTo.Number()
	}
	if m.Review != "" {
		out["pull_request_review_id"] = m.Review.Number()
	}
}

// permission is the highest of all grants, by the repository, its teams or the organization:
// the permission that a role is based on, and the role's name ("Get repository permissions
// for a user"). It does not tell where a grant comes from.
func (g *GitHub) permission(c *call) reply {
	all := slices.Clone(c.repo.Members)
	for _, t := range c.repo.Teams {
		for _, who := range t.Members {
			all = append(all, Member{who, t.Level})
		}
	}
	var best *Member
	order := []forge.Permission{forge.None, forge.Read, forge.Write, forge.Admin}
	for i, m := range all {
		if strings.EqualFold(m.Person.Login, c.PathValue("login")) &&
			(best == nil || slices.Index(order, m.Permission) > slices.Index(order, best.Permission)) {
			best = &all[i]
		}
	}
	if best == nil {
		return problem(http.StatusNotFound, "Not Found")
	}
	return reply{status: http.StatusOK, body: object{
		"permission": best.Permission, "role_name": cmp.Or(c.repo.Roles[best.Person.ID], string(best.Permission)),
		"user": user(best.Person),
	}}
}

// text is what an author wrote, for the wire.
func text(u precedent.Untrusted) string { return string(u) }
