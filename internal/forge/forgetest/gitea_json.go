package forgetest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
)

// giteaUser is an account. A deleted one has no database row.
func giteaUser(p forge.Person) object {
	if p.ID == "" {
		p = forge.Person{ID: "-1", Login: "Ghost"}
	}
	return object{
		"id": p.ID.Number(), "login": p.Login, "login_name": "", "full_name": "",
		"email": p.Login + "@noreply.localhost", "username": p.Login,
	}
}

func (g *Gitea) version(*call) reply {
	return reply{status: http.StatusOK, body: object{"version": map[GiteaKind]string{
		Gitea127: "1.27.3",
		Gitea126: "1.26.0+dev-523-g1234567", Gitea125: "1.25.0+dev-12-gabcdef", Forgejo: "15.0.1+gitea-1.22.0",
	}[g.Kind]}}
}

func (g *Gitea) me(c *call) reply { return reply{status: http.StatusOK, body: giteaUser(c.who)} }

func (g *Gitea) pulls(c *call) reply {
	listed := c.repo.listed(c.URL.Query().Get("state"))
	if c.URL.Query().Get("sort") != "recentupdate" {
		slices.SortFunc(listed, func(a, b *Pull) int { return b.Number - a.Number })
	}
	all := []any{}
	for _, p := range listed {
		all = append(all, g.pullJSON(c.repo, p))
	}
	return g.page(c, all[:max(0, len(all)-lag(c.Request))])
}

// pull is a pull request or its diff, which share a route.
func (g *Gitea) pull(c *call) reply {
	number, isDiff := strings.CutSuffix(c.PathValue("file"), ".diff")
	n, err := strconv.Atoi(number)
	p := c.repo.Pulls[n]
	switch {
	case err != nil || p == nil:
		return g.notFound()
	case isDiff && p.Huge: // Gitea has no bound
		return reply{status: http.StatusOK, body: strings.Repeat("+0123456789abcde\n", 34<<20/17)}
	case isDiff && p.Unrelated: // git compares with three dots
		return g.problem(http.StatusInternalServerError, "")
	case isDiff:
		return reply{status: http.StatusOK, body: p.Diff}
	}
	out := g.pullJSON(c.repo, p)
	if g.Headless > 0 {
		g.Headless--
		out["head"].(object)["sha"] = "" //nolint:forcetypeassert // it was made just now
	}
	return reply{status: http.StatusOK, body: out}
}

func (g *Gitea) pullJSON(repo *Repo, p *Pull) object {
	labels := []object{}
	for _, l := range p.Labels {
		labels = append(labels, repo.label(l))
	}
	head := p.Head
	if sha, ok := g.Behind[p.Number]; ok {
		head.SHA = sha
	}
	requested := []object{}
	for _, who := range p.Requested {
		requested = append(requested, giteaUser(who))
	}
	for _, id := range slices.Sorted(maps.Keys(p.Reviews)) { // Gitea lists who has reviewed, too
		r := p.Reviews[id]
		listed := slices.ContainsFunc(p.Requested, func(who forge.Person) bool { return who.ID == r.Author.ID })
		if r.State != Pending && r.State != Dismissed && !listed {
			requested = append(requested, giteaUser(r.Author))
		}
	}
	out := object{
		"requested_reviewers": requested, "id": repo.ID*1000 + int64(p.Number), "number": p.Number,
		"title": text(p.Title), "body": text(p.Body), "user": giteaUser(p.Author), "state": p.State, "draft": p.Draft,
		"is_locked": p.Locked, "labels": labels, "base": g.branch(repo, p, p.Base), "head": g.branch(repo, p, head),
		"merged": p.State == forge.Merged, "merged_at": nil,
		"created_at": Epoch.Add(time.Duration(p.Number) * time.Second).Format(time.RFC3339),
		"updated_at": p.Updated.Format(time.RFC3339), "changed_files": p.Files,
		"html_url": fmt.Sprintf("%s/%s/%s/pulls/%d", g.URL, repo.Owner, repo.Name, p.Number),
	}
	if p.State == forge.Merged {
		out["state"], out["merged_at"], out["merge_base"] = forge.Closed, p.mergedAt(), p.Base.SHA
		tip := p.Base // Gitea shows the tip of the branch, also after the merge
		tip.SHA = sha("a")
		out["base"] = g.branch(repo, p, tip)
	}
	return out
}

