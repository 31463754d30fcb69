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

// Reply replies in the conversation that starts with the inline comment. On servers without
// replies, only a review of its own could be shown there, which would notify everybody.
func (c *Client) Reply(ctx context.Context, repo precedent.Repo, number int, to precedent.ForgeID, body string) (forge.Comment, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("reply to comment %s on %s#%d", to, repo, number), to)
	if err != nil {
		return forge.Comment{}, err
	}
	if tooLong(body) {
		return forge.Comment{}, tooLongError(do.doing)
	}
	mode := c.replyMode(ctx)
	if mode == noReplies {
		return forge.Comment{}, noReplyError(do)
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
	switch mode {
	case viaReply:
		if m, _, err = do.CreatePullReviewCommentReply(repo.Owner, repo.Name, int64(number), to.Number(), sdk.CreatePullReviewCommentReplyOptions{Body: body}); err != nil {
			err = do.fail(err)
		}
	case viaReviewComment:
		err = c.send(ctx, do, http.MethodPost, fmt.Sprintf("repos/%s/%s/pulls/%d/reviews/%d/comments", repo.Owner, repo.Name, number, first.Review.Number()), remark, m)
	}
	switch {
	case isUnknownRoute(err): // the server does not have what its version suggests
		c.cached.mu.Lock()
		c.cached.noReplies = true
		c.cached.mu.Unlock()
		return forge.Comment{}, noReplyError(do)
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

func noReplyError(do call) error {
	return &forge.Error{Kind: forge.KindUnsupported, Msg: do.doing + ": this server has no API for replies"}
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
