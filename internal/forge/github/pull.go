package github

import (
	"context"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// PullRequest reads one pull request.
func (c *Client) PullRequest(ctx context.Context, repo precedent.Repo, number int) (forge.PullRequest, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("read pull request %s#%d", repo, number))
	var p wire.Pull
	if err := do.Get(&p, "pulls/%d", number); err != nil {
		return forge.PullRequest{}, err
	}
	if p.Number != number {
		return forge.PullRequest{}, do.Unexpected("it describes another pull request")
	}
	return c.Pull(do, &p)
}

// Open lists the open pull requests, the most recently updated first.
func (c *Client) Open(ctx context.Context, repo precedent.Repo) ([]forge.PullRequest, error) {
	do := c.Begin(ctx, repo, "list pull requests of "+repo.String())
	return c.OpenPulls(do, repo, perPage, "pulls?sort=updated&direction=desc&state=open", c.Pull)
}
