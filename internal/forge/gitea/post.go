package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Post posts a review on the head of a pull request. Gitea accepts comments on any
// line, so remarks that are not within one hunk of the diff are rejected here. Gitea
// has no ranges: a remark on several lines is shown on the last.
func (c *Client) Post(ctx context.Context, repo precedent.Repo, number int, d forge.Draft) (forge.Posted, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("post review on %s#%d", repo, number))
	if err != nil {
		return forge.Posted{}, err
	}
	if err := checkDraft(do.doing, d); err != nil {
		return forge.Posted{}, err
	}
	select { // an account has only one pending review on a pull request
	case c.postingLock <- struct{}{}:
		defer func() { <-c.postingLock }()
	case <-ctx.Done():
		return forge.Posted{}, do.fail(ctx.Err())
	}
	p, err := c.readUnlocked(ctx, do, repo, number)
	switch {
	case err != nil:
		return forge.Posted{}, err
	case p.Head.SHA != d.Commit:
		return forge.Posted{}, &forge.Error{Kind: forge.KindInvalid, Msg: fmt.Sprintf("%s: the head is %s, not %s", do.doing, p.Head.SHA, d.Commit), Hint: "review the new head; Gitea takes a few seconds to process a push"}
	}
	posted := forge.Posted{Remarks: make([]precedent.ForgeID, len(d.Remarks))}
	if len(d.Remarks) > 0 {
		if posted.Rejected, err = c.rejectedRemarks(ctx, repo, number, d.Remarks); err != nil {
			return forge.Posted{}, err
		}
		if len(posted.Rejected) == len(d.Remarks) {
			return posted, nil
		}
	}
	send := sdk.CreatePullReviewOptions{State: sdk.ReviewStateComment, Body: d.Body, CommitID: d.Commit}
	for i, r := range d.Remarks {
		if !slices.ContainsFunc(posted.Rejected, func(no forge.Rejected) bool { return no.Remark == i }) {
			send.Comments = append(send.Comments, remark(r))
		}
	}
	if d.Event == forge.RequestChanges {
		if p.State == forge.Open {
			send.State = sdk.ReviewStateRequestChanges
		} else {
			posted.Unsupported = append(posted.Unsupported, "Gitea lets reviews request changes only on open pull requests")
		}
	}
	r, err := c.submit(ctx, do, repo, number, send)
	var refused *forge.Error
	if errors.As(err, &refused) && refused.Kind == forge.KindInvalid && !refused.Unsure && send.State == sdk.ReviewStateRequestChanges {
		posted.Unsupported = append(posted.Unsupported, forge.Unsupported("Gitea does not let this account request changes: "+refused.Msg))
		send.State = sdk.ReviewStateComment
		r, err = c.submit(ctx, do, repo, number, send)
	}
	if err != nil {
		return forge.Posted{}, err
	}
	posted.Review = precedent.NumberID(r.ID)
	c.readRemarkIDs(ctx, repo, number, r, d.Remarks, &posted)
	return posted, nil
}

// checkDraft refuses a draft that exceeds the limits.
func checkDraft(doing string, d forge.Draft) error {
	long := tooLong(d.Body)
	for _, r := range d.Remarks {
		long = long || tooLong(r.Body)
	}
	switch {
	case d.Event != forge.Remarks && d.Event != forge.RequestChanges:
		return &forge.Error{Kind: forge.KindRefused, Msg: fmt.Sprintf("%s: %q is not a review event", doing, d.Event)}
	case len(d.Remarks) > forge.MaxRemarks:
		return &forge.Error{Kind: forge.KindInvalid, Msg: fmt.Sprintf("%s: too many comments: %d of at most %d", doing, len(d.Remarks), forge.MaxRemarks)}
	case long:
		return tooLongError(doing)
	}
	return nil
}

// tooLong reports whether a text exceeds our limit. Gitea has none but that of its
// database.
func tooLong(body string) bool { return utf8.RuneCountInString(body) > forge.MaxPost }

func tooLongError(doing string) error {
	return &forge.Error{Kind: forge.KindInvalid, Msg: fmt.Sprintf("%s: the text has more than %d characters", doing, forge.MaxPost)}
}

// readUnlocked reads a pull request that accepts comments. Gitea accepts reviews on
// locked conversations.
func (c *Client) readUnlocked(ctx context.Context, do call, repo precedent.Repo, number int) (forge.PullRequest, error) {
	p, err := c.PullRequest(ctx, repo, number)
	if err == nil && p.Locked {
		err = &forge.Error{Kind: forge.KindClosed, Msg: do.doing + ": the conversation is locked"}
	}
	return p, err
}

// remark converts a remark.
func remark(r forge.Remark) sdk.CreatePullReviewComment {
	out := sdk.CreatePullReviewComment{Path: r.Path, Body: r.Body}
	if r.Side == precedent.Left {
		out.OldLineNum = int64(r.End)
	} else {
		out.NewLineNum = int64(r.End)
	}
	return out
}

