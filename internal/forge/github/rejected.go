package github

import (
	"context"
	"errors"
	"strings"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// probeBody is the text of the pending reviews that find out what GitHub rejects.
// They are deleted at once, and recognized by this text if that failed.
const probeBody = "Finding out which lines can be commented on."

// findRejected finds the remarks because of which GitHub rejects a review. It uses
// pending reviews, which leave nothing visible if a request is interrupted, so its
// errors are never unsure. It returns cause if the remarks are not the reason.
func (p *posting) findRejected(ctx context.Context, cause error) error {
	if err := p.deleteLeftover(ctx); err != nil {
		return err
	}
	switch refused, _, err := p.tryRemarks(ctx, nil); {
	case err != nil:
		return err
	case refused:
		return cause
	}
	rejected := map[int]string{}
	if err := p.bisect(ctx, p.remaining, rejected); err != nil {
		return err
	}
	var good []int
	for _, i := range p.remaining {
		if why, bad := rejected[i]; bad {
			p.posted.Rejected = append(p.posted.Rejected, forge.Rejected{Remark: i, Why: why})
		} else {
			good = append(good, i)
		}
	}
	p.remaining = good
	return nil
}

// bisect finds the rejected ones among remarks that were rejected together.
func (p *posting) bisect(ctx context.Context, remarks []int, rejected map[int]string) error {
	parts := [][]int{remarks[:len(remarks)/2], remarks[len(remarks)/2:]}
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		refused, words, err := p.tryRemarks(ctx, part)
		switch {
		case err != nil:
			return err
		case refused && len(part) == 1:
			rejected[part[0]] = words
		case refused:
			if err := p.bisect(ctx, part, rejected); err != nil {
				return err
			}
		}
	}
	return nil
}

// tryRemarks reports whether GitHub rejects some of the remarks. It leaves nothing
// behind.
func (p *posting) tryRemarks(ctx context.Context, remarks []int) (refused bool, why string, err error) {
	id, words, err := p.send(ctx, "", probeBody, remarks)
	switch {
	case isInvalid(err):
		for _, general := range []string{"Unprocessable Entity", "Validation Failed"} {
			words = strings.TrimPrefix(strings.TrimPrefix(words, general), ": ")
		}
		if words == "" {
			words = "GitHub rejected it without a reason"
		}
		return true, words, nil
	case err != nil:
		return false, "", withoutUnsure(err)
	}
	return false, "", p.deletePending(ctx, id)
}

// deleteLeftover deletes a pending review that an earlier attempt left, because
// GitHub allows one for each account. It does not touch any other, which is
// somebody's unfinished work.
func (p *posting) deleteLeftover(ctx context.Context) error {
	c := p.client
	me, err := c.Me(ctx)
	if err != nil {
		return err
	}
	listed, err := listAll(c, p.doing, func(o gh.ListOptions) ([]*gh.PullRequestReview, *gh.Response, error) {
		return c.api.PullRequests.ListReviews(ctx, p.repo.Owner, p.repo.Name, p.number, &o)
	})
	if err != nil {
		return err
	}
	for _, r := range listed {
		switch {
		case r.GetState() != "PENDING" || precedent.NumberID(r.GetUser().GetID()) != me.ID:
		case sameText(r.GetBody(), probeBody):
			if err := p.deletePending(ctx, r.GetID()); err != nil {
				return err
			}
		default:
			return &forge.Error{
				Kind: forge.KindInvalid, Msg: p.doing + ": " + me.Login + " already has a pending review on it, and GitHub allows only one",
				Hint: "submit or discard the pending review, or use a separate account for precedent",
			}
		}
	}
	return nil
}

// deletePending deletes a pending review. GitHub refuses to delete any other.
func (p *posting) deletePending(ctx context.Context, id int64) error {
	_, err := p.client.write(ctx, p.doing, func(ctx context.Context) error {
		_, _, err := p.client.api.PullRequests.DeletePendingReview(ctx, p.repo.Owner, p.repo.Name, p.number, id)
		return err
	})
	if wire.Gone(err) {
		return nil
	}
	return withoutUnsure(err)
}

// withoutUnsure clears Unsure for requests whose effect only the sender can see.
func withoutUnsure(err error) error {
	var e *forge.Error
	if !errors.As(err, &e) {
		return err
	}
	said := *e
	said.Unsure = false
	return &said
}
