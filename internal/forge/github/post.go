package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// events maps to GitHub's names.
var events = map[forge.ReviewEvent]string{forge.Remarks: "COMMENT", forge.RequestChanges: "REQUEST_CHANGES"}

// onFile is why a remark on a file is rejected: comments in a review have no
// subject_type, and a separate comment would be a second visible post.
const onFile = "GitHub accepts only comments on lines in a review"

// Post posts a review. GitHub accepts or rejects a review as a whole, so rejected
// remarks are found with pending reviews, which only the sender can see, and the rest
// is posted in one visible review.
func (c *Client) Post(ctx context.Context, repo precedent.Repo, number int, d forge.Draft) (forge.Posted, error) {
	doing := fmt.Sprintf("post review on %s#%d", repo, number)
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return forge.Posted{}, err
	}
	p := &posting{
		client: c, repo: repo, number: number, doing: doing, draft: d, event: events[d.Event],
		posted: forge.Posted{Remarks: make([]precedent.ForgeID, len(d.Remarks))},
	}
	switch {
	case p.event == "":
		return p.posted, &forge.Error{Kind: forge.KindRefused, Msg: fmt.Sprintf("%s: %q is not a review event", doing, d.Event)}
	case len(d.Remarks) > forge.MaxRemarks:
		return p.posted, &forge.Error{Kind: forge.KindInvalid, Msg: fmt.Sprintf("%s: too many comments: %d of at most %d", doing, len(d.Remarks), forge.MaxRemarks)}
	}
	for i, r := range d.Remarks {
		if r.Start <= 0 || r.End < r.Start {
			p.posted.Rejected = append(p.posted.Rejected, forge.Rejected{Remark: i, Why: onFile})
			continue
		}
		p.remaining = append(p.remaining, i)
	}
	// The pending review of one post would block another.
	select {
	case c.posting <- struct{}{}:
		defer func() { <-c.posting }()
	case <-ctx.Done():
		return p.posted, c.wire.Fail(doing, ctx.Err())
	}
	err = p.run(ctx)
	slices.SortFunc(p.posted.Rejected, func(a, b forge.Rejected) int { return cmp.Compare(a.Remark, b.Remark) })
	return p.posted, err
}

// posting is a draft that is being posted.
type posting struct {
	client    *Client
	repo      precedent.Repo
	number    int
	doing     string
	draft     forge.Draft
	event     string
	remaining []int // remarks that GitHub has not rejected so far
	posted    forge.Posted
}

// run posts the visible review. When GitHub rejects it, the cause is removed and it
// is sent again, once for each cause.
func (p *posting) run(ctx context.Context) error {
	for cleared, probed := false, false; ; {
		if len(p.remaining) == 0 && len(p.draft.Remarks) > 0 {
			return nil // all were rejected
		}
		review, words, err := p.send(ctx, p.event, p.draft.Body, p.remaining)
		if err == nil {
			p.posted.Review = precedent.NumberID(review)
			p.readNumbers(ctx)
			return nil
		}
		low := strings.ToLower(words)
		switch {
		case !isInvalid(err):
			return err
		case strings.Contains(low, "one pending review") && !cleared:
			cleared = true
			if err := p.deleteLeftover(ctx); err != nil {
				return err
			}
		case strings.Contains(low, "your own pull request") && p.event != events[forge.Remarks]:
			p.event = events[forge.Remarks]
			p.posted.Unsupported = append(p.posted.Unsupported, "GitHub does not let authors request changes on their own pull request: the review was posted as a comment")
		case len(p.remaining) > 0 && !probed:
			probed = true
			if err := p.findRejected(ctx, err); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

func isInvalid(err error) bool {
	var e *forge.Error
	return errors.As(err, &e) && e.Kind == forge.KindInvalid && !e.Unsure
}

// send posts a review with some of the remarks; without an event it is pending. words
// is GitHub's reason if it rejects the review.
func (p *posting) send(ctx context.Context, event, body string, remarks []int) (id int64, words string, err error) {
	review := &gh.PullRequestReviewRequest{Body: &body}
	if p.draft.Commit != "" {
		review.CommitID = &p.draft.Commit
	}
	if event != "" {
		review.Event = &event
	}
	for _, i := range remarks {
		review.Comments = append(review.Comments, remark(p.draft.Remarks[i]))
	}
	var made *gh.PullRequestReview
	a, err := p.client.write(ctx, p.doing, func(ctx context.Context) (err error) {
		made, _, err = p.client.api.PullRequests.CreateReview(ctx, p.repo.Owner, p.repo.Name, p.number, review)
		return err
	})
	if err == nil && made.GetID() <= 0 {
		err = a.UnexpectedAnswer(p.doing, "the review has no id")
	}
	return made.GetID(), a.Words(), err
}

func remark(r forge.Remark) *gh.DraftReviewComment {
	side := string(r.Side)
	out := &gh.DraftReviewComment{Path: &r.Path, Body: &r.Body, Line: &r.End, Side: &side}
	if r.Start < r.End {
		out.StartLine, out.StartSide = &r.Start, &side
	}
	return out
}

// readNumbers reads the ids of the posted remarks. A failure is not an error, because
// the review has been posted.
func (p *posting) readNumbers(ctx context.Context) {
	if len(p.remaining) == 0 {
		return
	}
	listed, err := listAll(p.client, p.doing, func(o gh.ListOptions) ([]*gh.PullRequestComment, *gh.Response, error) {
		return p.client.api.PullRequests.ListReviewComments(ctx, p.repo.Owner, p.repo.Name, p.number, p.posted.Review.Number(), &o)
	})
	if err != nil {
		return
	}
	taken := map[int64]bool{}
	for _, i := range p.remaining {
		r := p.draft.Remarks[i]
		for _, m := range listed {
			if id := m.GetID(); id > 0 && !taken[id] && m.GetPath() == r.Path && sameText(m.GetBody(), r.Body) {
				taken[id] = true
				p.posted.Remarks[i] = precedent.NumberID(id)
				break
			}
		}
	}
}

// sameText compares text as it was sent with text as GitHub stores it.
func sameText(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}
