package gitea

import (
	"fmt"
	"slices"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// payload is the part of webhook payloads that we read. Different events share
// fields.
type payload struct {
	Repository struct {
		FullName string `json:"full_name"`
	}
	PullRequest *struct {
		Number int
		Head   struct{ SHA string }
	} `json:"pull_request"`
	Review *struct{}
	Issue  struct {
		Number      int
		PullRequest *struct{} `json:"pull_request"` // nil if it is an issue
	}
	WorkflowRun *struct {
		HeadSHA      string                 `json:"head_sha"`
		PullRequests []struct{ Number int } `json:"pull_requests"`
	} `json:"workflow_run"`
	SHA, Context, After string
	Action              string
	Comment             *sdk.Comment
}

// ReadEvent identifies an event by its payload: Gitea uses several names for each,
// and different ones in workflows. The host is not checked, because a server may have another
// name in its own network.
func (c *Client) ReadEvent(name string, data []byte) (forge.Event, error) {
	doing := fmt.Sprintf("read event %q", name)
	var t payload
	if err := wire.ReadEvent("Gitea", name, data, &t); err != nil {
		return forge.Event{}, err
	}
	e := t.event()
	if e.Kind == forge.NoEvent {
		return e, nil
	}
	e.Comments = c.commentChanges(&t)
	e.Repo.Host = c.host
	e.Repo.Owner, e.Repo.Name, _ = strings.Cut(t.Repository.FullName, "/")
	switch {
	case c.checkRepo(e.Repo) != nil:
		return forge.Event{}, wire.UnexpectedAnswer(doing, "it names no repository")
	case slices.ContainsFunc(e.Pulls, func(n int) bool { return n <= 0 }):
		return forge.Event{}, wire.UnexpectedAnswer(doing, "it names no pull request")
	case e.Head != "" && !objectID().MatchString(e.Head):
		return forge.Event{}, wire.UnexpectedAnswer(doing, "it names no commit")
	}
	return e, nil
}

// event returns the event without its repository and actor.
func (t *payload) event() forge.Event {
	switch {
	case t.Issue.PullRequest != nil:
		return forge.Event{Kind: forge.CommentEvent, Pulls: []int{t.Issue.Number}}
	case t.PullRequest != nil:
		e := forge.Event{Kind: forge.PullEvent, Pulls: []int{t.PullRequest.Number}, Head: t.PullRequest.Head.SHA}
		if t.Review != nil {
			e.Kind = forge.CommentEvent
		}
		return e
	case t.WorkflowRun != nil:
		e := forge.Event{Kind: forge.RunEvent, Head: t.WorkflowRun.HeadSHA}
		for _, p := range t.WorkflowRun.PullRequests {
			e.Pulls = append(e.Pulls, p.Number)
		}
		return e
	case t.Context != "":
		return forge.Event{Kind: forge.RunEvent, Head: t.SHA}
	case strings.Trim(t.After, "0") != "": // else a branch was deleted
		return forge.Event{Kind: forge.PushEvent, Head: t.After}
	}
	return forge.Event{}
}

// commentChanges returns the comment that was edited or deleted. Gitea does not tell whether it is
// on lines, so that one that is new cannot be told: the list of the pull request has it.
func (c *Client) commentChanges(t *payload) []forge.CommentChange {
	if t.Issue.PullRequest == nil || t.Comment == nil || t.Comment.ID <= 0 {
		return nil
	}
	action := forge.CommentAction(t.Action)
	if action != forge.CommentEdited && action != forge.CommentDeleted {
		return nil
	}
	m := c.onThread(t.Comment)
	m.Kind = ""
	return []forge.CommentChange{{Action: action, NumberedComment: forge.NumberedComment{Number: t.Issue.Number, Comment: m}}}
}
