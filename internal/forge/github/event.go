package github

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// eventKinds maps GitHub's event names. pull_request_target exists only in workflows.
var eventKinds = map[string]forge.EventKind{
	"pull_request":                forge.PullEvent,
	"pull_request_target":         forge.PullEvent,
	"pull_request_review":         forge.CommentEvent,
	"pull_request_review_comment": forge.CommentEvent,
	"issue_comment":               forge.CommentEvent,
	"check_suite":                 forge.RunEvent,
	"check_run":                   forge.RunEvent,
	"status":                      forge.RunEvent,
	"workflow_run":                forge.RunEvent,
	"push":                        forge.PushEvent,
}

// payload is the part of webhook payloads that we read. Different events share
// fields.
type payload struct {
	Repository struct {
		ID       int64
		FullName string `json:"full_name"`
		HTMLURL  string `json:"html_url"`
	}
	PullRequest struct {
		Number int
		Head   struct{ SHA string }
	} `json:"pull_request"`
	Issue struct {
		Number      int
		PullRequest *struct{} `json:"pull_request"`
	}
	CheckSuite  payloadRun `json:"check_suite"`
	CheckRun    payloadRun `json:"check_run"`
	WorkflowRun payloadRun `json:"workflow_run"`
	SHA, After  string
	Action      string
}

// payloadRun is what checks and workflows have in common.
type payloadRun struct {
	HeadSHA      string `json:"head_sha"`
	PullRequests []struct {
		Number int
		Base   struct{ Repo struct{ ID int64 } }
	} `json:"pull_requests"`
}

// ReadEvent parses a webhook payload. Comments on issues are NoEvents.
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
	e.Repo.Host = c.host
	e.Repo.Owner, e.Repo.Name, _ = strings.Cut(t.Repository.FullName, "/")
	if c.checkRepo(e.Repo) != nil || !c.isOwnPage(t.Repository.HTMLURL) {
		return forge.Event{}, wire.UnexpectedAnswer(doing, "it names no repository on "+c.host)
	}
	if name == "issue_comment" && t.Issue.PullRequest == nil {
		return forge.Event{}, nil
	}
	t.fill(name, &e)
	e.Comments = c.commentChanges(name, t.Action, e.Repo, data)
	switch {
	case slices.ContainsFunc(e.Pulls, func(n int) bool { return n <= 0 }):
		return forge.Event{}, wire.UnexpectedAnswer(doing, "it names no pull request")
	case e.Head != "" && !objectID().MatchString(e.Head), e.Kind == forge.RunEvent && e.Head == "":
		return forge.Event{}, wire.UnexpectedAnswer(doing, "it names no commit")
	}
	return e, nil
}

// fill sets what the event is about. Pull requests of other repositories that contain
// the commit of a run are left out.
func (t *payload) fill(name string, e *forge.Event) {
	e.Head = t.PullRequest.Head.SHA
	run := func(r payloadRun) {
		e.Head = r.HeadSHA
		for _, p := range r.PullRequests {
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
		e.Head = t.SHA
	case "push":
		if strings.Trim(t.After, "0") != "" { // else the branch was deleted
			e.Head = t.After
		}
	default:
		e.Pulls = []int{t.PullRequest.Number}
	}
}

// isOwnPage reports whether a URL is on this forge, also with http.
func (c *Client) isOwnPage(page string) bool {
	u, err := url.Parse(page)
	return err == nil && strings.EqualFold(u.Host, c.web.Host)
}