func (g *Gitea) branch(repo *Repo, p *Pull, b forge.Branch) object {
	if b.Repo.IsZero() {
		return object{
			"label": b.Name, "ref": fmt.Sprintf("refs/pull/%d/head", p.Number), "sha": b.SHA, "repo_id": -1, "repo": nil,
		}
	}
	return object{"label": b.Name, "ref": b.Name, "sha": b.SHA, "repo_id": b.RepoID.Number(), "repo": object{
		"id": b.RepoID.Number(), "name": b.Repo.Name, "full_name": b.Repo.Owner + "/" + b.Repo.Name,
		"owner":     object{"id": 1, "login": b.Repo.Owner},
		"archived":  repo.Archived && strings.EqualFold(b.Repo.Owner+"/"+b.Repo.Name, repo.Owner+"/"+repo.Name),
		"clone_url": fmt.Sprintf("%s/%s/%s.git", g.URL, b.Repo.Owner, b.Repo.Name), "private": b.Visibility == forge.Private,
	}}
}

func (g *Gitea) comments(c *call) reply {
	all := []any{}
	for _, m := range g.shown(c, forge.OnThread) {
		all = append(all, g.commentJSON(c, m))
	}
	return g.whole(all)
}

func (g *Gitea) commentJSON(c *call, m forge.Comment) object {
	out := object{
		"id": m.ID.Number(), "user": giteaUser(m.Author), "body": text(m.Body), "html_url": g.at(c, m.ID),
		"created_at": m.At.Format(time.RFC3339), "updated_at": m.Edited.Format(time.RFC3339),
		"pull_request_url": fmt.Sprintf("%s/%s/%s/pulls/%d", g.URL, c.repo.Owner, c.repo.Name, c.pull.Number),
		"issue_url":        "",
	}
	if c.repo.Issues[c.pull.Number] {
		out["pull_request_url"], out["issue_url"] = "", fmt.Sprintf("%s/%s/%s/issues/%d", g.URL, c.repo.Owner, c.repo.Name,
			c.pull.Number)
	}
	return out
}

// giteaReview is a review as Gitea has it: with all comments of its conversations,
// including replies by others.
type giteaReview struct {
	Review
	at     time.Time
	stale  bool
	inline []forge.Comment
}

// Numbers that the world does not give: of reviews that a test did not name, and
// of the comments that hold the words of reviews.
const (
	namelessReview    = 800_000
	wordsOfReviews    = 1 << 40
	requestsOfReviews = 1 << 41
)

// giteaReviews returns the reviews of the visible comments, in their order.
func (p *Pull) giteaReviews(words, inline []forge.Comment) (all []giteaReview) {
	place := map[precedent.ForgeID]int{}
	for _, m := range words {
		r, ok := p.Reviews[m.ID]
		if !ok {
			r = Review{Author: m.Author, State: Commented, Commit: p.Head.SHA}
		}
		r.ID, r.Body = m.ID, text(m.Body)
		place[r.ID] = len(all)
		all = append(all, giteaReview{Review: r, at: m.At, stale: r.Commit != p.Head.SHA})
	}
	for _, m := range inline {
		root := p.first(m)
		at, ok := place[root.Review]
		if !ok {
			at = -1
		}
		if root.Review == "" {
			at = slices.IndexFunc(all, func(r giteaReview) bool {
				return r.ID.Number() >= namelessReview && r.ID.Number() < firstID && r.Commit == root.Commit &&
					r.stale == root.Outdated
			})
			if at < 0 {
				at = len(all)
				all = append(all, giteaReview{Review: Review{
					ID:     precedent.NumberID(namelessReview + int64(at)),
					Author: root.Author, State: Commented, Commit: root.Commit,
				}, at: root.At, stale: root.Outdated})
			}
		}
		if at >= 0 {
			all[at].inline = append(all[at].inline, m)
		}
	}
	return slices.DeleteFunc(all, func(r giteaReview) bool { // answers have none of their own
		return r.Body == "" && len(r.inline) == 0 && r.State == Commented
	})
}

