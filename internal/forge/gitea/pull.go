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
	do := c.Begin(ctx, repo, fmt.Sprintf("read pull request %s#%d", repo, number))
	var p wire.Pull
	for range 2 {
		p = wire.Pull{}
		if err := do.Get(&p, "pulls/%d", number); err != nil {
			return forge.PullRequest{}, err
		}
		if p.Number != number || p.Head.SHA != "" {
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
	listed, err := wire.List[wire.Review](do, "pulls/%d/reviews", number)
	if err != nil {
		return nil, err
	}
	listed = slices.DeleteFunc(listed, func(r *wire.Review) bool { return r.User == nil || r.State == statePending })
	last := map[int64]*wire.Review{}
	for _, r := range listed {
		if was := last[r.User.ID]; was == nil || was.ID < r.ID {
			last[r.User.ID] = r
		}
	}
	var all []forge.Person
	for _, r := range listed {
		if r.State == stateRequestReview && last[r.User.ID] == r {
			all = append(all, r.User.Person())
		}
	}
	return all, nil
}

// Open lists the open pull requests, the most recently updated first. Gitea has no conditional
// requests for it, so that an unchanged list is one request that returns the first page.
func (c *Client) Open(ctx context.Context, repo precedent.Repo) ([]forge.PullRequest, error) {
	do := c.Begin(ctx, repo, "list pull requests of "+repo.String())
	return c.OpenPulls(do, repo, 1, "pulls?sort=recentupdate&state=open", c.pull)
}

// Patch returns the complete diff of a pull request as Gitea computes it.
func (c *Client) Patch(ctx context.Context, repo precedent.Repo, number int) ([]byte, []precedent.SkippedFile, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("read diff of pull request %s#%d", repo, number))
	diff, err := do.Accept("text/plain", "pulls/%d.diff", number)
	return diff, nil, err
}

// pull converts a pull request.
func (c *Client) pull(do wire.Call, p *wire.Pull) (forge.PullRequest, error) {
	out, err := c.Pull(do, p)
	if err != nil {
		return out, err
	}
	for _, b := range []struct {
		out  *forge.Branch
		said wire.BranchRef
	}{{&out.Base, p.Base}, {&out.Head, p.Head}} {
		b.out.Name = cmp.Or(b.said.Label, b.said.Ref)
		if b.out.Visibility == forge.Public { // its owner may be hidden
			b.out.Visibility = ""
		}
	}
	if strings.HasPrefix(p.Head.Ref, "refs/") { // AGit: anybody pushes to refs/for/, and there is no branch
		out.Head = forge.Branch{Name: out.Head.Name, SHA: out.Head.SHA}
	}
	out.Draft = out.Draft || isDraftTitle(p.Title)
	out.Locked = out.Locked || p.Base.Repo.Archived
	if out.State == forge.Merged && git.IsObjectID(p.MergeBase) {
		out.Base.SHA = p.MergeBase // the base is the tip of its branch, which contains the head now
	}
	return out, nil
}

// isDraftTitle reports whether a title marks a draft. Servers before 1.23 have no field for it.
func isDraftTitle(title string) bool {
	up := strings.ToUpper(title)
	return strings.HasPrefix(up, "WIP:") || strings.HasPrefix(up, "[WIP]")
}
