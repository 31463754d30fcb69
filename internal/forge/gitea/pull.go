package gitea

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/git"
)

// PullRequest reads one pull request. Its head may be the one before a push that
// Gitea has not processed yet, so the caller must compare it with what it fetches. A
// new pull request may have no head yet, and is read once more.
func (c *Client) PullRequest(ctx context.Context, repo precedent.Repo, number int) (forge.PullRequest, error) {
	do := c.begin(ctx, repo, fmt.Sprintf("read pull request %s#%d", repo, number))
	var p pullRequest
	for range 2 {
		p = pullRequest{}
		if err := do.Get(&p, "pulls/%d", number); err != nil {
			return forge.PullRequest{}, err
		}
		if p.Head == nil || p.Head.SHA != "" {
			break
		}
	}
	if p.Number != number {
		return forge.PullRequest{}, do.Unexpected("it describes another pull request")
	}
	out, err := c.pull(do, &p)
	if err == nil && len(out.Requested) > 0 {
		out.Requested, err = requested(do, number)
	}
	return out, err
}

// requested returns who is asked for a review and has not given one since. Gitea's requested_reviewers
// also has everybody who reviewed (LoadRequestedReviewers in its models/issues/pull.go).
func requested(do wire.Call, number int) ([]forge.Person, error) {
	listed, err := wire.List[review](do, "pulls/%d/reviews", number)
	if err != nil {
		return nil, err
	}
	listed = slices.DeleteFunc(listed, func(r *review) bool { return r.User == nil || r.State == statePending })
	last := map[int64]*review{}
	for _, r := range listed {
		if was := last[r.User.ID]; was == nil || was.ID < r.ID {
			last[r.User.ID] = r
		}
	}
	var all []forge.Person
	for _, r := range listed {
		if r.State == stateRequestReview && last[r.User.ID] == r {
			all = append(all, person(r.User))
		}
	}
	return all, nil
}

// Open lists the open pull requests, the most recently updated first. Gitea has no conditional
// requests for it, so that an unchanged list is one request that returns the first page.
func (c *Client) Open(ctx context.Context, repo precedent.Repo) ([]forge.PullRequest, error) {
	do := c.begin(ctx, repo, "list pull requests of "+repo.String())
	return wire.Open(do, c.polls, repo, 1, "pulls?sort=recentupdate&state=open", c.pull)
}

// Patch returns the complete diff of a pull request as Gitea computes it.
func (c *Client) Patch(ctx context.Context, repo precedent.Repo, number int) ([]byte, []precedent.SkippedFile, error) {
	do := c.begin(ctx, repo, fmt.Sprintf("read diff of pull request %s#%d", repo, number))
	diff, err := do.Accept("text/plain", "pulls/%d.diff", number)
	return diff, nil, err
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
	if strings.HasPrefix(p.Head.Ref, "refs/") { // AGit: anybody pushes to refs/for/, and there is no branch
		head = forge.Branch{Name: head.Name, SHA: head.SHA}
	}
	if p.Number <= 0 || base.Repo.IsZero() || p.UpdatedAt.IsZero() {
		return forge.PullRequest{}, do.Unexpected("it names no pull request")
	}
	out := pastPull(p)
	if p.Merged {
		out.State, out.MergedAt = forge.Merged, p.MergedAt.UTC()
	}
	if !slices.Contains([]forge.State{forge.Open, forge.Closed, forge.Merged}, out.State) {
		return forge.PullRequest{}, do.Unexpected("the state of the pull request is unknown")
	}
	out.Draft, out.Base, out.Head = p.Draft || isDraftTitle(p.Title), base, head
	out.Ref = fmt.Sprintf("refs/pull/%d/head", p.Number)
	out.Locked = p.IsLocked || p.Base.Repo.Archived
	if out.State == forge.Merged {
		if git.IsObjectID(p.MergeBase) { // the base is the tip of its branch, which contains the head now
			out.Base.SHA = p.MergeBase
		}
	}
	for _, l := range p.Labels {
		if l != nil {
			out.Labels = append(out.Labels, l.Name)
		}
	}
	for _, u := range p.RequestedReviewers {
		out.Requested = append(out.Requested, person(u))
	}
	return out, nil
}

// isDraftTitle reports whether a title marks a draft. Servers before 1.23 have no field for it.
func isDraftTitle(title string) bool {
	up := strings.ToUpper(title)
	return strings.HasPrefix(up, "WIP:") || strings.HasPrefix(up, "[WIP]")
}

// branch converts the base or head of a pull request.
func (c *Client) branch(do wire.Call, b *branchInfo) (forge.Branch, error) {
	if b == nil || !git.IsObjectID(b.SHA) {
		return forge.Branch{}, do.Unexpected("it names no commit")
	}
	out := forge.Branch{Name: cmp.Or(b.Label, b.Ref), SHA: b.SHA}
	if b.Repo == nil {
		return out, nil // the fork was deleted; the base repository still has the head
	}
	out.RepoID = precedent.NumberID(b.Repo.ID)
	out.Repo = precedent.Repo{Host: c.host, Name: b.Repo.Name}
	if b.Repo.Owner != nil {
		out.Repo.Owner = b.Repo.Owner.Login
	}
	if c.checkRepo(out.Repo) != nil {
		return out, do.Unexpected("it names no repository")
	}
	if b.Repo.Private { // without the field it is false, too
		out.Visibility = forge.Private
	}
	out.CloneURL = c.Pages().Clone(out.Repo)
	return out, nil
}