// first returns the first comment of a conversation at its original place: Gitea does not move it.
func (p *Pull) first(m forge.Comment) forge.Comment {
	if m.ReplyTo != "" {
		if up := p.comment(forge.CommentRef{Kind: forge.OnLine, ID: p.root(m)}); up != nil {
			m = *up
		}
	}
	if placed, ok := p.placed[m.ID]; ok {
		placed.Outdated = m.Outdated
		return placed
	}
	return m
}

// view returns what Gitea can tell of comments: no ranges, no bots, and one
// conversation for each line of a commit.
func (g *Gitea) view(p *Pull, all []forge.Comment) []forge.Comment {
	var words, inline, out []forge.Comment
	for _, m := range p.Comments {
		switch m.Kind {
		case forge.OnReview:
			words = append(words, m)
		case forge.OnLine:
			inline = append(inline, m)
		}
	}
	type spot struct {
		at     precedent.Span
		commit string
	}
	place, on := map[precedent.ForgeID]forge.Comment{}, map[spot][]forge.Comment{}
	for _, r := range p.giteaReviews(words, inline) {
		for _, m := range r.inline {
			at := p.first(m).Span
			at.Start = at.End
			m.Span, m.Commit, m.Outdated, m.Review, m.ReplyTo = at, r.Commit, r.stale, r.ID, ""
			// A review may have two remarks on a line; whatever comes later answers the first.
			before := on[spot{at, r.Commit}]
			if slices.ContainsFunc(before, func(b forge.Comment) bool {
				return b.Author.ID != m.Author.ID || b.Review != m.Review || m.At.Sub(b.At) > time.Second
			}) {
				m.ReplyTo = before[0].ID
			}
			on[spot{at, r.Commit}] = append(before, m)
			place[m.ID] = m
		}
	}
	for _, m := range all {
		if at, ok := place[m.ID]; ok && m.Kind == forge.OnLine {
			m.Span, m.Commit, m.Outdated, m.Review, m.ReplyTo = at.Span, at.Commit, at.Outdated, at.Review, at.ReplyTo
		}
		m.Author.Bot = m.Author.ID == GiteaActions.ID
		out = append(out, m)
	}
	return out
}

func (g *Gitea) reviewsOf(c *call) []giteaReview {
	var all []forge.Comment
	for _, m := range c.pull.Comments {
		if m.Kind == forge.OnLine {
			all = append(all, m)
		}
	}
	return c.pull.giteaReviews(g.shown(c, forge.OnReview), all)
}

// hidden reports whether a review is pending and by another account.
func (g *Gitea) hidden(c *call, r giteaReview) bool {
	return r.State == Pending && r.Author.ID != c.who.ID
}

func (g *Gitea) reviews(c *call) reply {
	all := []any{}
	for _, r := range g.reviewsOf(c) {
		if g.hidden(c, r) {
			all = append(all, nil)
		} else {
			all = append(all, g.reviewJSON(c, r))
		}
	}
	for i, who := range c.pull.Requested {
		all = append(all, object{
			"id": int64(requestsOfReviews + i), "user": giteaUser(who), "team": nil, "state": "REQUEST_REVIEW", "body": "",
			"commit_id": "", "comments_count": 0, "submitted_at": c.pull.Updated.Format(time.RFC3339),
		})
	}
	return g.page(c, all)
}

// one calls do with the review in the path.
func (g *Gitea) one(c *call, do func(giteaReview) reply) reply {
	for _, r := range g.reviewsOf(c) {
		if r.ID == c.id("id") && !g.hidden(c, r) {
			return do(r)
		}
	}
	return g.notFound()
}

func (g *Gitea) oneReview(c *call) reply {
	return g.one(c, func(r giteaReview) reply { return reply{status: http.StatusOK, body: g.reviewJSON(c, r)} })
}

