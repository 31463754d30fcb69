package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// MakeLabels creates the labels that the repository does not have.
func (c *Client) MakeLabels(ctx context.Context, repo precedent.Repo, labels []string) (forge.Unsupported, error) {
	do := c.begin(ctx, "create labels in "+repo.String(), repo)
	there, err := wire.List[struct{ Name string }](do, "labels")
	if err != nil {
		return "", err
	}
	for _, label := range labels {
		if slices.ContainsFunc(there, func(l *struct{ Name string }) bool { return strings.EqualFold(l.Name, label) }) {
			continue
		}
		if err := do.Send(http.MethodPost, map[string]string{"name": label}, nil, "labels"); err != nil {
			return unlessForbidden(err)
		}
	}
	return "", nil
}

// AddLabel adds a label to a pull request. GitHub creates it if needed.
func (c *Client) AddLabel(ctx context.Context, repo precedent.Repo, number int, label string) (forge.Unsupported,
	error,
) {
	do := c.begin(ctx, fmt.Sprintf("add label %q to %s#%d", label, repo, number), repo)
	return unlessForbidden(do.Send(http.MethodPost, map[string][]string{"labels": {label}}, nil, "issues/%d/labels",
		number))
}

// RemoveLabel removes a label from a pull request.
func (c *Client) RemoveLabel(ctx context.Context, repo precedent.Repo, number int, label string) (forge.Unsupported,
	error,
) {
	do := c.begin(ctx, fmt.Sprintf("remove label %q from %s#%d", label, repo, number), repo)
	err := do.Send(http.MethodDelete, nil, nil, "issues/%d/labels/%s", number, url.PathEscape(label))
	if wire.Gone(err) {
		return "", nil
	}
	return unlessForbidden(err)
}
