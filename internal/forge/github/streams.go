package github

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// The lists of comments. Reviews have none of their own, and come with their pull requests.
const (
	streamPulls  forge.HistoryStream = "pulls"
	streamInline forge.HistoryStream = "inline"
)

// Streams are the pull requests with the texts of their reviews, the comments on lines, and the
// comments on pull requests as a whole.
func (c *Client) Streams() []forge.HistoryStream {
	return []forge.HistoryStream{streamPulls, streamInline, forge.StreamWhole}
}

// History reads one page of a list, the least recently updated first. Pull requests are read
// from the list of issues, because only that can begin at a time. Submitting a review updates
// its pull request; whether editing one does is not documented.
func (c *Client) History(ctx context.Context, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	do := c.begin(ctx, "list "+string(q.Stream)+" history of "+repo.String(), repo)
	switch q.Stream {
	case streamPulls:
		return c.pullHistory(do, repo, q)
	case streamInline:
		return c.commentHistory(do, "pulls/comments?", q, c.pastOnLine)
	case forge.StreamWhole:
		return c.commentHistory(do, "issues/comments?", q, func(m *comment) forge.Comment {
			out := c.onThread(m)
			out.Member = isMember(m.Association)
			return out
		})
	}
	return forge.HistoryPage{}, do.Refuse(forge.KindRefused, "GitHub has no such list")
}

func (c *Client) commentHistory(do wire.Call, path string, q forge.HistoryQuery,
	convert func(*comment) forge.Comment,
) (forge.HistoryPage, error) {
	listed, page, err := readByTime(do, q, path, func(m *comment) entry { return entry{m.ID, m.UpdatedAt.UTC()} })
	for _, m := range listed {
		if m.PullURL == "" && !strings.Contains(m.HTMLURL, "/pull/") { // it is on an issue
			continue
		}
		one := forge.NumberedComment{Number: forge.LastNumber(cmp.Or(m.PullURL, m.IssueURL)), Comment: convert(m)}
		if one.Number == 0 || forge.IsIncomplete(one.Comment) {
			return page, do.Unexpected("a comment has no id, no time or no pull request")
		}
		page.Comments = append(page.Comments, one)
	}
	return page, err
}

func (c *Client) pullHistory(do wire.Call, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	listed, page, err := readByTime(do, q, "issues?state=all&", func(i *pullRequest) entry {
		return entry{int64(i.Number), i.UpdatedAt.UTC()}
	})
	if err != nil {
		return page, err
	}
	listed = slices.DeleteFunc(listed, func(i *pullRequest) bool { return i.PullRequest == nil })
	for _, i := range listed {
		if i.Number <= 0 || i.NodeID == "" {
			return page, do.Unexpected("a pull request has no number or no id")
		}
		page.Pulls = append(page.Pulls, c.pastPull(repo, i))
	}
	err = c.pastReviews(do, listed, &page)
	return page, err
}

// pastOnLine converts an inline comment, at the lines for which it was written.
func (c *Client) pastOnLine(m *comment) forge.Comment {
	out := c.onLine(m)
	out.Member, out.Hunk = isMember(m.Association), forge.CutHunk(m.DiffHunk)
	if m.OriginalCommit != "" {
		out.Commit = m.OriginalCommit
	}
	if m.OriginalLine > 0 && m.SubjectType != "file" {
		out.Span = m.span(out.Span.Side, m.OriginalStartLine, m.OriginalLine)
	}
	return out
}
