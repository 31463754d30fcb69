package gitea

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// objectID matches a commit id, in SHA-1 or SHA-256.
var objectID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`) })

// PullRequest reads one pull request. Its head may be the one before a push that
// Gitea has not processed yet, so the caller must compare it with what it fetches. A
// new pull request may have no head yet, and is read once more.
func (c *Client) PullRequest(ctx context.Context, repo precedent.Repo, number int) (forge.PullRequest, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("read pull request %s#%d", repo, number))
	if err != nil {
		return forge.PullRequest{}, err
	}
	var p *sdk.PullRequest
	for range 2 {
		if p, _, err = do.GetPullRequest(repo.Owner, repo.Name, int64(number)); err != nil {
			return forge.PullRequest{}, do.fail(err)
		}
		if p.Head == nil || p.Head.Sha != "" {
			break
		}
	}
	if p.Index != int64(number) {
		return forge.PullRequest{}, do.unexpected("it describes another pull request")
	}
	out, err := c.pull(do, p)
	if err == nil && len(out.Requested) > 0 {
		out.Requested, err = c.requested(do, repo, number)
	}
	return out, err
}

// requested returns who is asked for a review and has not given one since. Gitea's requested_reviewers
// also has everybody who reviewed (LoadRequestedReviewers in its models/issues/pull.go).
func (c *Client) requested(do call, repo precedent.Repo, number int) ([]forge.Person, error) {
	listed, err := listAll(do, func(o sdk.ListOptions) ([]*sdk.PullReview, *sdk.Response, error) {
		return do.ListPullReviews(repo.Owner, repo.Name, int64(number), sdk.ListPullReviewsOptions{ListOptions: o})
	})
	if err != nil {
		return nil, err
	}
	last := map[int64]*sdk.PullReview{}
	for _, r := range listed {
		if r == nil || r.Reviewer == nil || r.State == sdk.ReviewStatePending {
			continue
		}
		if was := last[r.Reviewer.ID]; was == nil || was.ID < r.ID {
			last[r.Reviewer.ID] = r
		}
	}
	var all []forge.Person
	for _, r := range listed {
		if r != nil && r.Reviewer != nil && r.State == sdk.ReviewStateRequestReview && last[r.Reviewer.ID] == r {
			all = append(all, person(r.Reviewer))
		}
	}
	return all, nil
}

// Open lists the open pull requests, the most recently updated first. Gitea has no conditional
// requests for it, so that an unchanged list is one request that returns the first page. If that and
// the number of what is open are unchanged, so are the other pages: whatever is updated moves to the
// first. A list of several pages is nevertheless read again from time to time.
func (c *Client) Open(ctx context.Context, repo precedent.Repo) ([]forge.PullRequest, error) {
	do, err := c.begin(ctx, repo, "list pull requests of "+repo.String())
	if err != nil {
		return nil, err
	}
	known, _ := c.polls.Get(repo, 1)
	tag, unchanged := "", false
	listed, err := listAll(do, func(o sdk.ListOptions) ([]*sdk.PullRequest, *sdk.Response, error) {
		got, resp, err := do.ListRepoPullRequests(repo.Owner, repo.Name, sdk.ListPullRequestsOptions{ListOptions: o, State: sdk.StateOpen, Sort: "recentupdate"})
		if err != nil || o.Page > 1 {
			return got, resp, err
		}
		tag = pageTag(got, resp.Header.Get("X-Total-Count"))
		if unchanged = tag == known.Tag && tag != ""; unchanged {
			return nil, &sdk.Response{Response: &http.Response{}}, nil
		}
		return got, resp, nil
	})
	if unchanged {
		return slices.Clone(known.Pulls), nil
	}
	open, wrong := c.pulls(do, listed)
	if err = cmp.Or(wrong, err); err != nil {
		return nil, err
	}
	for i := range open {
		open[i].Body = ""
	}
	c.polls.Put(repo, tag, open)
	return slices.Clone(open), nil
}

// pageTag identifies a page of pull requests and how many there are; empty if that is not known.
func pageTag(page []*sdk.PullRequest, total string) string {
	data, err := json.Marshal(page)
	if err != nil || total == "" {
		return ""
	}
	return fmt.Sprintf("%s %x", total, sha256.Sum256(data))
}

// Merged lists the merged pull requests that were updated since a time, the most recently
// updated first. Gitea lists them among all closed ones.
func (c *Client) Merged(ctx context.Context, repo precedent.Repo, since time.Time, limit int) ([]forge.PullRequest, error) {
	do, err := c.begin(ctx, repo, "list merged pull requests of "+repo.String())
	if err != nil {
		return nil, err
	}
	merged, done := 0, false
	listed, err := listAll(do, func(o sdk.ListOptions) ([]*sdk.PullRequest, *sdk.Response, error) {
		if done {
			return nil, &sdk.Response{Response: &http.Response{}}, nil
		}
		got, resp, err := do.ListRepoPullRequests(repo.Owner, repo.Name, sdk.ListPullRequestsOptions{ListOptions: o, State: sdk.StateClosed, Sort: "recentupdate"})
		for _, p := range got {
			if p != nil && p.HasMerged {
				merged++
			}
			done = done || merged >= limit || p != nil && p.Updated != nil && p.Updated.Before(since)
		}
		return got, resp, err
	})
	listed = slices.DeleteFunc(listed, func(p *sdk.PullRequest) bool {
		return !p.HasMerged || p.Updated != nil && p.Updated.Before(since)
	})
	all, wrong := c.pulls(do, listed)
	return all[:min(len(all), limit)], cmp.Or(wrong, err)
}

// pulls converts a list of pull requests.
func (c *Client) pulls(do call, listed []*sdk.PullRequest) ([]forge.PullRequest, error) {
	all := make([]forge.PullRequest, 0, len(listed))
	seen := map[int]bool{} // a pull request that is updated meanwhile moves to the front and shifts the others
	for _, p := range listed {
		read, err := c.pull(do, p)
		if err != nil {
			return all, err
		}
		if !seen[read.Number] {
			seen[read.Number], read.Files = true, 0
			all = append(all, read)
		}
	}
	return all, nil
}

// Patch returns the complete diff of a pull request as Gitea computes it.
func (c *Client) Patch(ctx context.Context, repo precedent.Repo, number int) ([]byte, []precedent.SkippedFile, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("read diff of pull request %s#%d", repo, number))
	if err != nil {
		return nil, nil, err
	}
	diff, _, err := do.GetPullRequestDiff(repo.Owner, repo.Name, int64(number), sdk.PullRequestDiffOptions{})
	if err != nil {
		return nil, nil, do.fail(err)
	}
	return diff, nil, nil
}

// pull converts a pull request. URLs and refs are built here instead of taken from
// the response, so that none leads elsewhere.
func (c *Client) pull(do call, p *sdk.PullRequest) (forge.PullRequest, error) {
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
	if p.Index <= 0 || int64(int(p.Index)) != p.Index || base.Repo.IsZero() || p.Updated == nil {
		return forge.PullRequest{}, do.unexpected("it names no pull request")
	}
	state := forge.State(p.State)
	if p.HasMerged {
		state = forge.Merged
	}
	if !slices.Contains([]forge.State{forge.Open, forge.Closed, forge.Merged}, state) {
		return forge.PullRequest{}, do.unexpected("the state of the pull request is unknown")
	}
	n := strconv.FormatInt(p.Index, 10)
	out := forge.PullRequest{
		Number: int(p.Index), Author: person(p.Poster), State: state, Draft: p.Draft || isDraftTitle(p.Title),
		URL:  c.Pages().PullRequest(base.Repo, int(p.Index)),
		Base: base, Head: head, Ref: "refs/pull/" + n + "/head",
		Updated: p.Updated.UTC(), Locked: p.IsLocked || p.Base.Repository.Archived,
	}
	if state == forge.Merged {
		if objectID().MatchString(p.MergeBase) { // the base is the tip of its branch, which contains the head now
			out.Base.SHA = p.MergeBase
		}
		if p.Merged != nil {
			out.MergedAt = p.Merged.UTC()
		}
		if p.MergedCommitID != nil && objectID().MatchString(*p.MergedCommitID) {
			out.MergeCommit = *p.MergedCommitID
		}
	}
	if p.ChangedFiles != nil {
		out.Files = *p.ChangedFiles
	}
	out.Title, _ = truncateBody(p.Title)
	out.Body, _ = truncateBody(p.Body)
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

// isDraftTitle reports whether a title marks a draft. Servers before 1.23 have no
// field for it.
func isDraftTitle(title string) bool {
	up := strings.ToUpper(title)
	return strings.HasPrefix(up, "WIP:") || strings.HasPrefix(up, "[WIP]")
}

// branch converts the base or head of a pull request. The label is the branch's name
// even if the branch was deleted.
func (c *Client) branch(do call, b *sdk.PRBranchInfo) (forge.Branch, error) {
	if b == nil || !objectID().MatchString(b.Sha) {
		return forge.Branch{}, do.unexpected("it names no commit")
	}
	out := forge.Branch{Name: cmp.Or(b.Name, b.Ref), SHA: b.Sha}
	if b.Repository == nil {
		return out, nil // the fork was deleted; the base repository still has the head
	}
	out.RepoID = precedent.NumberID(b.Repository.ID)
	out.Repo = precedent.Repo{Host: c.host, Name: b.Repository.Name}
	if b.Repository.Owner != nil {
		out.Repo.Owner = b.Repository.Owner.UserName
	}
	if c.checkRepo(out.Repo) != nil {
		return out, do.unexpected("it names no repository")
	}
	if b.Repository.Private { // without the field it is false, too
		out.Visibility = forge.Private
	}
	out.CloneURL = c.web.JoinPath(out.Repo.Owner, out.Repo.Name+".git").String()
	return out, nil
}

// Accounts that Gitea has no row for. A workflow's own token acts as the second.
const (
	ghostID   = -1
	actionsID = -2
)

// person converts an account. Gitea marks no accounts as bots; only that of its
// workflows is known.
func person(u *sdk.User) forge.Person {
	if u == nil || u.ID == ghostID || u.ID == 0 {
		return forge.Person{Login: "ghost"}
	}
	return forge.Person{ID: precedent.NumberID(u.ID), Login: u.UserName, Bot: u.ID == actionsID}
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

// ownPage returns the URL if it is on this forge, else "".
func (c *Client) ownPage(address string) string {
	if strings.HasPrefix(address, c.web.String()+"/") {
		return address
	}
	return ""
}
