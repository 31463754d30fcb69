package gitea

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// labelColor is the color of new labels: GitHub's default.
const labelColor = "#ededed"

// MakeLabels creates the labels that neither the repository nor its organization has.
func (c *Client) MakeLabels(ctx context.Context, repo precedent.Repo, labels []string) (forge.Unsupported, error) {
	do, err := c.begin(ctx, repo, "create labels in "+repo.String())
	if err != nil {
		return "", err
	}
	for _, label := range labels {
		if _, err := c.label(do, repo, label); err != nil {
			return do.unlessForbidden(err)
		}
	}
	return "", nil
}

// AddLabel adds a label to a pull request: the repository's of that name, else its
// organization's, else a new one in the repository.
func (c *Client) AddLabel(ctx context.Context, repo precedent.Repo, number int, label string) (forge.Unsupported, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("add label %q to %s#%d", label, repo, number))
	if err != nil {
		return "", err
	}
	id, err := c.label(do, repo, label)
	if err != nil {
		return do.unlessForbidden(err)
	}
	_, _, err = do.AddIssueLabels(repo.Owner, repo.Name, int64(number), sdk.IssueLabelsOption{Labels: []int64{id}})
	return do.unlessForbidden(do.fail(err))
}

// label returns the id of a label, which it creates if needed.
func (c *Client) label(do call, repo precedent.Repo, label string) (int64, error) {
	named := func(l *sdk.Label) bool { return strings.EqualFold(l.Name, label) } // as package label compares them
	all, err := listAll(do, func(o sdk.ListOptions) ([]*sdk.Label, *sdk.Response, error) {
		return do.ListRepoLabels(repo.Owner, repo.Name, sdk.ListLabelsOptions{ListOptions: o})
	})
	if err != nil {
		return 0, err
	}
	if i := slices.IndexFunc(all, named); i >= 0 {
		return all[i].ID, nil
	}
	all, err = listAll(do, func(o sdk.ListOptions) ([]*sdk.Label, *sdk.Response, error) {
		return do.ListOrgLabels(repo.Owner, sdk.ListOrgLabelsOptions{ListOptions: o})
	})
	if err != nil && !isUnknownRoute(err) { // users have no such labels
		return 0, err
	}
	if i := slices.IndexFunc(all, named); i >= 0 {
		return all[i].ID, nil
	}
	made, _, err := do.CreateLabel(repo.Owner, repo.Name, sdk.CreateLabelOption{Name: label, Color: labelColor})
	if err != nil {
		return 0, do.fail(err)
	}
	return made.ID, nil
}

// RemoveLabel removes a label from a pull request.
func (c *Client) RemoveLabel(ctx context.Context, repo precedent.Repo, number int, label string) (forge.Unsupported, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("remove label %q from %s#%d", label, repo, number))
	if err != nil {
		return "", err
	}
	all, _, err := do.GetIssueLabels(repo.Owner, repo.Name, int64(number), sdk.ListLabelsOptions{})
	if err != nil {
		return "", do.fail(err)
	}
	for _, l := range all {
		if l == nil || !strings.EqualFold(l.Name, label) {
			continue
		}
		if _, err := do.DeleteIssueLabel(repo.Owner, repo.Name, int64(number), l.ID); err != nil && statusOf(err) != http.StatusNotFound {
			return do.unlessForbidden(do.fail(err))
		}
	}
	return "", nil
}

// unlessForbidden turns a missing permission into an Unsupported.
func (c call) unlessForbidden(err error) (forge.Unsupported, error) {
	if statusOf(err) == http.StatusForbidden {
		return forge.Unsupported(c.doing + ": the token cannot change labels: its account needs write access"), nil
	}
	return "", err
}
