package forgetest

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// draft is an inline comment as it is sent.
type draft struct {
	Path, Body, Side string
	StartSide        string `json:"start_side"`
	Line             int
	StartLine        int `json:"start_line"`
}

func (d *draft) span() precedent.Span {
	s := precedent.Span{Path: d.Path, Side: precedent.Side(d.Side), Start: d.StartLine, End: d.Line}
	if s.Side == "" {
		s.Side = precedent.Right
	}
	if s.Start == 0 {
		s.Start = s.End
	}
	return s
}

// wrong says what GitHub has against the place of an inline comment.
func (d *draft) wrong(p *Pull, commit string) wrong {
	s := d.span()
	switch {
	case s.End == 0:
		return wrongLine
	case d.StartLine != 0 && d.StartLine >= d.Line, d.StartSide != "" && precedent.Side(d.StartSide) != s.Side:
		return wrongStart
	}
	return p.place(s, commit)
}

// isTooLong returns GitHub's answer to a text that is too long; else nil.
func isTooLong(resource string, bodies ...string) *reply {
	for _, body := range bodies {
		if utf8.RuneCountInString(body) > forge.MaxPost {
			out := invalid("Validation Failed", object{
				"resource": resource, "code": "unprocessable", "field": "data",
				"message": "Body is too long (maximum is 65536 characters)",
			})
			return &out
		}
	}
	return nil
}

// lockedReview is the answer to a review of a locked pull request, or in an archived repository.
var lockedReview = invalid("Unprocessable Entity", "lock prevents review")

// locked reports whether the sender cannot comment: on a locked pull request only
// people with write access can.
func (g *GitHub) locked(c *call) bool {
	return c.repo.Archived || c.pull.Locked && (c.app || !c.repo.mayWrite(c.who))
}

// review posts a complete review, or nothing.
func (g *GitHub) review(c *call) reply {
	in := struct {
		CommitID    string `json:"commit_id"`
		Body, Event string
		Comments    []draft
	}{}
	if bad := c.read(&in); bad != nil {
		return *bad
	}
	if in.CommitID == "" {
		in.CommitID = c.pull.Head.SHA
	}
	bodies := []string{in.Body}
	for _, d := range in.Comments {
		bodies = append(bodies, d.Body)
	}
	if g.locked(c) {
		return lockedReview
	}
	if c.pull.pending(c.who) != "" {
		return invalid("Unprocessable Entity", "User can only have one pending review per pull request")
	}
	if bad := isTooLong("PullRequestReview", bodies...); bad != nil {
		return *bad
	}
	state, bad := g.event(c, in.Event, in.Body, len(in.Comments))
	if bad != nil {
		return *bad
	}
	if _, ok := c.pull.diffAt(in.CommitID); !ok {
		return invalid("Unprocessable Entity", "The commit_id is not part of the pull request")
	}
	for i := range in.Comments {
		if in.Comments[i].Body == "" {
			return invalid("Unprocessable Entity", "Body can't be blank")
		}
		if w := in.Comments[i].wrong(c.pull, in.CommitID); w != "" {
			return invalid("Unprocessable Entity", resolved[w])
		}
	}
	w := g.stage.World
	r := w.review(c.pull, Review{Author: c.who, State: state, Body: in.Body, Commit: in.CommitID})
	for _, d := range in.Comments {
		g.inlineOf(c, r.ID, d, in.CommitID)
	}
	return g.reviewReply(c, r.ID)
}

// resolved is how GitHub reports which parts of a review have no valid place. It does not tell which comment.
var resolved = map[wrong]string{
	wrongCommit: "Commit could not be resolved", wrongPath: "Path could not be resolved",
	wrongLine: "Line could not be resolved", wrongStart: "Start line could not be resolved",
	wrongHunk: "Pull request review thread start line must be part of the same hunk as the line.",
}

// event is the state that a review gets.
func (g *GitHub) event(c *call, event, body string, comments int) (ReviewState, *reply) {
	refuse := func(words string) (ReviewState, *reply) {
		out := invalid("Unprocessable Entity", words)
		return "", &out
	}
	own := c.who.ID == c.pull.Author.ID
	switch {
	case event == "":
		return Pending, nil
	case event == "COMMENT" && body == "" && comments == 0, event == "REQUEST_CHANGES" && body == "":
		return refuse("Body can't be blank")
	case event == "COMMENT":
		return Commented, nil
	case event == "REQUEST_CHANGES" && own:
		return refuse("Can not request changes on your own pull request")
	case event == "REQUEST_CHANGES":
		return ChangesRequested, nil
	case own:
		return refuse("Can not approve your own pull request")
	}
	return Approved, nil
}

