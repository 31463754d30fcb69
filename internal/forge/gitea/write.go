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

// Edit replaces the text of a comment. The text of a review cannot be edited: Gitea
// would change it only on the page, and its API would keep returning the old text.
func (c *Client) Edit(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef, body string) error {
	do := c.Begin(ctx, repo, fmt.Sprintf("edit comment %s on %s#%d", m.ID, repo, number), m.ID)
	if err := do.CheckBody(body); err != nil {
		return err
	}
	if m.Kind == forge.OnReview {
		return do.Refuse(forge.KindInvalid, "Gitea cannot edit the text of a review")
	}
	there, err := c.findOwn(ctx, do, number, m)
	switch {
	case err != nil:
		return err
	case there == nil:
		return do.Refuse(forge.KindNotFound, "the comment was deleted")
	}
	var now wire.Comment
	err = do.Send(http.MethodPatch, map[string]string{"body": body}, &now, "issues/comments/%d", m.ID.Number())
	if err == nil && now.ID == 0 { // Gitea returns 204 for comments that it does not edit
		err = do.Refuse(forge.KindInvalid, "this server cannot edit comments of that kind")
	}
	return err
}

// Delete deletes a comment, and looks whether it is gone: Gitea before August 2025
// returns success for single comments on lines and deletes none. Deleting a review
// deletes all its comments on lines, so only a review without any is deleted.
func (c *Client) Delete(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef) (forge.Unsupported,
	error,
) {
	do := c.Begin(ctx, repo, fmt.Sprintf("delete comment %s on %s#%d", m.ID, repo, number), m.ID)
	there, err := c.findOwn(ctx, do, number, m)
	if err != nil || there == nil {
		return "", err
	}
	switch m.Kind {
	case forge.OnLine: // by the route of Forgejo, or that of Gitea
		err = do.Send(http.MethodDelete, nil, nil, "pulls/%d/reviews/%d/comments/%d", number, there.Review.Number(),
			m.ID.Number())
		if isUnknownRoute(err) {
			err = remove(do, "issues/comments/%d", m.ID.Number())
		}
	case forge.OnReview:
		var r wire.Review
		if err := do.Get(&r, "pulls/%d/reviews/%d", number, m.ID.Number()); err != nil {
			return "", err
		}
		if r.Comments > 0 {
			return "Gitea cannot delete a review without its comments on lines", nil
		}
		return "", remove(do, "pulls/%d/reviews/%d", number, m.ID.Number())
	default:
		err = remove(do, "issues/comments/%d", m.ID.Number())
	}
	if err != nil {
		return "", err
	}
	if there, err = c.find(do, number, m); err != nil || there == nil {
		return "", err
	}
	return "the server returned success, and did not delete the comment (Gitea deletes single ones on lines since 1.25)", nil
}

// remove deletes what may not exist.
func remove(do wire.Call, path string, args ...any) error {
	err := do.Send(http.MethodDelete, nil, nil, path, args...)
	if wire.Status(err) == http.StatusNotFound {
		return nil
	}
	return err
}

// findOwn returns a comment, nil if it does not exist, and refuses one that is not by Me:
// Gitea lets everyone with write access edit all comments.
func (c *Client) findOwn(ctx context.Context, do wire.Call, number int, m forge.CommentRef) (*inline, error) {
	found, err := c.find(do, number, m)
	if err != nil || found == nil {
		return nil, err
	}
	me, err := c.Me(ctx)
	if err == nil && found.Author.ID != me.ID {
		err = do.Refuse(forge.KindRefused, "the comment belongs to another account")
	}
	return found, err
}

// labelColor is the color of new labels: GitHub's default.
const labelColor = "#ededed"

// MakeLabels creates the labels that neither the repository nor its organization has.
func (c *Client) MakeLabels(ctx context.Context, repo precedent.Repo, labels []string) (forge.Unsupported, error) {
	do := c.Begin(ctx, repo, "create labels in "+repo.String())
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
	do := c.Begin(ctx, repo, fmt.Sprintf("add label %q to %s#%d", name, repo, number))
	id, err := labelID(do, repo.Owner, name)
	if err == nil {
		err = do.Send(http.MethodPost, map[string][]int64{"labels": {id}}, nil, "issues/%d/labels", number)
	}
	return unlessForbidden(do, err)
}

// labelID returns the id of a label, which it creates if needed.
func labelID(do wire.Call, owner, name string) (int64, error) {
	all, err := wire.List[wire.Label](do, "labels")
	if err != nil {
		return 0, err
	}
	ofOrganization, err := wire.List[wire.Label](do, "/orgs/%s/labels", owner)
	if err != nil && !isUnknownRoute(err) { // users have no such labels
		return 0, err
	}
	for _, l := range append(all, ofOrganization...) {
		if strings.EqualFold(l.Name, name) { // as package label compares them
			return l.ID, nil
		}
	}
	var made wire.Label
	err = do.Send(http.MethodPost, map[string]string{"name": name, "color": labelColor}, &made, "labels")
	return made.ID, err
}

// RemoveLabel removes a label from a pull request.
func (c *Client) RemoveLabel(ctx context.Context, repo precedent.Repo, number int, name string) (forge.Unsupported,
	error,
) {
	do := c.Begin(ctx, repo, fmt.Sprintf("remove label %q from %s#%d", name, repo, number))
	all, err := wire.GetList[wire.Label](do, "issues/%d/labels", number)
	if err != nil {
		return "", err
	}
	for _, l := range slices.DeleteFunc(all, func(l *wire.Label) bool { return !strings.EqualFold(l.Name, name) }) {
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
