package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/precedent-dev/precedent"
	marker "github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// Post posts a review on the head of a pull request. Gitea accepts comments on any
// line, so remarks that are not within one hunk of the diff are rejected here. Gitea
// has no ranges: a remark on several lines is shown on the last.
func (c *Client) Post(ctx context.Context, repo precedent.Repo, number int, d forge.Draft) (forge.Posted, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("post review on %s#%d", repo, number))
	if err := do.CheckDraft(d); err != nil {
		return forge.Posted{}, err
	}
	select { // an account has only one pending review on a pull request
	case c.postingLock <- struct{}{}:
		defer func() { <-c.postingLock }()
	case <-ctx.Done():
		return forge.Posted{}, do.Fail(ctx.Err())
	}
	p, err := c.readUnlocked(ctx, do, repo, number)
	switch {
	case err != nil:
		return forge.Posted{}, err
	case p.Head.SHA != d.Commit:
		return forge.Posted{}, &forge.Error{
			Kind: forge.KindInvalid, Msg: fmt.Sprintf("%s: the head is %s, not %s", do.Doing(), p.Head.SHA, d.Commit),
			Hint: "review the new head; Gitea takes a few seconds to process a push",
		}
	}
	posted := forge.Posted{Remarks: make([]precedent.ForgeID, len(d.Remarks))}
	if len(d.Remarks) > 0 {
		patch, _, err := c.Patch(ctx, repo, number)
		if posted.Rejected, err = wire.RejectedRemarks(patch, err, d.Remarks); err != nil {
			return forge.Posted{}, err
		}
		if len(posted.Rejected) == len(d.Remarks) {
			return posted, nil
		}
	}
	send := newReview{Event: stateComment, Body: d.Body, CommitID: d.Commit}
	for i, r := range d.Remarks {
		if !isRejected(posted, i) {
			send.Comments = append(send.Comments, remark(r))
		}
	}
	if d.Event == forge.RequestChanges {
		if p.State == forge.Open {
			send.Event = stateRequestChanges
		} else {
			posted.Unsupported = append(posted.Unsupported, "Gitea lets reviews request changes only on open pull requests")
		}
	}
	r, err := c.submit(ctx, do, number, send)
	e, _ := errors.AsType[*forge.Error](err)
	if err != nil && e.Kind == forge.KindInvalid && !e.Unsure && send.Event == stateRequestChanges {
		posted.Unsupported = append(posted.Unsupported,
			forge.Unsupported("Gitea does not let this account request changes: "+e.Msg))
		send.Event = stateComment
		r, err = c.submit(ctx, do, number, send)
	}
	if err != nil {
		return forge.Posted{}, err
	}
	posted.Review = precedent.NumberID(r.ID)
	c.readRemarkIDs(do, number, r, d.Remarks, &posted)
	return posted, nil
}

func isRejected(p forge.Posted, remark int) bool {
	return slices.ContainsFunc(p.Rejected, func(no forge.Rejected) bool { return no.Remark == remark })
}

// readUnlocked reads a pull request that accepts comments. Gitea accepts reviews on locked conversations.
func (c *Client) readUnlocked(ctx context.Context, do wire.Call, repo precedent.Repo, number int) (forge.PullRequest,
	error,
) {
	p, err := c.PullRequest(ctx, repo, number)
	if err == nil && p.Locked {
		err = do.Refuse(forge.KindClosed, "the conversation is locked")
	}
	return p, err
}

// remark converts a remark.
func remark(r forge.Remark) newComment {
	out := newComment{Path: r.Path, Body: r.Body}
	if r.Side == precedent.Left {
		out.OldLine = r.End
	} else {
		out.NewLine = r.End
	}
	return out
}

// readRemarkIDs reads the ids of the posted remarks. An id that cannot be read stays empty.
func (c *Client) readRemarkIDs(do wire.Call, number int, r *wire.Review, remarks []forge.Remark, posted *forge.Posted) {
	if len(remarks) == 0 {
		return
	}
	there, err := c.remarks(do, number, r)
	if err != nil {
		return
	}
	var all []forge.Comment
	for _, m := range there {
		all = append(all, m.Comment)
	}
	wire.Found(posted, remarks, all)
}

