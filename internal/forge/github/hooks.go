package github

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// maxPayload bounds what GitHub sends of an event, in bytes: it "caps webhook
// payloads at 25 MB".
const maxPayload = 25 << 20

// Event is what GitHub calls something that happened.
type Event string

// The events that are understood. Ignored stands for every other one, and for
// comments on issues that are no pull requests.
const (
	Ignored       Event = ""
	PullRequest   Event = "pull_request"
	Review        Event = "pull_request_review"
	ReviewComment Event = "pull_request_review_comment"
	IssueComment  Event = "issue_comment"
	CheckSuite    Event = "check_suite"
	CheckRun      Event = "check_run"
	Status        Event = "status"
	Push          Event = "push"
	WorkflowRun   Event = "workflow_run"
	Installation  Event = "installation"
	Ping          Event = "ping"
)

// Happened is what GitHub tells by a webhook, or a workflow's run by a file. What
// is not told of an event is zero.
type Happened struct {
	Event  Event
	Action string // "opened", "created"
	Repo   precedent.Repo
	// Pulls are the numbers of the pull requests of Repo that it is about.
	Pulls []int
	// Head is the commit that it is about, with its branch and repository, as far as
	// that is told. It has no CloneURL but of a pull request.
	Head    forge.Branch
	Comment *forge.Comment // what was said; nil for none
	Sender  forge.Person   // who made it happen
	At      time.Time
	// Installation is that of the GitHub App that is told; 0 for none.
	Installation int64
}

// Decode reads an event: its name, and its payload. An event that is not
// understood is Ignored; a payload that cannot be understood, or that is about
// another forge, is an error.
func (c *Client) Decode(event string, payload []byte) (Happened, error) {
	doing := fmt.Sprintf("read event %q", event)
	if len(payload) > maxPayload {
		return Happened{}, &forge.Error{Kind: forge.KindTooLarge, Msg: doing + ": it is larger than 25 MiB"}
	}
	switch Event(event) {
	case PullRequest, Review, ReviewComment, IssueComment, CheckSuite, CheckRun, Status, Push, WorkflowRun, Installation, Ping:
	default:
		return Happened{Event: Ignored}, nil
	}
	var told told
	if json.Unmarshal(payload, &told) != nil {
		return Happened{}, wire.Strange(doing, "it is not what GitHub documents")
	}
	h := Happened{Event: Event(event), Action: told.Action, Sender: person(told.Sender), Installation: told.Installation.ID}
	// An installation, and a ping of an organisation, are of no repository.
	if told.Repository == nil && (h.Event == Installation || h.Event == Ping) {
		return h, nil
	}
	if told.Repository != nil {
		h.Repo.Host = c.host
		h.Repo.Owner, h.Repo.Name, _ = strings.Cut(told.Repository.FullName, "/")
	}
	if told.Repository == nil || c.check(h.Repo) != nil || !c.hosts(told.Repository.HTMLURL) {
		return Happened{}, wire.Strange(doing, "it names no repository on "+c.host)
	}
	why := ""
	switch h.Event {
	case PullRequest, Review, ReviewComment:
		why = h.pull(c, doing, told)
	case IssueComment:
		why = h.issue(c, told)
	case CheckSuite:
		why = h.run(c, told, told.CheckSuite)
	case CheckRun:
		why = h.run(c, told, told.CheckRun)
	case WorkflowRun:
		why = h.run(c, told, told.WorkflowRun)
	case Status:
		h.Head, h.At = forge.Branch{Repo: h.Repo, SHA: told.SHA}, told.UpdatedAt.UTC()
	case Push:
		h.Head = forge.Branch{Repo: h.Repo, Name: strings.TrimPrefix(told.Ref, "refs/heads/"), SHA: strings.TrimRight(told.After, "0")}
		if h.Head.SHA != "" {
			h.Head.SHA = told.After // all zeros are no commit: the branch is deleted
		}
		h.At = cmp.Or(told.HeadCommit.Timestamp, told.Repository.PushedAt.Time).UTC()
	}
	if h.Head.SHA != "" && !objectID().MatchString(h.Head.SHA) {
		why = "it names no commit"
	}
	if why != "" {
		return Happened{}, wire.Strange(doing, why)
	}
	return h, nil
}

