package gitea

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Reply replies in the conversation that starts with the inline comment.
func (c *Client) Reply(ctx context.Context, repo precedent.Repo, number int, to precedent.ForgeID, body string) (forge.Comment, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("reply to comment %s on %s#%d", to, repo, number), to)
	if err != nil {
		return forge.Comment{}, err
	}
	if tooLong(body) {
		return forge.Comment{}, tooLongError(do.doing)
	}
	if _, err := c.readUnlocked(ctx, do, repo, number); err != nil {
		return forge.Comment{}, err
	}
	first, err := c.find(do, repo, number, to)
	switch {
	case err != nil:
		return forge.Comment{}, err
	case first == nil:
		return forge.Comment{}, &forge.Error{Kind: forge.KindClosed, Msg: do.doing + ": the comment was deleted"}
	}
	m, remark := new(sdk.PullReviewComment), first.remark(body)
	switch c.replyMode(ctx) {
	case viaReply:
		if m, _, err = do.CreatePullReviewCommentReply(repo.Owner, repo.Name, int64(number), to.Number(), sdk.CreatePullReviewCommentReplyOptions{Body: body}); err != nil {
			err = do.fail(err)
		}
	case viaReviewComment:
		err = c.send(ctx, do, http.MethodPost, fmt.Sprintf("repos/%s/%s/pulls/%d/reviews/%d/comments", repo.Owner, repo.Name, number, first.Review.Number()), remark, m)
	case viaReview:
		return c.replyByReview(ctx, do, repo, number, first, remark)
	}
	switch {
	case isUnknownRoute(err): // the server does not have what its version suggests
		return c.replyByReview(ctx, do, repo, number, first, remark)
	case err != nil:
		return forge.Comment{}, err
	}
	out := c.onLine(m, &sdk.PullReview{ID: first.Review.Number(), CommitID: first.Commit, Stale: first.Outdated}).Comment
	if out.ID.Number() <= 0 || out.At.IsZero() {
		return forge.Comment{}, do.unexpected("a comment has no id or no time")
	}
	out.ReplyTo = to
	return out, nil
}

// replyByReview replies with a review that contains only a comment on the same line
// of the same commit.
func (c *Client) replyByReview(ctx context.Context, do call, repo precedent.Repo, number int, first *inline, remark sdk.CreatePullReviewComment) (forge.Comment, error) {
	select {
	case c.postingLock <- struct{}{}:
		defer func() { <-c.postingLock }()
	case <-ctx.Done():
		return forge.Comment{}, do.fail(ctx.Err())
	}
	r, err := c.submit(ctx, do, repo, number, sdk.CreatePullReviewOptions{
		State: sdk.ReviewStateComment, CommitID: first.Commit, Comments: []sdk.CreatePullReviewComment{remark},
	})
	if err != nil {
		return forge.Comment{}, err
	}
	there, err := c.remarks(do, repo, number, r)
	at := slices.IndexFunc(there, func(t inline) bool { return string(t.Body) == remark.Body })
	if err != nil || at < 0 {
		return forge.Comment{}, do.unexpected("the posted review does not contain its comment")
	}
	there[at].ReplyTo = first.ID
	return there[at].Comment, nil
}

// remark is a new comment on the same spot.
func (m *inline) remark(body string) sdk.CreatePullReviewComment {
	return sdk.CreatePullReviewComment{Path: m.at.path, Body: body, NewLineNum: int64(m.at.new), OldLineNum: int64(m.at.old)}
}

// find returns an inline comment of the pull request; nil if it does not exist.
func (c *Client) find(do call, repo precedent.Repo, number int, id precedent.ForgeID) (*inline, error) {
	said, err := c.reviews(do, repo, number)
	if i := slices.IndexFunc(said.inline, func(m inline) bool { return m.ID == id }); i >= 0 {
		return &said.inline[i], nil
	}
	return nil, err
}
