package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// objectID matches a commit id, in SHA-1 or SHA-256.
var objectID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`) })

// PullRequest reads one pull request.
func (c *Client) PullRequest(ctx context.Context, repo precedent.Repo, number int) (forge.PullRequest, error) {
	doing := fmt.Sprintf("read pull request %s#%d", repo, number)
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return forge.PullRequest{}, err
	}
	p, _, err := c.api.PullRequests.Get(ctx, repo.Owner, repo.Name, number)
	if err != nil {
		return forge.PullRequest{}, c.wire.Fail(doing, err)
	}
	if p.GetNumber() != number {
		return forge.PullRequest{}, wire.UnexpectedAnswer(doing, "it describes another pull request")
	}
	return c.pull(doing, p)
}

// Open lists the open pull requests, the most recently updated first. If the first page is
// unchanged, so are the others: whatever is updated moves to it, and it has the number of what is
// open. A list of several pages is nevertheless read again from time to time.
func (c *Client) Open(ctx context.Context, repo precedent.Repo) ([]forge.PullRequest, error) {
	doing := "list pull requests of " + repo.String()
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return nil, err
	}
	known, _ := c.polls.Get(repo, perPage)
	tag, unchanged := "", false
	listed, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.PullRequest, *gh.Response, error) {
		if o.Page > 1 {
			return c.api.PullRequests.List(ctx, repo.Owner, repo.Name, &gh.PullRequestListOptions{State: "open", Sort: "updated", Direction: "desc", ListOptions: o})
		}
		path := fmt.Sprintf("repos/%s/%s/pulls?state=open&sort=updated&direction=desc&page=1&per_page=%d", repo.Owner, repo.Name, perPage)
		req, err := c.api.NewRequest(wire.Kept(ctx), http.MethodGet, path, nil)
		if err != nil {
			return nil, nil, err
		}
		if known.Tag != "" {
			req.Header.Set("If-None-Match", known.Tag)
		}
		var got []*gh.PullRequest
		resp, err := c.api.Do(req, &got)
		if resp != nil && resp.StatusCode == http.StatusNotModified {
			unchanged = true
			return nil, resp, nil
		}
		if resp != nil {
			tag = resp.Header.Get("ETag")
		}
		return got, resp, err
	})
	if unchanged {
		return slices.Clone(known.Pulls), nil
	}
	open, wrong := c.pulls(doing, listed)
	if err = cmp.Or(wrong, err); err != nil {
		return nil, err
	}
	for i := range open {
		open[i].Body = ""
	}
	c.polls.Put(repo, tag, open)
	return slices.Clone(open), nil
}

// Merged lists the merged pull requests that were updated since a time, the most recently
// updated first. GitHub lists them among all closed ones.
func (c *Client) Merged(ctx context.Context, repo precedent.Repo, since time.Time, limit int) ([]forge.PullRequest, error) {
	doing := "list merged pull requests of " + repo.String()
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return nil, err
	}
	merged, done := 0, false
	listed, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.PullRequest, *gh.Response, error) {
		if done {
			return nil, &gh.Response{}, nil
		}
		got, resp, err := c.api.PullRequests.List(ctx, repo.Owner, repo.Name, &gh.PullRequestListOptions{
			State: "closed", Sort: "updated", Direction: "desc", ListOptions: o,
		})
		for _, p := range got {
			if !p.GetMergedAt().IsZero() {
				merged++
			}
			done = done || merged >= limit || p.GetUpdatedAt().Before(since)
		}
		return got, resp, err
	})
	listed = slices.DeleteFunc(listed, func(p *gh.PullRequest) bool {
		return p.GetMergedAt().IsZero() || p.GetUpdatedAt().Before(since)
	})
	all, wrong := c.pulls(doing, listed)
	return all[:min(len(all), limit)], cmp.Or(wrong, err)
}

// pulls converts a list of pull requests.
func (c *Client) pulls(doing string, listed []*gh.PullRequest) ([]forge.PullRequest, error) {
	all := make([]forge.PullRequest, 0, len(listed))
	seen := map[int]bool{} // a pull request that is updated meanwhile moves to the front and shifts the others
	for _, p := range listed {
		read, err := c.pull(doing, p)
		if err != nil {
			return all, err
		}
		if !seen[read.Number] {
			seen[read.Number] = true
			all = append(all, read)
		}
	}
	return all, nil
}

// pull converts a pull request. URLs and refs are built here instead of taken from
// the response, so that none leads elsewhere.
func (c *Client) pull(doing string, p *gh.PullRequest) (forge.PullRequest, error) {
	base, err := c.branch(doing, p.GetBase())
	if err != nil {
		return forge.PullRequest{}, err
	}
	head, err := c.branch(doing, p.GetHead())
	if err != nil {
		return forge.PullRequest{}, err
	}
	if p.GetNumber() <= 0 || base.Repo.IsZero() {
		return forge.PullRequest{}, wire.UnexpectedAnswer(doing, "it names no pull request")
	}
	state := forge.State(p.GetState())
	if p.GetMerged() || p.MergedAt != nil {
		state = forge.Merged
	}
	if !slices.Contains([]forge.State{forge.Open, forge.Closed, forge.Merged}, state) {
		return forge.PullRequest{}, wire.UnexpectedAnswer(doing, "the state of the pull request is unknown")
	}
	n := strconv.Itoa(p.GetNumber())
	out := forge.PullRequest{
		Number: p.GetNumber(), Author: person(p.GetUser()), State: state, Draft: p.GetDraft(),
		URL:  c.Pages().PullRequest(base.Repo, p.GetNumber()),
		Base: base, Head: head, Ref: "refs/pull/" + n + "/head",
		Updated: p.GetUpdatedAt().UTC(), Files: p.GetChangedFiles(), Locked: p.GetLocked(),
	}
	if state == forge.Merged {
		out.MergedAt = p.GetMergedAt().UTC()
		if objectID().MatchString(p.GetMergeCommitSHA()) {
			out.MergeCommit = p.GetMergeCommitSHA()
		}
	}
	out.Title, _ = truncateBody(p.GetTitle())
	out.Body, _ = truncateBody(p.GetBody())
	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	for _, u := range p.RequestedReviewers {
		out.Requested = append(out.Requested, person(u))
	}
	return out, nil
}

// branch converts the base or head of a pull request.
func (c *Client) branch(doing string, b *gh.PullRequestBranch) (forge.Branch, error) {
	out := forge.Branch{Name: b.GetRef(), SHA: b.GetSHA()}
	if !objectID().MatchString(out.SHA) {
		return out, wire.UnexpectedAnswer(doing, "it names no commit")
	}
	if b.GetRepo() == nil {
		return out, nil // the fork was deleted; the base repository still has the head
	}
	out.RepoID = precedent.NumberID(b.GetRepo().GetID())
	out.Repo = precedent.Repo{Host: c.host, Owner: b.GetRepo().GetOwner().GetLogin(), Name: b.GetRepo().GetName()}
	if c.checkRepo(out.Repo) != nil {
		return out, wire.UnexpectedAnswer(doing, "it names no repository")
	}
	if private := b.GetRepo().Private; private != nil {
		out.Visibility = map[bool]forge.Visibility{true: forge.Private, false: forge.Public}[*private]
	}
	out.CloneURL = c.web.JoinPath(out.Repo.Owner, out.Repo.Name+".git").String()
	return out, nil
}

// person converts an account. GitHub shows a deleted one as ghost.
func person(u *gh.User) forge.Person {
	if u == nil {
		return forge.Person{Login: "ghost"}
	}
	return forge.Person{ID: precedent.NumberID(u.GetID()), Login: u.GetLogin(), Bot: u.GetType() == "Bot"}
}

// truncateBody limits a text to forge.MaxBody bytes, and reports whether it was cut.
func truncateBody(s string) (precedent.Untrusted, bool) {
	if len(s) <= forge.MaxBody {
		return precedent.Untrusted(s), false
	}
	end := forge.MaxBody
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return precedent.Untrusted(s[:end]), true
}
