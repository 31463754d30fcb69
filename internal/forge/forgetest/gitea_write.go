package forgetest

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// giteaDraft is an inline comment as it is sent.
type giteaDraft struct {
	Path, Body string
	New        int `json:"new_position"`
	Old        int `json:"old_position"`
}

func (d giteaDraft) span() precedent.Span {
	if d.Old > 0 {
		return precedent.Span{Path: d.Path, Side: precedent.Left, Start: d.Old, End: d.Old}
	}
	return precedent.Span{Path: d.Path, Side: precedent.Right, Start: d.New, End: d.New}
}

// review posts a review like Gitea: it adds the comments, on any line, to the
// account's pending review, and then submits that with all its content.
func (g *Gitea) review(c *call) reply {
	in := struct {
		CommitID    string `json:"commit_id"`
		Body, Event string
		Comments    []giteaDraft
	}{}
	if bad := g.read(c, &in); bad != nil {
		return *bad
	}
	hasBody := strings.TrimSpace(in.Body) != ""
	states := map[string]ReviewState{"COMMENT": Commented, "REQUEST_CHANGES": ChangesRequested, "APPROVED": Approved}
	state, ok := states[in.Event]
	switch {
	case !ok:
		state = Pending
	case state == ChangesRequested && c.pull.Author.ID == c.who.ID:
		return g.problem(http.StatusUnprocessableEntity, "reject your own pull is not allowed")
	case state == Approved && c.pull.Author.ID == c.who.ID:
		return g.problem(http.StatusUnprocessableEntity, "approve your own pull is not allowed")
	}
	if !hasBody && (state == ChangesRequested || state == Pending || state == Commented && len(in.Comments) == 0) {
		return g.problem(http.StatusUnprocessableEntity, "review event "+in.Event+" requires a body or a comment")
	}
	if in.CommitID == "" {
		in.CommitID = c.pull.Head.SHA
	}
	w := g.stage.World
	id := c.pull.pending(c.who)
	begin := func() {
		if id == "" {
			id = w.review(c.pull, Review{Author: c.who, State: Pending, Commit: in.CommitID}).ID
		}
	}
	for i, d := range in.Comments {
		if g.Breaks > 0 && i == g.Breaks {
			g.Breaks = 0
			return g.problem(http.StatusInternalServerError, "")
		}
		begin()
		w.add(c.pull, forge.Comment{
			Kind: forge.OnLine, Author: c.who, Body: precedent.Untrusted(d.Body), Span: d.span(),
			Commit: in.CommitID, Review: id,
		})
	}
	if c.pull.State != forge.Open && state != Commented {
		return g.problem(http.StatusUnprocessableEntity, "can't submit review for a closed or merged PR")
	}
	begin()
	m, r := c.pull.comment(forge.CommentRef{Kind: forge.OnReview, ID: id}), c.pull.Reviews[id]
	m.Body, m.At = precedent.Untrusted(in.Body), g.stage.Clock.Now().Truncate(time.Second)
	m.Edited, r.State, r.Body, r.Commit = m.At, state, in.Body, in.CommitID
	c.pull.Reviews[id] = r
	if state != Pending {
		c.pull.mail(c.who)
		w.reviewed(c.pull, c.who)
		w.happen(happening{kind: "comment", action: "submitted", pull: c.pull, by: c.who, comment: *m})
	}
	c.SetPathValue("id", string(id))
	return g.oneReview(c)
}

func (g *Gitea) deleteReview(c *call) reply {
	return g.one(c, func(r giteaReview) reply {
		if r.Author.ID != c.who.ID {
			return g.problem(http.StatusForbidden, "")
		}
		for _, m := range r.inline {
			c.pull.remove(forge.CommentRef{Kind: forge.OnLine, ID: m.ID})
		}
		c.pull.remove(forge.CommentRef{Kind: forge.OnReview, ID: r.ID})
		return reply{status: http.StatusNoContent}
	})
}

// join adds a reply to a comment.
func (g *Gitea) join(c *call, first forge.Comment, body string) reply {
	m := g.stage.World.add(c.pull, forge.Comment{
		Kind: forge.OnLine, Author: c.who, Body: precedent.Untrusted(body), Span: first.Span, Commit: first.Commit,
		Review: first.Review, ReplyTo: first.ID, Outdated: first.Outdated,
	})
	for _, r := range g.reviewsOf(c) {
		for _, there := range r.inline {
			if there.ID == m.ID {
				return reply{status: http.StatusCreated, body: g.inlineJSON(c, r, m)}
			}
		}
	}
	return g.problem(http.StatusInternalServerError, "")
}

func (g *Gitea) answer(c *call) reply {
	var in struct{ Body string }
	if bad := g.read(c, &in); bad != nil {
		return *bad
	}
	up := c.pull.comment(forge.CommentRef{Kind: forge.OnLine, ID: c.id("id")})
	if up == nil {
		return g.notFound()
	}
	return g.join(c, c.pull.first(*up), in.Body)
}

