package github

import (
	"context"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// The lists of comments. Reviews have none of their own, and come with their pull requests.
const (
	streamPulls  forge.HistoryStream = "pulls"
	streamInline forge.HistoryStream = "inline"
	streamIssue  forge.HistoryStream = "issue"
)

// Streams are the pull requests with the texts of their reviews, the comments on lines, and the
// comments on pull requests as a whole.
func (c *Client) Streams() []forge.HistoryStream {
	return []forge.HistoryStream{streamPulls, streamInline, streamIssue}
}

// History reads one page of a list, the least recently updated first. Pull requests are read
// from the list of issues, because only that can begin at a time. Submitting a review updates
// its pull request; whether editing one does is not documented.
func (c *Client) History(ctx context.Context, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	doing := "list " + string(q.Stream) + " history of " + repo.String()
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return forge.HistoryPage{}, err
	}
	switch q.Stream {
	case streamPulls:
		return c.pullHistory(ctx, doing, repo, q)
	case streamInline:
		return c.inlineHistory(ctx, doing, repo, q)
	case streamIssue:
		return c.issueHistory(ctx, doing, repo, q)
	}
	return forge.HistoryPage{}, c.wire.Fail(doing, &forge.Error{Kind: forge.KindRefused, Msg: "GitHub has no such list"})
}

func (c *Client) inlineHistory(ctx context.Context, doing string, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	listed, page, err := readByTime(c, doing, q, func(since time.Time, o gh.ListOptions) ([]*gh.PullRequestComment, *gh.Response, error) {
		return c.api.PullRequests.ListComments(ctx, repo.Owner, repo.Name, 0, &gh.PullRequestListCommentsOptions{
			Sort: "updated", Direction: "asc", Since: since, ListOptions: o,
		})
	}, func(m *gh.PullRequestComment) entry { return entry{m.GetID(), m.GetUpdatedAt().UTC()} })
	if err != nil {
		return page, err
	}
	for _, m := range listed {
		one := forge.NumberedComment{Number: forge.LastNumber(m.GetPullRequestURL()), Comment: c.pastOnLine(m)}
		if one.Number == 0 || one.ID.Number() <= 0 || one.At.IsZero() {
			return page, wire.UnexpectedAnswer(doing, "a comment has no id, no time or no pull request")
		}
		page.Comments = append(page.Comments, one)
	}
	return page, nil
}

func (c *Client) issueHistory(ctx context.Context, doing string, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	listed, page, err := readByTime(c, doing, q, func(since time.Time, o gh.ListOptions) ([]*gh.IssueComment, *gh.Response, error) {
		return c.api.Issues.ListComments(ctx, repo.Owner, repo.Name, 0, &gh.IssueListCommentsOptions{
			Sort: new("updated"), Direction: new("asc"), Since: &since, ListOptions: o,
		})
	}, func(m *gh.IssueComment) entry { return entry{m.GetID(), m.GetUpdatedAt().UTC()} })
	if err != nil {
		return page, err
	}
	for _, m := range listed {
		if !strings.Contains(m.GetHTMLURL(), "/pull/") { // it is on an issue
			continue
		}
		one := forge.NumberedComment{Number: forge.LastNumber(m.GetIssueURL()), Comment: c.onThread(m)}
		one.Member = isMember(m.GetAuthorAssociation())
		if one.Number == 0 || one.ID.Number() <= 0 || one.At.IsZero() {
			return page, wire.UnexpectedAnswer(doing, "a comment has no id, no time or no pull request")
		}
		page.Comments = append(page.Comments, one)
	}
	return page, nil
}

func (c *Client) pullHistory(ctx context.Context, doing string, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	listed, page, err := readByTime(c, doing, q, func(since time.Time, o gh.ListOptions) ([]*gh.Issue, *gh.Response, error) {
		return c.api.Issues.ListByRepo(ctx, repo.Owner, repo.Name, &gh.IssueListByRepoOptions{
			State: "all", Sort: "updated", Direction: "asc", Since: since, ListOptions: o,
		})
	}, func(i *gh.Issue) entry { return entry{int64(i.GetNumber()), i.GetUpdatedAt().UTC()} })
	if err != nil {
		return page, err
	}
	listed = slices.DeleteFunc(listed, func(i *gh.Issue) bool { return !i.IsPullRequest() })
	for _, i := range listed {
		if i.GetNumber() <= 0 || i.GetNodeID() == "" {
			return page, wire.UnexpectedAnswer(doing, "a pull request has no number or no id")
		}
		page.Pulls = append(page.Pulls, c.pastPull(repo, i))
	}
	err = c.pastReviews(ctx, doing, repo, listed, &page)
	return page, err
}

// pastPull converts a pull request of the list of issues.
func (c *Client) pastPull(repo precedent.Repo, i *gh.Issue) forge.PullRequest {
	out := forge.PullRequest{
		Number: i.GetNumber(), Author: person(i.GetUser()), State: forge.State(i.GetState()),
		URL: c.Pages().PullRequest(repo, i.GetNumber()), Updated: i.GetUpdatedAt().UTC(),
	}
	if at := i.GetPullRequestLinks().GetMergedAt(); !at.IsZero() {
		out.State, out.MergedAt = forge.Merged, at.UTC()
	}
	out.Title, _ = truncateBody(i.GetTitle())
	out.Body, _ = truncateBody(i.GetBody())
	return out
}

// pastOnLine converts an inline comment, at the lines for which it was written.
func (c *Client) pastOnLine(m *gh.PullRequestComment) forge.Comment {
	out := c.onLine(m)
	out.Member, out.Hunk = isMember(m.GetAuthorAssociation()), forge.CutHunk(m.GetDiffHunk())
	if commit := m.GetOriginalCommitID(); commit != "" {
		out.Commit = commit
	}
	if last := m.GetOriginalLine(); last > 0 && m.GetSubjectType() != "file" {
		out.Span.Start, out.Span.End = last, last
		side := m.GetStartSide()
		if first := m.GetOriginalStartLine(); first > 0 && first < last && (side == "" || side == string(out.Span.Side)) {
			out.Span.Start = first
		}
	}
	return out
}

// isMember tells whether an association is that of a member of the team. GitHub does not
// say of a member what they may do.
func isMember(association string) bool {
	return association == "OWNER" || association == "MEMBER" || association == "COLLABORATOR"
}
