package gitea

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Threads reads the conversations on lines: like Gitea, it groups all comments on one
// line of one commit. The id of a conversation is that of its first comment, which is
// the one that gets resolved.
func (c *Client) Threads(ctx context.Context, repo precedent.Repo, number int) ([]forge.Thread, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("read conversations of %s#%d", repo, number))
	if err != nil {
		return nil, err
	}
	said, err := c.reviews(do, repo, number)
	if err != nil && !isTooMany(err) {
		return nil, err
	}
	var all []forge.Thread
	at := map[precedent.ForgeID]int{}
	for _, m := range said.inline {
		if i, ok := at[m.ReplyTo]; ok {
			all[i].Comments = append(all[i].Comments, m.ID)
			continue
		}
		t := forge.Thread{ID: m.ID, Comments: []precedent.ForgeID{m.ID}, Closed: m.closed != nil, Outdated: m.Outdated}
		if m.closed != nil {
			t.ClosedBy = person(m.closed)
		}
		at[m.ID] = len(all)
		all = append(all, t)
	}
	return all, err
}

// Resolve resolves a conversation, or reopens it. Gitea supports it since 1.26;
// Forgejo does not.
func (c *Client) Resolve(ctx context.Context, repo precedent.Repo, number int, t forge.Thread, closed bool) (forge.Unsupported, error) {
	doing, verb := fmt.Sprintf("resolve conversation %s on %s#%d", t.ID, repo, number), "resolve"
	if !closed {
		doing, verb = fmt.Sprintf("reopen conversation %s on %s#%d", t.ID, repo, number), "reopen"
	}
	id := t.ID
	if len(t.Comments) > 0 {
		id = t.Comments[0]
	}
	do, err := c.begin(ctx, repo, doing, id)
	if err != nil {
		return "", err
	}
	lacking := forge.Unsupported("this server cannot " + verb + " conversations through its API (Gitea can since 1.26), or this one was deleted")
	if c.cached.resolves.Load() <= -maxUnknown {
		return lacking, nil
	}
	first := id.Number()
	if closed {
		_, err = do.ResolvePullReviewComment(repo.Owner, repo.Name, first)
	} else {
		_, err = do.UnresolvePullReviewComment(repo.Owner, repo.Name, first)
	}
	switch {
	case isUnknownRoute(err):
		c.cached.resolves.Add(-1)
		return lacking, nil
	case statusOf(err) == http.StatusForbidden:
		return forge.Unsupported("the token cannot " + verb + " conversations: only the author, official reviewers and people with write access can"), nil
	}
	if err == nil {
		c.cached.resolves.Store(maxUnknown)
	}
	return "", do.fail(err)
}

// Reactions reads the reactions to a comment.
func (c *Client) Reactions(ctx context.Context, repo precedent.Repo, number int, to forge.CommentRef) ([]forge.Reaction, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("read reactions on %s#%d", repo, number), to.ID)
	if err != nil {
		return nil, err
	}
	id := to.ID.Number()
	if to.Kind == forge.OnReview {
		r, _, err := do.GetPullReview(repo.Owner, repo.Name, int64(number), id)
		if err != nil {
			return nil, do.fail(err)
		}
		if id = bodyCommentID(r); id == 0 {
			return nil, nil // a review without text has no reactions
		}
	}
	listed, _, err := do.GetIssueCommentReactions(repo.Owner, repo.Name, id)
	if err != nil {
		return nil, do.fail(err)
	}
	var all []forge.Reaction
	for _, r := range listed {
		if r == nil {
			return nil, do.unexpected("a list entry is null")
		}
		all = append(all, forge.Reaction{Who: person(r.User), Content: r.Reaction, At: r.Created.UTC()})
	}
	return all, nil
}

// bodyCommentID returns the id of the comment that holds the text of a review. It
// differs from the review's id, and only the review's URL contains it.
func bodyCommentID(r *sdk.PullReview) int64 {
	found := anchor().FindStringSubmatch(r.HTMLURL)
	if found == nil {
		return 0
	}
	id, _ := strconv.ParseInt(found[1], 10, 64) // 18 digits are a number
	return id
}
