package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// events maps to GitHub's names.
var events = map[forge.ReviewEvent]string{forge.Remarks: "COMMENT", forge.RequestChanges: "REQUEST_CHANGES"}

// onFile is why a remark on a file is rejected: comments in a review have no
// subject_type, and a separate comment would be a second visible post.
const onFile = "GitHub accepts only comments on lines in a review"

// Post posts a review. GitHub accepts or rejects a review as a whole. If it rejects one, the remarks that are not
// within one hunk of its diff are left out, and the rest is sent once more. A reason that the diff does not show is
// an error, after which callers put all findings into the summary. Where GitHub returns no diff, because the file or
// the pull request is too large, remarks that it might have accepted are left out, too.
func (c *Client) Post(ctx context.Context, repo precedent.Repo, number int, d forge.Draft) (forge.Posted, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("post review on %s#%d", repo, number))
	p := &posting{
		client: c, do: do, repo: repo, number: number, draft: d, event: events[d.Event],
		posted: forge.Posted{Remarks: make([]precedent.ForgeID, len(d.Remarks))},
	}
	if err := do.CheckDraft(d); err != nil {
		return forge.Posted{}, err
	}
	for i, r := range d.Remarks {
		if r.Start <= 0 || r.End < r.Start {
			p.posted.Rejected = append(p.posted.Rejected, forge.Rejected{Remark: i, Why: onFile})
			continue
		}
		p.remaining = append(p.remaining, i)
	}
	err := p.run()
	slices.SortFunc(p.posted.Rejected, func(a, b forge.Rejected) int { return cmp.Compare(a.Remark, b.Remark) })
	return p.posted, err
}

// posting is a draft that is being posted.
type posting struct {
	client    *Client
	do        wire.Call
	repo      precedent.Repo
	number    int
	draft     forge.Draft
	event     string
	remaining []int // remarks that GitHub has not rejected so far
	posted    forge.Posted
}

// run posts the visible review. When GitHub rejects it, the cause is removed and it
// is sent again, once for each cause.
func (p *posting) run() error {
	for checked := false; ; {
		if len(p.remaining) == 0 && len(p.draft.Remarks) > 0 {
			return nil // all were rejected
		}
		review, err := p.send()
		if err == nil {
			p.posted.Review = precedent.NumberID(review)
			p.readNumbers()
			return nil
		}
		e, ok := errors.AsType[*forge.Error](err)
		if !ok || e.Kind != forge.KindInvalid || e.Unsure {
			return err
		}
		switch low := strings.ToLower(e.Said); {
		case strings.Contains(low, "one pending review"): // it is somebody's unfinished work
			return &forge.Error{
				Kind: forge.KindInvalid,
				Msg:  p.do.Doing() + ": the token's account already has a pending review on it, and GitHub allows only one",
				Hint: "discard the pending review if you did not write it, else submit it, or use a separate account for precedent",
			}
		case strings.Contains(low, "your own pull request") && p.event != events[forge.Remarks]:
			p.event = events[forge.Remarks]
			p.posted.Unsupported = append(p.posted.Unsupported,
				"GitHub does not let authors request changes on their own pull request: the review was posted as a comment")
		case len(p.remaining) > 0 && !checked:
			checked = true
			if found, wrong := p.reject(); wrong != nil || !found {
				return cmp.Or(wrong, err)
			}
		default:
			return err
		}
	}
}

// reject leaves the remarks out that are not in GitHub's diff, and reports whether there are any.
func (p *posting) reject() (bool, error) {
	patch, _, err := p.client.Patch(p.do.Context(), p.repo, p.number)
	all, err := wire.RejectedRemarks(patch, err, p.draft.Remarks)
	before := len(p.remaining)
	for _, no := range all {
		if i := slices.Index(p.remaining, no.Remark); i >= 0 {
			p.remaining = slices.Delete(p.remaining, i, i+1)
			p.posted.Rejected = append(p.posted.Rejected, no)
		}
	}
	return len(p.remaining) < before, err
}

// send posts a review with the remaining remarks.
func (p *posting) send() (id int64, err error) {
	send := map[string]any{"body": p.draft.Body, "event": p.event}
	if p.draft.Commit != "" {
		send["commit_id"] = p.draft.Commit
	}
	if len(p.remaining) > 0 {
		comments := make([]map[string]any, len(p.remaining))
		for i, at := range p.remaining {
			r := p.draft.Remarks[at]
			comments[i] = map[string]any{"path": r.Path, "body": r.Body, "line": r.End, "side": r.Side}
			if r.Start < r.End {
				comments[i]["start_line"], comments[i]["start_side"] = r.Start, r.Side
			}
		}
		send["comments"] = comments
	}
	var made wire.Review
	err = p.do.Send(http.MethodPost, send, &made, "pulls/%d/reviews", p.number)
	if err == nil && made.ID <= 0 {
		err = p.do.UnexpectedAfterChange("the review has no id")
	}
	return made.ID, err
}

// readNumbers reads the ids of the posted remarks. A failure is not an error, because
// the review has been posted.
func (p *posting) readNumbers() {
	if len(p.remaining) == 0 {
		return
	}
	listed, err := wire.List[wire.Comment](p.do, "pulls/%d/reviews/%d/comments", p.number, p.posted.Review.Number())
	if err != nil {
		return
	}
	var there []forge.Comment
	for _, m := range listed {
		there = append(there, p.client.onLine(m))
	}
	wire.Found(&p.posted, p.draft.Remarks, there)
}

// Dismiss takes back the request for changes of a review. On a protected branch, only
// administrators and people who are listed there may ("Dismiss a review for a pull request").
func (c *Client) Dismiss(ctx context.Context, repo precedent.Repo, number int, id precedent.ForgeID,
	why string,
) (forge.Unsupported, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("take back the request for changes on %s#%d", repo, number), id)
	return do.Dismiss(http.MethodPut, number, id, why,
		"dismiss the review, or allow the account to dismiss reviews of the protected branch")
}
