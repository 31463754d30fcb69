package forgetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// nodePrefix is the prefix of node ids.
var nodePrefix = map[forge.CommentKind]string{forge.OnThread: "IC_", forge.OnReview: "PRR_", forge.OnLine: "PRRC_"}

const threadPrefix = "PRRT_"

// nodeID is the node id of a comment.
func nodeID(c forge.CommentRef) string { return fmt.Sprint(nodePrefix[c.Kind], c.ID) }

// node finds a comment, or the first one of a conversation, by its node id.
func (g *GitHub) node(id, prefix string, kind forge.CommentKind) (*Repo, *Pull, precedent.ForgeID) {
	rest, ok := strings.CutPrefix(id, prefix)
	n := precedent.ForgeID(rest)
	if !ok || n.Number() == 0 {
		return nil, nil, ""
	}
	for _, r := range g.stage.World.repos {
		if p, m := r.findComment(forge.CommentRef{Kind: kind, ID: n}); m != nil {
			return r, p, n
		}
		if prefix != threadPrefix { // a conversation outlives its first comment
			continue
		}
		for _, p := range r.Pulls {
			if _, of := p.conversations(); of[n] != nil {
				return r, p, n
			}
		}
	}
	return nil, nil, ""
}

func noNode(id any) *graphError {
	return &graphError{"NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%v'.", id)}
}

// may returns an error unless the sender is a member of the team.
func (g *GitHub) may(c *call, r *Repo, p *Pull, mutation string) *graphError {
	switch {
	case r.Archived:
		return &graphError{"FORBIDDEN", "Repository was archived so is read-only."}
	case c.may != nil && c.may["contents"] != "write" && mutation != "minimizeComment":
		return &graphError{"FORBIDDEN", "Resource not accessible by integration"}
	case !c.app && !r.mayWrite(c.who) && c.who.ID != p.Author.ID:
		return &graphError{"FORBIDDEN", fmt.Sprintf("%s does not have the correct permissions to execute `%s%s`", c.who.Login,
			strings.ToUpper(mutation[:1]), mutation[1:])}
	}
	return nil
}

// queries are the supported queries.
func (g *GitHub) queries(c *call) object {
	return object{
		"__typename": "Query",
		"viewer":     account(c.who),
		"repository": resolver(func(args map[string]any) (any, *graphError) {
			r := g.stage.World.Repo(fmt.Sprint(args["owner"]), fmt.Sprint(args["name"]))
			if r == nil {
				return nil, &graphError{"NOT_FOUND", fmt.Sprintf("Could not resolve to a Repository with the name '%v/%v'.",
					args["owner"], args["name"])}
			}
			return object{
				"__typename": "Repository",
				"pullRequest": resolver(func(args map[string]any) (any, *graphError) {
					n, _ := strconv.Atoi(fmt.Sprint(args["number"]))
					if r.Pulls[n] == nil {
						return nil, &graphError{"NOT_FOUND", fmt.Sprintf("Could not resolve to a PullRequest with the number of %v.",
							args["number"])}
					}
					return g.pullNode(c, r, r.Pulls[n]), nil
				}),
			}, nil
		}),
		"nodes": resolver(func(args map[string]any) (any, *graphError) { return g.pullNodes(c, args) }),
		"node": resolver(func(args map[string]any) (any, *graphError) {
			_, p, root := g.node(fmt.Sprint(args["id"]), threadPrefix, forge.OnLine)
			if p == nil {
				return nil, noNode(args["id"])
			}
			return g.threadNode(c, p, root), nil
		}),
	}
}

func (g *GitHub) pullNode(c *call, r *Repo, p *Pull) object {
	return object{
		"__typename": "PullRequest", "number": p.Number,
		"reviewThreads": resolver(func(args map[string]any) (any, *graphError) {
			return connection("PullRequestReviewThread", g.threadNodes(c, p))(args)
		}),
		"reviews": resolver(func(args map[string]any) (any, *graphError) {
			return connection("PullRequestReview", g.reviewNodes(c, r, p))(args)
		}),
	}
}

// threadNodes are the conversations that the sender sees.
func (g *GitHub) threadNodes(c *call, p *Pull) []object {
	threads := []object{}
	roots, of := p.conversations()
	for _, root := range roots {
		first := of[root][0]
		if p.unsent(first) && first.Author.ID != c.who.ID ||
			!g.stage.World.shows(p.written[forge.CommentRef{Kind: forge.OnLine, ID: first.ID}], fault(c.Request).LagFor) {
			continue
		}
		threads = append(threads, g.threadNode(c, p, root))
	}
	return threads[:max(0, len(threads)-lag(c.Request))]
}

// pullNodes are the pull requests with the given node ids.
func (g *GitHub) pullNodes(c *call, args map[string]any) (any, *graphError) {
	ids, _ := args["ids"].([]any)
	if len(ids) > 100 {
		return nil, &graphError{"ARGUMENT_LIMIT", fmt.Sprintf("You may not provide more than 100 node ids; you provided %d.",
			len(ids))}
	}
	all := []object{}
	for _, id := range ids {
		var repo, number int64
		_, err := fmt.Sscanf(fmt.Sprint(id), "PR_%d_%d", &repo, &number)
		found := false
		for _, r := range g.stage.World.repos {
			if p := r.Pulls[int(number)]; err == nil && r.ID == repo && p != nil && !found {
				found = true
				all = append(all, g.pullNode(c, r, p))
			}
		}
		if !found {
			return nil, noNode(id)
		}
	}
	return all, nil
}

