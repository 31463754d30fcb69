package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// Comments reads the comments on the pull request, the texts of its reviews and the
// comments on its lines, oldest first. GitHub does not tell when the text of a review
// was edited. Pending reviews are left out.
func (c *Client) Comments(ctx context.Context, repo precedent.Repo, number int) ([]forge.Comment, error) {
	doing := fmt.Sprintf("read comments of %s#%d", repo, number)
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return nil, err
	}
	said := discussion{seen: map[forge.CommentRef]bool{}}
	issue, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.IssueComment, *gh.Response, error) {
		return c.api.Issues.ListComments(ctx, repo.Owner, repo.Name, number, &gh.IssueListCommentsOptions{ListOptions: o})
	})
	if said.stops(err) {
		return nil, err
	}
	for _, m := range issue {
		said.add(c.onThread(m))
	}
	reviews, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.PullRequestReview, *gh.Response, error) {
		return c.api.PullRequests.ListReviews(ctx, repo.Owner, repo.Name, number, &o)
	})
	if said.stops(err) {
		return nil, err
	}
	for _, r := range reviews {
		if r.GetBody() != "" && r.SubmittedAt != nil {
			said.add(c.onReview(r))
		}
	}
	inline, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.PullRequestComment, *gh.Response, error) {
		return c.api.PullRequests.ListComments(ctx, repo.Owner, repo.Name, number, &gh.PullRequestListCommentsOptions{ListOptions: o})
	})
	if said.stops(err) {
		return nil, err
	}
	for _, m := range inline {
		said.add(c.onLine(m))
	}
	if said.malformed {
		return nil, wire.UnexpectedAnswer(doing, "a comment has no id or no time")
	}
	slices.SortStableFunc(said.all, func(a, b forge.Comment) int { return cmp.Or(a.At.Compare(b.At), a.ID.Compare(b.ID)) })
	return said.all, said.tooMany
}

// CommentsSince reads the comments on pull requests and issues as a whole that were written or
// edited since a time.
func (c *Client) CommentsSince(ctx context.Context, repo precedent.Repo, since time.Time) ([]forge.NumberedComment, error) {
	doing := "read comments of " + repo.String()
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return nil, err
	}
	since = since.UTC()
	listed, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.IssueComment, *gh.Response, error) {
		return c.api.Issues.ListComments(ctx, repo.Owner, repo.Name, 0, &gh.IssueListCommentsOptions{Since: &since, ListOptions: o})
	})
	var all []forge.NumberedComment
	for _, m := range listed {
		all = append(all, forge.NumberedComment{Number: forge.LastNumber(m.GetIssueURL()), Comment: c.onThread(m)})
	}
	return all, err
}

// discussion collects comments.
type discussion struct {
	all       []forge.Comment
	seen      map[forge.CommentRef]bool // pages shift while they are read
	malformed bool
	tooMany   error // there are more than we read
}

// stops reports whether an error ends the reading. Too many comments do not.
func (d *discussion) stops(err error) bool {
	var e *forge.Error
	if errors.As(err, &e) && e.Kind == forge.KindTooLarge && e.Status == 0 {
		d.tooMany = err
		return false
	}
	return err != nil
}

func (d *discussion) add(m forge.Comment) {
	key := forge.CommentRef{Kind: m.Kind, ID: m.ID}
	if m.ID.Number() <= 0 || m.At.IsZero() {
		d.malformed = true
	}
	if !d.seen[key] {
		d.seen[key] = true
		d.all = append(d.all, m)
	}
}

func (c *Client) onThread(m *gh.IssueComment) forge.Comment {
	out := forge.Comment{
		ID: precedent.NumberID(m.GetID()), Kind: forge.OnThread, Author: person(m.GetUser()), URL: c.ownPage(m.GetHTMLURL()),
		At: m.GetCreatedAt().UTC(), Edited: m.GetUpdatedAt().UTC(),
	}
	out.Body, out.Cut = truncateBody(m.GetBody())
	return out
}

func (c *Client) onReview(r *gh.PullRequestReview) forge.Comment {
	at := r.GetSubmittedAt().UTC()
	out := forge.Comment{
		ID: precedent.NumberID(r.GetID()), Kind: forge.OnReview, Author: person(r.GetUser()), URL: c.ownPage(r.GetHTMLURL()),
		At: at, Edited: at, Blocks: r.GetState() == stateBlocks,
	}
	out.Body, out.Cut = truncateBody(r.GetBody())
	return out
}

func (c *Client) onLine(m *gh.PullRequestComment) forge.Comment {
	out := forge.Comment{
		ID: precedent.NumberID(m.GetID()), Kind: forge.OnLine, Author: person(m.GetUser()), URL: c.ownPage(m.GetHTMLURL()),
		At: m.GetCreatedAt().UTC(), Edited: m.GetUpdatedAt().UTC(), ReplyTo: precedent.NumberID(m.GetInReplyTo()), Review: precedent.NumberID(m.GetPullRequestReviewID()),
	}
	out.Body, out.Cut = truncateBody(m.GetBody())
	out.Span, out.Commit, out.Outdated = position(m)
	out.Votes = -1
	if m.Reactions != nil {
		out.Votes = m.Reactions.GetPlusOne() + m.Reactions.GetMinusOne()
	}
	return out
}

// position returns the lines of an inline comment. GitHub returns no line once the
// code has changed; then it is the line at the original commit.
func position(m *gh.PullRequestComment) (span precedent.Span, commit string, outdated bool) {
	side := precedent.Side(cmp.Or(m.GetSide(), string(precedent.Right)))
	first, last, commit := m.StartLine, m.GetLine(), m.GetCommitID()
	if m.GetSubjectType() == "file" {
		return precedent.Span{Path: m.GetPath(), Side: side}, commit, false
	}
	if m.Line == nil {
		first, last, commit, outdated = m.OriginalStartLine, m.GetOriginalLine(), m.GetOriginalCommitID(), true
	}
	start := last
	// Ignore the start of a range on the other side.
	if first != nil && *first > 0 && *first < last && cmp.Or(m.GetStartSide(), string(side)) == string(side) {
		start = *first
	}
	return precedent.Span{Path: m.GetPath(), Side: side, Start: start, End: last}, commit, outdated
}

// ownPage returns the URL if it is on this forge, else "".
func (c *Client) ownPage(address string) string {
	if strings.HasPrefix(address, c.web.String()+"/") {
		return address
	}
	return ""
}
