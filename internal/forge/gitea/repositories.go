package gitea

import (
	"cmp"
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
	do := c.wire.Call(ctx, doing, "", nil)
	if owner != "" && !forge.IsName(owner) {
		return nil, do.Refuse(forge.KindRefused, "not a valid name of an owner on Gitea")
	}
	path := "user/repos"
	if owner != "" {
		path = "orgs/" + owner + "/repos"
	}
	listed, err := wire.List[repository](do, "%s", path)
	if owner != "" && isUnknownRoute(err) {
		listed, err = wire.List[repository](do, "users/%s/repos", owner)
	}
	if err != nil && !forge.IsPartial(err) {
		return nil, err
	}
	var all []precedent.Repo
	for _, r := range listed {
		if r.Archived || !r.mayPush() {
			continue
		}
		repo := precedent.Repo{Host: c.host}
		repo.Owner, repo.Name, _ = strings.Cut(r.FullName, "/")
		if c.checkRepo(repo) != nil {
			return nil, do.Unexpected("it names no repository")
		}
		all = append(all, repo)
	}
	all, more := forge.SortRepositories(doing, all)
	return all, cmp.Or(err, more)
}

func (r *repository) mayPush() bool { return r.Permissions != nil && r.Permissions.Push }

// Pushable tells why the token may not push to a branch: by the repository, and the protection of
// the branch. That is two requests. It counts a branch as protected even if the account is among those
// that may push to it.
func (c *Client) Pushable(ctx context.Context, repo precedent.Repo, branch string) (forge.Unsupported, error) {
	do := c.begin(ctx, repo, fmt.Sprintf("look up the branch %q of %s", branch, repo))
	if !git.IsBranch(branch) {
		return "", do.Refuse(forge.KindRefused, "not a valid name of a branch")
	}
	var r repository
	if err := do.Get(&r, "/repos/%s/%s", repo.Owner, repo.Name); err != nil {
		return "", err
	}
	switch {
	case r.Archived:
		return forge.NotPushable(repo, branch, "the repository is archived"), nil
	case !r.mayPush():
		return forge.NotPushable(repo, branch, "the token has no write access to the repository's contents"), nil
	case branch == r.DefaultBranch:
		return forge.NotPushable(repo, branch, "it is the default branch"), nil
	}
	var b struct {
		Name        string
		Protected   bool
		UserCanPush bool `json:"user_can_push"`
	}
	if err := do.Get(&b, "branches/%s", (&url.URL{Path: branch}).EscapedPath()); err != nil {
		return "", err
	}
	switch {
	case b.Name != branch:
		return "", do.Unexpected("it describes another branch")
	case b.Protected || !b.UserCanPush:
		return forge.NotPushable(repo, branch, "it is protected"), nil
	}
	return "", nil
}