// inlineOf adds an inline comment to a review. On an earlier commit's lines it follows the pushes since.
func (g *GitHub) inlineOf(c *call, review precedent.ForgeID, d draft, commit string) forge.Comment {
	m := g.stage.World.add(c.pull, forge.Comment{
		Kind: forge.OnLine, Author: c.who, Body: precedent.Untrusted(d.Body), Span: d.span(), Commit: commit, Review: review,
	})
	now := c.pull.comment(forge.CommentRef{Kind: forge.OnLine, ID: m.ID})
	c.pull.follow(now, c.pull.Head.SHA, c.pull.Diff)
	return *now
}

func (g *GitHub) reviewReply(c *call, id precedent.ForgeID) reply {
	m := c.pull.comment(forge.CommentRef{Kind: forge.OnReview, ID: id})
	return reply{status: http.StatusOK, body: g.commentJSON(c, c.pull, *m)}
}

func (g *GitHub) oneReview(c *call) reply {
	r, bad := g.shownReview(c, nil)
	if bad != nil {
		return *bad
	}
	return g.reviewReply(c, r.ID)
}

// shownReview returns the review that the path names, if the sender sees it, and reads the body
// into in, unless that is nil.
func (g *GitHub) shownReview(c *call, in any) (*Review, *reply) {
	if in != nil {
		if bad := c.read(in); bad != nil {
			return nil, bad
		}
	}
	r := c.pull.details(c.id("id"))
	if r == nil || !g.sees(c, r) {
		bad := problem(http.StatusNotFound, "Not Found")
		return nil, &bad
	}
	return r, nil
}

// answer replies in a conversation, which creates a review without text.
func (g *GitHub) answer(c *call) reply {
	var in struct{ Body string }
	if bad := c.read(&in); bad != nil {
		return *bad
	}
	id := c.id("id")
	up := c.pull.comment(forge.CommentRef{Kind: forge.OnLine, ID: id})
	switch {
	case up == nil || c.pull.unsent(*up):
		return problem(http.StatusNotFound, "Not Found")
	case g.locked(c):
		return lockedReview
	case up.ReplyTo != "":
		return invalid("Validation Failed", field("PullRequestReviewComment", "in_reply_to",
			"in_reply_to must be the first comment of a thread"))
	case c.pull.pending(c.who) != "":
		return invalid("Validation Failed", field("PullRequestReview", "user_id",
			"user_id can only have one pending review per pull request"))
	case in.Body == "":
		return invalid("Validation Failed", object{
			"resource": "PullRequestReviewComment", "code": "missing_field", "field": "body",
		})
	}
	if bad := isTooLong("PullRequestReviewComment", in.Body); bad != nil {
		return *bad
	}
	m := forge.Comment{
		Kind: forge.OnLine, Author: c.who, Body: precedent.Untrusted(in.Body), Span: up.Span, Commit: up.Commit,
		Outdated: up.Outdated, ReplyTo: id,
	}
	m.Review = g.stage.World.review(c.pull, Review{Author: c.who, State: Commented, Commit: c.pull.Head.SHA}).ID
	m = g.stage.World.add(c.pull, m)
	return reply{status: http.StatusCreated, body: g.commentJSON(c, c.pull, m)}
}

func (g *GitHub) say(c *call) reply {
	var in struct{ Body string }
	switch bad := c.read(&in); {
	case bad != nil:
		return *bad
	case g.locked(c):
		return problem(http.StatusForbidden, "Unable to create comment because issue is locked.")
	case in.Body == "":
		return invalid("Validation Failed", object{"resource": "IssueComment", "code": "missing_field", "field": "body"})
	}
	if bad := isTooLong("IssueComment", in.Body); bad != nil {
		return *bad
	}
	m := g.stage.World.add(c.pull, forge.Comment{Kind: forge.OnThread, Author: c.who, Body: precedent.Untrusted(in.Body)})
	return reply{status: http.StatusCreated, body: g.commentJSON(c, c.pull, m)}
}

