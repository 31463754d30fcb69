package gitea

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/git"
)

// Repositories lists the repositories of an organization, else of a user, that the token may write to;
// without an owner, those of the account, its organizations and where it collaborates.
func (c *Client) Repositories(ctx context.Context, owner string) ([]precedent.Repo, error) {
	doing := strings.TrimSuffix("list repositories of "+owner, " of ")
	do := c.Call(ctx, doing, "", nil).Only(owner == "" || forge.IsName(owner), "not a valid name of an owner on Gitea")
	path := "user/repos"
	if owner != "" {
		path = "orgs/" + owner + "/repos"
	}
	listed, err := wire.List[wire.Repository](do, "%s", path)
	if owner != "" && isUnknownRoute(err) {
		listed, err = wire.List[wire.Repository](do, "users/%s/repos", owner)
	}
	return c.Writable(do, "", listed, err)
}

// Pushable tells why the token may not push to a branch: by the repository, and the protection of
// the branch. That is two requests. It counts a branch as protected even if the account is among those
// that may push to it.
func (c *Client) Pushable(ctx context.Context, repo precedent.Repo, branch string) (forge.Unsupported, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("look up the branch %q of %s", branch, repo)).
		Only(git.IsBranch(branch), "not a valid name of a branch")
	return c.Site.Pushable(do, repo, branch, (&url.URL{Path: branch}).EscapedPath(), nil)
}