// submit posts a review. Gitea stores the comments of a request as a pending review,
// and then submits everything that the account has pending. So what an interrupted
// attempt left is deleted before, and what this one leaves is deleted after.
func (c *Client) submit(ctx context.Context, do wire.Call, number int, send newReview) (*wire.Review, error) {
	if _, err := c.deletePending(ctx, do, number, &send); err != nil {
		return nil, err
	}
	var r wire.Review
	err := do.Send(http.MethodPost, send, &r, "pulls/%d/reviews", number)
	// Gitea returns 500 or 422 when it has finished; a proxy in front of it may
	// return 502 or 504 while it is still working.
	if s := wire.Status(err); s == http.StatusInternalServerError || s == http.StatusUnprocessableEntity {
		removed, wrong := c.deletePending(ctx, do, number, nil)
		e, _ := errors.AsType[*forge.Error](err)
		e.Unsure = wrong != nil || e.Unsure && !removed // if only a pending review was left, it was deleted
	}
	if err == nil && r.ID <= 0 {
		err = do.UnexpectedAfterChange("it contains no review")
	}
	return &r, err
}

// deletePending deletes the account's pending review if it contains only what is to be sent now; send is nil
// to accept any content of ours. It never deletes what a person wrote, and then refuses to post.
func (c *Client) deletePending(ctx context.Context, do wire.Call, number int, send *newReview) (removed bool,
	err error,
) {
	listed, err := wire.List[wire.Review](do, "pulls/%d/reviews", number)
	listed = slices.DeleteFunc(listed, func(r *wire.Review) bool { return r.State != statePending })
	if err != nil || len(listed) == 0 {
		return false, err
	}
	me, err := c.Me(ctx)
	if err != nil {
		return false, err
	}
	for _, r := range listed {
		if r.User.Person().ID != me.ID {
			continue // administrators see pending reviews of others
		}
		if send != nil {
			if err := c.checkPending(do, number, r, send); err != nil {
				return removed, err
			}
		}
		if err := do.Send(http.MethodDelete, nil, nil, "pulls/%d/reviews/%d", number, r.ID); err != nil &&
			!isUnknownRoute(err) {
			return removed, err
		}
		removed = true
	}
	return removed, nil
}

// checkPending refuses a pending review unless it contains the text to be sent, or
// text with our marker, from an attempt that was interrupted at an earlier head.
// Nobody else sees a pending review, and a person does not write markers.
func (c *Client) checkPending(do wire.Call, number int, r *wire.Review, send *newReview) error {
	there, err := c.remarks(do, number, r)
	if err != nil {
		return err
	}
	marked := func(body string) bool {
		_, ok := marker.Writer{}.Read(body)
		return ok
	}
	other := r.Body != "" && r.Body != send.Body && !marked(r.Body)
	for _, m := range there {
		sent := slices.ContainsFunc(send.Comments, func(s newComment) bool { return s.Body == string(m.Body) })
		other = other || !sent && !marked(string(m.Body))
	}
	if other {
		return &forge.Error{
			Kind: forge.KindInvalid,
			Msg:  do.Doing() + ": the token's account has a pending review there, which Gitea would submit as well",
			Hint: "submit or discard it on the pull request's page, or use a separate account for precedent",
		}
	}
	return nil
}

// Dismiss takes back the request for changes of a review. Gitea lets only administrators of
// the repository do that, and refuses it on a closed pull request.
func (c *Client) Dismiss(ctx context.Context, repo precedent.Repo, number int, id precedent.ForgeID,
	why string,
) (forge.Unsupported, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("take back the request for changes on %s#%d", repo, number), id)
	return do.Dismiss(http.MethodPost, number, id, why, "an administrator of the repository has to dismiss the review")
}
