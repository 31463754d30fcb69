package gitea

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// maxReviews bounds the reviews whose inline comments are read, because each takes a
// request.
const maxReviews = 500

// Comments reads the comments on the pull request, the texts of its reviews and the
// comments on its lines, oldest first. Gitea does not tell when the text of a review
// was edited, nor which comment another replies to: those on one line of one commit
// count as replies to the first. Pending reviews are left out.
func (c *Client) Comments(ctx context.Context, repo precedent.Repo, number int) ([]forge.Comment, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("read comments of %s#%d", repo, number))
	if err != nil {
		return nil, err
	}
	issue, err := listAll(do, func(o sdk.ListOptions) ([]*sdk.Comment, *sdk.Response, error) {
		return do.ListIssueComments(repo.Owner, repo.Name, int64(number), sdk.ListIssueCommentOptions{ListOptions: o})
	})
	if err != nil && !isTooMany(err) {
		return nil, err
	}
	talk, err2 := c.reviews(do, repo, number)
	if err2 != nil && !isTooMany(err2) {
		return nil, err2
	}
	var all []forge.Comment
	for _, m := range issue {
		all = append(all, c.onThread(m))
	}
	for _, r := range talk.reviews {
		if r.Body != "" {
			all = append(all, c.onReview(r))
		}
	}
	for _, m := range talk.inline {
		all = append(all, m.Comment)
	}
	all, err3 := sortComments(do, all)
	if err3 != nil {
		return nil, err3
	}
	return all, cmp.Or(err, err2)
}

// CommentsSince reads the comments on pull requests and issues as a whole that were written or
// edited since a time.
func (c *Client) CommentsSince(ctx context.Context, repo precedent.Repo, since time.Time) ([]forge.NumberedComment, error) {
	do, err := c.begin(ctx, repo, "read comments of "+repo.String())
	if err != nil {
		return nil, err
	}
	listed, err := listAll(do, func(o sdk.ListOptions) ([]*sdk.Comment, *sdk.Response, error) {
		return do.ListRepoIssueComments(repo.Owner, repo.Name, sdk.ListIssueCommentOptions{ListOptions: o, Since: since.UTC()})
	})
	var all []forge.NumberedComment
	for _, m := range listed {
		all = append(all, forge.NumberedComment{Number: forge.LastNumber(cmp.Or(m.PRURL, m.IssueURL)), Comment: c.onThread(m)})
	}
	return all, err
}

// isTooMany reports whether the error is only that there is more than we read.
func isTooMany(err error) bool {
	var e *forge.Error
	return errors.As(err, &e) && e.Kind == forge.KindTooLarge && e.Status == 0
}

// sortComments sorts comments by time and removes duplicates: pages shift while they
// are read.
func sortComments(do call, all []forge.Comment) ([]forge.Comment, error) {
	if slices.ContainsFunc(all, func(m forge.Comment) bool { return m.ID.Number() <= 0 || m.At.IsZero() }) {
		return nil, do.unexpected("a comment has no id or no time")
	}
	slices.SortStableFunc(all, func(a, b forge.Comment) int { return cmp.Or(a.At.Compare(b.At), a.ID.Compare(b.ID)) })
	seen := map[forge.CommentRef]bool{}
	return slices.DeleteFunc(all, func(m forge.Comment) bool {
		key := forge.CommentRef{Kind: m.Kind, ID: m.ID}
		again := seen[key]
		seen[key] = true
		return again
	}), nil
}

// discussion is the reviews of a pull request and their inline comments.
type discussion struct {
	reviews []*sdk.PullReview // without pending ones
	inline  []inline          // oldest first
}

// inline is an inline comment with its place in Gitea.
type inline struct {
	forge.Comment
	at     spot
	closed *sdk.User // who resolved it
	hunk   string
}

