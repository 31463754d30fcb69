package github

import (
	"context"
	"errors"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// KnowsPermissions tells whether the token can ask for permissions, by asking for that
// of the owner. GitHub answers 404 for an organization, which is enough.
func (c *Client) KnowsPermissions(ctx context.Context, repo precedent.Repo) (forge.Unsupported, error) {
	_, err := c.Permission(ctx, repo, forge.Person{ID: "1", Login: repo.Owner})
	var e *forge.Error
	if errors.As(err, &e) && e.Kind == forge.KindAuth {
		return forge.Unsupported("GitHub does not tell this token who may write in " + repo.String()), nil
	}
	return "", err
}
