package github

import (
	"context"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/git"
)

// PullRequest reads one pull request.
func (c *Client) PullRequest(ctx context.Context, repo precedent.Repo, number int) (forge.PullRequest, error) {
	do := c.begin(ctx, fmt.Sprintf("read pull request %s#%d", repo, number), repo)
	var p pullRequest
	if err := do.Get(&p, "pulls/%d", number); err != nil {
		return forge.PullRequest{}, err
	}
	if p.Number != number {
		return forge.PullRequest{}, do.Unexpected("it describes another pull request")
	}
	return c.pull(do, &p)
}

// Open lists the open pull requests, the most recently updated first.
func (c *Client) Open(ctx context.Context, repo precedent.Repo) ([]forge.PullRequest, error) {
	do := c.begin(ctx, "list pull requests of "+repo.String(), repo)
	return wire.Open(do, c.polls, repo, perPage, "pulls?sort=updated&direction=desc&state=open", c.pull)
}

// pull converts a pull request. URLs and refs are built here instead of taken from
// the response, so that none leads elsewhere.
func (c *Client) pull(do wire.Call, p *pullRequest) (forge.PullRequest, error) {
	base, err := c.branch(do, p.Base)
	if err != nil {
		return forge.PullRequest{}, err
	}
	head, err := c.branch(do, p.Head)
	if err != nil {
		return forge.PullRequest{}, err
	}
	if p.Number <= 0 || base.Repo.IsZero() {
		return forge.PullRequest{}, do.Unexpected("it names no pull request")
	}
	out := pastPull(p)
	if p.Merged {
		out.State = forge.Merged
	}
	if !slices.Contains([]forge.State{forge.Open, forge.Closed, forge.Merged}, out.State) {
		return forge.PullRequest{}, do.Unexpected("the state of the pull request is unknown")
	}
	out.Draft, out.Base, out.Head, out.Ref = p.Draft, base, head, fmt.Sprintf("refs/pull/%d/head", p.Number)
	out.Locked = p.Locked
	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.Name)
	}
	for _, u := range p.RequestedReviewers {
		out.Requested = append(out.Requested, u.person())
	}
	return out, nil
}

// pastPull converts what a list of issues or a webhook has of a pull request.
func pastPull(p *pullRequest) forge.PullRequest {
	out := forge.PullRequest{
		Number: p.Number, Author: p.User.person(), State: forge.State(p.State), Updated: p.UpdatedAt.UTC(),
	}
	merged := p.MergedAt
	if p.PullRequest != nil {
		merged = p.PullRequest.MergedAt
	}
	if !merged.IsZero() {
		out.State, out.MergedAt = forge.Merged, merged.UTC()
	}
	out.Title, _ = forge.CutBody(p.Title)
	out.Body, _ = forge.CutBody(p.Body)
	return out
}

// branch converts the base or head of a pull request.
func (c *Client) branch(do wire.Call, b branchRef) (forge.Branch, error) {
	out := forge.Branch{Name: b.Ref, SHA: b.SHA}
	if !git.IsObjectID(out.SHA) {
		return out, do.Unexpected("it names no commit")
	}
	if b.Repo == nil {
		return out, nil // the fork was deleted; the base repository still has the head
	}
	out.RepoID = precedent.NumberID(b.Repo.ID)
	out.Repo = precedent.Repo{Host: c.host, Owner: b.Repo.Owner.Login, Name: b.Repo.Name}
	if c.checkRepo(out.Repo) != nil {
		return out, do.Unexpected("it names no repository")
	}
	if private := b.Repo.Private; private != nil {
		out.Visibility = map[bool]forge.Visibility{true: forge.Private, false: forge.Public}[*private]
	}
	out.CloneURL = c.Pages().Clone(out.Repo)
	return out, nil
}
