package github

import (
	"encoding/json"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// commentActions are what events of comments and of reviews say was done.
var commentActions = map[string]forge.CommentAction{
	"created": forge.CommentCreated, "submitted": forge.CommentCreated, "edited": forge.CommentEdited, "deleted": forge.CommentDeleted,
}

// commentChanges returns what an event tells about a comment; nil if it tells nothing.
func (c *Client) commentChanges(name, action string, repo precedent.Repo, data []byte) []forge.CommentChange {
	var t struct {
		Comment     json.RawMessage
		Review      json.RawMessage
		Issue       *gh.Issue
		PullRequest *gh.PullRequest `json:"pull_request"`
	}
	out := forge.CommentChange{Action: commentActions[action]}
	if out.Action == "" || json.Unmarshal(data, &t) != nil {
		return nil
	}
	switch {
	case name == "issue_comment" && t.Issue != nil:
		var m gh.IssueComment
		if json.Unmarshal(t.Comment, &m) != nil {
			return nil
		}
		out.Pull, out.Comment = c.pastPull(repo, t.Issue), c.onThread(&m)
		out.Member = isMember(m.GetAuthorAssociation())
	case name == "pull_request_review_comment" && t.PullRequest != nil:
		var m gh.PullRequestComment
		if json.Unmarshal(t.Comment, &m) != nil {
			return nil
		}
		out.Pull, out.Comment = c.eventPull(repo, t.PullRequest), c.pastOnLine(&m)
	case name == "pull_request_review" && t.PullRequest != nil:
		var m gh.PullRequestReview
		if json.Unmarshal(t.Review, &m) != nil {
			return nil
		}
		out.Pull, out.Comment = c.eventPull(repo, t.PullRequest), c.onReview(&m)
		out.Member = isMember(m.GetAuthorAssociation())
		if out.Action == forge.CommentEdited { // the payload does not tell when
			out.Edited = out.Pull.Updated
		}
		if out.Body == "" {
			if out.Action == forge.CommentCreated {
				return nil
			}
			out.Action = forge.CommentDeleted
		}
	default:
		return nil
	}
	if out.Number = out.Pull.Number; out.Number <= 0 || out.ID.Number() <= 0 || out.At.IsZero() {
		return nil
	}
	return []forge.CommentChange{out}
}

// eventPull converts the pull request of a payload.
func (c *Client) eventPull(repo precedent.Repo, p *gh.PullRequest) forge.PullRequest {
	out := forge.PullRequest{
		Number: p.GetNumber(), Author: person(p.GetUser()), State: forge.State(p.GetState()),
		URL: c.Pages().PullRequest(repo, p.GetNumber()), Updated: p.GetUpdatedAt().UTC(),
	}
	if at := p.GetMergedAt(); !at.IsZero() {
		out.State, out.MergedAt = forge.Merged, at.UTC()
	}
	out.Title, _ = truncateBody(p.GetTitle())
	out.Body, _ = truncateBody(p.GetBody())
	return out
}