// reviews reads the reviews and their inline comments.
func (c *Client) reviews(do call, repo precedent.Repo, number int) (discussion, error) {
	var t discussion
	listed, more := listAll(do, func(o sdk.ListOptions) ([]*sdk.PullReview, *sdk.Response, error) {
		return do.ListPullReviews(repo.Owner, repo.Name, int64(number), sdk.ListPullReviewsOptions{ListOptions: o})
	})
	if more != nil && !isTooMany(more) {
		return t, more
	}
	seen := map[int64]bool{}
	asked := 0
	for _, r := range listed {
		if r.State == sdk.ReviewStatePending || seen[r.ID] { // the account's own pending reviews are listed
			continue
		}
		seen[r.ID] = true
		t.reviews = append(t.reviews, r)
		if r.CodeCommentsCount == 0 {
			continue
		}
		if asked++; asked > maxReviews {
			more = &forge.Error{Kind: forge.KindTooLarge, Msg: fmt.Sprintf("%s: only the first %d reviews with comments on lines were read", do.doing, maxReviews)}
			break
		}
		remarks, err := c.remarks(do, repo, number, r)
		if err != nil && statusOf(err) != http.StatusNotFound { // 404: deleted meanwhile
			return t, err
		}
		t.inline = append(t.inline, remarks...)
	}
	linkReplies(t.inline)
	return t, more
}

// remarks reads the inline comments of one review, oldest first.
func (c *Client) remarks(do call, repo precedent.Repo, number int, r *sdk.PullReview) ([]inline, error) {
	listed, _, err := do.ListPullReviewComments(repo.Owner, repo.Name, int64(number), r.ID)
	if err != nil {
		return nil, do.fail(err)
	}
	var all []inline
	for _, m := range listed {
		if m == nil {
			return nil, do.unexpected("a list entry is null")
		}
		all = append(all, c.onLine(m, r))
	}
	slices.SortFunc(all, func(a, b inline) int { return a.ID.Compare(b.ID) }) // Gitea returns them in no particular order
	return all, nil
}

// reviewWindow is how long Gitea may take to create the comments of one review: it
// creates them one by one, each with its hunk.
const reviewWindow = 10 * time.Second

// linkReplies sorts comments by time and makes those on one spot replies to the
// first. Comments of the same review as the first are not replies, although Gitea
// shows them in one conversation: a review can have two remarks on a line.
func linkReplies(all []inline) {
	slices.SortStableFunc(all, func(a, b inline) int { return cmp.Or(a.At.Compare(b.At), a.ID.Compare(b.ID)) })
	first, begun := map[spot]*inline{}, map[spot]bool{}
	for i := range all {
		m := &all[i]
		root := first[m.at]
		switch {
		case root == nil:
			first[m.at] = m
		case !begun[m.at] && m.Author.ID == root.Author.ID && m.Review == root.Review && m.At.Sub(root.At) <= reviewWindow:
			if m.closed == nil {
				m.closed = root.closed // Gitea shows them as one conversation
			}
		default:
			begun[m.at], m.ReplyTo = true, root.ID
		}
	}
}

func (c *Client) onThread(m *sdk.Comment) forge.Comment {
	out := forge.Comment{
		ID: precedent.NumberID(m.ID), Kind: forge.OnThread, Author: person(m.Poster), URL: c.ownPage(m.HTMLURL),
		At: m.Created.UTC(), Edited: m.Updated.UTC(),
	}
	out.Body, out.Cut = truncateBody(m.Body)
	return out
}

func (c *Client) onReview(r *sdk.PullReview) forge.Comment {
	at := r.Submitted.UTC()
	out := forge.Comment{
		ID: precedent.NumberID(r.ID), Kind: forge.OnReview, Author: person(r.Reviewer), URL: c.ownPage(r.HTMLURL),
		At: at, Edited: at, Blocks: blocks(r),
	}
	out.Body, out.Cut = truncateBody(r.Body)
	return out
}

// onLine converts an inline comment. Its lines refer to the commit of the review.
// Gitea knows which comments are outdated, but only tells whether the diff has
// changed since the review.
func (c *Client) onLine(m *sdk.PullReviewComment, r *sdk.PullReview) inline {
	commit := cmp.Or(r.CommitID, m.CommitID)
	span, at := position(m, commit)
	out := forge.Comment{
		ID: precedent.NumberID(m.ID), Kind: forge.OnLine, Author: person(m.Reviewer), URL: c.ownPage(m.HTMLURL),
		At: m.Created.UTC(), Edited: m.Updated.UTC(), Review: precedent.NumberID(m.ReviewID),
		Span: span, Commit: commit, Outdated: r.Stale, Votes: -1,
	}
	out.Body, out.Cut = truncateBody(m.Body)
	return inline{Comment: out, at: at, closed: m.Resolver, hunk: m.DiffHunk}
}