func (g *Gitea) reviewJSON(c *call, r giteaReview) object {
	state := map[ReviewState]string{
		Pending: "PENDING", Commented: "COMMENT", ChangesRequested: "REQUEST_CHANGES",
		Dismissed: "REQUEST_CHANGES", Approved: "APPROVED",
	}[r.State]
	return object{
		"id": r.ID.Number(), "user": giteaUser(r.Author), "team": nil, "state": state, "body": r.Body,
		"commit_id": r.Commit, "stale": r.stale, "official": false, "dismissed": r.State == Dismissed,
		"comments_count": len(r.inline), "submitted_at": r.at.Format(time.RFC3339),
		"html_url": g.at(c, precedent.NumberID(wordsOfReviews+r.ID.Number())), "pull_request_url": g.at(c, "0"),
	}
}

func (g *Gitea) inline(c *call) reply {
	return g.one(c, func(r giteaReview) reply {
		all := []any{}
		for _, m := range slices.Backward(r.inline) { // Gitea has them in no order
			all = append(all, g.inlineJSON(c, r, m))
		}
		return reply{status: http.StatusOK, body: all}
	})
}

func (g *Gitea) inlineJSON(c *call, r giteaReview, m forge.Comment) object {
	at := c.pull.first(m)
	out := object{
		"id": m.ID.Number(), "user": giteaUser(m.Author), "resolver": nil, "body": text(m.Body),
		"pull_request_review_id": r.ID.Number(), "path": at.Span.Path,
		"position": at.Span.End, "original_position": 0, "commit_id": r.Commit, "original_commit_id": "",
		"diff_hunk": c.pull.cutHunk(at.Span, r.Commit), "html_url": g.at(c, m.ID), "pull_request_url": g.at(c, "0"),
		"created_at": m.At.Format(time.RFC3339), "updated_at": m.Edited.Format(time.RFC3339),
	}
	if at.Span.Side == precedent.Left {
		out["position"], out["original_position"] = 0, at.Span.End
	}
	if by, closed := c.pull.Closed[m.ID]; closed {
		out["resolver"] = giteaUser(by)
	}
	return out
}

// cutHunk returns the part of a hunk that ends with a line; empty for a line outside the diff.
func (p *Pull) cutHunk(s precedent.Span, commit string) string {
	patch, _ := p.diffAt(commit)
	f := parse(patch).File(s.Path)
	if f == nil || f.HunkAt(s.Side, s.End) < 0 {
		return ""
	}
	h := f.Hunks[f.HunkAt(s.Side, s.End)]
	var lines []string
	before, after := 0, 0
	for _, l := range h.Lines {
		lines = append(lines, string(l.Op)+l.Text)
		if l.Op != diff.Add {
			before++
		}
		if l.Op != diff.Delete {
			after++
		}
		if s.Side == precedent.Left && l.Old == s.End || s.Side != precedent.Left && l.New == s.End {
			break
		}
	}
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@\n%s", h.OldStart, before, h.NewStart, after, strings.Join(lines, "\n"))
}

// reactions is null for a comment without any.
func (g *Gitea) reactions(c *call) reply {
	id := c.id("id")
	for _, said := range []forge.CommentRef{
		{Kind: forge.OnThread, ID: id},
		{Kind: forge.OnLine, ID: id},
		{Kind: forge.OnReview, ID: precedent.NumberID(id.Number() - wordsOfReviews)},
	} {
		p, m := c.repo.findComment(said)
		if m == nil {
			continue
		}
		var all []any
		for _, r := range p.Reactions[said] {
			all = append(all, object{"user": giteaUser(r.Who), "content": r.Content, "created_at": Epoch.Format(time.RFC3339)})
		}
		return reply{status: http.StatusOK, body: all}
	}
	return g.notFound()
}

// changedSince reports whether an entry of a list was updated at the time that the list begins at, or later.
func (c *call) changedSince(updated time.Time) bool {
	since, _ := time.Parse(time.RFC3339, c.URL.Query().Get("since"))
	return !updated.Truncate(time.Second).Before(since)
}

// commentsSince lists the comments on all pull requests and issues as a whole, in pages, the oldest first.
func (g *Gitea) commentsSince(c *call) reply {
	var found []forge.NumberedComment
	for n, p := range c.repo.Pulls {
		for _, m := range p.Comments {
			if m.Kind == forge.OnThread && c.changedSince(m.Edited) {
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
	var found []*Pull
	for _, p := range c.repo.Pulls {
		if c.changedSince(p.Updated) && !c.repo.Issues[p.Number] {
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
