package gitea

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Repositories lists the repositories of an organization, else of a user, that the token may write to;
// without an owner, those of the account, its organizations and where it collaborates.
func (c *Client) Repositories(ctx context.Context, owner string) ([]precedent.Repo, error) {
	doing := "list repositories"
	if owner != "" {
		doing += " of " + owner
		if !isName(owner) {
			return nil, &forge.Error{Kind: forge.KindRefused, Msg: doing + ": not a valid name of an owner on Gitea"}
		}
	}
	do, err := c.call(ctx, doing)
	if err != nil {
		return nil, err
	}
	listed, err := listAll(do, func(o sdk.ListOptions) ([]*sdk.Repository, *sdk.Response, error) {
		if owner == "" {
			return do.ListMyRepos(sdk.ListReposOptions{ListOptions: o})
		}
		return do.ListOrgRepos(owner, sdk.ListOrgReposOptions{ListOptions: o})
	})
	if owner != "" && isUnknownRoute(err) {
		listed, err = listAll(do, func(o sdk.ListOptions) ([]*sdk.Repository, *sdk.Response, error) {
			return do.ListUserRepos(owner, sdk.ListReposOptions{ListOptions: o})
		})
	}
	if e, ok := errors.AsType[*forge.Error](err); err != nil && (!ok || e.Kind != forge.KindTooLarge || e.Status != 0) {
		return nil, err
	}
	var all []precedent.Repo
	for _, r := range listed {
		if r.Archived || r.Permissions == nil || !r.Permissions.Push {
			continue
		}
		repo := precedent.Repo{Host: c.host}
		repo.Owner, repo.Name, _ = strings.Cut(r.FullName, "/")
		if c.checkRepo(repo) != nil {
			return nil, do.unexpected("it names no repository")
		}
		all = append(all, repo)
	}
	all, more := forge.SortRepositories(doing, all)
	if err == nil {
		err = more
	}
	return all, err
}

// Pushable tells why the token may not push to a branch: by the repository, and the protection of
// the branch. That is two requests. It counts a branch as protected even if the account is among those
// that may push to it.
func (c *Client) Pushable(ctx context.Context, repo precedent.Repo, branch string) (forge.Unsupported, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("look up the branch %q of %s", branch, repo))
	if err != nil {
		return "", err
	}
	if !forge.IsBranch(branch) {
		return "", &forge.Error{Kind: forge.KindRefused, Msg: do.doing + ": not a valid name of a branch"}
	}
	r, _, err := do.GetRepo(repo.Owner, repo.Name)
	if err != nil {
		return "", do.fail(err)
	}
	switch {
	case r.Archived:
		return forge.NotPushable(repo, branch, "the repository is archived"), nil
	case r.Permissions == nil || !r.Permissions.Push:
		return forge.NotPushable(repo, branch, "the token has no write access to the repository's contents"), nil
	case branch == r.DefaultBranch:
		return forge.NotPushable(repo, branch, "it is the default branch"), nil
	}
	b, _, err := do.GetRepoBranch(repo.Owner, repo.Name, branch)
	switch {
	case err != nil:
		return "", do.fail(err)
	case b.Name != branch:
		return "", do.unexpected("it describes another branch")
	case b.Protected || !b.UserCanPush:
		return forge.NotPushable(repo, branch, "it is protected"), nil
	}
	return "", nil
}
