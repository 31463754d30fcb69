package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// Me returns the account that posts: the token's, or the app's. It asks once.
func (c *Client) Me(ctx context.Context) (forge.Person, error) {
	do := c.Call(ctx, "look up the account of the token", "", nil)
	return c.MeOnce(func(u *wire.User) error {
		var err error
		if c.tokens.app != nil {
			var app struct{ Slug string }
			if err = do.With(asAppKey{}, true).Get(&app, "app"); err == nil {
				err = do.Get(u, "users/%s[bot]", app.Slug)
			}
		} else if err = do.Get(u, "user"); wire.Status(err) == http.StatusForbidden &&
			strings.Contains(strings.ToLower(err.Error()), "by integration") {
			err = c.integrationUser(do, u)
		}
		if err == nil && (u.ID <= 0 || !forge.IsLogin(u.Login)) {
			err = do.Unexpected("it contains no account")
		}
		return err
	})
}

// integrationUser reads the account of a token made by an app or for a workflow run, which REST does not tell.
func (c *Client) integrationUser(do wire.Call, u *wire.User) error {
	var got struct{ Viewer struct{ Login string } }
	if err := c.query(do, queryViewer, nil, &got); err != nil {
		return err
	}
	return do.Get(u, "users/%s", url.PathEscape(got.Viewer.Login))
}

// Permission asks what a person may do now. On any doubt the answer is None: a
// deleted account, a login that now belongs to another account, an unknown role.
func (c *Client) Permission(ctx context.Context, repo precedent.Repo, p forge.Person) (forge.Permission, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("read permission of %q in %s", p.Login, repo))
	if p.ID.Number() <= 0 {
		return forge.None, do.Err()
	}
	if !forge.IsLogin(p.Login) {
		return forge.None, do.Refuse(forge.KindRefused, "not a valid login on GitHub")
	}
	return c.permissions.Of(wire.PersonIn{Repo: repo, Person: p}, func() (forge.Permission, error) {
		var level struct {
			Permission string
			User       wire.User
		}
		err := do.Get(&level, "collaborators/%s/permission", p.Login)
		switch {
		case forge.KindOf(err) == forge.KindNotFound:
			return forge.None, nil
		case err != nil:
			return forge.None, err
		case precedent.NumberID(level.User.ID) != p.ID:
			return forge.None, nil
		}
		return forge.PermissionOf(level.Permission), nil
	})
}

// KnowsPermissions tells whether the token can ask for permissions, by asking for that
// of the owner. GitHub answers 404 for an organization, which is enough.
func (c *Client) KnowsPermissions(ctx context.Context, repo precedent.Repo) (forge.Unsupported, error) {
	_, err := c.Permission(ctx, repo, forge.Person{ID: "1", Login: repo.Owner})
	if forge.KindOf(err) == forge.KindAuth {
		return forge.Unsupported("GitHub does not tell this token who may write in " + repo.String()), nil
	}
	return "", err
}

// isForbidden reports whether the token lacks a permission.
func isForbidden(err error) bool {
	return forge.KindOf(err) == forge.KindAuth && wire.Status(err) == http.StatusForbidden
}

// unlessForbidden turns a missing permission into an Unsupported.
func unlessForbidden(err error) (forge.Unsupported, error) {
	if isForbidden(err) {
		return forge.Unsupported(err.Error()), nil
	}
	return "", err
}
