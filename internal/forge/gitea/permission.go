package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Permission asks what a person may do now. Gitea tells this about others only to
// administrators of the repository. On any doubt the answer is None: a deleted
// account, a login that now belongs to another account, an unknown role.
func (c *Client) Permission(ctx context.Context, repo precedent.Repo, p forge.Person) (forge.Permission, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("read permission of %q in %s", p.Login, repo))
	if err != nil {
		return forge.None, err
	}
	if p.ID.Number() <= 0 {
		return forge.None, nil
	}
	if !isLogin(p.Login) {
		return forge.None, &forge.Error{Kind: forge.KindRefused, Msg: do.doing + ": not a valid login on Gitea"}
	}
	return c.permissions.Of(repo, p, func() (forge.Permission, error) {
		level, _, err := do.CollaboratorPermission(repo.Owner, repo.Name, p.Login)
		switch s := statusOf(err); {
		case s == http.StatusNotFound:
			return forge.None, nil
		case err != nil:
			err = do.fail(err)
			var refused *forge.Error
			if s == http.StatusForbidden && errors.As(err, &refused) && refused.Kind == forge.KindAuth {
				refused.Hint = "Gitea shows permissions of others only to administrators of the repository: make the token's account one, or nobody is treated as a team member"
			}
			return forge.None, err
		}
		if level == nil || level.User == nil || precedent.NumberID(level.User.ID) != p.ID {
			return forge.None, nil
		}
		return permissionOf(level.Permission), nil
	})
}

// isLogin reports whether a login is valid. Migrated bots have a [bot] suffix.
func isLogin(s string) bool { return isName(strings.TrimSuffix(s, "[bot]")) }

// permissionOf maps Gitea's access modes.
func permissionOf(m sdk.AccessMode) forge.Permission {
	switch m {
	case sdk.AccessModeRead:
		return forge.Read
	case sdk.AccessModeWrite:
		return forge.Write
	case sdk.AccessModeAdmin, sdk.AccessModeOwner:
		return forge.Admin
	}
	return forge.None
}
