package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// MakeLabels creates the labels that the repository does not have.
func (c *Client) MakeLabels(ctx context.Context, repo precedent.Repo, labels []string) (forge.Unsupported, error) {
	doing := "create labels in " + repo.String()
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return "", err
	}
	there, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.Label, *gh.Response, error) {
		return c.api.Issues.ListLabels(ctx, repo.Owner, repo.Name, &o)
	})
	if err != nil {
		return "", err
	}
	for _, label := range labels {
		if slices.ContainsFunc(there, func(l *gh.Label) bool { return strings.EqualFold(l.GetName(), label) }) {
			continue
		}
		_, err := c.write(ctx, doing, func(ctx context.Context) error {
			_, _, err := c.api.Issues.CreateLabel(ctx, repo.Owner, repo.Name, &gh.Label{Name: &label})
			return err
		})
		if no, err := labelsUnsupported(err); no != "" || err != nil {
			return no, err
		}
	}
	return "", nil
}

// AddLabel adds a label to a pull request. GitHub creates it if needed.
func (c *Client) AddLabel(ctx context.Context, repo precedent.Repo, number int, label string) (forge.Unsupported, error) {
	doing := fmt.Sprintf("add label %q to %s#%d", label, repo, number)
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return "", err
	}
	_, err = c.write(ctx, doing, func(ctx context.Context) error {
		// The library sends a bare list, which GitHub accepts but does not document.
		req, err := c.api.NewRequest(ctx, http.MethodPost, fmt.Sprintf("repos/%s/%s/issues/%d/labels", repo.Owner, repo.Name, number), struct {
			Labels []string `json:"labels"`
		}{[]string{label}})
		if err != nil {
			return err
		}
		_, err = c.api.Do(req, nil)
		return err
	})
	return labelsUnsupported(err)
}

// RemoveLabel removes a label from a pull request.
func (c *Client) RemoveLabel(ctx context.Context, repo precedent.Repo, number int, label string) (forge.Unsupported, error) {
	doing := fmt.Sprintf("remove label %q from %s#%d", label, repo, number)
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return "", err
	}
	_, err = c.write(ctx, doing, func(ctx context.Context) error {
		_, err := c.api.Issues.RemoveLabelForIssue(ctx, repo.Owner, repo.Name, number, url.PathEscape(label))
		return err
	})
	if wire.Gone(err) {
		return "", nil
	}
	return labelsUnsupported(err)
}

// labelsUnsupported turns a missing permission into an Unsupported.
func labelsUnsupported(err error) (forge.Unsupported, error) {
	var e *forge.Error
	if errors.As(err, &e) && e.Kind == forge.KindAuth && e.Status == http.StatusForbidden {
		return forge.Unsupported(e.Msg), nil
	}
	return "", err
}
