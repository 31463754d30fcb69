package github

import (
	"context"
	"errors"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Permission asks what a person may do now. On any doubt the answer is None: a
// deleted account, a login that now belongs to another account, an unknown role.
func (c *Client) Permission(ctx context.Context, repo precedent.Repo, p forge.Person) (forge.Permission, error) {
	doing := fmt.Sprintf("read permission of %q in %s", p.Login, repo)
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return forge.None, err
	}
	if p.ID.Number() <= 0 {
		return forge.None, nil
	}
	if !login().MatchString(p.Login) || p.Login == "." || p.Login == ".." {
		return forge.None, &forge.Error{Kind: forge.KindRefused, Msg: doing + ": not a valid login on GitHub"}
	}
	return c.permissions.Of(repo, p, func() (forge.Permission, error) {
		level, _, err := c.api.Repositories.GetPermissionLevel(ctx, repo.Owner, repo.Name, p.Login)
		var e *forge.Error
		switch {
		case errors.As(err, &e) && e.Kind == forge.KindNotFound:
			return forge.None, nil
		case err != nil:
			return forge.None, c.wire.Fail(doing, err)
		case precedent.NumberID(level.GetUser().GetID()) != p.ID:
			return forge.None, nil
		}
		return permissionOf(level.GetPermission()), nil
	})
}

// permissionOf maps "permission", the access that a role is based on: that of maintain is
// write, that of triage is read, and a custom role has one, too ("Get repository permissions
// for a user"). It is the highest of all grants, also by teams and the organization.
func permissionOf(s string) forge.Permission {
	switch p := forge.Permission(s); p {
	case forge.Read, forge.Write, forge.Admin:
		return p
	}
	return forge.None
}
