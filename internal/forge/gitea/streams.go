package gitea

import (
	"context"
	"net/http"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// The lists of comments. Gitea lists reviews and the comments on lines only of one pull request.
const streamPulls forge.HistoryStream = "pulls"

// pullsPerPage bounds the pull requests of a page, because each takes a request for its reviews
// and one for each review with comments on lines.
const pullsPerPage = 10

// Streams are the pull requests with their reviews and the comments on lines, and the comments
// on pull requests as a whole.
func (c *Client) Streams() []forge.HistoryStream {
	return []forge.HistoryStream{streamPulls, forge.StreamWhole}
}

// History reads one page of a list, the least recently updated first. Writing a comment updates
// its pull request; editing one on lines does not, so that only a list of everything finds it.
func (c *Client) History(ctx context.Context, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	do := c.begin(ctx, repo, "list "+string(q.Stream)+" history of "+repo.String())
	switch q.Stream {
	case streamPulls:
		return c.pullHistory(do, repo, q)
	case forge.StreamWhole:
		return c.issueHistory(do, q)
	}
	return forge.HistoryPage{}, do.Refuse(forge.KindRefused, "Gitea has no such list")
}

func (c *Client) issueHistory(do wire.Call, q forge.HistoryQuery) (forge.HistoryPage, error) {
	list := windows[comment]{do, c.now, "issues/comments", perPage, func(m *comment) int64 { return m.ID }}
	listed, page, err := list.read(q)
	for _, m := range listed {
		if m.PullURL == "" { // it is on an issue
			continue
		}
		one := forge.NumberedComment{Number: m.number(), Comment: c.onThread(m)}
		if one.Number == 0 || forge.IsIncomplete(one.Comment) {
			return page, do.Unexpected("a comment has no id, no time or no pull request")
		}
		page.Comments = append(page.Comments, one)
	}
	return page, err
}

func (c *Client) pullHistory(do wire.Call, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	list := windows[pullRequest]{
		do, c.now, "issues?state=all&type=pulls", pullsPerPage, func(p *pullRequest) int64 { return int64(p.Number) },
	}
	listed, page, err := list.read(q)
	if err != nil {
		return page, err
	}
	for _, p := range listed {
		if p.Number <= 0 || p.UpdatedAt.IsZero() {
			return page, do.Unexpected("a pull request has no number or no time")
		}
		page.Pulls = append(page.Pulls, c.pastPull(repo, p))
		talk, err := c.discussion(do, p.Number)
		switch {
		case wire.Status(err) == http.StatusNotFound: // deleted meanwhile
			continue
		case forge.IsPartial(err):
			page.Cut = append(page.Cut, p.Number)
		case err != nil:
			return page, err
		}
		all := talk.reviewTexts(c)
		for _, m := range talk.inline {
			m.Hunk = forge.CutHunk(m.hunk)
			all = append(all, m.Comment)
		}
		for _, m := range all {
			if forge.IsIncomplete(m) {
				return page, do.Unexpected(forge.IncompleteComment)
			}
			page.Comments = append(page.Comments, forge.NumberedComment{Number: p.Number, Comment: m})
		}
	}
	return page, nil
}

// pastPull converts a pull request of the list of issues.
func (c *Client) pastPull(repo precedent.Repo, p *pullRequest) forge.PullRequest {
	out := forge.PullRequest{
		Number: p.Number, Author: person(p.User), State: forge.State(p.State), URL: c.Pages().PullRequest(repo, p.Number),
		Updated: p.UpdatedAt.UTC(),
	}
	if p.PullRequest != nil && p.PullRequest.Merged {
		out.State, out.MergedAt = forge.Merged, p.PullRequest.MergedAt.UTC()
	}
	out.Title, _ = forge.CutBody(p.Title)
	out.Body, _ = forge.CutBody(p.Body)
	return out
}
