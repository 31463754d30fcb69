package gitea

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/text"
)

// payload is the part of webhook payloads that we read. Different events share fields.
type payload struct {
	Repository struct {
		FullName string `json:"full_name"`
	}
	Sender      *wire.User
	PullRequest *wire.Pull `json:"pull_request"`
	Review      *struct{}
	Issue       wire.Pull
	WorkflowRun *struct {
		HeadSHA      string                 `json:"head_sha"`
		PullRequests []struct{ Number int } `json:"pull_requests"`
		Name         string                 `json:"display_title"`
	} `json:"workflow_run"`
	SHA, Context, After string
	State               string
	Action              string
	Comment             *wire.Comment
}

// actions maps Gitea's actions: those of webhooks, and those of GitHub, which workflows get.
// label_updated does not tell whether one was added, and becoming a draft or ready is edited.
var actions = map[string]string{
	"opened": forge.ActionOpened, "reopened": forge.ActionReopened, "edited": forge.ActionEdited,
	"closed": forge.ActionClosed, "synchronized": forge.ActionSynchronized, "synchronize": forge.ActionSynchronized,
	"label_updated": forge.ActionLabeled, "labeled": forge.ActionLabeled, "label_cleared": forge.ActionUnlabeled,
	"unlabeled": forge.ActionUnlabeled, "review_requested": forge.ActionReview,
	"created": forge.ActionCreated, "reviewed": forge.ActionCreated, "deleted": forge.ActionDeleted,
	"requested": forge.ActionPending, "in_progress": forge.ActionPending, "completed": forge.ActionCompleted,
}

// ReadEvent identifies an event by its payload: Gitea uses several names for each,
// and different ones in workflows. The host is not checked, because a server may have another
// name in its own network. Events about a commit name no pull requests.
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
	if t.Sender != nil {
		e.Sender = t.Sender.Person()
	}
	e.Comments = c.commentChanges(&t)
	e.Repo.Host = c.Host()
	e.Repo.Owner, e.Repo.Name, _ = strings.Cut(t.Repository.FullName, "/")
	why := e.Flaw()
	if c.CheckRepo(e.Repo) != nil {
		why = "it names no repository"
	}
	if why != "" {
		return forge.Event{}, wire.UnexpectedAnswer(doing, why)
	}
	return e, nil
}

// event returns the event without its repository and sender.
func (t *payload) event() forge.Event {
	switch {
	case t.Issue.PullRequest != nil:
		return forge.Event{
			Kind: forge.CommentEvent, Action: actions[t.Action], Pulls: []int{t.Issue.Number},
		}
	case t.PullRequest != nil:
		return t.pullEvent()
	case t.WorkflowRun != nil:
		run := t.WorkflowRun
		e := forge.Event{
			Kind: forge.RunEvent, Action: actions[t.Action], Head: run.HeadSHA, Check: text.Cut(run.Name, forge.MaxCheckName),
		}
		for _, p := range run.PullRequests[:min(len(run.PullRequests), forge.MaxEventList)] {
			e.Pulls = append(e.Pulls, p.Number)
		}
		return e
	case t.Context != "":
		e := forge.Event{
			Kind: forge.RunEvent, Action: forge.ActionCompleted, Head: t.SHA, Check: text.Cut(t.Context, forge.MaxCheckName),
		}
		if t.State == "pending" {
			e.Action = forge.ActionPending
		}
		return e
	case strings.Trim(t.After, "0") != "": // else a branch was deleted
		return forge.Event{Kind: forge.PushEvent, Head: t.After}
	}
	return forge.Event{}
}

// pullEvent is what happened to a pull request, or a review of it, which comes without ids.
func (t *payload) pullEvent() forge.Event {
	e := forge.Event{
		Kind: forge.PullEvent, Action: actions[t.Action], Pulls: []int{t.PullRequest.Number}, Head: t.PullRequest.Head.SHA,
	}
	switch {
	case t.Review != nil:
		e.Kind = forge.CommentEvent
	case e.Action == forge.ActionClosed && t.PullRequest.Merged:
		e.Action = forge.ActionMerged
	}
	return e
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
	m := c.OnThread(t.Comment)
	m.Kind = ""
	return []forge.CommentChange{{Action: action, NumberedComment: forge.NumberedComment{
		Number:  t.Issue.Number,
		Comment: m,
	}}}
}