// denied is the answer to a sender without permission.
func (g *GitHub) denied(c *call) reply {
	if c.app {
		return problem(http.StatusForbidden, "Resource not accessible by integration")
	}
	return problem(http.StatusForbidden, "Resource not accessible by personal access token")
}

// one finds a comment by the number in the path.
func (g *GitHub) one(c *call, kind forge.CommentKind, do func(*Pull, *forge.Comment) reply) reply {
	p, m := c.repo.findComment(forge.CommentRef{Kind: kind, ID: c.id("id")})
	if m == nil || p.unsent(*m) && m.Author.ID != c.who.ID {
		return problem(http.StatusNotFound, "Not Found")
	}
	return do(p, m)
}

func (g *GitHub) edit(c *call, kind forge.CommentKind) reply {
	var in struct{ Body string }
	if bad := c.read(&in); bad != nil {
		return *bad
	}
	return g.one(c, kind, func(p *Pull, m *forge.Comment) reply {
		switch {
		case m.Author.ID != c.who.ID:
			return g.denied(c)
		case in.Body == "":
			return invalid("Validation Failed", object{"resource": "IssueComment", "code": "missing_field", "field": "body"})
		}
		if bad := isTooLong("IssueComment", in.Body); bad != nil {
			return *bad
		}
		g.stage.World.rewrite(p, m, c.who, in.Body)
		return reply{status: http.StatusOK, body: g.commentJSON(c, p, *m)}
	})
}

func (g *GitHub) remove(c *call, kind forge.CommentKind) reply {
	return g.one(c, kind, func(p *Pull, m *forge.Comment) reply {
		if m.Author.ID != c.who.ID {
			return g.denied(c)
		}
		g.stage.World.remove(p, m, c.who)
		return reply{status: http.StatusNoContent}
	})
}

func (g *GitHub) editInline(c *call) reply    { return g.edit(c, forge.OnLine) }
func (g *GitHub) deleteInline(c *call) reply  { return g.remove(c, forge.OnLine) }
func (g *GitHub) editComment(c *call) reply   { return g.edit(c, forge.OnThread) }
func (g *GitHub) deleteComment(c *call) reply { return g.remove(c, forge.OnThread) }

func (g *GitHub) repoLabels(c *call) reply {
	return g.page(c.Request, c.repo.githubLabels(c.repo.Labels...))
}

// makeLabel takes the color without a number sign, and chooses one if there is none.
func (g *GitHub) makeLabel(c *call) reply {
	var in struct{ Name, Color, Description string }
	switch bad := c.read(&in); {
	case bad != nil:
		return *bad
	case !c.repo.mayWrite(c.who) && !c.app:
		return g.denied(c)
	case slices.ContainsFunc(c.repo.Labels, func(l string) bool { return strings.EqualFold(l, in.Name) }):
		return problem(http.StatusUnprocessableEntity, "Validation Failed: already_exists")
	}
	c.repo.Labels = append(c.repo.Labels, in.Name)
	return reply{status: http.StatusCreated, body: c.repo.githubLabels(in.Name)[0]}
}

// githubLabels are labels as GitHub lists them.
func (r *Repo) githubLabels(names ...string) []any {
	all := []any{}
	for _, name := range names {
		all = append(all, object{
			"id": r.label(name)["id"], "node_id": "LA_" + name, "url": "https://api.github.com/labels", "name": name,
			"color": "ededed", "default": false, "description": nil,
		})
	}
	return all
}

func (g *GitHub) label(c *call) reply {
	var in struct{ Labels []string }
	switch bad := c.read(&in); {
	case bad != nil:
		return *bad
	case c.repo.Archived:
		return problem(http.StatusForbidden, "Repository was archived so is read-only.")
	case !c.repo.mayWrite(c.who) && !c.app:
		return g.denied(c)
	}
	for _, l := range in.Labels {
		g.stage.World.label(c.pull, c.who, l)
	}
	return g.labels(c)
}

func (g *GitHub) unlabel(c *call) reply {
	i := slices.Index(c.pull.Labels, c.PathValue("label"))
	if i < 0 {
		return problem(http.StatusNotFound, "Label does not exist")
	}
	g.stage.World.unlabel(c.pull, c.who, c.pull.Labels[i])
	return g.labels(c)
}

func (g *GitHub) labels(c *call) reply {
	return reply{status: http.StatusOK, body: g.pullJSON(c.repo, c.pull)["labels"]}
}