// reviewNodes are the reviews that the sender sees. Unlike in REST, they say when they were edited.
func (g *GitHub) reviewNodes(c *call, r *Repo, p *Pull) []object {
	all := []object{}
	for _, m := range p.Comments {
		if m.Kind != forge.OnReview || !g.sees(c, p.details(m.ID)) ||
			!g.stage.World.shows(p.written[forge.CommentRef{Kind: m.Kind, ID: m.ID}], fault(c.Request).LagFor) {
			continue
		}
		out := g.commentNode(p, m)
		state := p.details(m.ID).State
		out["state"], out["submittedAt"], out["authorAssociation"] = state, nil, association(m)
		out["url"] = fmt.Sprintf("%s/%s/%s/pull/%d#pullrequestreview-%s", g.URL, r.Owner, r.Name, p.Number, m.ID)
		if state != Pending {
			out["submittedAt"] = m.At.Format(time.RFC3339)
		}
		all = append(all, out)
	}
	return all
}

// threadNode is a conversation, of which its comments are seen.
func (g *GitHub) threadNode(c *call, p *Pull, root precedent.ForgeID) object {
	_, of := p.conversations()
	all := []object{}
	for _, m := range of[root] {
		if p.unsent(m) && m.Author.ID != c.who.ID ||
			!g.stage.World.shows(p.written[forge.CommentRef{Kind: forge.OnLine, ID: m.ID}], fault(c.Request).LagFor) {
			continue
		}
		all = append(all, g.commentNode(p, m))
	}
	by, closed := p.Closed[root]
	out := object{
		"__typename": "PullRequestReviewThread", "id": fmt.Sprint(threadPrefix, root), "isResolved": closed,
		"isOutdated": of[root][0].Outdated, "resolvedBy": nil, "comments": connection("PullRequestReviewComment", all),
	}
	if closed && by.ID != "" {
		out["resolvedBy"] = account(by)
	}
	return out
}

func (g *GitHub) commentNode(p *Pull, m forge.Comment) object {
	_, folded := p.Folded[forge.CommentRef{Kind: m.Kind, ID: m.ID}]
	return object{
		"__typename": map[forge.CommentKind]string{
			forge.OnThread: "IssueComment", forge.OnReview: "PullRequestReview", forge.OnLine: "PullRequestReviewComment",
		}[m.Kind],
		"fullDatabaseId": fmt.Sprint(m.ID), "body": text(m.Body), "author": actor(m.Author),
		"updatedAt": m.Edited.Format(time.RFC3339), "isMinimized": folded,
	}
}

// account is one where the schema has users only: bots are named in full.
func account(p forge.Person) object {
	return object{"__typename": "User", "login": p.Login, "databaseId": p.ID.Number()}
}

// actor is an account, whose login lacks there what marks it as a bot.
func actor(p forge.Person) any {
	if p.ID == "" {
		return nil
	}
	out := account(p)
	out["login"] = strings.TrimSuffix(p.Login, "[bot]")
	if p.Bot {
		out["__typename"] = "Bot"
	}
	return out
}

// mutations are the supported mutations.
func (g *GitHub) mutations(c *call) object {
	on := func(do func(in map[string]any) (any, *graphError)) resolver {
		return func(args map[string]any) (any, *graphError) {
			in, _ := args["input"].(map[string]any)
			return do(in)
		}
	}
	resolve := func(name string, closed bool) resolver {
		return on(func(in map[string]any) (any, *graphError) {
			r, p, root := g.node(fmt.Sprint(in["threadId"]), threadPrefix, forge.OnLine)
			if p == nil {
				return nil, noNode(in["threadId"])
			}
			if wrong := g.may(c, r, p, name); wrong != nil {
				return nil, wrong
			}
			if closed {
				p.close(root, c.who)
			} else {
				delete(p.Closed, root)
			}
			return object{"__typename": "Payload", "thread": g.threadNode(c, p, root)}, nil
		})
	}
	return object{
		"__typename":            "Mutation",
		"resolveReviewThread":   resolve("resolveReviewThread", true),
		"unresolveReviewThread": resolve("unresolveReviewThread", false),
		"minimizeComment":       on(func(in map[string]any) (any, *graphError) { return g.fold(c, in) }),
	}
}

// fold minimizes a comment of any kind.
func (g *GitHub) fold(c *call, in map[string]any) (any, *graphError) {
	id := fmt.Sprint(in["subjectId"])
	for kind, prefix := range nodePrefix {
		r, p, n := g.node(id, prefix, kind)
		if p == nil {
			continue
		}
		if wrong := g.may(c, r, p, "minimizeComment"); wrong != nil {
			return nil, wrong
		}
		said := forge.CommentRef{Kind: kind, ID: n}
		if p.Folded == nil {
			p.Folded = map[forge.CommentRef]string{}
		}
		p.Folded[said] = fmt.Sprint(in["classifier"])
		return object{"__typename": "Payload", "minimizedComment": g.commentNode(p, *p.comment(said))}, nil
	}
	return nil, noNode(id)
}
