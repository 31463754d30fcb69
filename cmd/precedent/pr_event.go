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
		return precedent.Repo{}, 0, fmt.Errorf("read event: %w", err)
	}
	defer f.Close()
	payload, err := io.ReadAll(io.LimitReader(f, maxEvent+1))
	if err != nil {
		return precedent.Repo{}, 0, fmt.Errorf("read event: %w", err)
	}
	if st.decode == nil {
		return plainEvent(a.env["GITHUB_REPOSITORY"], st.Host(), payload)
	}
	h, err := st.decode(a.env["GITHUB_EVENT_NAME"], payload)
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
		return precedent.Repo{}, 0, hinted(fmt.Errorf("the event %q is about %d open pull requests", a.env["GITHUB_EVENT_NAME"], len(h.Pulls)),
			"name the pull request, or let the workflow run for events of pull requests")
	}
	return h.Repo, h.Pulls[0], nil
}

// plainEvent reads the event of a pull request as every forge that copies
// GitHub's workflows tells it.
func plainEvent(name, host string, payload []byte) (precedent.Repo, int, error) {
	var event struct {
		PullRequest struct {
			Number int `json:"number"`
		} `json:"pull_request"`
	}
	if len(payload) > maxEvent || json.Unmarshal(payload, &event) != nil || event.PullRequest.Number <= 0 {
		return precedent.Repo{}, 0, hinted(errors.New("the event of this workflow is about no pull request"), "name the pull request, or let the workflow run for events of pull requests")
	}
	repo, err := precedent.ParseRepo(host + "/" + name)
	return repo, event.PullRequest.Number, err
}
