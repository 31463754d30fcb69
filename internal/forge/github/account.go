package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// actionsLogin is the account of workflow runs.
const actionsLogin = "github-actions[bot]"

// identity caches the account of the token.
type identity struct {
	mu     sync.Mutex
	person forge.Person
}

// Me returns the account that posts: the token's, or the app's. It asks once.
func (c *Client) Me(ctx context.Context) (forge.Person, error) {
	c.me.mu.Lock()
	defer c.me.mu.Unlock()
	if c.me.person.ID != "" {
		return c.me.person, nil
	}
	const doing = "look up the account of the token"
	read := func() (*gh.User, error) {
		if c.tokens.app != nil {
			return c.appUser(ctx)
		}
		u, _, err := c.api.Users.Get(ctx, "")
		var e *forge.Error
		if errors.As(err, &e) && e.Status == http.StatusForbidden && strings.Contains(strings.ToLower(e.Msg), "by integration") {
			return c.integrationUser(ctx)
		}
		return u, err
	}
	u, err := read()
	if err != nil {
		return forge.Person{}, c.wire.Fail(doing, err)
	}
	if u.GetID() <= 0 || !login().MatchString(u.GetLogin()) {
		return forge.Person{}, wire.UnexpectedAnswer(doing, "it contains no account")
	}
	c.me.person = person(u)
	return c.me.person, nil
}

// appUser returns the account of an app.
func (c *Client) appUser(ctx context.Context) (*gh.User, error) {
	a, _, err := c.api.Apps.Get(context.WithValue(ctx, asAppKey{}, true), "")
	if err != nil {
		return nil, err
	}
	u, _, err := c.api.Users.Get(ctx, a.GetSlug()+"[bot]")
	return u, err
}

// integrationUser returns the account of a token made by an app, which REST does not
// tell. If GraphQL does not either, it is assumed to be that of a workflow run.
func (c *Client) integrationUser(ctx context.Context) (*gh.User, error) {
	var got struct{ Viewer struct{ Login string } }
	name := actionsLogin
	if err := c.query(ctx, "look up the account of the token", queryViewer, nil, &got); err == nil && got.Viewer.Login != "" {
		name = got.Viewer.Login
	}
	u, _, err := c.api.Users.Get(ctx, name)
	return u, err
}
