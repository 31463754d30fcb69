package github

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/text"
)

// eventKinds maps GitHub's event names. pull_request_target exists only in workflows.
var eventKinds = map[string]forge.EventKind{
	"pull_request":                forge.PullEvent,
	"pull_request_target":         forge.PullEvent,
	"pull_request_review":         forge.CommentEvent,
	"pull_request_review_comment": forge.CommentEvent,
	"pull_request_review_thread":  forge.CommentEvent,
	"issue_comment":               forge.CommentEvent,
	"check_suite":                 forge.RunEvent,
	"check_run":                   forge.RunEvent,
	"status":                      forge.RunEvent,
	"workflow_run":                forge.RunEvent,
	"push":                        forge.PushEvent,
	"installation":                forge.InstallationEvent,
	"installation_repositories":   forge.InstallationEvent,
}

// actions maps GitHub's actions of each kind of event.
var actions = map[forge.EventKind]map[string]string{
	forge.PullEvent: {
		"opened": forge.ActionOpened, "reopened": forge.ActionReopened, "synchronize": forge.ActionSynchronized,
		"edited": forge.ActionEdited, "ready_for_review": forge.ActionReady, "labeled": forge.ActionLabeled,
		"unlabeled": forge.ActionUnlabeled, "closed": forge.ActionClosed, "review_requested": forge.ActionReview,
	},
	forge.CommentEvent: {
		"created": forge.ActionCreated, "submitted": forge.ActionCreated, "edited": forge.ActionEdited,
		"dismissed": forge.ActionEdited,
		"deleted":   forge.ActionDeleted, "resolved": forge.ActionResolved, "unresolved": forge.ActionReopenedTalk,
	},
	forge.RunEvent: {
		"created": forge.ActionPending, "requested": forge.ActionPending, "rerequested": forge.ActionPending,
		"in_progress": forge.ActionPending, "completed": forge.ActionCompleted,
	},
}

// payload is the part of webhook payloads that we read. Different events share fields.
type payload struct {
	Repository     wire.Repository
	Sender         *wire.User
	PullRequest    wire.Pull `json:"pull_request"`
	Issue          wire.Pull
	Comment        wire.Comment
	Review         wire.Review
	CheckSuite     payloadRun `json:"check_suite"`
	CheckRun       payloadRun `json:"check_run"`
	WorkflowRun    payloadRun `json:"workflow_run"`
	SHA, After     string
	Context, State string
	Action         string
	Installation   struct {
		Account struct {
			HTMLURL string `json:"html_url"`
		}
	}
}

// payloadRun is what checks and workflows have in common.
type payloadRun struct {
	Name         string
	HeadSHA      string `json:"head_sha"`
	PullRequests []struct {
		Number int
		Base   struct{ Repo struct{ ID int64 } }
	} `json:"pull_requests"`
}

// ReadEvent parses a webhook payload. Comments on issues are NoEvents. The pull requests of a check
// are those from the repository itself.
func (c *Client) ReadEvent(name string, data []byte) (forge.Event, error) {
	doing := fmt.Sprintf("read event %q", name)
	e := forge.Event{Kind: eventKinds[name]}
	if e.Kind == forge.NoEvent {
		return e, nil
	}
	var t payload
	if err := wire.ReadEvent("GitHub", name, data, &t); err != nil {
		return forge.Event{}, err
	}
	e.Action, e.Sender = actions[e.Kind][t.Action], sender(t.Sender)
	if e.Kind == forge.InstallationEvent {
		if !c.isOwnPage(t.Installation.Account.HTMLURL) {
			return forge.Event{}, wire.UnexpectedAnswer(doing, "it names no installation on "+c.Host())
		}
		return e, nil
	}
	e.Repo.Host = c.Host()
	e.Repo.Owner, e.Repo.Name, _ = strings.Cut(t.Repository.FullName, "/")
	if c.CheckRepo(e.Repo) != nil || !c.isOwnPage(t.Repository.HTMLURL) {
		return forge.Event{}, wire.UnexpectedAnswer(doing, "it names no repository on "+c.Host())
	}
	if name == "issue_comment" && t.Issue.PullRequest == nil {
		return forge.Event{}, nil
	}
	t.fill(name, &e)
	e.Comments = c.commentChanges(name, &t)
	if why := e.Flaw(); why != "" {
		return forge.Event{}, wire.UnexpectedAnswer(doing, why)
	}
	return e, nil
}

// fill sets what the event is about. Pull requests of other repositories that contain
// the commit of a run are left out.
func (t *payload) fill(name string, e *forge.Event) {
	run := func(r payloadRun) {
		e.Head, e.Check = r.HeadSHA, text.Cut(r.Name, forge.MaxCheckName)
		for _, p := range r.PullRequests[:min(len(r.PullRequests), forge.MaxEventList)] {
			if p.Base.Repo.ID == t.Repository.ID {
				e.Pulls = append(e.Pulls, p.Number)
			}
		}
	}
	switch name {
	case "issue_comment":
		e.Pulls = []int{t.Issue.Number}
	case "check_suite":
		run(t.CheckSuite)
	case "check_run":
		run(t.CheckRun)
	case "workflow_run":
		run(t.WorkflowRun)
	case "status":
		e.Head, e.Check, e.Action = t.SHA, text.Cut(t.Context, forge.MaxCheckName), forge.ActionCompleted
		if t.State == "pending" {
			e.Action = forge.ActionPending
		}
	case "push":
		if strings.Trim(t.After, "0") != "" { // else the branch was deleted
			e.Head = t.After
		}
	default:
		e.Pulls, e.Head = []int{t.PullRequest.Number}, t.PullRequest.Head.SHA
		if e.Action == forge.ActionClosed && (t.PullRequest.Merged || !t.PullRequest.MergedAt.IsZero()) {
			e.Action = forge.ActionMerged
		}
	}
}

// isOwnPage reports whether a URL is on this forge, also with http.
func (c *Client) isOwnPage(page string) bool {
	u, err := url.Parse(page)
	return err == nil && strings.EqualFold(u.Host, c.Pages().Web.Host)
}

// commentActions are what events of comments and of reviews say was done.
var commentActions = map[string]forge.CommentAction{
	"created": forge.CommentCreated, "submitted": forge.CommentCreated, "edited": forge.CommentEdited,
	"deleted": forge.CommentDeleted,
}

// commentChanges returns what an event tells about a comment; nil if it tells nothing.
func (c *Client) commentChanges(name string, t *payload) []forge.CommentChange {
	out := forge.CommentChange{Action: commentActions[t.Action]}
	if out.Action == "" {
		return nil
	}
	switch name {
	case "issue_comment":
		out.Pull, out.Comment = t.Issue.Past(), c.OnThread(&t.Comment)
		out.Member = isMember(t.Comment.Association)
	case "pull_request_review_comment":
		out.Pull, out.Comment = t.PullRequest.Past(), c.pastOnLine(&t.Comment)
	case "pull_request_review":
		out.Pull, out.Comment = t.PullRequest.Past(), c.OnReview(&t.Review)
		out.Member = isMember(t.Review.Association)
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
	if out.Number = out.Pull.Number; out.Number <= 0 || forge.IsIncomplete(out.Comment) {
		return nil
	}
	return []forge.CommentChange{out}
}
