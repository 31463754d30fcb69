package gitea

import (
	"context"
	"fmt"
	"net/http"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// Threads reads the conversations on lines: like Gitea, it groups all comments on one line of one commit. The
// id of a conversation is that of its first comment, which is the one that gets resolved.
func (c *Client) Threads(ctx context.Context, repo precedent.Repo, number int) ([]forge.Thread, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("read conversations of %s#%d", repo, number))
	said, err := c.discussion(do, number)
	if err != nil && !forge.IsPartial(err) {
		return nil, err
	}
	var all []forge.Thread
	at := map[precedent.ForgeID]int{}
	for _, m := range said.inline {
		if i, ok := at[m.ReplyTo]; ok {
			all[i].Comments = append(all[i].Comments, m.ID)
			continue
		}
		t := forge.Thread{ID: m.ID, Comments: []precedent.ForgeID{m.ID}, Closed: m.closed != nil}
		if m.closed != nil {
			t.ClosedBy = m.closed.Person()
		}
		at[m.ID] = len(all)
		all = append(all, t)
	}
	return all, err
}

// Reply replies in the conversation that starts with the inline comment. On servers without
// replies, only a review of its own could be shown there, which would notify everybody.
func (c *Client) Reply(ctx context.Context, repo precedent.Repo, number int, to precedent.ForgeID,
	body string,
) (forge.Comment, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("reply to comment %s on %s#%d", to, repo, number), to)
	if err := do.CheckBody(body); err != nil {
		return forge.Comment{}, err
	}
	noReply := do.Refuse(forge.KindUnsupported, "this server has no API for replies")
	mode := c.replyMode(ctx)
	if mode == noReplies {
		return forge.Comment{}, noReply
	}
	if _, err := c.readUnlocked(ctx, do, repo, number); err != nil {
		return forge.Comment{}, err
	}
	first, err := c.find(do, number, forge.CommentRef{Kind: forge.OnLine, ID: to})
	switch {
	case err != nil:
		return forge.Comment{}, err
	case first == nil:
		return forge.Comment{}, do.Refuse(forge.KindNotFound, "the comment was deleted")
	}
	var m wire.Comment
	if mode == viaReply {
		err = do.Send(http.MethodPost, map[string]string{"body": body}, &m, "pulls/%d/comments/%d/replies", number,
			to.Number())
	} else {
		onSpot := newComment{Path: first.at.path, Body: body, NewLine: first.at.new, OldLine: first.at.old}
		err = do.Send(http.MethodPost, onSpot, &m, "pulls/%d/reviews/%d/comments", number, first.Review.Number())
	}
	if isUnknownRoute(err) { // the server does not have what its version suggests
		c.cached.mu.Lock()
		c.cached.version = lacking
		c.cached.mu.Unlock()
		return forge.Comment{}, noReply
	}
	out := c.onLine(&m, &wire.Review{ID: first.Review.Number(), CommitID: first.Commit, Stale: first.Outdated}).Comment
	out.ReplyTo = to
	return do.Created(out, err)
}

// Resolve resolves a conversation, or reopens it. Gitea supports it since 1.26; Forgejo does not.
func (c *Client) Resolve(ctx context.Context, repo precedent.Repo, number int, t forge.Thread,
	closed bool,
) (forge.Unsupported, error) {
	verb, action := "resolve", "resolve"
	if !closed {
		verb, action = "reopen", "unresolve"
	}
	id := t.ID
	if len(t.Comments) > 0 {
		id = t.Comments[0]
	}
	do := c.Begin(ctx, repo, fmt.Sprintf("%s conversation %s on %s#%d", verb, t.ID, repo, number), id)
	unable := forge.Unsupported("this server cannot " + verb +
		" conversations through its API (Gitea can since 1.26), or this one was deleted")
	if err := do.Err(); err != nil {
		return "", err
	}
	if c.cached.resolves.Load() <= -maxUnknown {
		return unable, nil
	}
	err := do.Send(http.MethodPost, nil, nil, "pulls/comments/%d/%s", id.Number(), action)
	switch {
	case err == nil:
		c.cached.resolves.Store(maxUnknown)
	case isUnknownRoute(err):
		c.cached.resolves.Add(-1)
		return unable, nil
	case wire.Status(err) == http.StatusForbidden:
		return forge.Unsupported("the token cannot " + verb +
			" conversations: only the author, official reviewers and people with write access can"), nil
	}
	return "", err
}

// Reactions reads the reactions to a comment.
func (c *Client) Reactions(ctx context.Context, repo precedent.Repo, number int, to forge.CommentRef) ([]forge.Reaction,
	error,
) {
	do := c.Begin(ctx, repo, fmt.Sprintf("read reactions on %s#%d", repo, number), to.ID).
		Only(to.Kind != forge.OnReview, "reviews have no reactions")
	listed, err := wire.GetList[wire.Reaction](do, "issues/comments/%d/reactions", to.ID.Number())
	return wire.Reactions(listed), err
}
