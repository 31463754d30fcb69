package gitea

import (
	"context"
	"net/http"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// The lists of comments. Gitea lists reviews and the comments on lines only of one pull request.
const (
	streamPulls forge.HistoryStream = "pulls"
	streamIssue forge.HistoryStream = "issue"
)

// pullsPerPage bounds the pull requests of a page, because each takes a request for its reviews
// and one for each review with comments on lines.
const pullsPerPage = 10

// Streams are the pull requests with their reviews and the comments on lines, and the comments
// on pull requests as a whole.
func (c *Client) Streams() []forge.HistoryStream {
	return []forge.HistoryStream{streamPulls, streamIssue}
}

// History reads one page of a list, the least recently updated first. Writing a comment updates
// its pull request; editing one on lines does not, so that only a list of everything finds it.
func (c *Client) History(ctx context.Context, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	do, err := c.begin(ctx, repo, "list "+string(q.Stream)+" history of "+repo.String())
	if err != nil {
		return forge.HistoryPage{}, err
	}
	switch q.Stream {
	case streamPulls:
		return c.pullHistory(do, repo, q)
	case streamIssue:
		return c.issueHistory(do, repo, q)
	}
	return forge.HistoryPage{}, do.fail(&forge.Error{Kind: forge.KindRefused, Msg: "Gitea has no such list"})
}

func (c *Client) issueHistory(do call, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	listed, page, err := c.readWindow(do, q, perPage, func(w window, o sdk.ListOptions) ([]entry, *sdk.Response, error) {
		got, resp, err := do.ListRepoIssueComments(repo.Owner, repo.Name, sdk.ListIssueCommentOptions{ListOptions: o, Since: w.from, Before: w.to})
		all := make([]entry, len(got))
		for i, m := range got {
			if m != nil {
				all[i] = entry{m.ID, m}
			}
		}
		return all, resp, err
	})
	if err != nil {
		return page, err
	}
	for _, e := range listed {
		m, _ := e.what.(*sdk.Comment)
		if m.PRURL == "" { // it is on an issue
			continue
		}
		one := forge.NumberedComment{Number: forge.LastNumber(m.PRURL), Comment: c.onThread(m)}
		if one.Number == 0 || one.ID.Number() <= 0 || one.At.IsZero() {
			return page, do.unexpected("a comment has no id, no time or no pull request")
		}
		page.Comments = append(page.Comments, one)
	}
	return page, nil
}

func (c *Client) pullHistory(do call, repo precedent.Repo, q forge.HistoryQuery) (forge.HistoryPage, error) {
	listed, page, err := c.readWindow(do, q, pullsPerPage, func(w window, o sdk.ListOptions) ([]entry, *sdk.Response, error) {
		got, resp, err := do.ListRepoIssues(repo.Owner, repo.Name, sdk.ListIssueOption{
			ListOptions: o, State: sdk.StateAll, Type: sdk.IssueTypePull, Since: w.from, Before: w.to,
		})
		all := make([]entry, len(got))
		for i, p := range got {
			if p != nil {
				all[i] = entry{p.Index, p}
			}
		}
		return all, resp, err
	})
	if err != nil {
		return page, err
	}
	for _, e := range listed {
		p, _ := e.what.(*sdk.Issue)
		number := int(p.Index)
		if number <= 0 || int64(number) != p.Index || p.Updated.IsZero() {
			return page, do.unexpected("a pull request has no number or no time")
		}
		page.Pulls = append(page.Pulls, c.pastPull(repo, p))
		talk, err := c.reviews(do, repo, number)
		switch {
		case statusOf(err) == http.StatusNotFound: // deleted meanwhile
			continue
		case isTooMany(err):
			page.Cut = append(page.Cut, number)
		case err != nil:
			return page, err
		}
		for _, m := range talk.past(c) {
			if m.ID.Number() <= 0 || m.At.IsZero() {
				return page, do.unexpected("a comment has no id or no time")
			}
			page.Comments = append(page.Comments, forge.NumberedComment{Number: number, Comment: m})
		}
	}
	return page, nil
}

// past are the texts of reviews and the comments on lines.
func (t *discussion) past(c *Client) []forge.Comment {
	var all []forge.Comment
	for _, r := range t.reviews {
		if r.Body != "" {
			all = append(all, c.onReview(r))
		}
	}
	for _, m := range t.inline {
		m.Hunk = forge.CutHunk(m.hunk)
		all = append(all, m.Comment)
	}
	return all
}

// pastPull converts a pull request of the list of issues.
func (c *Client) pastPull(repo precedent.Repo, p *sdk.Issue) forge.PullRequest {
	out := forge.PullRequest{
		Number: int(p.Index), Author: person(p.Poster), State: forge.State(p.State), URL: c.Pages().PullRequest(repo, int(p.Index)), Updated: p.Updated.UTC(),
	}
	if p.PullRequest != nil && p.PullRequest.HasMerged {
		out.State = forge.Merged
		if p.PullRequest.Merged != nil {
			out.MergedAt = p.PullRequest.Merged.UTC()
		}
	}
	out.Title, _ = truncateBody(p.Title)
	out.Body, _ = truncateBody(p.Body)
	return out
}
