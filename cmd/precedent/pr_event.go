package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// whichPull returns the pull request of the argument, or of the event of a workflow
// if the argument is empty, and that event.
func (a *app) whichPull(ctx context.Context, conn workspace.Connection,
	which string,
) (precedent.Repo, int, forge.Event, error) {
	if which != "" {
		repo, number, err := namedPull(conn, which)
		return repo, number, forge.Event{}, err
	}
	e, err := a.workflowEvent(ctx, conn)
	if err != nil {
		return precedent.Repo{}, 0, e, err
	}
	return e.Repo, e.Pulls[0], e, nil
}

// workflowEvent returns the event of a workflow, which is about one pull request.
func (a *app) workflowEvent(ctx context.Context, conn workspace.Connection) (forge.Event, error) {
	var none forge.Event
	if a.env["GITHUB_EVENT_PATH"] == "" {
		return none, hinted(errors.New("no pull request is given, and this is not a workflow for a pull request"),
			"give its number or URL: precedent pr 7")
	}
	payload, err := a.readEvent()
	if err != nil {
		return none, hinted(fmt.Errorf("read event: %w", err), namePullHint)
	}
	e, err := conn.ReadEvent(a.env["GITHUB_EVENT_NAME"], payload)
	if err != nil {
		return none, hinted(err, namePullHint)
	}
	if len(e.Pulls) == 0 && e.Head != "" {
		// In events of workflows, GitHub does not list pull requests from forks.
		open, err := conn.Open(ctx, e.Repo)
		if err != nil {
			return none, conn.Explain(err)
		}
		for _, p := range open {
			if p.Head.SHA == e.Head {
				e.Pulls = append(e.Pulls, p.Number)
			}
		}
	}
	if len(e.Pulls) == 0 && e.Kind == forge.RunEvent {
		a.notice("no open pull request has %s as its head any more: there is nothing to review", workspace.ShortID(e.Head))
		return none, exitStatus(precedent.ExitClean)
	}
	if len(e.Pulls) != 1 {
		return none, hinted(fmt.Errorf("the event %q is about %d open pull requests", a.env["GITHUB_EVENT_NAME"],
			len(e.Pulls)), namePullHint)
	}
	return e, nil
}

// readEvent reads the file with the event of a workflow.
func (a *app) readEvent() ([]byte, error) {
	f, err := os.Open(a.env["GITHUB_EVENT_PATH"])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	payload, err := io.ReadAll(io.LimitReader(f, forge.MaxEvent+1))
	if err == nil && len(payload) > forge.MaxEvent {
		err = fmt.Errorf("larger than %d MiB", forge.MaxEvent>>20)
	}
	return payload, err
}

// isCommentEvent tells whether the workflow runs because somebody wrote a comment.
func (a *app) isCommentEvent() bool {
	switch a.env["GITHUB_EVENT_NAME"] {
	case "issue_comment", "pull_request_comment", "pull_request_review", "pull_request_review_comment":
		return true
	}
	return false
}

// namedPull parses the number or the URL of a pull request.
func namedPull(conn workspace.Connection, which string) (precedent.Repo, int, error) {
	repo, number, err := forge.ParsePullRequest(conn.Forge, which)
	if trouble, ok := errors.AsType[*forge.Error](err); ok && trouble.Kind == forge.KindRefused {
		return repo, 0, hinted(err, otherForgeHint)
	} else if ok {
		return repo, 0, hinted(err, "%s", trouble.Hint)
	}
	return repo, number, err
}

// namePullHint is the hint for an event that does not identify a pull request.
const namePullHint = "give the number of the pull request, or run the workflow on events of pull requests"