// addInline adds a comment to a submitted review. Only Forgejo has it.
func (g *Gitea) addInline(c *call) reply {
	var in giteaDraft
	if bad := g.read(c, &in); bad != nil {
		return *bad
	}
	return g.one(c, func(r giteaReview) reply {
		for _, m := range r.inline {
			if at := c.pull.first(m); at.Span.Path == in.Path && at.Span.End == in.span().End && at.Span.Side == in.span().Side {
				return g.join(c, at, in.Body)
			}
		}
		return g.join(c, forge.Comment{Span: in.span(), Commit: r.Commit, Review: r.ID}, in.Body)
	})
}

func (g *Gitea) deleteInline(c *call) reply {
	m := c.pull.comment(forge.CommentRef{Kind: forge.OnLine, ID: c.id("comment")})
	switch {
	case m == nil:
		return g.notFound()
	case m.Author.ID != c.who.ID && !g.mayWrite(c):
		return g.problem(http.StatusForbidden, "")
	}
	c.pull.remove(forge.CommentRef{Kind: forge.OnLine, ID: m.ID})
	return reply{status: http.StatusNoContent}
}

// resolve marks one comment, whatever its conversation is.
func (g *Gitea) resolve(c *call) reply {
	id := c.id("id")
	p, m := c.repo.findComment(forge.CommentRef{Kind: forge.OnLine, ID: id})
	switch {
	case m == nil:
		return g.notFound()
	case !g.mayWriteUnit(c, "repo.pulls") && p.Author.ID != c.who.ID:
		return g.problem(http.StatusForbidden, "user doesn't have permission to resolve the conversation")
	case strings.HasSuffix(c.URL.Path, "/resolve"):
		p.close(id, c.who)
	default:
		delete(p.Closed, id)
	}
	return reply{status: http.StatusNoContent}
}

func (g *Gitea) say(c *call) reply {
	var in struct{ Body string }
	if bad := g.read(c, &in); bad != nil {
		return *bad
	}
	if c.pull.Locked {
		return g.problem(http.StatusForbidden, "You cannot comment on a locked issue.")
	}
	m := g.stage.World.add(c.pull, forge.Comment{Kind: forge.OnThread, Author: c.who, Body: precedent.Untrusted(in.Body)})
	return reply{status: http.StatusCreated, body: g.commentJSON(c, m)}
}

// kept finds a comment of any kind by its id.
func (g *Gitea) kept(c *call) (*Pull, *forge.Comment) {
	for _, kind := range []forge.CommentKind{forge.OnThread, forge.OnLine} {
		if p, m := c.repo.findComment(forge.CommentRef{Kind: kind, ID: c.id("id")}); m != nil {
			return p, m
		}
	}
	return nil, nil
}

// comment returns a comment; nothing for other kinds.
func (g *Gitea) comment(c *call) reply {
	p, m := g.kept(c)
	switch {
	case m == nil:
		return g.notFound()
	case m.Kind != forge.OnThread:
		return reply{status: http.StatusNoContent}
	}
	c.pull = p
	return reply{status: http.StatusOK, body: g.commentJSON(c, *m)}
}

func (g *Gitea) edit(c *call) reply {
	var in struct{ Body string }
	if bad := g.read(c, &in); bad != nil {
		return *bad
	}
	p, m := g.kept(c)
	switch {
	case m == nil:
		return g.notFound()
	case m.Author.ID != c.who.ID && !g.mayWrite(c):
		return reply{status: http.StatusForbidden, body: ""}
	}
	c.pull = p
	g.stage.World.rewrite(p, m, c.who, in.Body)
	return reply{status: http.StatusOK, body: g.commentJSON(c, *m)}
}

// delete deletes a comment. Old servers report success for one on a line, and do nothing.
func (g *Gitea) delete(c *call) reply {
	p, m := g.kept(c)
	switch {
	case m == nil:
		return g.notFound()
	case m.Author.ID != c.who.ID && !g.mayWrite(c):
		return reply{status: http.StatusForbidden, body: ""}
	case m.Kind == forge.OnThread || g.Kind == Gitea127 || g.Kind == Gitea126:
		g.stage.World.remove(p, m, c.who)
	}
	return reply{status: http.StatusNoContent}
}

func (g *Gitea) status(c *call) reply {
	var in struct {
		State, Description, Context string
		TargetURL                   string `json:"target_url"`
	}
	if bad := g.read(c, &in); bad != nil {
		return *bad
	}
	switch {
	case !g.mayWrite(c):
		return g.problem(http.StatusForbidden, "user should have a permission to write to a repo")
	case !c.repo.knows(c.PathValue("sha")):
		return g.problem(http.StatusNotFound, "object does not exist")
	}
	s := g.stage.World.status(c.repo, Status{
		Commit: c.PathValue("sha"), Context: in.Context, State: in.State, URL: in.TargetURL, Words: in.Description, By: c.who,
	})
	return reply{status: http.StatusCreated, body: object{
		"id": s.ID, "status": s.State, "context": s.Context, "description": s.Words, "target_url": s.URL,
		"creator": giteaUser(s.By), "created_at": s.At.Format(time.RFC3339), "updated_at": s.At.Format(time.RFC3339),
	}}
}

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
