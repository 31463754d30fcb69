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

// probing is the body of the reviews that find out what GitHub refuses. They are deleted at
// once, and known by it if that did not come about.
const probing = "Finding out which lines can be commented on."

// probe finds the remarks because of which GitHub refuses a review. What it asks
// with is pending, so that an answer that did not come leaves nothing visible: its
// errors are never unsure. The cause is returned if it is not the remarks.
func (p *posting) probe(ctx context.Context, cause error) error {
	if err := p.clear(ctx); err != nil {
		return err
	}
	switch refused, _, err := p.try(ctx, nil); {
	case err != nil:
		return err
	case refused:
		return cause
	}
	rejected := map[int]string{}
	if err := p.halve(ctx, p.good, rejected); err != nil {
		return err
	}
	var good []int
	for _, i := range p.good {
		if why, bad := rejected[i]; bad {
			p.posted.Rejected = append(p.posted.Rejected, forge.Rejected{Remark: i, Why: why})
		} else {
			good = append(good, i)
		}
	}
	p.good = good
	return nil
}

// halve looks into remarks that are refused together.
func (p *posting) halve(ctx context.Context, remarks []int, rejected map[int]string) error {
	parts := [][]int{remarks[:len(remarks)/2], remarks[len(remarks)/2:]}
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		refused, words, err := p.try(ctx, part)
		switch {
		case err != nil:
			return err
		case refused && len(part) == 1:
			rejected[part[0]] = words
		case refused:
			if err := p.halve(ctx, part, rejected); err != nil {
				return err
			}
		}
	}
	return nil
}

// try asks whether GitHub takes some of the remarks, and leaves nothing behind.
func (p *posting) try(ctx context.Context, remarks []int) (refused bool, why string, err error) {
	id, words, err := p.send(ctx, "", probing, remarks)
	switch {
	case invalid(err):
		for _, general := range []string{"Unprocessable Entity", "Validation Failed"} {
			words = strings.TrimPrefix(strings.TrimPrefix(words, general), ": ")
		}
		if words == "" {
			words = "GitHub does not take it, and does not say why"
		}
		return true, words, nil
	case err != nil:
		return false, "", sure(err)
	}
	return false, "", p.discard(ctx, id)
}

// clear deletes a pending review that an earlier probe left, since GitHub allows a
// person one. Any other is somebody's unfinished work.
func (p *posting) clear(ctx context.Context) error {
	c := p.client
	me, err := c.Me(ctx)
	if err != nil {
		return err
	}
	listed, err := pages(c, p.doing, func(o gh.ListOptions) ([]*gh.PullRequestReview, *gh.Response, error) {
		return c.api.PullRequests.ListReviews(ctx, p.repo.Owner, p.repo.Name, p.number, &o)
	})
	if err != nil {
		return err
	}
	for _, r := range listed {
		switch {
		case r.GetState() != "PENDING" || precedent.NumberID(r.GetUser().GetID()) != me.ID:
		case same(r.GetBody(), probing):
			if err := p.discard(ctx, r.GetID()); err != nil {
				return err
			}
		default:
			return &forge.Error{
				Kind: forge.KindInvalid, Msg: p.doing + ": " + me.Login + " has a review of it that is not sent yet, and GitHub allows one",
				Hint: "send or discard it, or let precedent use an account of its own",
			}
		}
	}
	return nil
}

// discard deletes a pending review. GitHub refuses to delete any other.
func (p *posting) discard(ctx context.Context, id int64) error {
	_, err := p.client.write(ctx, p.doing, func(ctx context.Context) error {
		_, _, err := p.client.api.PullRequests.DeletePendingReview(ctx, p.repo.Owner, p.repo.Name, p.number, id)
		return err
	})
	if wire.Gone(err) {
		return nil
	}
	return sure(err)
}

// sure is an error of a request that nobody but the sender can see the effect of.
func sure(err error) error {
	var e *forge.Error
	if !errors.As(err, &e) {
		return err
	}
	said := *e
	said.Unsure = false
	return &said
}