// told is what is read of payloads. Those of different events share their parts.
type told struct {
	Action       string
	Sender       *gh.User
	Installation struct{ ID int64 }
	Repository   *struct {
		ID       int64
		FullName string       `json:"full_name"`
		HTMLURL  string       `json:"html_url"`
		PushedAt gh.Timestamp `json:"pushed_at"` // seconds or a date
	}
	PullRequest *gh.PullRequest `json:"pull_request"`
	Review      *gh.PullRequestReview
	Issue       struct {
		Number      int
		PullRequest *struct{} `json:"pull_request"`
	}
	Comment     json.RawMessage
	CheckSuite  *toldRun `json:"check_suite"`
	CheckRun    *toldRun `json:"check_run"`
	WorkflowRun *toldRun `json:"workflow_run"`

	SHA        string
	UpdatedAt  time.Time `json:"updated_at"`
	Ref, After string
	HeadCommit struct{ Timestamp time.Time } `json:"head_commit"`
}

// toldRun is what checks and workflows have in common.
type toldRun struct {
	HeadSHA    string `json:"head_sha"`
	HeadBranch string `json:"head_branch"`
	// A suite and a workflow say when they changed, a check when it began and ended.
	UpdatedAt   time.Time `json:"updated_at"`
	StartedAt   time.Time `json:"started_at"`
	CompletedAt time.Time `json:"completed_at"`
	CheckSuite  struct {
		HeadBranch string `json:"head_branch"`
	} `json:"check_suite"`
	HeadRepository *gh.Repository `json:"head_repository"`
	PullRequests   []struct {
		Number int
		Base   struct{ Repo struct{ ID int64 } }
	} `json:"pull_requests"`
}

// hosts tells whether a page is this forge's, be it by http.
func (c *Client) hosts(page string) bool {
	u, err := url.Parse(page)
	return err == nil && strings.EqualFold(u.Host, c.web.Host)
}

// pull reads an event of a pull request, or why it cannot be understood.
func (h *Happened) pull(c *Client, doing string, t told) string {
	p := t.PullRequest
	if p.GetNumber() <= 0 {
		return "it names no pull request"
	}
	head, err := c.branch(doing, p.GetHead())
	if err != nil {
		return "it names no commit"
	}
	h.Pulls, h.Head, h.At = []int{p.GetNumber()}, head, p.GetUpdatedAt().UTC()
	switch h.Event {
	case Review:
		if h.At = t.Review.GetSubmittedAt().UTC(); t.Review.GetBody() != "" {
			m := c.onReview(t.Review)
			h.Comment = &m
		}
	case ReviewComment:
		var m gh.PullRequestComment
		if json.Unmarshal(t.Comment, &m) != nil || m.GetID() <= 0 {
			return "it names no comment"
		}
		said := c.onLine(&m)
		h.Comment, h.At = &said, said.Edited
	}
	return ""
}

// issue reads a comment on a pull request as a whole. GitHub tells of those on
// issues in the same way.
func (h *Happened) issue(c *Client, t told) string {
	if t.Issue.PullRequest == nil {
		*h = Happened{Event: Ignored}
		return ""
	}
	var m gh.IssueComment
	if json.Unmarshal(t.Comment, &m) != nil || m.GetID() <= 0 || t.Issue.Number <= 0 {
		return "it names no comment on a pull request"
	}
	said := c.onThread(&m)
	h.Pulls, h.Comment, h.At = []int{t.Issue.Number}, &said, said.Edited
	return ""
}

// run reads an event of checks or of a workflow. Pull requests of other
// repositories that have the commit, too, are left out.
func (h *Happened) run(c *Client, t told, r *toldRun) string {
	if r == nil {
		return "what it is about is not there"
	}
	for _, p := range r.PullRequests {
		if p.Base.Repo.ID != t.Repository.ID {
			continue
		}
		if p.Number <= 0 {
			return "it names no pull request"
		}
		h.Pulls = append(h.Pulls, p.Number)
	}
	h.Head = forge.Branch{Name: cmp.Or(r.HeadBranch, r.CheckSuite.HeadBranch), SHA: r.HeadSHA}
	if from := r.HeadRepository; from != nil {
		if h.Head.Repo = (precedent.Repo{Host: c.host, Owner: from.GetOwner().GetLogin(), Name: from.GetName()}); c.check(h.Head.Repo) != nil {
			return "it names no repository"
		}
	}
	for _, at := range []time.Time{r.UpdatedAt, r.CompletedAt, r.StartedAt} {
		if !at.IsZero() {
			h.At = at.UTC()
			break
		}
	}
	return ""
}
