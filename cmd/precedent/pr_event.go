package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge/github"
)

// maxEvent bounds the file of an event, in bytes: GitHub caps payloads at 25 MB.
const maxEvent = 25 << 20

// whichPull finds out which pull request is meant: the one that is named, else
// the one that the event of a workflow is about.
func (a *app) whichPull(ctx context.Context, st *station, which string) (precedent.Repo, int, error) {
	if which != "" {
		return parsePull(which, st.Host())
	}
	path := a.env["GITHUB_EVENT_PATH"]
	if path == "" {
		return precedent.Repo{}, 0, hinted(errors.New("no pull request is named, and this is no workflow that runs for one"), "give its number, or its URL: precedent pr 7")
	}
	f, err := os.Open(path)
	if err != nil {
		return precedent.Repo{}, 0, hinted(fmt.Errorf("read event: %w", err), nameIt)
	}
	defer f.Close()
	payload, err := io.ReadAll(io.LimitReader(f, maxEvent+1))
	if err != nil {
		return precedent.Repo{}, 0, hinted(fmt.Errorf("read event: %w", err), nameIt)
	}
	if len(payload) > maxEvent {
		return precedent.Repo{}, 0, hinted(fmt.Errorf("read event: it has more than %d MiB", maxEvent>>20), nameIt)
	}
	h, err := a.happened(st, a.env["GITHUB_EVENT_NAME"], payload)
	if err != nil {
		return precedent.Repo{}, 0, err
	}
	if len(h.Pulls) == 0 && h.Head.SHA != "" {
		// GitHub does not name the pull requests of forks in events of workflows.
		open, err := st.Open(ctx, h.Repo)
		if err != nil {
			return precedent.Repo{}, 0, st.fault(err)
		}
		for _, p := range open {
			if p.Head.SHA == h.Head.SHA {
				h.Pulls = append(h.Pulls, p.Number)
			}
		}
	}
	if len(h.Pulls) == 0 && h.Event == github.WorkflowRun {
		a.notice("no open pull request has %s as its head any more: there is nothing to review", short(h.Head.SHA))
		return precedent.Repo{}, 0, exitStatus(precedent.ExitClean)
	}
	if len(h.Pulls) != 1 {
		return precedent.Repo{}, 0, hinted(fmt.Errorf("the event %q is about %d open pull requests", a.env["GITHUB_EVENT_NAME"], len(h.Pulls)), nameIt)
	}
	return h.Repo, h.Pulls[0], nil
}

// nameIt is what helps when an event does not say which pull request is meant.
const nameIt = "name the pull request, or let the workflow run for events of pull requests"

// targetEvent is what GitHub calls the event of a pull request for which the
// base's workflow runs. Webhooks do not have the name; the payload is the same.
const targetEvent = "pull_request_target"

// happened reads the event of a workflow.
func (a *app) happened(st *station, name string, payload []byte) (github.Happened, error) {
	if st.decode == nil {
		return plainEvent(a.env["GITHUB_REPOSITORY"], st.Host(), name, payload)
	}
	if name == targetEvent {
		name = string(github.PullRequest)
	}
	h, err := st.decode(name, payload)
	if err != nil {
		return h, hinted(err, nameIt)
	}
	return h, nil
}

// plainEvent reads an event as every forge that copies GitHub's workflows tells
// it: one of a pull request, of a comment on one, or of another workflow.
func plainEvent(repository, host, name string, payload []byte) (github.Happened, error) {
	type number struct {
		Number int `json:"number"`
	}
	var event struct {
		PullRequest *number `json:"pull_request"`
		Issue       struct {
			number
			PullRequest *struct{} `json:"pull_request"` // nil if it is an issue
		} `json:"issue"`
		WorkflowRun struct {
			HeadSHA      string   `json:"head_sha"`
			PullRequests []number `json:"pull_requests"`
		} `json:"workflow_run"`
	}
	if json.Unmarshal(payload, &event) != nil {
		return github.Happened{}, hinted(errors.New("the event of this workflow cannot be understood"), nameIt)
	}
	repo, err := precedent.ParseRepo(host + "/" + repository)
	if err != nil {
		return github.Happened{}, hinted(errors.New("GITHUB_REPOSITORY does not say whose workflow this is"), nameIt)
	}
	h := github.Happened{Event: github.Event(name), Repo: repo}
	about := event.WorkflowRun.PullRequests
	switch {
	case event.PullRequest != nil:
		about = []number{*event.PullRequest}
	case event.Issue.PullRequest != nil:
		about = []number{event.Issue.number}
	default:
		h.Head.SHA = event.WorkflowRun.HeadSHA
	}
	for _, n := range about {
		if n.Number > 0 {
			h.Pulls = append(h.Pulls, n.Number)
		}
	}
	return h, nil
}
