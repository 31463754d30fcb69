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

// Reply replies in the conversation that starts with the inline comment.
func (c *Client) Reply(ctx context.Context, repo precedent.Repo, number int, to precedent.ForgeID,
	body string,
) (forge.Comment, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("reply to a comment on %s#%d", repo, number), to)
	var m wire.Comment
	err := do.Send(http.MethodPost, map[string]string{"body": body}, &m, "pulls/%d/comments/%d/replies", number,
		to.Number())
	return do.Created(c.onLine(&m), err)
}

// commentPath is the path of a comment. Nobody edits or deletes the text of a review.
func commentPath(do wire.Call, m forge.CommentRef) (string, error) {
	switch m.Kind {
	case forge.OnThread:
		return fmt.Sprintf("issues/comments/%d", m.ID.Number()), nil
	case forge.OnLine:
		return fmt.Sprintf("pulls/comments/%d", m.ID.Number()), nil
	}
	return "", noSuchKind(do, m.Kind)
}

// Edit replaces the text of a comment.
func (c *Client) Edit(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef, body string) error {
	do := c.Begin(ctx, repo, fmt.Sprintf("edit a comment on %s#%d", repo, number), m.ID)
	path, err := commentPath(do, m)
	if err != nil {
		return err
	}
	var edited wire.Comment
	err = do.Send(http.MethodPatch, map[string]string{"body": body}, &edited, "%s", path)
	if err == nil && edited.ID != m.ID.Number() {
		err = do.UnexpectedAfterChange("it describes another comment")
	}
	return err
}

// Delete deletes a comment. GitHub cannot delete the text of a review, so it is minimized as a duplicate.
func (c *Client) Delete(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef) (forge.Unsupported,
	error,
) {
	do := c.Begin(ctx, repo, fmt.Sprintf("delete a comment on %s#%d", repo, number), m.ID)
	if m.Kind == forge.OnReview {
		return c.minimize(do, number, m.ID.Number())
	}
	path, err := commentPath(do, m)
	if err != nil {
		return "", err
	}
	if err = do.Send(http.MethodDelete, nil, nil, "%s", path); wire.Gone(err) {
		return "", nil
	}
	return "", err
}

// minimize hides the text of a review.
func (c *Client) minimize(do wire.Call, number int, id int64) (forge.Unsupported, error) {
	var r wire.Review
	err := do.Get(&r, "pulls/%d/reviews/%d", number, id)
	switch {
	case wire.Gone(err):
		return "", nil
	case err != nil:
		return "", err
	case r.NodeID == "":
		return "", do.Unexpected("the review has no node id")
	}
	return threadsUnsupported(c.mutate(do, doMinimize, map[string]any{"id": r.NodeID}, new(struct{})))
}

// Reactions reads the reactions to a comment.
func (c *Client) Reactions(ctx context.Context, repo precedent.Repo, number int, to forge.CommentRef) ([]forge.Reaction,
	error,
) {
	do := c.Begin(ctx, repo, fmt.Sprintf("read reactions to a comment on %s#%d", repo, number), to.ID)
	path, err := commentPath(do, to)
	if err != nil {
		return nil, err
	}
	listed, err := wire.List[wire.Reaction](do, "%s/reactions", path)
	return wire.Reactions(listed), err
}

// MakeLabels creates the labels that the repository does not have.
func (c *Client) MakeLabels(ctx context.Context, repo precedent.Repo, labels []string) (forge.Unsupported, error) {
	do := c.Begin(ctx, repo, "create labels in "+repo.String())
	there, err := wire.List[wire.Label](do, "labels")
	if err != nil {
		return "", err
	}
	for _, label := range labels {
		if slices.ContainsFunc(there, func(l *wire.Label) bool { return strings.EqualFold(l.Name, label) }) {
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
	do := c.Begin(ctx, repo, fmt.Sprintf("add label %q to %s#%d", label, repo, number))
	return unlessForbidden(do.Send(http.MethodPost, map[string][]string{"labels": {label}}, nil, "issues/%d/labels",
		number))
}

// RemoveLabel removes a label from a pull request.
func (c *Client) RemoveLabel(ctx context.Context, repo precedent.Repo, number int, label string) (forge.Unsupported,
	error,
) {
	do := c.Begin(ctx, repo, fmt.Sprintf("remove label %q from %s#%d", label, repo, number))
	err := do.Send(http.MethodDelete, nil, nil, "issues/%d/labels/%s", number, url.PathEscape(label))
	if wire.Gone(err) {
		return "", nil
	}
	return unlessForbidden(err)
}
