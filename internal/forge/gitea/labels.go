package gitea

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// labelColor is the color of new labels: GitHub's default.
const labelColor = "#ededed"

// MakeLabels creates the labels that neither the repository nor its organization has.
func (c *Client) MakeLabels(ctx context.Context, repo precedent.Repo, labels []string) (forge.Unsupported, error) {
	do := c.begin(ctx, repo, "create labels in "+repo.String())
	for _, name := range labels {
		if _, err := labelID(do, repo.Owner, name); err != nil {
			return unlessForbidden(do, err)
		}
	}
	return "", do.Err()
}

// AddLabel adds a label to a pull request: the repository's of that name, else its
// organization's, else a new one in the repository.
func (c *Client) AddLabel(ctx context.Context, repo precedent.Repo, number int, name string) (forge.Unsupported,
	error,
) {
	do := c.begin(ctx, repo, fmt.Sprintf("add label %q to %s#%d", name, repo, number))
	id, err := labelID(do, repo.Owner, name)
	if err == nil {
		err = do.Send(http.MethodPost, map[string][]int64{"labels": {id}}, nil, "issues/%d/labels", number)
	}
	return unlessForbidden(do, err)
}

// labelID returns the id of a label, which it creates if needed.
func labelID(do wire.Call, owner, name string) (int64, error) {
	all, err := wire.List[label](do, "labels")
	if err != nil {
		return 0, err
	}
	ofOrganization, err := wire.List[label](do, "/orgs/%s/labels", owner)
	if err != nil && !isUnknownRoute(err) { // users have no such labels
		return 0, err
	}
	for _, l := range append(all, ofOrganization...) {
		if strings.EqualFold(l.Name, name) { // as package label compares them
			return l.ID, nil
		}
	}
	var made label
	err = do.Send(http.MethodPost, map[string]string{"name": name, "color": labelColor}, &made, "labels")
	return made.ID, err
}

// RemoveLabel removes a label from a pull request.
func (c *Client) RemoveLabel(ctx context.Context, repo precedent.Repo, number int, name string) (forge.Unsupported,
	error,
) {
	do := c.begin(ctx, repo, fmt.Sprintf("remove label %q from %s#%d", name, repo, number))
	all, err := wire.GetList[label](do, "issues/%d/labels", number)
	if err != nil {
		return "", err
	}
	for _, l := range slices.DeleteFunc(all, func(l *label) bool { return !strings.EqualFold(l.Name, name) }) {
		err := do.Send(http.MethodDelete, nil, nil, "issues/%d/labels/%d", number, l.ID)
		if err != nil && wire.Status(err) != http.StatusNotFound {
			return unlessForbidden(do, err)
		}
	}
	return "", nil
}

// unlessForbidden turns a missing permission into an Unsupported.
func unlessForbidden(do wire.Call, err error) (forge.Unsupported, error) {
	if wire.Status(err) == http.StatusForbidden {
		return forge.Unsupported(do.Doing() + ": the token cannot change labels: its account needs write access"), nil
	}
	return "", err
}