// readRemarkIDs reads the ids of the posted remarks. An id that cannot be read stays
// empty.
func (c *Client) readRemarkIDs(ctx context.Context, repo precedent.Repo, number int, r *sdk.PullReview, remarks []forge.Remark, posted *forge.Posted) {
	do, err := c.begin(ctx, repo, "read the posted review")
	if err != nil || len(remarks) == 0 {
		return
	}
	there, err := c.remarks(do, repo, number, r)
	if err != nil {
		return
	}
	for i, m := range remarks {
		if slices.ContainsFunc(posted.Rejected, func(no forge.Rejected) bool { return no.Remark == i }) {
			continue
		}
		at := slices.IndexFunc(there, func(t inline) bool { return t.Span.Path == m.Path && string(t.Body) == m.Body })
		if at >= 0 {
			posted.Remarks[i] = there[at].ID
			there = slices.Delete(there, at, at+1)
		}
	}
}

// submit posts a review. Gitea stores the comments of a request as a pending review,
// and then submits everything that the account has pending. So what an interrupted
// attempt left is deleted before, and what this one leaves is deleted after.
func (c *Client) submit(ctx context.Context, do call, repo precedent.Repo, number int, send sdk.CreatePullReviewOptions) (*sdk.PullReview, error) {
	if _, err := c.deletePending(ctx, repo, number, &send); err != nil {
		return nil, err
	}
	r, _, err := do.CreatePullReview(repo.Owner, repo.Name, int64(number), send)
	if err != nil {
		err = do.fail(err)
		var e *forge.Error
		// Gitea returns 500 or 422 when it has finished; a proxy in front of it may
		// return 502 or 504 while it is still working.
		if errors.As(err, &e) && (e.Status == http.StatusInternalServerError || e.Status == http.StatusUnprocessableEntity) {
			if removed, wrong := c.deletePending(ctx, repo, number, nil); wrong != nil {
				e.Unsure = true
			} else if removed {
				e.Unsure = false // only a pending review was left, and it was deleted
			}
		}
		return nil, err
	}
	if r.ID <= 0 {
		return nil, do.unexpected("it contains no review")
	}
	return r, nil
}

// deletePending deletes the account's pending review if it contains only what is to
// be sent now; send is nil to accept any content of ours. It never deletes what a
// person wrote, and then refuses to post.
func (c *Client) deletePending(ctx context.Context, repo precedent.Repo, number int, send *sdk.CreatePullReviewOptions) (removed bool, err error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("look for a pending review on %s#%d", repo, number))
	if err != nil {
		return false, err
	}
	listed, err := listAll(do, func(o sdk.ListOptions) ([]*sdk.PullReview, *sdk.Response, error) {
		return do.ListPullReviews(repo.Owner, repo.Name, int64(number), sdk.ListPullReviewsOptions{ListOptions: o})
	})
	if err != nil {
		return false, err
	}
	listed = slices.DeleteFunc(listed, func(r *sdk.PullReview) bool { return r.State != sdk.ReviewStatePending })
	if len(listed) == 0 {
		return false, nil
	}
	me, err := c.Me(ctx)
	if err != nil {
		return false, err
	}
	for _, r := range listed {
		if person(r.Reviewer).ID != me.ID {
			continue // administrators see pending reviews of others
		}
		if send != nil {
			if err := c.checkPending(do, repo, number, r, send); err != nil {
				return removed, err
			}
		}
		if _, err := do.DeletePullReview(repo.Owner, repo.Name, int64(number), r.ID); err != nil && !isUnknownRoute(err) {
			return removed, do.fail(err)
		}
		removed = true
	}
	return removed, nil
}

// checkPending refuses a pending review unless it contains the text to be sent, or
// text with our marker, from an attempt that was interrupted at an earlier head.
// Nobody else sees a pending review, and a person does not write markers.
func (c *Client) checkPending(do call, repo precedent.Repo, number int, r *sdk.PullReview, send *sdk.CreatePullReviewOptions) error {
	there, err := c.remarks(do, repo, number, r)
	if err != nil {
		return err
	}
	marked := func(body string) bool {
		_, ok := comment.Writer{}.Read(body)
		return ok
	}
	other := r.Body != "" && r.Body != send.Body && !marked(r.Body)
	for _, m := range there {
		other = other || !marked(string(m.Body)) && !slices.ContainsFunc(send.Comments, func(s sdk.CreatePullReviewComment) bool { return s.Body == string(m.Body) })
	}
	if other {
		return &forge.Error{
			Kind: forge.KindInvalid, Msg: fmt.Sprintf("post on %s#%d: the token's account has a pending review there, which Gitea would submit as well", repo, number),
			Hint: "submit or discard it on the pull request's page, or use a separate account for precedent",
		}
	}
	return nil
}
